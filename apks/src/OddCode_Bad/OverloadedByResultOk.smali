# The other one of the two.
.class public Lorg/gdroid/samples/oddcode/OverloadedByResultOk;
.super Ljava/lang/Object;
.source "OverloadedByResultOk.smali"

.method public static run(Ljava/lang/String;)V
    .registers 3
    invoke-static {p0}, Lorg/gdroid/samples/oddcode/OverloadedByResultBad;->id(Ljava/lang/String;)Ljava/lang/String;
    move-result-object v1
    const-string v0, "sample"
    invoke-static {v0, v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
