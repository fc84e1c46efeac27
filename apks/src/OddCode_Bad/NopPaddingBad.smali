# nop before, between and after everything.
.class public Lorg/gdroid/samples/oddcode/NopPaddingBad;
.super Ljava/lang/Object;
.source "NopPaddingBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 3
    nop
    nop
    const-string v0, "sample"
    nop
    invoke-static {p0}, Lorg/gdroid/samples/oddcode/NopPaddingBad;->id(Ljava/lang/String;)Ljava/lang/String;
    move-result-object v1
    nop
    nop
    nop
    invoke-static {v0, v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    nop
    return-void
    nop
    nop
.end method

.method static id(Ljava/lang/String;)Ljava/lang/String;
    .registers 1
    nop
    return-object p0
.end method
