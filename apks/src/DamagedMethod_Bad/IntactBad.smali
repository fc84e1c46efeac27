.class public Lorg/gdroid/samples/damagedmethod/IntactBad;
.super Ljava/lang/Object;
.source "IntactBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 2
    const-string v0, "sample"
    invoke-static {v0, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
