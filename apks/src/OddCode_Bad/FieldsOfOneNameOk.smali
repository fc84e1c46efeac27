# Two fields that differ in their type only.
.class public Lorg/gdroid/samples/oddcode/FieldsOfOneNameOk;
.super Ljava/lang/Object;
.source "FieldsOfOneNameOk.smali"

.field static same:Ljava/lang/String;
.field static same:Ljava/lang/Object;

.method public static run(Ljava/lang/String;)V
    .registers 3
    sput-object p0, Lorg/gdroid/samples/oddcode/FieldsOfOneNameOk;->same:Ljava/lang/Object;
    const-string v1, "none"
    sput-object v1, Lorg/gdroid/samples/oddcode/FieldsOfOneNameOk;->same:Ljava/lang/String;
    sget-object v1, Lorg/gdroid/samples/oddcode/FieldsOfOneNameOk;->same:Ljava/lang/String;
    const-string v0, "sample"
    invoke-static {v0, v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method
