"""Source lines: the debug_info state machine, run when a line is asked for."""

from __future__ import annotations

from collections.abc import Sequence

_MAX_STEPS = 1_000_000


def _uleb(data: Sequence[int], p: int, end: int) -> tuple[int, int]:
    """ULEB128 at p; IndexError where it is cut off."""
    value = shift = 0
    while shift < 35:
        if p >= end:
            raise IndexError(p)
        byte = data[p]
        p += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return value, p


def _sleb(data: Sequence[int], p: int, end: int) -> tuple[int, int]:
    """SLEB128 at p; IndexError where it is cut off."""
    value, q = _uleb(data, p, end)
    if data[q - 1] & 0x40:
        value -= 1 << 7 * (q - p)
    return value, q


def line_table(data: Sequence[int], p: int, end: int, units: int) -> tuple[list[int], list[int]]:
    """Positions of the debug_info item at offset p of `data`, which ends at `end`, for code of so many units.

    Returns pcs, ascending, and the line that starts at each. A damaged item gives what stands before the damage.
    """
    pcs: list[int] = []
    lines: list[int] = []
    # Arguments of the opcodes below 10: u an unsigned, s a signed number.
    skipped = {0x03: "uuu", 0x04: "uuuu", 0x05: "u", 0x06: "u", 0x07: "", 0x08: "", 0x09: "u"}
    try:
        line, p = _uleb(data, p, end)
        parameters, p = _uleb(data, p, end)
        if parameters > end - p:
            return pcs, lines
        for _ in range(parameters):
            _name, p = _uleb(data, p, end)
        pc = 0
        for _ in range(_MAX_STEPS):
            if p >= end:
                break
            op = data[p]
            p += 1
            if op >= 0x0A:
                pc += (op - 0x0A) // 15
                line += (op - 0x0A) % 15 - 4
                if pc >= units:
                    break
                if pcs and pcs[-1] == pc:
                    lines[-1] = line
                else:
                    pcs.append(pc)
                    lines.append(line)
            elif op == 0x00:
                break
            elif op == 0x01:
                step, p = _uleb(data, p, end)
                pc += step
            elif op == 0x02:
                step, p = _sleb(data, p, end)
                line += step
            else:
                for _argument in skipped[op]:
                    _value, p = _uleb(data, p, end)
    except IndexError:
        pass
    return pcs, lines
