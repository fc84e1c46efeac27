# Calls through a method handle.
.class public Lorg/gdroid/samples/allinstructions/PolymorphicBad;
.super Ljava/lang/Object;
.source "PolymorphicBad.smali"

.method public static id(Ljava/lang/String;)Ljava/lang/String;
    .registers 1
    return-object p0
.end method

.method public static run(Ljava/lang/String;)V
    .registers 6
    const-method-handle v0, invoke-static@Lorg/gdroid/samples/allinstructions/PolymorphicBad;->id(Ljava/lang/String;)Ljava/lang/String;
    move-object v1, p0
    invoke-polymorphic {v0, v1}, Ljava/lang/invoke/MethodHandle;->invokeExact([Ljava/lang/Object;)Ljava/lang/Object;, (Ljava/lang/String;)Ljava/lang/String;
    move-result-object v1
    invoke-polymorphic/range {v0 .. v1}, Ljava/lang/invoke/MethodHandle;->invoke([Ljava/lang/Object;)Ljava/lang/Object;, (Ljava/lang/String;)Ljava/lang/String;
    move-result-object v1
    const-string v0, "sample"
    invoke-static {v0, v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
