"""Reports made by hand, for tests of what comes after the analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gdroid.report.model import (
    AppInfo,
    ComponentRecord,
    EngineRecord,
    Finding,
    LimitRecord,
    Location,
    Phase,
    ProblemRecord,
    Report,
    Sink,
    Source,
    Stats,
    Step,
    Tool,
)

ON_CREATE = Location("org.example.Main", "onCreate", "(Landroid/os/Bundle;)V", 12, "Main.java", 23, "org.example.Main")
SEND = Location("org.example.Main$Sender", "send", "(Ljava/lang/String;)V", 4, "Main.java", 40, "org.example.Main")

DEVICE_ID = Source("Landroid/telephony/TelephonyManager;->getDeviceId()Ljava/lang/String;", ON_CREATE)
SMS = Sink(
    "Landroid/telephony/SmsManager;->sendTextMessage(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;"
    "Landroid/app/PendingIntent;Landroid/app/PendingIntent;)V",
    "arg2",
    SEND,
)
LEAK = Finding(
    id="",
    rule="device-id-sms",
    kind="leak",
    title="Device id is sent by SMS",
    severity="high",
    confidence="high",
    cwe=("CWE-359",),
    masvs=("MASVS-PRIVACY-1",),
    source=DEVICE_ID,
    sink=SMS,
    path=(
        Step(ON_CREATE, "id = manager.getDeviceId()", "the call returns the device id"),
        Step(replace(ON_CREATE, pc=16, line=24), "sender.send(id)", "passed as argument 1"),
        Step(SEND, "sms.sendTextMessage(number, null, text, null, null)", "argument 3 leaves the app by SMS"),
    ),
)


def sample(**changes: Any) -> Report:
    """A complete report of a small app with one finding of severity high, with some fields changed."""
    report = Report(
        tool=Tool("gdroid", "0.1.0"),
        app=AppInfo("leak.apk", "0" * 64, "org.example", "1.0", 1, 21, 34, ("classes.dex",)),
        status="complete",
        limits=(LimitRecord("wall_time_s", 540.0), LimitRecord("memory_mb", 16000)),
        phases=(Phase("container", "complete", 0.1234567, 50.04), Phase("solve", "complete", 1.0, 120.0)),
        components=(ComponentRecord("org.example.Main", "activity", True, "complete"),),
        engine=EngineRecord("cpu", "2 cores"),
        stats=Stats(
            classes=3,
            methods=12,
            reachable_methods=7,
            instructions=90,
            icfg_nodes=80,
            icfg_edges=95,
            slots=40,
            tokens=30,
            facts=210,
            call_sites=20,
            unresolved_calls=1,
        ),
        findings=(LEAK,),
    )
    return replace(report, **changes)


def partial(**changes: Any) -> Report:
    """A report of an analysis that ran out of time and found nothing."""
    return sample(
        **{
            "status": "partial",
            "limits": (LimitRecord("wall_time_s", 540.0, True, ("solve",)), LimitRecord("memory_mb", 16000)),
            "phases": (Phase("container", "complete", 0.1, 50.0), Phase("solve", "partial", 540.0, 900.0)),
            "components": (ComponentRecord("org.example.Main", "activity", True, "partial"),),
            "problems": (ProblemRecord("classes2.dex", "bad magic at offset 0"),),
            "findings": (),
            **changes,
        }
    )
