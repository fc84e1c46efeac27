# A jump to itself; what follows is dead.
.class public Lorg/gdroid/samples/oddcode/InfiniteLoopOk;
.super Ljava/lang/Object;
.source "InfiniteLoopOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 3
    invoke-virtual {p0}, Ljava/lang/String;->isEmpty()Z
    move-result v0
    if-eqz v0, :out
    :forever
    goto/32 :forever
    const-string v0, "sample"
    invoke-static {v0, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    :out
    return-void
.end method
