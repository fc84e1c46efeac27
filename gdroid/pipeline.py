"""The stages in order: from a path to a report."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from pathlib import Path

import gdroid
from gdroid.app import App, load
from gdroid.budget import OutOfBudget
from gdroid.locations import Places
from gdroid.options import Options
from gdroid.report.model import (
    AppInfo,
    ComponentRecord,
    EngineRecord,
    Finding,
    LimitRecord,
    Phase,
    ProblemRecord,
    Report,
    Sink,
    Source,
    Stats,
    Step,
    Tool,
)


def analyze(path: Path, options: Options) -> Report:
    """Analyses one app.

    Raises:
        UnreadableInput: nothing of the file can be read.
        WrongConfiguration: a bad rule file or engine name.
        EngineUnavailable: the engine that was asked for cannot run here.
    """
    app = load(path, options)
    findings: tuple[Finding, ...] = ()
    solved = True
    app.knowledge  # noqa: B018  (bad rules are told before the long work)
    try:
        findings = _findings(app)
    except OutOfBudget:
        solved = False
    return _report(app, findings, solved)


def _findings(app: App) -> tuple[Finding, ...]:
    from analyzer.conditions import Conditions
    from analyzer.taint import leaks
    from analyzer.witness import Witnesses

    idfg = app.idfg(app.options.engine)
    conditions = Conditions(idfg, app.files, app.knowledge)
    app.budget.until(0.95)
    witnesses = Witnesses(idfg, app.options.limits.witness_steps, app.budget.has_time)

    def work() -> tuple[Finding, ...]:
        places = Places(app)
        found = leaks(idfg, app.knowledge.rules_for, conditions.holds, witnesses)
        if witnesses.stopped:
            app.hits.setdefault("wall_time_s", set()).add("findings")
        result = []
        for leak in found:
            rule = leak.rule
            argument = "this" if leak.position < 0 else f"arg{leak.position}"
            result.append(
                Finding(
                    id="",
                    rule=rule.id,
                    kind=rule.kind,  # type: ignore[arg-type]
                    title=rule.title,
                    severity=rule.severity,  # type: ignore[arg-type]
                    confidence=leak.confidence,
                    cwe=rule.cwe,
                    masvs=rule.masvs,
                    source=Source(places.signature(leak.source_site), places.of_site(leak.source_site)),
                    sink=Sink(places.signature(leak.sink_site), argument, places.of_site(leak.sink_site)),
                    path=tuple(
                        Step(places.of(s.method, s.op), places.statement(s.method, s.op), s.why) for s in leak.path
                    ),
                    rests_on=leak.rests_on,
                )
            )
        return tuple(result)

    return app._phase("findings", work, lambda: "partial" if witnesses.stopped else "complete")


def _report(app: App, findings: tuple[Finding, ...], solved: bool) -> Report:
    files = app.files
    manifest = files.manifest
    problems = [ProblemRecord(p.where, p.what) for p in files.problems]
    problems += [ProblemRecord(f"{p.file}: {p.where}", p.what) for p in app.program.dex.problems]
    damaged = app.context.damaged if "context" in app.__dict__ else {}
    problems += [ProblemRecord(app.program.signature(m), what) for m, what in sorted(damaged.items())]
    lost = any(p.lost for p in files.problems) or bool(app.program.dex.problems) or bool(damaged)
    if "graph" in app.__dict__:
        problems += [ProblemRecord(p.where, p.what) for p in app.graph.problems]
    complete = solved and not lost and not app.hits
    return Report(
        tool=Tool("gdroid", gdroid.__version__),
        app=AppInfo(
            path=" + ".join(map(str, (app.path, *app.options.together))),
            sha256=files.sha256,
            package=manifest.package if manifest else None,
            version_name=manifest.version_name if manifest else None,
            version_code=manifest.version_code if manifest else None,
            min_sdk=manifest.min_sdk if manifest else None,
            target_sdk=manifest.target_sdk if manifest else None,
            dex_files=tuple(f.name for f in files.dex),
        ),
        status="complete" if complete else "partial",
        limits=_limits(app),
        phases=tuple(Phase(p.name, p.status, round(p.seconds, 3), round(p.peak_mb, 1)) for p in app.phases),  # type: ignore[arg-type]
        components=_components(app),
        engine=EngineRecord(app.engine_name or "none", _device(app.engine_name)),
        stats=_stats(app),
        findings=findings,
        problems=tuple(problems),
    )


def _device(engine: str) -> str:
    from gpu import engine as engines

    return engines.device(engine)


def _limits(app: App) -> tuple[LimitRecord, ...]:
    """Every limit, with where it was hit."""
    hits = {name: set(where) for name, where in app.hits.items()}
    if "context" in app.__dict__:
        ctx, signature = app.context, app.program.signature
        for m, level in app.levels.items():
            if level:
                hits.setdefault("export_app" if ctx.is_own(m) else "export_library", set()).add(signature(m))
        for m in ctx.folded:
            hits.setdefault("tokens_per_method", set()).add(signature(m))
        for m in ctx.merged:
            hits.setdefault("keys_per_object", set()).add(signature(m))
        for m, _ in app.graph.cut:
            hits.setdefault("targets_per_call", set()).add(signature(m))
    limits = app.options.limits
    return tuple(
        LimitRecord(f.name, getattr(limits, f.name), f.name in hits, tuple(sorted(hits.get(f.name, ()))))
        for f in dataclass_fields(limits)
    )


def _components(app: App) -> tuple[ComponentRecord, ...]:
    if "graph" not in app.__dict__:
        return ()
    done = app._idfgs and app.encoded.layouts
    found = []
    for entry in app.graph.components:
        status = "complete"
        if entry.status == "missing class":
            status = "failed"
        elif entry.environment >= 0 and (not done or entry.environment not in done):
            status = "partial"
        c = entry.component
        found.append(ComponentRecord(c.name, c.kind, c.exported, status))  # type: ignore[arg-type]
    return tuple(found)


def _stats(app: App) -> Stats:
    from analyzer.icfg import size

    dex = app.program.dex
    stats = {
        "classes": len(dex.class_type),
        "methods": len(dex.em_method),
        "instructions": len(dex.op),
        "modelled_classes": sum(app.modelled.holds(app.program.type_name(c.type)) for c in app.program.classes),
    }
    if "graph" in app.__dict__:
        stats["reachable_methods"] = sum(m < app.program.n_dex_methods for m in app.graph.methods)
    if app._idfgs:
        nodes, edges, calls, unresolved = size(app.context, app.graph)
        solution = next(iter(app._idfgs.values())).solution
        problem = app.encoded.problem
        stats |= {
            "icfg_nodes": nodes,
            "icfg_edges": edges,
            "slots": int(problem.row_off[-1]),
            "tokens": int(problem.col_off[-1]),
            "facts": solution.n_facts,
            "call_sites": calls,
            "unresolved_calls": unresolved,
        }
    return Stats(**stats)
