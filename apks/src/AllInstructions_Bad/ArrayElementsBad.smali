# Array elements of every width.
.class public Lorg/gdroid/samples/allinstructions/ArrayElementsBad;
.super Ljava/lang/Object;
.source "ArrayElementsBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 8
    const/4 v0, 0x0
    invoke-virtual {p0, v0}, Ljava/lang/String;->charAt(I)C
    move-result v0
    const/4 v4, 0x1
    const/4 v5, 0x2
    new-array v3, v5, [Z
    aput-boolean v0, v3, v4
    aget-boolean v0, v3, v4
    new-array v3, v5, [B
    aput-byte v0, v3, v4
    aget-byte v0, v3, v4
    new-array v3, v5, [C
    aput-char v0, v3, v4
    aget-char v0, v3, v4
    new-array v3, v5, [S
    aput-short v0, v3, v4
    aget-short v0, v3, v4
    new-array v3, v5, [I
    aput v0, v3, v4
    aget v0, v3, v4
    int-to-long v0, v0
    new-array v3, v5, [J
    aput-wide v0, v3, v4
    aget-wide v0, v3, v4
    invoke-static {v0, v1}, Ljava/lang/String;->valueOf(J)Ljava/lang/String;
    move-result-object v0
    new-array v3, v5, [Ljava/lang/String;
    aput-object v0, v3, v4
    aget-object v0, v3, v4
    const-string v1, "sample"
    invoke-static {v1, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
