"""`gdroid analyze`: one app after the other, a report for each, and an exit code that a CI job can use."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.limits import Limits
from gdroid import config
from gdroid.cli import exits, formats, output, progress
from gdroid.cli.shared import all_code_option, engine_option, existing, positive
from gpu.errors import WrongConfiguration

if TYPE_CHECKING:
    from gdroid.options import Options
    from gdroid.report.model import Report


@click.command("analyze")
@click.argument("apps", metavar="APP...", nargs=-1, required=True)
@click.option(
    "-o", "--output", "outputs", metavar="FILE", multiple=True, help="Write the report here; may be repeated."
)
@click.option("--format", "form", type=click.Choice(config.FORMATS), help="Of the report, where no suffix says it.")
@engine_option
@click.option("--rules", metavar="PATH", multiple=True, help="Rule file besides those that ship; may be repeated.")
@all_code_option
@click.option("--fail-on", type=click.Choice(config.GATES), help="Severity that gives exit code 1; default high.")
@click.option(
    "--timeout", type=float, callback=positive, metavar="SECONDS", help="Wall time for each app; then a partial report."
)
@click.option("--memory", type=int, callback=positive, metavar="MB", help="Memory for each app; then a partial report.")
@click.option("--together", is_flag=True, help="Analyse the apps as one system that they form.")
@click.option("-v", "--verbose", is_flag=True, help="Whole paths and lists, time by phase, tracebacks.")
@click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors.")
def command(
    apps: tuple[str, ...],
    outputs: tuple[str, ...],
    form: str | None,
    engine: str | None,
    rules: tuple[str, ...],
    all_code: bool,
    fail_on: str | None,
    timeout: float | None,
    memory: int | None,
    together: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Report what each app leaks.

    Without -o the report goes to standard output. A file's suffix says its format (.json, .txt); with several apps
    each -o is a folder that gets a file per app, with --together there is one report. Options may stand in
    gdroid.toml or [tool.gdroid] of pyproject.toml.
    """
    if verbose and quiet:
        raise WrongConfiguration("-v and -q exclude each other")
    settings = config.read(Path())
    options = _options(settings, engine, rules, all_code, timeout, memory)
    gate = fail_on or settings.fail_on or "high"
    if together:
        for app in apps[1:]:
            existing(Path(app))
        options = replace(options, together=tuple(map(Path, apps[1:])))
        apps = apps[:1]
    several = len(apps) > 1
    jobs = [(app, formats.targets(outputs, form or settings.format, Path(app), several)) for app in apps]
    _check([target for _, targets in jobs for target in targets])
    return exits.worst(_one(Path(app), targets, options, gate, several, verbose, quiet) for app, targets in jobs)


def _options(
    settings: config.Config,
    engine: str | None,
    rules: tuple[str, ...],
    all_code: bool,
    timeout: float | None,
    memory: int | None,
) -> Options:
    """The command line over the configuration file over the defaults."""
    from gdroid.options import Options

    limits = Limits(**settings.limits or {})  # type: ignore[arg-type]  # config has checked each
    wall_time_s = timeout or settings.timeout or limits.wall_time_s
    memory_mb = memory or settings.memory or limits.memory_mb
    files = (*settings.rules, *map(Path, rules))
    for file in files:
        if not file.exists():
            raise WrongConfiguration(f"{file}: no such rule file")
    return Options(
        engine=engine or settings.engine or "auto",
        rules=files,
        all_code=all_code or bool(settings.all_code),
        limits=replace(limits, wall_time_s=wall_time_s, memory_mb=memory_mb),
    )


def _check(targets: list[formats.Target]) -> None:
    """Refuses outputs that cannot be written, or that two reports would share, before any app is analysed."""
    seen: set[Path] = set()
    for target in targets:
        if target.path is not None:
            output.writable(target.path)
            if target.path in seen:
                raise WrongConfiguration(f"{target.path}: two reports would be written to this file")
            seen.add(target.path)


def _one(
    app: Path,
    targets: list[formats.Target],
    options: Options,
    gate: str,
    several: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Analyses one app; an error in it is said and becomes its exit code, so that the next app has its turn."""
    try:
        existing(app)
        from gdroid import pipeline

        with progress.shown(app.name, wanted=not quiet) as callback:
            report = pipeline.analyze(app, replace(options, progress=callback))
        for target in targets:
            formats.write(report, target, full=verbose, several=several)
    except Exception as error:  # noqa: BLE001  one app must not take the others with it
        return exits.report(error, str(app), verbose=verbose)
    written = [str(target.path) for target in targets if target.path is not None]
    if written and not quiet:
        print(_summary(app, report, written), file=sys.stderr)
    return code_of(report, gate)


def _summary(app: Path, report: Report, written: list[str]) -> str:
    from gdroid.report.escape import visible
    from gdroid.report.words import counted

    found = counted(len(report.findings), "finding")
    return visible(f"{app}: {found}, analysis {report.status}; wrote {', '.join(written)}", longest=1000)


def code_of(report: Report, gate: str) -> int:
    """The exit code that a report stands for, `gate` being a severity or `never`."""
    from gdroid.report.model import LEVELS

    if gate != "never":
        floor = [str(level) for level in LEVELS].index(gate)
        if any(LEVELS.index(finding.severity) >= floor for finding in report.findings):
            return exits.FINDINGS
    return exits.OK if report.status == "complete" else exits.INCOMPLETE
