# Switch payloads in the middle of the code, before the instructions that use them.
.class public Lorg/gdroid/samples/oddcode/SwitchesBad;
.super Ljava/lang/Object;
.source "SwitchesBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 4
    invoke-virtual {p0}, Ljava/lang/String;->length()I
    move-result v0
    const-string v1, "none"
    goto :go

    # payloads between the instructions, odd number of units before them
    nop
    :table
    .packed-switch 0xe
        :clean
        :labelled
        :clean
    .end packed-switch

    :sparse
    .sparse-switch
        -0x80000000 -> :clean
        0xf -> :labelled
        0x7fffffff -> :clean
    .end sparse-switch

    :go
    packed-switch v0, :table
    sparse-switch v0, :sparse
    :clean
    const-string v1, "clean"
    goto :out
    :labelled
    move-object v1, p0
    :out
    const-string v2, "sample"
    invoke-static {v2, v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
