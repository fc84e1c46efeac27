# fill-array-data of every width.
.class public Lorg/gdroid/samples/allinstructions/FillArraysOk;
.super Ljava/lang/Object;
.source "FillArraysOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 5
    const/4 v0, 0x3
    new-array v1, v0, [B
    fill-array-data v1, :bytes
    new-array v1, v0, [S
    fill-array-data v1, :shorts
    new-array v1, v0, [I
    fill-array-data v1, :ints
    new-array v1, v0, [J
    fill-array-data v1, :longs
    const/4 v0, 0x1
    aget-wide v2, v1, v0
    invoke-static {v2, v3}, Ljava/lang/String;->valueOf(J)Ljava/lang/String;
    move-result-object v0
    const-string v1, "sample"
    invoke-static {v1, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
    :bytes
    .array-data 1
        1 2 3
    .end array-data
    :shorts
    .array-data 2
        0x101 0x202 0x303
    .end array-data
    :ints
    .array-data 4
        0x1010101 0x2020202 0x3030303
    .end array-data
    :longs
    .array-data 8
        0x101010101010101L 0x202020202020202L 0x303030303030303L
    .end array-data
    return-void
.end method
