# filled-new-array/range, read at the index of the data.
.class public Lorg/gdroid/samples/oddcode/FilledRangeBad;
.super Ljava/lang/Object;
.source "FilledRangeBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 9
    const-string v0, "a"
    const-string v1, "b"
    const-string v2, "c"
    const-string v3, "d"
    const-string v4, "e"
    const-string v5, "f"
    move-object v6, p0
    filled-new-array/range {v0 .. v6}, [Ljava/lang/String;
    move-result-object v0
    const/4 v1, 0x6
    aget-object v2, v0, v1
    const-string v1, "sample"
    invoke-static {v1, v2}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
