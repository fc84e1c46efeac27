# A switch on 100 with the arms 1 and 2.
.class public Lorg/gdroid/samples/constantbranches/SwitchOk;
.super Ljava/lang/Object;
.source "SwitchOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 5
    const/16 v0, 0x64
    packed-switch v0, :table
    goto :out
    :table
    .packed-switch 0x1
        :leak
        :leak
    .end packed-switch
    :leak
    const-string v2, "sample"
    invoke-static {v2, p0}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    :out
    return-void
.end method
