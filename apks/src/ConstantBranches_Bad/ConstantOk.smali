# 3 > 4.
.class public Lorg/gdroid/samples/constantbranches/ConstantOk;
.super Ljava/lang/Object;
.source "ConstantOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 5
    const/4 v0, 0x3
    const/4 v1, 0x4
    if-le v0, v1, :out
    const-string v2, "sample"
    invoke-static {v2, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    :out
    return-void
.end method
