"""Problems written by hand: methods one after the other, each with blocks, each with operations."""

from __future__ import annotations

from gpu.problem import CHANNEL, HEAP, LABEL, VALUE, Problem
from tests.gpu.random_problems import Arrays


class Tiny:
    """Writes a problem by hand: methods one after the other, each with blocks, each with operations."""

    def __init__(self) -> None:
        self.a = Arrays()
        self.a.offsets = {"scc_off": [0], "block_off": [0]}
        for name in ("mask", "link", "call", "bind", "write", "region", "alias", "bits", "clear", "sumcol", "sumrow"):
            self.a.offsets[f"{name}_off"] = [0]
        self.summaries = 0

    def link(self, *pairs: tuple[int, int]) -> int:
        for column, row in pairs:
            self.a.add(link_col=column, link_row=row)
        return self.a.close("link_off", "link_col")

    def mask(self, *columns: int) -> int:
        for column in columns:
            self.a.add(mask_col=column)
        return self.a.close("mask_off", "mask_col")

    def summary(
        self,
        columns: list[tuple[int, int, list[int], list[int]]],
        rows: list[tuple[int, list[int]]],
    ) -> int:
        """(kind, parent, region, alias) per column; (owner, bits) per row."""
        a = self.a
        for kind, parent, region, alias in columns:
            a.add(sumcol_kind=kind, sumcol_parent=parent)
            for c in region:
                a.add(region_col=c)
            a.close("region_off", "region_col")
            for r in alias:
                a.add(alias_row=r)
            a.close("alias_off", "alias_row")
        a.close("sumcol_off", "sumcol_kind")
        for owner, bits in rows:
            a.add(sumrow_owner=owner)
            for c in bits:
                a.add(bits_col=c)
            a.close("bits_off", "bits_col")
        self.summaries += 1
        return a.close("sumrow_off", "sumrow_owner")

    def call(self, *applications: tuple[int, list[tuple[int, int, int]], list[tuple[int, int, int]]]) -> int:
        """(summary, binds (at, link, mask), writes (row, link, mask)) per application."""
        a = self.a
        for summary, binds, writes in applications:
            a.add(app_summary=summary)
            for at, link, mask in binds:
                a.add(bind_at=at, bind_link=link, bind_mask=mask)
            a.close("bind_off", "bind_at")
            for row, link, mask in writes:
                a.add(write_row=row, write_link=link, write_mask=mask)
            a.close("write_off", "write_row")
        return a.close("call_off", "app_summary")

    def method(
        self,
        columns: int,
        rows: tuple[int, int, int],
        blocks: list[tuple[list[tuple[int, int, int, int, int, list[int]]], list[int]]],
        *,
        entry: tuple[tuple[int, int], ...] = (),
        exit_block: int = -1,
        exports: tuple[tuple[int, int, int, int], ...] = (),
        names: dict[int, int] | None = None,
        labels: tuple[int, ...] = (),
        row_masks: dict[int, int] | None = None,
        new_component: bool = True,
    ) -> None:
        """Operations are (kind, dst, src, link, mask, clears); rows are numbers of values, heap rows, channels."""
        a = self.a
        a.add(method_key=len(a.values.get("method_key", [])), exit_block=exit_block)
        for c in range(columns):
            a.add(col_flag=LABEL if c in labels else 0, col_export=(names or {}).get(c, -1))
        a.close("col_off", "col_flag")
        for r in range(sum(rows)):
            kind = VALUE if r < rows[0] else HEAP if r < rows[0] + rows[1] else CHANNEL
            a.add(row_kind=kind, row_mask=(row_masks or {}).get(r, -1))
        a.close("row_off", "row_kind")
        for row, column in entry:
            a.add(entry_row=row, entry_col=column)
        a.close("entry_off", "entry_row")
        for ops, succ in blocks:
            for kind, dst, src, link, mask, clears in ops:
                a.add(op_kind=kind, op_dst=dst, op_src=src, op_link=link, op_mask=mask, op_origin=0)
                for row in clears:
                    a.add(clear_row=row)
                a.close("clear_off", "clear_row")
            a.close("op_off", "op_kind")
            for t in succ:
                a.add(succ=t)
            a.close("succ_off", "succ")
        a.offsets["block_off"].append(a.offsets["block_off"][-1] + len(blocks))
        for row, to, skip, mask in exports:
            a.add(export_row=row, export_to=to, export_skip=skip, export_mask=mask)
        a.close("export_off", "export_row")
        if not new_component:
            a.offsets["scc_off"].pop()
        a.offsets["scc_off"].append(a.offsets["scc_off"][-1] + 1 if new_component else len(a.values["method_key"]))

    def problem(self) -> Problem:
        return self.a.problem()
