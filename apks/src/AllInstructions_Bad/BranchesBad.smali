# Every conditional jump.
.class public Lorg/gdroid/samples/allinstructions/BranchesBad;
.super Ljava/lang/Object;
.source "BranchesBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 6
    const/4 v0, 0x0
    invoke-virtual {p0, v0}, Ljava/lang/String;->charAt(I)C
    move-result v0
    const/4 v1, 0x3
    move-object v2, p0
    if-eq v0, v1, :skip0
    nop
    :skip0
    if-ne v0, v1, :skip1
    nop
    :skip1
    if-lt v0, v1, :skip2
    nop
    :skip2
    if-ge v0, v1, :skip3
    nop
    :skip3
    if-gt v0, v1, :skip4
    nop
    :skip4
    if-le v0, v1, :skip5
    nop
    :skip5
    if-eqz v0, :zero0
    nop
    :zero0
    if-nez v0, :zero1
    nop
    :zero1
    if-ltz v0, :zero2
    nop
    :zero2
    if-gez v0, :zero3
    nop
    :zero3
    if-gtz v0, :zero4
    nop
    :zero4
    if-lez v0, :zero5
    nop
    :zero5
    const-string v1, "sample"
    invoke-static {v1, v2}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
