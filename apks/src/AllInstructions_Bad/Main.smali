.class public Lorg/gdroid/samples/allinstructions/Main;
.super Landroid/app/Activity;
.source "Main.smali"

.method public constructor <init>()V
    .registers 1
    invoke-direct {p0}, Landroid/app/Activity;-><init>()V
    return-void
.end method

.method protected onCreate(Landroid/os/Bundle;)V
    .registers 4
    invoke-super {p0, p1}, Landroid/app/Activity;->onCreate(Landroid/os/Bundle;)V
    const-string v0, "phone"
    invoke-virtual {p0, v0}, Lorg/gdroid/samples/allinstructions/Main;->getSystemService(Ljava/lang/String;)Ljava/lang/Object;
    move-result-object v0
    check-cast v0, Landroid/telephony/TelephonyManager;
    invoke-virtual {v0}, Landroid/telephony/TelephonyManager;->getDeviceId()Ljava/lang/String;
    move-result-object v0
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/IntOperationsBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/LongOperationsBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/FloatOperationsBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/DoubleOperationsBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/ComparisonResultBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/InstanceFieldsBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/StaticFieldsBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/ArrayElementsBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/BranchesBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/ConstantsOk;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/FillArraysOk;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/RangeCallsBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/PolymorphicBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/allinstructions/CustomCallBad;->run(Ljava/lang/String;)V
    return-void
.end method
