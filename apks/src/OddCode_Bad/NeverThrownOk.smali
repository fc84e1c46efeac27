# Nothing in the range can throw.
.class public Lorg/gdroid/samples/oddcode/NeverThrownOk;
.super Ljava/lang/Object;
.source "NeverThrownOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 3
    :start
    const/4 v0, 0x1
    add-int/lit8 v0, v0, 0x2
    :end
    .catch Ljava/lang/RuntimeException; {:start .. :end} :handler
    return-void
    :handler
    move-exception v1
    const-string v0, "sample"
    invoke-static {v0, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
