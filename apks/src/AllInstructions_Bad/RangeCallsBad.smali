# The range form of every call.
.class public Lorg/gdroid/samples/allinstructions/RangeCallsBad;
.super Lorg/gdroid/samples/allinstructions/RangeBase;
.source "RangeCallsBad.smali"

.method public constructor <init>()V
    .registers 1
    invoke-direct/range {p0 .. p0}, Lorg/gdroid/samples/allinstructions/RangeBase;-><init>()V
    return-void
.end method

.method public apply(Ljava/lang/Object;)Ljava/lang/Object;
    .registers 2
    invoke-super/range {p0 .. p1}, Lorg/gdroid/samples/allinstructions/RangeBase;->apply(Ljava/lang/Object;)Ljava/lang/Object;
    move-result-object v0
    return-object v0
.end method

.method public static id(Ljava/lang/Object;)Ljava/lang/Object;
    .registers 1
    return-object p0
.end method

.method public static run(Ljava/lang/String;)V
    .registers 8
    move-object v1, p0
    new-instance v0, Lorg/gdroid/samples/allinstructions/RangeCallsBad;
    invoke-direct/range {v0 .. v0}, Lorg/gdroid/samples/allinstructions/RangeCallsBad;-><init>()V
    invoke-virtual/range {v0 .. v1}, Lorg/gdroid/samples/allinstructions/RangeCallsBad;->apply(Ljava/lang/Object;)Ljava/lang/Object;
    move-result-object v1
    invoke-interface/range {v0 .. v1}, Lorg/gdroid/samples/allinstructions/Function;->apply(Ljava/lang/Object;)Ljava/lang/Object;
    move-result-object v1
    invoke-static/range {v1 .. v1}, Lorg/gdroid/samples/allinstructions/RangeCallsBad;->id(Ljava/lang/Object;)Ljava/lang/Object;
    move-result-object v1
    check-cast v1, Ljava/lang/String;
    const-string v0, "sample"
    invoke-static/range {v0 .. v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
