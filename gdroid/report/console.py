"""The report for a person at a terminal: findings first, then what was analysed and how completely.

Nothing that an app's author chose reaches the terminal as it is: every string passes `visible`, and is given to rich
as `Text`, which knows no markup.
"""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from gdroid.report.escape import visible
from gdroid.report.model import LEVELS, Finding, Location, Report, Sink, Source, Step
from gdroid.report.words import counted, method_in_words, position_in_words

WIDTH = 120
"""Columns, where the output is not a terminal."""

_COLOURS = {"high": "bold white on red", "medium": "bold black on yellow", "low": "bold black on cyan"}
_STATUS_COLOURS = {"complete": "green", "partial": "yellow", "failed": "red"}
_STEPS = 10
"""Steps of a longer path are left out in the middle unless all are asked for."""
_LISTED = 8
"""Entries shown of a list that only explains."""
_INDENT, _NUMBER = 12, 4
"""Columns before the text of a finding, and of the number of a step."""
_DETAILED = 30
"""Findings told one by one. Where there are more, one is told for each of so many sinks; others are counted."""


_MEASURE = Console(file=io.StringIO(), width=WIDTH, legacy_windows=False)
"""Knows how wide characters are."""


def render(report: Report, *, width: int = WIDTH, colour: bool = False, full: bool = False) -> str:
    """The report as text, `width` columns wide; `colour` adds ANSI styles, `full` shows every step and entry."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in _parts(report, full, width):
        console.print(part)
    lines = out.getvalue().splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _parts(report: Report, full: bool, width: int) -> Iterable[RenderableType]:
    yield _heading(report)
    yield Text()
    yield _verdict(report)
    told = report.findings if full or len(report.findings) <= _DETAILED else ()
    for finding in told:
        yield Text()
        yield _finding(finding, full, width)
    if len(told) < len(report.findings):
        yield from _by_sink(report.findings, width)
    yield Text()
    yield _completeness(report, full)


def _by_sink(findings: tuple[Finding, ...], width: int) -> Iterable[RenderableType]:
    """Many findings: one for each sink statement, the worst first, with what else reaches it; then sinks by method."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        place = finding.sink.location if finding.sink is not None else finding.id
        groups.setdefault((finding.severity, finding.rule, _sink_words(finding), place), []).append(finding)
    every = list(groups.values())
    for first, *others in every[:_DETAILED]:
        yield Text()
        yield _finding(first, False, width, others)
    if every[_DETAILED:]:
        yield Text()
        yield _counts(every[_DETAILED:])


