"""The names of the shape pass as numbers: tokens, sites, fields and summaries in the arrays that its kernels share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer import tokens as names
from analyzer.summary import Summary
from analyzer.tokens import FORMAL, OBJECT, TAINT, Fields, Key, Site, Through
from gpu.shape import layout as lay
from gpu.shape.layout import World, new_map

if TYPE_CHECKING:
    from analyzer.shape import Context

KINDS = ("new", "string", "class", "library", "exception", "call", "parameter")
_GROWN = ("tok", "site", "fld", "thr", "thf", "lists", "miss", "smm", "smc", "smr", "sml", "smb")


class WorldArrays:
    """What the kernels share. `arrays` is replaced when one of its parts has to grow."""

    def __init__(self, ctx: Context) -> None:
        from gpu.shape import maps
        from gpu.shape import names as kernels

        self.ctx = ctx
        self._kernels: Any = kernels
        self._maps: Any = maps
        self._number: dict[Key, int] = {}
        self._key: list[Key] = []
        self._throughs: list[Through] = []
        self._through_number: dict[Through, int] = {}
        self._field_bits: list[int] = []
        self._summaries: dict[int, int] = {}
        self._held: list[Summary] = []
        self._sites = 0
        self._hd = np.zeros(lay.HD_SIZE, np.int64)
        n = ctx.program.n_methods
        self.arrays = World(
            hdr=np.zeros(lay.H_SIZE, np.int64),
            tok=np.zeros((4096, lay.T_COLUMNS), np.int32),
            site=np.zeros((4096, lay.S_COLUMNS), np.int32),
            fld=np.full((1024, lay.F_COLUMNS), -1, np.int32),
            known=new_map(1 << 14),
            thr=np.zeros((1024, 16), np.uint64),
            thf=np.zeros(1024, np.int32),
            lists=np.zeros(1 << 14, np.int32),
            miss=np.zeros(1 << 13, np.int32),
            typ=np.zeros((4096, lay.TY_COLUMNS), np.int32),
            mth=np.zeros((n + 1024, lay.MT_COLUMNS), np.int32),
            par=np.zeros(1, np.int32),
            smm=np.zeros((4096, lay.SM_COLUMNS), np.int32),
            smc=np.zeros((1 << 14, lay.SC_COLUMNS), np.int32),
            smr=np.zeros((1 << 14, lay.SR_COLUMNS), np.int32),
            sml=np.zeros(1 << 14, np.int32),
            smb=np.zeros(1 << 14, np.uint64),
        )
        hdr = self.arrays.hdr
        hdr[lay.N_SUMMARIES] = 1  # number 0: nothing
        self._lists_top = 1
        self._par: list[int] = []
        self.through(ctx.fields.through(()))
        fields = ctx.fields
        special = (fields.star, fields.outer, *fields.below, fields.any, fields.elem, fields.value)
        for at, f in zip(range(lay.FIELD_STAR, lay.FIELD_VALUE + 1), special, strict=True):
            hdr[at] = self.field(f)
        hdr[lay.FIELD_ESCAPED] = self.field(ctx.library.escaped)
        hdr[lay.TOKEN_UNKNOWN] = self.token((names.UNKNOWN,))
        hdr[lay.TOKEN_FOLDED] = self.token((names.BEYOND, names.FOLDED))
        hdr[lay.TOKEN_ANY_MEMBER] = self.token((names.BEYOND, names.ANYWHERE))
        hdr[lay.TOKEN_FORGOTTEN] = self.token((names.BEYOND, names.FORGOTTEN))
        hdr[lay.TYPE_OBJECT] = ctx.program.type_id("Ljava/lang/Object;")
        hdr[lay.MAX_KEYS] = ctx.limits.keys_per_object
        hdr[lay.MAX_TOKENS] = ctx.limits.tokens_per_method

    # -- room --------------------------------------------------------------------------------------------------

    def grow(self) -> None:
        """Makes room in every array that is more than half full."""
        w, hdr = self.arrays, self.arrays.hdr
        used = {
            "tok": hdr[lay.N_TOKENS], "site": hdr[lay.N_SITES], "thr": hdr[lay.N_THROUGHS] + 2,
            "thf": hdr[lay.N_THROUGHS] + 2, "smm": hdr[lay.N_SUMMARIES], "smc": hdr[lay.N_COLS],
            "smr": hdr[lay.N_ROWS], "sml": hdr[lay.N_LISTS], "smb": hdr[lay.N_BITS],
            "lists": self._lists_top, "miss": hdr[lay.N_MISSES],
        }  # fmt: skip
        grown: dict[str, Any] = {}
        for name, n in used.items():
            array = getattr(w, name)
            if 2 * int(n) >= len(array):
                grown[name] = longer(array, 2 * len(array) + 16)
        if 4 * int(w.known[-1, 0]) >= len(w.known):
            grown["known"] = new_map(len(w.known))
            self._maps.rehash(w.known, grown["known"])
        if not grown:  # a summary larger than the room that is left
            grown = {name: longer(getattr(w, name), 2 * len(getattr(w, name))) for name in ("smc", "smr", "sml", "smb")}
        self.arrays = w.replace(**grown)

    def _room(self, name: str, n: int, fill: int = 0) -> Any:
        """An array with room for n entries."""
        array = getattr(self.arrays, name)
        if n > len(array):
            array = longer(array, max(n, 2 * len(array)), fill)
            self.arrays = self.arrays.replace(**{name: array})
        return array

    # -- fields and sets of them -------------------------------------------------------------------------------

    @staticmethod
    def dense(f: int) -> int:
        """Number of a field in the arrays."""
        return 2 * f if f < Fields.FIRST_PSEUDO else 2 * (f - Fields.FIRST_PSEUDO) + 1

    @staticmethod
    def sparse(d: int) -> int:
        """The field of a number."""
        return Fields.FIRST_PSEUDO + d // 2 if d & 1 else d // 2

    def field(self, f: int) -> int:
        """Number of a field, described in the arrays."""
        ctx, d = self.ctx, self.dense(f)
        fld = self._room("fld", d + 1, -1)
        if fld[d, lay.F_BIT] >= 0:
            return d
        fields = ctx.fields
        pseudo = f >= Fields.FIRST_PSEUDO
        flags = lay.PSEUDO_FIELD * pseudo | lay.OWN_FIELD * fields.is_own(f) | lay.PRIVATE_FIELD * fields.is_private(f)
        flags |= lay.WEAK_FIELD * fields.weak(f) | lay.DATA_FIELD * fields.data_only(f)
        cls = -1 if pseudo else ctx.program.field(f).cls
        flags |= lay.ENV_FIELD * (cls == ctx.lowering.env_class and not pseudo)
        kind = fields.type(f)
        wild = fields.wild(f)
        bit = len(self._field_bits)
        self._field_bits.append(f)
        if bit >= 64 * self.arrays.thr.shape[1]:
            old = self.arrays.thr
            wider = np.zeros((len(old), 2 * old.shape[1]), np.uint64)
            wider[:, : old.shape[1]] = old
            self.arrays = self.arrays.replace(thr=wider)
        row = (cls, kind, lay.DATA_ONLY if fields.data_only(f) else kind, -1, flags, bit, -1)
        fld[d] = row
        if wild >= 0:
            number = self.field(wild)
            self.arrays.fld[d, lay.F_WILD] = number
        single = self.through(fields.through((f,)))
        self.arrays.fld[d, lay.F_THROUGH] = single
        return d

    def through(self, t: Through) -> int:
        """Number of a set of fields."""
        found = self._through_number.get(t)
        if found is not None:
            return found
        fields = self.ctx.fields
        dense = [self.field(f) for f in sorted(t.fields)]
        self._room("thr", int(self.arrays.hdr[lay.N_THROUGHS]) + 8)
        self._room("thf", len(self.arrays.thr))
        w = self.arrays
        new = int(w.hdr[lay.N_THROUGHS])
        w.thr[new] = 0
        for d in dense:
            bit = int(w.fld[d, lay.F_BIT])
            w.thr[new, bit >> 6] |= np.uint64(1 << (bit & 63))
        wild = {fields.wild(f) for f in t.fields}
        w.thf[new] = (
            lay.TH_OWN * t.own | lay.TH_PRIVATE * t.private | lay.TH_STAR * t.star | lay.TH_OUTER * t.outer
            | lay.TH_ANY_GROUP * (fields.any in wild) | lay.TH_ELEM_GROUP * (fields.elem in wild)
            | lay.TH_LIBRARY * any(not fields.is_own(f) for f in t.fields)
        )  # fmt: skip
        found = self._try(lambda: self._kernels.intern_fields(self.arrays, self._hd))
        self._through_number[t] = found
        return found

    def through_of(self, number: int) -> Through:
        """The set of fields of a number."""
        row = int.from_bytes(self.arrays.thr[number].tobytes(), "little")
        found = self.ctx.fields.through([self._field_bits[i] for i in names_bits(row)])
        self._through_number.setdefault(found, number)
        return found

    # -- sites and tokens --------------------------------------------------------------------------------------

    def push_sites(self) -> None:
        """Tells the arrays the sites that were made since."""
        ctx, everything = self.ctx, self.ctx.sites.all
        n = len(everything)
        if n == self._sites:
            return
        site = self._room("site", n + 1)
        members = ctx.table.sites
        for i in range(self._sites, n):
            s = everything[i]
            own = s.method >= 0 and ctx.is_own(s.method)
            flags = lay.SITE_OWN_METHOD * own | lay.SITE_MEMBER * (i in members)
            flags |= lay.SITE_OWN_MADE * (own and s.kind in ("new", "library"))
            flags |= lay.SITE_ESCAPING * (s.type >= 0 and ctx.hierarchy.is_app(s.type))
            kind = KINDS.index(s.kind)
            site[i] = (s.method, s.op, s.pc, kind, s.type, s.text, flags)
            if kind == lay.LIBRARY:
                self._store(lay.K_SITE + 256 * kind, s.method, s.op, s.type, i)
        self._sites = n
        self.arrays.hdr[lay.N_SITES] = n

    def pull_sites(self) -> None:
        """Takes over the sites that kernels made."""
        n = int(self.arrays.hdr[lay.N_SITES])
        for method, op, pc, _, kind, _, _ in self.arrays.site[self._sites : n].tolist():
            self.ctx.sites.id(Site(method, op, pc, "library", kind))
        self._sites = n

    def token(self, key: Key) -> int:
        """Number of a token."""
        found = self._number.get(key)
        if found is not None:
            return found
        self.push_sites()
        kind = key[0]
        a = b = c = -1
        if kind == FORMAL:
            a = key[1]
            if key[2]:
                b, c = self.token((FORMAL, a, key[2][:-1])), self.field(key[2][-1])
            elif a < 0:
                self.field(-1 - a)
        elif kind == names.DEEP:
            a, b = key[1], key[2]
        elif len(key) > 1:
            a = key[1]
            b = key[2] if len(key) > 2 else -1
        found = self._try(lambda: self._kernels.intern_token(self.arrays, self._hd, kind, a, b, c))
        if kind in (names.BY_TYPE, names.LIBRARY_BY_TYPE, names.FRESH) and a >= 0 and self.ctx.hierarchy.is_app(a):
            self.arrays.tok[found, lay.T_FLAGS] |= lay.ESCAPING
        if key in self.ctx.table.folded:
            self.arrays.tok[found, lay.T_MEMBER] = found
        self._number[key] = found
        return found

    def key(self, number: int) -> Key:
        """The token of a number."""
        known = self._key
        if number >= len(known):
            self._name_new(int(self.arrays.hdr[lay.N_TOKENS]))
        return known[number]

    def _name_new(self, n: int) -> None:
        known = self._key
        for kind, a, b, c, *_ in self.arrays.tok[len(known) : n].tolist():
            if kind == FORMAL:
                key: Key = (FORMAL, a, ()) if b < 0 else (FORMAL, a, (*known[b][2], self.sparse(c)))
            elif kind in (OBJECT, TAINT, names.DEEP, names.BY_TYPE, names.LIBRARY_BY_TYPE):
                key = (kind, a, b)
            elif kind == names.UNKNOWN:
                key = (kind,)
            else:
                key = (kind, a)
            self._number.setdefault(key, len(known))
            known.append(key)

    # -- members of the table ----------------------------------------------------------------------------------

    def members(self) -> tuple[Any, Any]:
        """Which sites and tokens are in the table now."""
        w, hdr = self.arrays, self.arrays.hdr
        return (
            w.site[: hdr[lay.N_SITES], lay.S_FLAGS] & lay.SITE_MEMBER,
            w.tok[: hdr[lay.N_TOKENS], lay.T_MEMBER].copy(),
        )

    def restore_members(self, known: tuple[Any, Any]) -> None:
        """Takes back that others are in the table."""
        sites, tokens = known
        flags, tok = self.arrays.site[:, lay.S_FLAGS], self.arrays.tok[: self.arrays.hdr[lay.N_TOKENS]]
        flags &= ~lay.SITE_MEMBER
        flags[: len(sites)] |= sites
        new = tok[len(tokens) :]
        inside = (new[:, lay.T_KIND] == OBJECT) & (flags[np.maximum(new[:, lay.T_A], 0)] & lay.SITE_MEMBER > 0)
        new[:, lay.T_MEMBER] = np.where(inside, new[:, lay.T_BASE], -1)
        tok[: len(tokens), lay.T_MEMBER] = tokens

    def lookup(self, table: Any, kind: int, a: int) -> int:
        """Value of an entry of a map, or -1."""
        return int(self._kernels.lookup(table, kind, a, 0, 0))

    # -- answers -----------------------------------------------------------------------------------------------

    def _store(self, kind: int, a: int, b: int, c: int, value: int) -> None:
        while not self._kernels.store(self.arrays.known, kind, a, b, c, value):
            larger = new_map(len(self.arrays.known))
            self._maps.rehash(self.arrays.known, larger)
            self.arrays = self.arrays.replace(known=larger)

    def _try(self, work: Callable[[], int]) -> int:
        while True:
            self._hd[lay.STATUS] = lay.FINE
            found = work()
            if self._hd[lay.STATUS] == lay.FINE:
                return int(found)
            self.grow()

    def answer(self, kind: int, a: int, b: int, value: int) -> None:
        """What a kernel asked for."""
        self._store(kind, a, b, 0, value)

    def answer_type(self, t: int) -> None:
        """Describes a type."""
        typ = self._room("typ", t + 1)
        described = self.ctx.hierarchy.describe(t)
        flags = lay.TY_DESCRIBED | lay.TY_KNOWN * described.known | lay.TY_COMPLETE * described.complete
        flags |= lay.TY_INTERFACE * described.interface | lay.TY_FINAL * described.final
        flags |= lay.TY_PRIMITIVE * described.primitive | lay.TY_ABOVE_ARRAYS * described.above_arrays
        above = self.new_list(sorted(described.supertypes)) if not described.rank else 0
        typ[t] = flags, above, described.rank, described.element

    def new_list(self, items: list[int]) -> int:
        """Place of a list in the lists."""
        at = self._lists_top
        lists = self._room("lists", at + len(items) + 2)
        lists[at] = len(items)
        lists[at + 1 : at + 1 + len(items)] = items
        self._lists_top = at + 1 + len(items)
        return at

    def new_place(self, items: list[int]) -> int:
        """Number of a place that holds a list, which can be exchanged."""
        at = self._lists_top
        self._room("lists", at + 1)
        self._lists_top += 1
        found = self.new_list(items)
        self.arrays.lists[at] = found
        return at

    def answer_effect(self, question: list[int], summary: int) -> None:
        """The summary of a library call: (h, g, salt, description)."""
        h, g, salt, *vector = question
        at = self.new_list([])
        self._lists_top = at  # summary, length, description
        lists = self._room("lists", at + 2 + len(vector))
        lists[at : at + 2] = summary, len(vector)
        lists[at + 2 : at + 2 + len(vector)] = vector
        self._lists_top = at + 2 + len(vector)
        self._store(lay.K_EFFECT, h, g, salt, at)

    # -- summaries ---------------------------------------------------------------------------------------------

    def add_summary(self, s: Summary) -> int:
        """Number of a constant summary."""
        known = self._summaries.get(id(s))
        if known is not None:
            return known
        self._held.append(s)
        tokens = [self._column_token(s, i) for i in range(len(s.cols))]
        throughs = [-1 if t is None else self.through(t) for t in s.through]
        columns = []
        hdr = self.arrays.hdr
        lists: list[int] = []
        base = int(hdr[lay.N_LISTS])
        for i in range(len(s.cols)):
            at = base + len(lists)
            lists += [*s.region[i], *s.alias[i]]
            columns.append((
                s.kind[i], tokens[i], s.parent[i], self.field(s.field[i]) if s.field[i] >= 0 else -1, throughs[i],
                at, len(s.region[i]), at + len(s.region[i]), len(s.alias[i]), 0,
            ))  # fmt: skip
        words = (len(s.cols) + 63) // 64
        rows = [(*self._row(key), owner) for key, owner in zip(s.rows, s.owner, strict=True)]
        bits = b"".join(row.to_bytes(8 * words, "little") for row in s.bits)
        sid, cols, first, at = (int(hdr[i]) for i in (lay.N_SUMMARIES, lay.N_COLS, lay.N_ROWS, lay.N_BITS))
        self._room("smm", sid + 1)
        self._room("smc", cols + len(columns))
        self._room("smr", first + len(rows))
        self._room("sml", base + len(lists))
        self._room("smb", at + len(rows) * words)
        w = self.arrays
        if columns:
            w.smc[cols : cols + len(columns)] = columns
        if rows:
            w.smr[first : first + len(rows)] = rows
        w.sml[base : base + len(lists)] = lists
        w.smb[at : at + len(rows) * words] = np.frombuffer(bits, np.uint64)
        region = int(lay.REGION in s.kind)
        w.smm[sid] = (cols, len(columns), first, len(rows), at, words, s.entries, base + len(lists), 0, 0, region)
        hdr[lay.N_SUMMARIES] = sid + 1
        hdr[lay.N_COLS] += len(columns)
        hdr[lay.N_ROWS] += len(rows)
        hdr[lay.N_LISTS] += len(lists)
        hdr[lay.N_BITS] += len(rows) * words
        self._summaries[id(s)] = sid
        return sid

    def _column_token(self, s: Summary, i: int) -> int:
        key = s.cols[i]
        if s.kind[i] in (lay.CHILD, lay.REGION):  # bound by what it is reached from
            return int(self.arrays.hdr[lay.TOKEN_UNKNOWN])
        if key[0] == FORMAL and s.kind[i] == lay.CONSTANT:  # an app-wide object
            return self.token(tuple(key[1]))
        return self.token(key)

    def _row(self, key: Key) -> tuple[int, int, int, int]:
        """(kind, a, b, c) of a summary's row. A cell's owner is known by its column."""
        kind = key[0]
        if kind in (names.CELL, names.CELL_DATA):
            return kind, -1, 0, self.field(key[2])
        if kind in (names.STATIC, names.PSEUDO, names.TABLE):
            return kind, self.field(key[1]), 0, 0
        if kind == names.SINK:
            return kind, key[1], key[2], key[3]
        return kind, 0, 0, 0

    def summary_of(self, sid: int) -> Summary:
        """The summary of a number."""
        w = self.arrays
        cols, n_cols, rows, n_rows, at, words, _, must, n_must, *_ = w.smm[sid].tolist()
        columns = w.smc[cols : cols + n_cols].tolist()
        lists = w.sml
        keys = tuple(self.key(c[lay.SC_TOKEN]) for c in columns)
        found_rows, owners, bits = [], [], []
        for i, (kind, a, b, c, owner) in enumerate(w.smr[rows : rows + n_rows].tolist()):
            found_rows.append(self.row_key(kind, a, b, c))
            owners.append(owner)
            bits.append(int.from_bytes(w.smb[at + i * words : at + (i + 1) * words].tobytes(), "little"))
        region, alias = [], []
        for c in columns:
            region.append(tuple(lists[c[lay.SC_REGION] : c[lay.SC_REGION] + c[lay.SC_N_REGION]].tolist()))
            alias.append(tuple(lists[c[lay.SC_ALIAS] : c[lay.SC_ALIAS] + c[lay.SC_N_ALIAS]].tolist()))
        pairs = lists[must : must + 2 * n_must].tolist()
        return Summary(
            keys,
            tuple(c[lay.SC_KIND] for c in columns),
            tuple(c[lay.SC_PARENT] for c in columns),
            tuple(self.sparse(c[lay.SC_FIELD]) if c[lay.SC_FIELD] >= 0 else -1 for c in columns),
            tuple(region),
            tuple(self.through_of(c[lay.SC_THROUGH]) if c[lay.SC_THROUGH] >= 0 else None for c in columns),
            tuple(alias),
            tuple(found_rows),
            tuple(owners),
            tuple(bits),
            frozenset(
                (keys[c] if c >= 0 else (), self.sparse(f)) for c, f in zip(pairs[::2], pairs[1::2], strict=True)
            ),
        )

    def row_key(self, kind: int, a: int, b: int, c: int) -> Key:
        """Key of a row, from its columns in the arrays."""
        if kind in (names.CELL, names.CELL_DATA):
            return (kind, self.key(a), self.sparse(c))
        if kind in (names.STATIC, names.PSEUDO, names.TABLE):
            return (kind, self.sparse(a))
        if kind == names.TABLE_CELL:
            return (kind, self.key(a), self.sparse(b))
        if kind == names.SINK:
            return (kind, a, b, c)
        if kind == names.RANGE:
            return (kind, a)
        if kind == names.PARAMETER:
            return (kind, a, b)
        return (kind,)

    # -- methods -----------------------------------------------------------------------------------------------

    def describe(self, m: int) -> None:
        """Tells the arrays of a method that may be called."""
        ctx = self.ctx
        mth = self._room("mth", m + 1)
        ref = ctx.program.method(m)
        params = list(ref.params) if ctx.program.is_static(m) else [ref.cls, *ref.params]
        filters = [lay.DATA_ONLY if ctx.fields.is_primitive(t) else t for t in params]
        mth[m] = (ref.cls, len(self._par), len(filters), int(ctx.is_own(m)), 0)
        self._par += filters

    def seal_methods(self) -> None:
        """After all methods are described."""
        self.arrays = self.arrays.replace(par=np.asarray([*self._par, 0], np.int32))


def names_bits(row: int) -> list[int]:
    """Members of a bit set."""
    from gpu.bits import bits_of

    return list(bits_of(row))


def longer(array: Any, n: int, fill: int = 0) -> Any:
    """A copy of an array with room for n entries."""
    found = np.full((n, *array.shape[1:]), fill, array.dtype)
    found[: len(array)] = array
    return found
