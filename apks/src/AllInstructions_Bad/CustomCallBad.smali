# invoke-custom with a bootstrap method of the app's own.
.class public Lorg/gdroid/samples/allinstructions/CustomCallBad;
.super Ljava/lang/Object;
.source "CustomCallBad.smali"

.method public static id(Ljava/lang/String;)Ljava/lang/String;
    .registers 1
    return-object p0
.end method

.method public static bootstrap(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;
    .registers 5
    const-class v0, Lorg/gdroid/samples/allinstructions/CustomCallBad;
    invoke-virtual {p0, v0, p1, p2}, Ljava/lang/invoke/MethodHandles$Lookup;->findStatic(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/MethodHandle;
    move-result-object v0
    new-instance v1, Ljava/lang/invoke/ConstantCallSite;
    invoke-direct {v1, v0}, Ljava/lang/invoke/ConstantCallSite;-><init>(Ljava/lang/invoke/MethodHandle;)V
    return-object v1
.end method

.method public static run(Ljava/lang/String;)V
    .registers 4
    move-object v1, p0
    invoke-custom/range {v1 .. v1}, call_site_0("id", (Ljava/lang/String;)Ljava/lang/String;)@Lorg/gdroid/samples/allinstructions/CustomCallBad;->bootstrap(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;
    move-result-object v1
    const-string v0, "sample"
    invoke-static {v0, v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
