# The result of cmp-long is data, too.
.class public Lorg/gdroid/samples/allinstructions/ComparisonResultBad;
.super Ljava/lang/Object;
.source "ComparisonResultBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 6
    invoke-static {p0}, Ljava/lang/Long;->parseLong(Ljava/lang/String;)J
    move-result-wide v0
    const-wide v2, 0x13579bdf02468aceL
    cmp-long v0, v0, v2
    invoke-static {v0}, Ljava/lang/String;->valueOf(I)Ljava/lang/String;
    move-result-object v0
    const-string v1, "sample"
    invoke-static {v1, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
