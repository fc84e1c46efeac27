# The register of `this` holds a text; an object is moved before it is initialised.
.class public Lorg/gdroid/samples/oddcode/ThisOverwrittenBad;
.super Ljava/lang/Object;
.source "ThisOverwrittenBad.smali"

.field text:Ljava/lang/String;

.method public constructor <init>()V
    .registers 1
    invoke-direct {p0}, Ljava/lang/Object;-><init>()V
    return-void
.end method

.method take()V
    .registers 3
    iget-object v1, p0, Lorg/gdroid/samples/oddcode/ThisOverwrittenBad;->text:Ljava/lang/String;
    const-string p0, "sample"
    invoke-static {p0, v1}, Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I
    return-void
.end method

.method public static run(Ljava/lang/String;)V
    .registers 3
    # created, moved, and only then initialised
    new-instance v0, Lorg/gdroid/samples/oddcode/ThisOverwrittenBad;
    move-object v1, v0
    invoke-direct {v1}, Lorg/gdroid/samples/oddcode/ThisOverwrittenBad;-><init>()V
    iput-object p0, v0, Lorg/gdroid/samples/oddcode/ThisOverwrittenBad;->text:Ljava/lang/String;
    invoke-virtual {v1}, Lorg/gdroid/samples/oddcode/ThisOverwrittenBad;->take()V
    return-void
.end method
