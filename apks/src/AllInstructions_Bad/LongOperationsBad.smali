# Every operation on long.
.class public Lorg/gdroid/samples/allinstructions/LongOperationsBad;
.super Ljava/lang/Object;
.source "LongOperationsBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 8
    invoke-static {p0}, Ljava/lang/Long;->parseLong(Ljava/lang/String;)J
    move-result-wide v0
    const-wide/16 v2, 0x3
    const/4 v4, 0x1
    add-long v0, v0, v2
    sub-long v0, v0, v2
    mul-long v0, v0, v2
    div-long v0, v0, v2
    rem-long v0, v0, v2
    and-long v0, v0, v2
    or-long v0, v0, v2
    xor-long v0, v0, v2
    shl-long v0, v0, v4
    shr-long v0, v0, v4
    ushr-long v0, v0, v4
    add-long/2addr v0, v2
    sub-long/2addr v0, v2
    mul-long/2addr v0, v2
    div-long/2addr v0, v2
    rem-long/2addr v0, v2
    and-long/2addr v0, v2
    or-long/2addr v0, v2
    xor-long/2addr v0, v2
    shl-long/2addr v0, v4
    shr-long/2addr v0, v4
    ushr-long/2addr v0, v4
    neg-long v0, v0
    not-long v0, v0
    long-to-float v5, v0
    float-to-long v0, v5
    long-to-double v0, v0
    double-to-long v0, v0
    cmp-long v5, v0, v2
    invoke-static {v0, v1}, Ljava/lang/String;->valueOf(J)Ljava/lang/String;
    move-result-object v0
    const-string v1, "sample"
    invoke-static {v1, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
