# Names outside ASCII, and names that Java would not allow.
.class public Lorg/gdroid/samples/oddcode/ÜmlautBad;
.super Ljava/lang/Object;
.source "ÜmlautBad.smali"

.method public static run(Ljava/lang/String;)V
    .registers 3
    invoke-static {p0}, Lorg/gdroid/samples/oddcode/ÜmlautBad;->größe-名前(Ljava/lang/String;)Ljava/lang/String;
    move-result-object v1
    const-string v0, "sample"
    invoke-static {v0, v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method

.method static größe-名前(Ljava/lang/String;)Ljava/lang/String;
    .registers 1
    return-object p0
.end method