def _counts(groups: list[list[Finding]]) -> RenderableType:
    """Findings that are not told one by one, a line for each rule and sink method."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for group in groups:
        one = group[0]
        count = found.setdefault((one.severity, one.title, _sink_words(one)), [0, 0])
        count[0] += len(group)
        count[1] += 1
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for (severity, title, sink), (n, places) in list(found.items())[:_DETAILED]:
        line = Text(f"{counted(n, 'more finding')} in {counted(places, 'place')}: ")
        line.append(visible(title), style="bold")
        line.append(f", {visible(sink)}" if sink else "")
        table.add_row(Text(f" {severity.upper()} ", style=_COLOURS[severity]), line)
    left = sum(n for n, _ in list(found.values())[_DETAILED:])
    words = f"and {counted(left, 'more finding')}; " if left else ""
    table.add_row(Text(), Text(f"{words}-v tells them all, one by one", style="dim"))
    return table


def _sink_words(finding: Finding) -> str:
    return method_in_words(finding.sink.signature) if finding.sink is not None else ""


def _others(others: list[Finding]) -> Text:
    """Where else the data of the same sink comes from."""
    names = sorted({method_in_words(f.source.signature) for f in others if f.source is not None})
    line = Text(f"{counted(len(others), 'more finding')} at this sink")
    line.append(f": {', '.join(_shortened(names, False))}" if names else "")
    return line


def _heading(report: Report) -> Text:
    app = report.app
    line = Text(visible(app.path), style="bold")
    if app.package is not None:
        line.append(f"  {visible(app.package)}")
    if app.version_name is not None:
        line.append(f" {visible(app.version_name)}")
    if app.version_code is not None:
        line.append(f" ({app.version_code})")
    return line


def _verdict(report: Report) -> Text:
    """What was found, in one sentence. Only a complete analysis says that there is nothing."""
    if report.findings:
        by_level = [(level, sum(f.severity == level for f in report.findings)) for level in reversed(LEVELS)]
        line = Text(counted(len(report.findings), "finding") + ": ", style="bold")
        line.append(", ".join(f"{n} {level}" for level, n in by_level if n))
        if report.status != "complete":
            line.append("; there may be more, as the analysis is incomplete", style=_STATUS_COLOURS["partial"])
        return line
    if report.status == "complete":
        return Text("No leaks found.", style="bold green")
    words = "The analysis failed" if report.status == "failed" else "The analysis is incomplete"
    return Text(f"{words}: that nothing was found means little.", style=f"bold {_STATUS_COLOURS[report.status]}")


def _finding(finding: Finding, full: bool, width: int, others: list[Finding] | None = None) -> RenderableType:
    title = Text()
    title.append(f" {finding.severity.upper()} ", style=_COLOURS[finding.severity])
    title.append(f" {visible(finding.title)}", style="bold")
    title.append(f"  {visible(finding.rule)} {visible(finding.id)}", style="dim")
    page = _Page(width)
    page.add("", title, 0)
    if finding.source is not None:
        _end(page, "source", finding.source)
    if finding.sink is not None:
        _end(page, "sink", finding.sink)
    if finding.path:
        _path(page, finding.path, full)
    if finding.rests_on:
        page.add("rests on", _list(finding.rests_on, full))
    page.add("about", Text(", ".join(_about(finding)), style="dim"))
    if others:
        page.add("also", _others(others))
    return page.text()


class _Page:
    """Lines under labels, as wide as the terminal. Tables of rich do the same, a hundred times slower."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[Text] = []

    def add(self, label: str, text: Text, indent: int = _INDENT, number: str = "") -> None:
        """Adds text behind a label, or behind a number that stands to the right of the labels."""
        if number:
            indent += _NUMBER
        room = max(self.width - indent, 1)
        first = Text(f"  {label}".ljust(indent)[:indent] if indent else "", style="dim")
        if number:
            first = Text(f"{number} ".rjust(indent), style="dim")
        for line in text.split("\n", allow_blank=True) if "\n" in text.plain else [text]:
            fits = [line] if line.cell_len <= room else line.wrap(_MEASURE, room, overflow="fold")
            for part in fits:
                first.append_text(part)
                self.lines.append(first)
                first = Text(" " * indent)

    def text(self) -> Text:
        """All lines, which are not to be wrapped again."""
        page = Text("\n", no_wrap=True, overflow="ignore", end="\n").join(self.lines)
        page.no_wrap, page.overflow = True, "ignore"
        return page


def _end(page: _Page, label: str, end: Source | Sink) -> None:
    line = Text(visible(method_in_words(end.signature)))
    if isinstance(end, Sink) and end.argument:
        line.append(f", {visible(position_in_words(end.argument))}")
    page.add(label, line)
    page.add("", _place(end.location))


def _about(finding: Finding) -> list[str]:
    known = [visible(name) for name in (*finding.cwe, *finding.masvs)]
    return [f"{finding.confidence} confidence", *known]


def _place(location: Location) -> Text:
    """`in a.b.Main.onCreate, Main.java:23`"""
    line = Text("in ", style="dim")
    line.append(visible(f"{location.class_name}.{location.method}"), style="not dim")
    if location.file is not None and location.line is not None:
        line.append(f", {visible(location.file)}:{location.line}", style="not dim cyan")
    elif location.line is not None:
        line.append(f", line {location.line}", style="not dim cyan")
    elif location.pc is not None:
        line.append(f", pc {location.pc}", style="not dim cyan")
    return line


