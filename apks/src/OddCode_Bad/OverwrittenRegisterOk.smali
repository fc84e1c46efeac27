# A wide value overwrites the register of the data with its second half.
.class public Lorg/gdroid/samples/oddcode/OverwrittenRegisterOk;
.super Ljava/lang/Object;
.source "OverwrittenRegisterOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 4
    move-object v1, p0
    # a wide constant over v0 and v1
    const-wide/16 v0, 0x7
    invoke-static {v0, v1}, Ljava/lang/String;->valueOf(J)Ljava/lang/String;
    move-result-object v1
    const-string v0, "sample"
    invoke-static {v0, v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
