# Dead code that loops.
.class public Lorg/gdroid/samples/oddcode/AfterReturnOk;
.super Ljava/lang/Object;
.source "AfterReturnOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 3
    return-void
    :dead
    const-string v0, "sample"
    invoke-static {v0, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    goto :dead
.end method