def _path(page: _Page, path: tuple[Step, ...], full: bool) -> None:
    hidden = range(0) if full or len(path) <= _STEPS else range(_STEPS // 2, len(path) - _STEPS // 2)
    last_place: tuple[str, str] | None = None
    label = "path"
    for number, step in enumerate(path, 1):
        if number - 1 in hidden:
            if number - 1 == hidden[0]:
                page.add(label, Text(f"{counted(len(hidden), 'step')} left out; -v shows all", style="dim"), number="…")
            last_place = None
            continue
        place = (step.location.class_name, step.location.method)
        if place != last_place:
            page.add(label, _place_of_steps(step.location))
            last_place, label = place, ""
        page.add("", _step(step), number=str(number))


def _place_of_steps(location: Location) -> Text:
    line = Text("in ", style="dim")
    line.append(visible(f"{location.class_name}.{location.method}"))
    if location.component is not None and location.component != location.class_name:
        line.append(f" (component {visible(location.component)})")
    return line


def _step(step: Step) -> Text:
    location = step.location
    line = Text()
    if location.line is not None:
        line.append(f"{visible(location.file or 'line')}:{location.line}  ", style="cyan")
    elif location.pc is not None:
        line.append(f"pc {location.pc}  ", style="cyan")
    line.append(visible(step.statement))
    if step.why:
        line.append(f"\n    {visible(step.why)}", style="italic dim")
    return line


def _completeness(report: Report, full: bool) -> RenderableType:
    rows = _rows()
    status = Text(report.status, style=f"bold {_STATUS_COLOURS[report.status]}")
    undone = [phase for phase in report.phases if phase.status != "complete"]
    if undone:
        status.append("; " + ", ".join(f"{visible(phase.name)} {phase.status}" for phase in undone))
    rows.add_row(_label("analysis"), status)
    hit = [limit for limit in report.limits if limit.hit]
    rows.add_row(_label("limits hit"), _limits(report, full) if hit else Text("none"))
    rows.add_row(_label("components"), _components(report, full))
    if report.problems:
        problems = [f"{problem.where}: {problem.what}" for problem in report.problems]
        rows.add_row(_label("skipped"), _list(problems, full))
    rows.add_row(_label("analysed"), Text(_amount(report)))
    seconds = sum(phase.seconds for phase in report.phases)
    peak = max((phase.peak_mb for phase in report.phases), default=0.0)
    engine = f"{visible(report.engine.name)} ({visible(report.engine.device)})"
    tool = f"{visible(report.tool.name)} {visible(report.tool.version)}"
    if full and report.phases:
        rows.add_row(_label("phases"), _phases(report))
    rows.add_row(_label("took"), Text(f"{seconds:.1f} s, at most {peak:,.0f} MB, engine {engine}, {tool}"))
    return rows


def _phases(report: Report) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    for _ in range(2):
        table.add_column(justify="right", no_wrap=True)
    for phase in report.phases:
        table.add_row(Text(visible(phase.name)), Text(f"{phase.seconds:.2f} s"), Text(f"{phase.peak_mb:,.0f} MB"))
    return table


def _limits(report: Report, full: bool) -> Text:
    lines = []
    for limit in report.limits:
        if limit.hit:
            where = _shortened(limit.where, full)
            lines.append(f"{visible(limit.name)} = {limit.value:g}" + (f" at {', '.join(where)}" if where else ""))
    return Text("\n".join(lines), style=_STATUS_COLOURS["partial"])


def _components(report: Report, full: bool) -> Text:
    components = report.components
    if not components:
        return Text("none declared")
    kinds: dict[str, int] = {}
    for component in components:
        kinds[component.kind] = kinds.get(component.kind, 0) + 1
    exported = sum(component.exported for component in components)
    kind_words = ", ".join(f"{n} {visible(kind)}" for kind, n in sorted(kinds.items()))
    line = Text(f"{len(components)} ({kind_words}), {exported} exported")
    undone = [c for c in components if c.status != "complete"]
    if undone:
        names = _shortened([f"{c.name} ({c.status})" for c in undone], full)
        line.append("\nnot complete: " + ", ".join(names), style=_STATUS_COLOURS["partial"])
    return line


def _amount(report: Report) -> str:
    stats = report.stats
    modelled = f" ({stats.modelled_classes:,} of libraries that models stand for)" if stats.modelled_classes else ""
    return (
        f"{counted(len(report.app.dex_files), 'dex file')}, {counted(stats.classes, 'class', 'classes')}{modelled}, "
        f"{stats.reachable_methods:,} of {counted(stats.methods, 'method')} reachable, "
        f"{counted(stats.instructions, 'instruction')}, {counted(stats.facts, 'fact')}, "
        f"{stats.unresolved_calls:,} of {counted(stats.call_sites, 'call')} unresolved"
    )


def _list(entries: Iterable[str], full: bool) -> Text:
    return Text("\n".join(_shortened(entries, full)))


def _shortened(entries: Iterable[str], full: bool) -> list[str]:
    shown = [visible(entry) for entry in entries]
    if full or len(shown) <= _LISTED:
        return shown
    return [*shown[:_LISTED], f"and {len(shown) - _LISTED} more (-v shows all)"]


def _rows() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _label(name: str) -> Text:
    return Text(name, style="dim")
