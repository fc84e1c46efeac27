# A jumbo string, a lock, and a handler that only unlocks.
.class public Lorg/gdroid/samples/oddcode/JumboAndLockBad;
.super Ljava/lang/Object;
.source "JumboAndLockBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 5
    const-class v2, Lorg/gdroid/samples/oddcode/JumboAndLockBad;
    monitor-enter v2
    :start
    const-string/jumbo v0, "sample"
    new-instance v1, Ljava/lang/StringBuilder;
    invoke-direct {v1}, Ljava/lang/StringBuilder;-><init>()V
    invoke-virtual {v1, p0}, Ljava/lang/StringBuilder;->append(Ljava/lang/String;)Ljava/lang/StringBuilder;
    invoke-virtual {v1}, Ljava/lang/StringBuilder;->toString()Ljava/lang/String;
    move-result-object v1
    invoke-static {v0, v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    monitor-exit v2
    :end
    .catchall {:start .. :end} :handler
    return-void
    :handler
    move-exception v3
    monitor-exit v2
    throw v3
.end method
