.class public Lorg/gdroid/samples/oddcode/Main;
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
    invoke-virtual {p0, v0}, Lorg/gdroid/samples/oddcode/Main;->getSystemService(Ljava/lang/String;)Ljava/lang/Object;
    move-result-object v0
    check-cast v0, Landroid/telephony/TelephonyManager;
    invoke-virtual {v0}, Landroid/telephony/TelephonyManager;->getDeviceId()Ljava/lang/String;
    move-result-object v0
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/HighRegistersBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/SharedTailBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/SwitchesBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/NopPaddingBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/ReusedRegistersBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/OverwrittenRegisterOk;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/OverlappingMoveBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/NeverThrownOk;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/HandlerCoversItselfBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/InfiniteLoopOk;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/AfterReturnOk;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/FilledRangeBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/OverloadedByResultBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/OverloadedByResultOk;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/FieldsOfOneNameOk;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/JumboAndLockBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/ThisOverwrittenBad;->run(Ljava/lang/String;)V
    invoke-static {v0}, Lorg/gdroid/samples/oddcode/ÜmlautBad;->run(Ljava/lang/String;)V
    return-void
.end method
