.class public Lorg/gdroid/samples/allinstructions/RangeBase;
.super Ljava/lang/Object;
.source "RangeBase.smali"

.implements Lorg/gdroid/samples/allinstructions/Function;

.method public constructor <init>()V
    .registers 1
    invoke-direct {p0}, Ljava/lang/Object;-><init>()V
    return-void
.end method

.method public apply(Ljava/lang/Object;)Ljava/lang/Object;
    .registers 2
    return-object p1
.end method
