# Two branches jump back to one tail that stands before them.
.class public Lorg/gdroid/samples/oddcode/SharedTailBad;
.super Ljava/lang/Object;
.source "SharedTailBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 4
    goto :start
    :tail
    const-string v1, "sample"
    invoke-static {v1, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
    :second
    const-string v0, "none"
    goto/16 :tail
    :start
    invoke-virtual {p0}, Ljava/lang/String;->length()I
    move-result v2
    if-nez v2, :first
    goto/32 :second
    :first
    move-object v0, p0
    goto :tail
.end method
