# Two methods that differ in their result only.
.class public Lorg/gdroid/samples/oddcode/OverloadedByResultBad;
.super Ljava/lang/Object;
.source "OverloadedByResultBad.smali"

.method static id(Ljava/lang/String;)Ljava/lang/Object;
    .registers 1
    return-object p0
.end method

.method static id(Ljava/lang/String;)Ljava/lang/String;
    .registers 1
    const-string p0, "none"
    return-object p0
.end method

.method public static run(Ljava/lang/String;)V
    .registers 3
    invoke-static {p0}, Lorg/gdroid/samples/oddcode/OverloadedByResultBad;->id(Ljava/lang/String;)Ljava/lang/Object;
    move-result-object v1
    check-cast v1, Ljava/lang/String;
    const-string v0, "sample"
    invoke-static {v0, v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
