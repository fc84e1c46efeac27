.class public Lorg/example/sample/Main;
.super Landroid/app/Activity;
