# Instance fields of every width.
.class public Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;
.super Ljava/lang/Object;
.source "InstanceFieldsBad.smali"

.field f0:Z
.field f1:B
.field f2:C
.field f3:S
.field f4:I
.field f5:J
.field f6:Ljava/lang/String;
.method public static run(Ljava/lang/String;)V
    .registers 6
    const/4 v0, 0x0
    invoke-virtual {p0, v0}, Ljava/lang/String;->charAt(I)C
    move-result v0
    new-instance v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;
    invoke-direct {v3}, Ljava/lang/Object;-><init>()V
    iput-boolean v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f0:Z
    iget-boolean v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f0:Z
    iput-byte v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f1:B
    iget-byte v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f1:B
    iput-char v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f2:C
    iget-char v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f2:C
    iput-short v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f3:S
    iget-short v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f3:S
    iput v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f4:I
    iget v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f4:I
    int-to-long v0, v0
    iput-wide v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f5:J
    iget-wide v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f5:J
    invoke-static {v0, v1}, Ljava/lang/String;->valueOf(J)Ljava/lang/String;
    move-result-object v0
    iput-object v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f6:Ljava/lang/String;
    iget-object v0, v3, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->f6:Ljava/lang/String;
    const-string v1, "sample"
    invoke-static {v1, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
