# Wide moves whose source and target overlap.
.class public Lorg/gdroid/samples/oddcode/OverlappingMoveBad;
.super Ljava/lang/Object;
.source "OverlappingMoveBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 6
    invoke-static {p0}, Ljava/lang/Long;->parseLong(Ljava/lang/String;)J
    move-result-wide v0
    move-wide v1, v0
    move-wide v2, v1
    invoke-static {v2, v3}, Ljava/lang/Long;->toString(J)Ljava/lang/String;
    move-result-object v0
    const-string v1, "sample"
    invoke-static {v1, v0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
