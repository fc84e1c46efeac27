# Every operation on int, one after the other.
.class public Lorg/gdroid/samples/allinstructions/IntOperationsBad;
.super Ljava/lang/Object;
.source "IntOperationsBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 6
    const/4 v0, 0x0
    invoke-virtual {p0, v0}, Ljava/lang/String;->charAt(I)C
    move-result v0
    const/4 v1, 0x3
    add-int v0, v0, v1
    sub-int v0, v0, v1
    mul-int v0, v0, v1
    div-int v0, v0, v1
    rem-int v0, v0, v1
    and-int v0, v0, v1
    or-int v0, v0, v1
    xor-int v0, v0, v1
    shl-int v0, v0, v1
    shr-int v0, v0, v1
    ushr-int v0, v0, v1
    add-int/2addr v0, v1
    sub-int/2addr v0, v1
    mul-int/2addr v0, v1
    div-int/2addr v0, v1
    rem-int/2addr v0, v1
    and-int/2addr v0, v1
    or-int/2addr v0, v1
    xor-int/2addr v0, v1
    shl-int/2addr v0, v1
    shr-int/2addr v0, v1
    ushr-int/2addr v0, v1
    add-int/lit8 v0, v0, 0x3
    mul-int/lit8 v0, v0, 0x3
    div-int/lit8 v0, v0, 0x3
    rem-int/lit8 v0, v0, 0x3
    and-int/lit8 v0, v0, 0x3
    or-int/lit8 v0, v0, 0x3
    xor-int/lit8 v0, v0, 0x3
    shl-int/lit8 v0, v0, 0x3
    shr-int/lit8 v0, v0, 0x3
    ushr-int/lit8 v0, v0, 0x3
    rsub-int/lit8 v0, v0, 0x3
    add-int/lit16 v0, v0, 0x300
    mul-int/lit16 v0, v0, 0x300
    div-int/lit16 v0, v0, 0x300
    rem-int/lit16 v0, v0, 0x300
    and-int/lit16 v0, v0, 0x300
    or-int/lit16 v0, v0, 0x300
    xor-int/lit16 v0, v0, 0x300
    rsub-int v0, v0, 0x300
    neg-int v0, v0
    not-int v0, v0
    int-to-byte v0, v0
    int-to-char v0, v0
    int-to-short v0, v0
    invoke-static {v0}, Ljava/lang/String;->valueOf(I)Ljava/lang/String;
    move-result-object v0
    const-string v1, "sample"
    invoke-static {v1, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
