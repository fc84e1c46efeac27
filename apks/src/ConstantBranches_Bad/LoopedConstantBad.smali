# The counter is 0 on the first round only.
.class public Lorg/gdroid/samples/constantbranches/LoopedConstantBad;
.super Ljava/lang/Object;
.source "LoopedConstantBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 5
    const/4 v0, 0x0
    :again
    const/4 v1, 0x3
    if-ge v0, v1, :leak
    add-int/lit8 v0, v0, 0x1
    goto :again
    :leak
    const-string v2, "sample"
    invoke-static {v2, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    :out
    return-void
.end method
