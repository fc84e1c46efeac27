# Every kind of constant, method handles and types included.
.class public Lorg/gdroid/samples/allinstructions/ConstantsOk;
.super Ljava/lang/Object;
.source "ConstantsOk.smali"

.field static field:I
.method public static run(Ljava/lang/String;)V
    .registers 12
    const/4 v0, -0x8
    const/16 v0, 0x7fff
    const v0, 0x7fffffff
    const/high16 v0, 0x7fff0000
    const-wide/16 v0, -0x8000
    const-wide/32 v0, 0x7fffffff
    const-wide v0, 0x7fffffffffffffffL
    const-wide/high16 v0, 0x7fff000000000000L
    const-class v2, [[I
    const-string v3, "text"
    const-string/jumbo v4, "text"
    const-method-type v5, (IJLjava/lang/String;)V
    const-method-handle v6, invoke-static@Lorg/gdroid/samples/allinstructions/ConstantsOk;->run(Ljava/lang/String;)V
    const-method-handle v6, static-get@Lorg/gdroid/samples/allinstructions/ConstantsOk;->field:I
    instance-of v7, v2, Ljava/lang/Class;
    check-cast v2, Ljava/lang/Class;
    new-array v8, v7, [I
    array-length v9, v8
    invoke-static {v0, v1}, Ljava/lang/String;->valueOf(J)Ljava/lang/String;
    move-result-object v0
    invoke-static {v3, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
