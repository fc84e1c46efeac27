# The build turns the first instruction's opcode into one that does not exist.
.class public Lorg/gdroid/samples/damagedmethod/Broken;
.super Ljava/lang/Object;
.source "Broken.smali"

.method public static run(Ljava/lang/String;)V
    .registers 2
    const v0, 0x0bad0001
    const-string v0, "sample"
    invoke-static {v0, p0}, Landroid/util/Log;->w(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
