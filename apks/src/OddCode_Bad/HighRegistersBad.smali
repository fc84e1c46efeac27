# Registers that only the 16-bit forms of move and the range calls can name.
.class public Lorg/gdroid/samples/oddcode/HighRegistersBad;
.super Ljava/lang/Object;
.source "HighRegistersBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 301
    # p0 is v300
    move-object/from16 v200, p0
    move-object/16 v290, v200
    const-string v1, "sample"
    move-object/16 v289, v1
    invoke-static/range {v289 .. v290}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
