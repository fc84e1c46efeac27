# null != null.
.class public Lorg/gdroid/samples/constantbranches/NullOk;
.super Ljava/lang/Object;
.source "NullOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 5
    const/4 v0, 0x0
    if-eqz v0, :out
    const-string v2, "sample"
    invoke-static {v2, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    :out
    return-void
.end method
