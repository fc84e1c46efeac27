# Every operation on float.
.class public Lorg/gdroid/samples/allinstructions/FloatOperationsBad;
.super Ljava/lang/Object;
.source "FloatOperationsBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 6
    const/4 v0, 0x0
    invoke-virtual {p0, v0}, Ljava/lang/String;->charAt(I)C
    move-result v0
    int-to-float v0, v0
    const v1, 0x40490fdb
    add-float v0, v0, v1
    sub-float v0, v0, v1
    mul-float v0, v0, v1
    div-float v0, v0, v1
    rem-float v0, v0, v1
    add-float/2addr v0, v1
    sub-float/2addr v0, v1
    mul-float/2addr v0, v1
    div-float/2addr v0, v1
    rem-float/2addr v0, v1
    neg-float v0, v0
    cmpl-float v2, v0, v1
    cmpg-float v3, v0, v1
    float-to-int v2, v0
    int-to-float v0, v2
    invoke-static {v0}, Ljava/lang/String;->valueOf(F)Ljava/lang/String;
    move-result-object v0
    const-string v1, "sample"
    invoke-static {v1, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
