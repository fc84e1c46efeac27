# The build makes the first instruction a jump far beyond the method.
.class public Lorg/gdroid/samples/damagedmethod/BrokenBranch;
.super Ljava/lang/Object;
.source "BrokenBranch.smali"

.method public static run(Ljava/lang/String;)V
    .registers 2
    const v0, 0x0bad0002
    const-string v0, "sample"
    invoke-static {v0, p0}, Landroid/util/Log;->v(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
