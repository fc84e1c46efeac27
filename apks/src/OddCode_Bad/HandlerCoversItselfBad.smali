# A handler inside the range that it protects.
.class public Lorg/gdroid/samples/oddcode/HandlerCoversItselfBad;
.super Ljava/lang/Object;
.source "HandlerCoversItselfBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 3
    :start
    invoke-static {p0}, Ljava/lang/Integer;->parseInt(Ljava/lang/String;)I
    return-void
    :handler
    move-exception v1
    const-string v0, "sample"
    invoke-static {v0, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    const-string p0, "0"
    goto :start
    :end
    .catchall {:start .. :end} :handler
.end method
