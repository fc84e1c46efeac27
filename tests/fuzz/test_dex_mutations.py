"""Mutated dex files: the reader answers or says why not, in bounded time and memory, without a crash.

Each batch of mutations runs in a forked process with an alarm and a limit on memory, so that a segmentation fault or a
hang is a failed test with the input that caused it. GDROID_FUZZ_S sets the seconds per seed file set (10 by default,
60 or more in CI).
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from analyzer.dex import Dex, read
from gpu.errors import UnreadableInput, UnsupportedFeature
from tests.analyzer.dex.builder import Class, Code, Method, Writer, container, uleb
from tests.analyzer.dex.oracle import dex_entries

ROOT = Path(__file__).resolve().parents[2]
SECONDS = float(os.environ.get("GDROID_FUZZ_S", "10"))
BATCH = 25
ALARM_S = 20
MEMORY_BYTES = 4 << 30
INTERESTING = (0, 1, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def rich() -> bytes:
    """One dex file with every table that a reader has."""
    writer = Writer(version=39)
    name, proto = writer.string("name"), writer.proto("(I)V")
    boot = writer.method("La;", "boot", "()V")
    writer.handles += [(4, boot)] * 3
    writer.call_sites += [uleb(4) + bytes([0x16, 0, 0x17, name, 0x15, proto, 0x04, 7])] * 3
    switches = [0x002B, 14, 0, 0x002C, 19, 0, 0x0026, 26, 0, 0x10FC, 0, 0, 0x000E, 0]
    switches += [0x0100, 2, 5, 0, 3, 0, 6, 0, 0x0200, 2, 1, 0, 2, 0, 3, 0, 6, 0, 0x0300, 2, 2, 0, 1, 2]
    switches[1], switches[4], switches[7] = 14, 22 - 3, 32 - 6
    tries = [(0, 3, [("Lx;", 6), ("Ly;", 9)], None), (3, 3, [("Lx;", 6)], 12), (6, 3, [], 12)]
    debug = uleb(1) + uleb(1) + uleb(0) + bytes([0x0E, 0x02, 0x7F, 0x01, 0x03, 0x1E, 0x00])
    for i in range(4):
        values = uleb(4) + b"\x17\x00\x04\x07\x1c\x02\x1e\x1f\x31\xf0\x3f"
        writer.add(
            Class(
                f"Lc{i};",
                interfaces=["Li;", "Lj;"],
                source="x.java",
                static_fields=[(f"f{j}", "I", 9) for j in range(5)],
                instance_fields=[("g", "[I", 2)],
                direct=[Method("m", "(IJ)V", code=Code(switches, registers=5, tries=tries, debug=debug))],
                virtual=[Method("v", access=0x401)],
                static_values=values,
            )
        )
    return writer.build()


def seeds() -> dict[str, bytes]:
    """Small dex files, by name."""
    files = {"rich": rich()}
    for name in ("Switches_Bad", "LambdasInvokeCustom_Bad", "Exceptions_Bad"):
        path = ROOT / "apks" / f"{name}.apk"
        if path.exists():
            files[name] = dex_entries(path)[0]
    parts = [Writer() for _ in range(3)]
    for i, writer in enumerate(parts):
        writer.add(Class(f"L{i};", direct=[Method("m", code=Code([0x001A, 0, 0x000E]))]))
    files["container"] = container(parts)
    return files


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Damage up to 60 places; sometimes cut the file, most often in its tables or code."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20, 60))):
        at = rng.randrange(len(out)) if rng.random() < 0.6 else rng.randrange(min(0x78, len(out)))
        how = rng.randrange(5)
        if how == 0:
            out[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            out[at] = rng.randrange(256)
        elif how == 2:
            value = rng.choice(INTERESTING).to_bytes(4, "little")
            out[at & ~3 : (at & ~3) + 4] = value
        elif how == 3:
            value = rng.randrange(len(out) + 64).to_bytes(4, "little")
            out[at & ~3 : (at & ~3) + 4] = value
        else:
            start, size = rng.randrange(len(out)), rng.randrange(1, 32)
            out[at : at + size] = out[start : start + size]
    if rng.random() < 0.1:
        del out[rng.randrange(len(out)) :]
    return bytes(out)


def check(dex: Dex) -> None:
    """Every id and offset of the result is in range, so no later stage can be led astray."""
    n_strings, n_types = len(dex.strings), len(dex.type_descriptor)
    n_protos, n_fields, n_methods = len(dex.proto_return), len(dex.field_name), len(dex.method_name)
    n_code, n_insns = len(dex.code_off), len(dex.op)

    def within(column: NDArray[Any], limit: int, least: int = 0) -> None:
        assert len(column) == 0 or (least <= int(column.min()) and int(column.max()) < limit)

    def csr(column: NDArray[Any], rows: int, target: int) -> None:
        assert len(column) == rows + 1
        assert column[0] == 0
        assert column[-1] == target
        assert (np.diff(column) >= 0).all()

    for column, limit, least in (
        *((dex.type_descriptor, n_strings, 0), (dex.proto_return, n_types, 0), (dex.proto_params, n_types, 0)),
        *((dex.field_class, n_types, 0), (dex.field_type, n_types, 0), (dex.field_name, n_strings, 0)),
        *((dex.method_class, n_types, 0), (dex.method_name, n_strings, 0), (dex.method_proto, n_protos, 0)),
        *((dex.class_type, n_types, 0), (dex.class_super, n_types, -1), (dex.class_interfaces, n_types, 0)),
        *((dex.class_source, n_strings, -1), (dex.class_dex, len(dex.names), 0)),
        *((dex.em_class, len(dex.class_type), 0), (dex.em_method, n_methods, 0), (dex.em_code, n_code, -1)),
        *((dex.ef_class, len(dex.class_type), 0), (dex.ef_field, n_fields, 0)),
        *((dex.handler_type, n_types, -1), (dex.code_status, 11, 0)),
        *((dex.call_site_handle, len(dex.method_handle_kind), -1), (dex.call_site_name, n_strings, -1)),
        (dex.call_site_proto, n_protos, -1),
    ):
        within(column, limit, least)
    csr(dex.proto_params_off, n_protos, len(dex.proto_params))
    csr(dex.class_interfaces_off, len(dex.class_type), len(dex.class_interfaces))
    csr(dex.class_em_off, len(dex.class_type), len(dex.em_class))
    csr(dex.class_ef_off, len(dex.class_type), len(dex.ef_class))
    csr(dex.insn_off, n_code, n_insns)
    csr(dex.arg_off, n_insns, len(dex.args))
    csr(dex.try_off, n_code, len(dex.try_start))
    csr(dex.try_handler_off, len(dex.try_start), len(dex.handler_pc))
    csr(dex.call_site_arg_off, len(dex.call_site_handle), len(dex.call_site_arg_kind))
    from analyzer.dex.opcodes import BRANCH, DATA, LIT64, MEANING, SPARSE

    limits = [n_strings, n_types, n_protos, n_fields, n_methods, len(dex.call_site_handle), len(dex.method_handle_kind)]
    meaning = MEANING[dex.op]
    for kind, limit in enumerate(limits):
        within(dex.x[meaning == kind], limit)
    within(dex.x[meaning == LIT64], len(dex.lit64))
    within(dex.x[meaning == DATA], len(dex.payload_off))
    rows = (meaning > BRANCH) & (meaning <= SPARSE)
    within(dex.x[rows] + (dex.b[rows].astype(int) | dex.c[rows].astype(int) << 16), len(dex.switch_key) + 1)
    for code in range(n_code):
        begin, end = int(dex.insn_off[code]), int(dex.insn_off[code + 1])
        pcs = dex.pc[begin:end]
        starts = set(pcs.tolist())
        branches = dex.x[begin:end][meaning[begin:end] == BRANCH]
        assert set(branches.tolist()) <= starts
        first, last = int(dex.try_off[code]), int(dex.try_off[code + 1])
        assert set(dex.try_start[first:last].tolist()) <= starts
        handlers = dex.handler_pc[dex.try_handler_off[first] : dex.try_handler_off[last]]
        assert set(handlers.tolist()) <= starts
        dex.line(code, 0)
    for text in dex.strings:
        assert isinstance(text, str)
    assert len(dex.op) <= 2 * len(dex.data)


def attempt(files: list[bytes]) -> None:
    """Read; only the errors that say so may come out."""
    try:
        dex = read(files)
    except (UnreadableInput, UnsupportedFeature) as error:
        assert "offset" in str(error)
        return
    check(dex)


def batch(seed: str, data: bytes, first: int) -> str:
    """Run BATCH mutations in a forked process; returns "" or what went wrong."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        status, number = 1, first
        try:
            os.close(receive)
            signal.alarm(ALARM_S)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.RLIM_INFINITY))
            for number in range(first, first + BATCH):
                os.write(send, b".")
                rng = random.Random(f"{seed} {number}")
                files = [mutate(data, rng)]
                if rng.random() < 0.2:
                    files.append(data)
                attempt(files)
            status = 0
        except BaseException:  # noqa: BLE001  whatever it is, the parent reports it
            os.write(send, f"\n{traceback.format_exc()}".encode())
        os._exit(status)
    os.close(send)
    with os.fdopen(receive, "rb") as pipe:
        told = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if status == 0:
        return ""
    reached = first + len(told.split("\n")[0]) - 1
    how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else told
    return f"{seed}, mutation {reached}: {how}"


def test_mutated_dex_files() -> None:
    files = seeds()
    for data in files.values():
        attempt([data])  # kernels are compiled before the forks
    end = time.monotonic() + SECONDS
    first = done = 0
    while time.monotonic() < end:
        for seed, data in files.items():
            wrong = batch(seed, data, first)
            assert not wrong, wrong
            done += BATCH
        first += BATCH
    sys.stderr.write(f"{done} mutated dex files\n")
    assert done > 0


def test_a_crash_would_be_noticed() -> None:
    """The harness itself: a failing check and a signal both come back as text."""
    data = rich()
    original = globals()["attempt"]
    try:
        globals()["attempt"] = lambda _: 1 / 0
        assert "ZeroDivisionError" in batch("rich", data, 0)
        globals()["attempt"] = lambda _: os.kill(os.getpid(), signal.SIGKILL)
        assert "signal 9" in batch("rich", data, 0)
    finally:
        globals()["attempt"] = original
