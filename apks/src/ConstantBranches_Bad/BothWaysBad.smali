# Two constants meet: both ways are open.
.class public Lorg/gdroid/samples/constantbranches/BothWaysBad;
.super Ljava/lang/Object;
.source "BothWaysBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 5
    invoke-virtual {p0}, Ljava/lang/String;->length()I
    move-result v0
    if-eqz v0, :zero
    const/4 v1, 0x1
    goto :join
    :zero
    const/4 v1, 0x0
    :join
    if-eqz v1, :out
    const-string v2, "sample"
    invoke-static {v2, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    :out
    return-void
.end method
