# A constant compared with its copy.
.class public Lorg/gdroid/samples/constantbranches/SameOk;
.super Ljava/lang/Object;
.source "SameOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 5
    const/4 v0, 0x5
    move v1, v0
    if-eq v0, v1, :out
    const-string v2, "sample"
    invoke-static {v2, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    :out
    return-void
.end method
