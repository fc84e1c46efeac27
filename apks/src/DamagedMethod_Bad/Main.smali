.class public Lorg/gdroid/samples/damagedmethod/Main;
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
    invoke-virtual {p0, v0}, Lorg/gdroid/samples/damagedmethod/Main;->getSystemService(Ljava/lang/String;)Ljava/lang/Object;
    move-result-object v0
    check-cast v0, Landroid/telephony/TelephonyManager;
    invoke-virtual {v0}, Landroid/telephony/TelephonyManager;->getDeviceId()Ljava/lang/String;
    move-result-object v0
    invoke-static {v0}, Lorg/gdroid/samples/damagedmethod/IntactBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/damagedmethod/Broken;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/damagedmethod/BrokenBranch;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/damagedmethod/AfterwardsBad;->run(Ljava/lang/String;)V
    return-void
.end method
