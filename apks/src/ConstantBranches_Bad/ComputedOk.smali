# 6 * 7 - 2 != 40.
.class public Lorg/gdroid/samples/constantbranches/ComputedOk;
.super Ljava/lang/Object;
.source "ComputedOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 5
    const/4 v0, 0x6
    mul-int/lit8 v0, v0, 0x7
    add-int/lit8 v0, v0, -0x2
    const/16 v1, 0x28
    if-eq v0, v1, :out
    const-string v2, "sample"
    invoke-static {v2, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    :out
    return-void
.end method
