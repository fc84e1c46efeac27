# Static fields of every width.
.class public Lorg/gdroid/samples/allinstructions/StaticFieldsBad;
.super Ljava/lang/Object;
.source "StaticFieldsBad.smali"

.field static s0:Z
.field static s1:B
.field static s2:C
.field static s3:S
.field static s4:I
.field static s5:J
.field static s6:Ljava/lang/String;
.method public static run(Ljava/lang/String;)V
    .registers 6
    const/4 v0, 0x0
    invoke-virtual {p0, v0}, Ljava/lang/String;->charAt(I)C
    move-result v0
    sput-boolean v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s0:Z
    sget-boolean v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s0:Z
    sput-byte v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s1:B
    sget-byte v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s1:B
    sput-char v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s2:C
    sget-char v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s2:C
    sput-short v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s3:S
    sget-short v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s3:S
    sput v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s4:I
    sget v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s4:I
    int-to-long v0, v0
    sput-wide v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s5:J
    sget-wide v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s5:J
    invoke-static {v0, v1}, Ljava/lang/String;->valueOf(J)Ljava/lang/String;
    move-result-object v0
    sput-object v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s6:Ljava/lang/String;
    sget-object v0, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->s6:Ljava/lang/String;
    const-string v1, "sample"
    invoke-static {v1, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
