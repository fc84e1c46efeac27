# A loop whose condition is false from the start.
.class public Lorg/gdroid/samples/constantbranches/LoopOk;
.super Ljava/lang/Object;
.source "LoopOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 5
    const/4 v0, 0x0
    goto :test
    :body
    add-int/lit8 v0, v0, -0x1
    goto :leak
    :test
    if-gtz v0, :body
    goto :out
    :leak
    const-string v2, "sample"
    invoke-static {v2, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    :out
    return-void
.end method
