.class public Lorg/gdroid/samples/damagedmethod/AfterwardsBad;
.super Ljava/lang/Object;
.source "AfterwardsBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 2
    const-string v0, "sample"
    invoke-static {v0, p0}, Landroid/util/Log;->d(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
