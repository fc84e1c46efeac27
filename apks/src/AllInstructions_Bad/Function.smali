.class public interface abstract Lorg/gdroid/samples/allinstructions/Function;
.super Ljava/lang/Object;
.source "Function.smali"

.method public abstract apply(Ljava/lang/Object;)Ljava/lang/Object;
.end method
