# One register holds values of many types, parameters included.
.class public Lorg/gdroid/samples/oddcode/ReusedRegistersBad;
.super Ljava/lang/Object;
.source "ReusedRegistersBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 4
    # v0 is an int, then a wide number's first half, then a text
    const/4 v0, 0x7
    add-int/lit8 v0, v0, 0x1
    int-to-long v0, v0
    long-to-int v1, v0
    move-object v0, p0
    # the parameter's register holds a number from here on
    const/4 p0, 0x0
    if-nez p0, :out
    const-string p0, "sample"
    invoke-static {p0, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    :out
    return-void
.end method
