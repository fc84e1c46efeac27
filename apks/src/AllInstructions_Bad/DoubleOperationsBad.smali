# Every operation on double.
.class public Lorg/gdroid/samples/allinstructions/DoubleOperationsBad;
.super Ljava/lang/Object;
.source "DoubleOperationsBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 8
    const/4 v0, 0x0
    invoke-virtual {p0, v0}, Ljava/lang/String;->charAt(I)C
    move-result v0
    int-to-double v0, v0
    const-wide v2, 0x400921fb54442d18L
    add-double v0, v0, v2
    sub-double v0, v0, v2
    mul-double v0, v0, v2
    div-double v0, v0, v2
    rem-double v0, v0, v2
    add-double/2addr v0, v2
    sub-double/2addr v0, v2
    mul-double/2addr v0, v2
    div-double/2addr v0, v2
    rem-double/2addr v0, v2
    neg-double v0, v0
    cmpl-double v4, v0, v2
    cmpg-double v5, v0, v2
    double-to-float v4, v0
    float-to-double v0, v4
    double-to-int v4, v0
    int-to-double v0, v4
    invoke-static {v0, v1}, Ljava/lang/String;->valueOf(D)Ljava/lang/String;
    move-result-object v0
    const-string v1, "sample"
    invoke-static {v1, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
