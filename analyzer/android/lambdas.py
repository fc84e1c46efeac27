"""invoke-custom: what `LambdaMetafactory` and `StringConcatFactory` make, as synthetic classes and methods.

A call site becomes a static factory method. For a lambda it makes an object of a class of its own that keeps the
captured values in fields and whose one method calls the implementation. For a concatenation it appends all arguments
to a StringBuilder. Other bootstrap methods (and `altMetafactory`'s extra interfaces) are left unresolved.
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.android.code import Code, Value
from analyzer.android.kit import Kit
from analyzer.android.names import LAMBDA, OBJECT
from analyzer.ir import CallKind

ACC_PUBLIC_SYNTHETIC = 0x1001
_BUILDER = "Ljava/lang/StringBuilder;"
_HANDLE_VALUE = 0x16
_PROTO_VALUE = 0x15


class Lambdas:
    """Makes factories on demand."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._made: dict[int, int] = {}

    def factory(self, call_site: int) -> int:
        """The factory method of an invoke-custom call site, or -1 when it is not understood."""
        if call_site not in self._made:
            self._made[call_site] = self._make(call_site)
        return self._made[call_site]

    def _make(self, call_site: int) -> int:
        p = self._kit.program
        handle = int(p.dex.call_site_handle[call_site])
        if handle < 0 or int(p.dex.method_handle_member[handle]) < 0:
            return -1
        bootstrap = p.method(int(p.dex.method_handle_member[handle]))
        owner = p.type_name(bootstrap.cls)
        if owner == "Ljava/lang/invoke/LambdaMetafactory;":
            return self._lambda(call_site)
        if owner == "Ljava/lang/invoke/StringConcatFactory;":
            return self._concat(call_site)
        return -1

    def _extra(self, call_site: int) -> list[tuple[int, int]]:
        dex = self._kit.program.dex
        low, high = int(dex.call_site_arg_off[call_site]), int(dex.call_site_arg_off[call_site + 1])
        kinds, values = dex.call_site_arg_kind[low:high].tolist(), dex.call_site_arg_value[low:high].tolist()
        return list(zip(kinds, values, strict=True))

    def _lambda(self, call_site: int) -> int:
        p, kit = self._kit.program, self._kit
        extra = self._extra(call_site)
        if len(extra) < 3 or [k for k, _ in extra[:3]] != [_PROTO_VALUE, _HANDLE_VALUE, _PROTO_VALUE]:
            return -1
        captured, interface = p.proto(int(p.dex.call_site_proto[call_site]))
        erased, specific = p.proto(extra[0][1]), p.proto(extra[2][1])
        handle = extra[1][1]
        kind, target = int(p.dex.method_handle_kind[handle]), int(p.dex.method_handle_member[handle])
        if kind < 4 or target < 0:
            return -1
        name = f"Lgdroid/Lambda${call_site};"
        if p.class_of(p.type_id(name)) is not None:
            return -1
        cls = p.add_class(name, OBJECT, [p.type_name(interface)])
        fields = [p.field_id(name, f"captured{i}", p.type_name(t)) for i, t in enumerate(captured)]
        # The one method of the interface, with its erased types.
        code = Code(p, (cls, *erased[0]))
        held = [code.get(code.parameters[0], f) for f in fields]
        given = [code.fit(v, t) for v, t in zip(code.parameters[1:], specific[0], strict=False)]
        code.ret(self._implementation(code, kind, target, [*held, *given], p.type_name(erased[1]) != "V"))
        method_name = p.string(int(p.dex.call_site_name[call_site]))
        descriptor = f"({''.join(map(p.type_name, erased[0]))}){p.type_name(erased[1])}"
        p.add_method(name, method_name, descriptor, ACC_PUBLIC_SYNTHETIC, code.body())
        # The factory.
        code = Code(p, captured)
        made = code.new(cls)
        for f, value in zip(fields, code.parameters, strict=True):
            code.put(made, f, value)
        code.ret(made)
        descriptor = f"({''.join(map(p.type_name, captured))}){p.type_name(interface)}"
        return kit.add(LAMBDA, f"make${call_site}", descriptor, code)

    def _implementation(self, code: Code, kind: int, target: int, args: Sequence[Value], wanted: bool) -> Value | None:
        """Calls what a method handle of the dex format stands for (kinds 4 to 8)."""
        p = self._kit.program
        ref = p.method(target)
        if kind == 6:
            made = code.new(ref.cls)
            code.call(CallKind.DIRECT, target, [made, *args[: len(ref.params)]])
            return made if wanted else None
        call = {4: CallKind.STATIC, 5: CallKind.VIRTUAL, 7: CallKind.DIRECT, 8: CallKind.INTERFACE}[kind]
        count = len(ref.params) + (kind != 4)
        if len(args) < count:
            return code.null() if wanted else None
        passed = list(args[:count])
        if kind != 4:
            passed[0] = code.fit(passed[0], ref.cls)
        result = code.call(call, target, passed)
        if not wanted:
            return None
        return code.null() if result is None else result

    def _concat(self, call_site: int) -> int:
        p = self._kit.program
        params, ret = p.proto(int(p.dex.call_site_proto[call_site]))
        code = Code(p, params)
        builder = code.new(p.type_id(_BUILDER))
        code.call(CallKind.DIRECT, p.method_id(_BUILDER, "<init>", "()V"), [builder])
        append: dict[str, str] = {"B": "I", "S": "I"}
        for value, t in zip(code.parameters, params, strict=True):
            name = p.type_name(t)
            shape = append.get(name, name) if name[0] not in "L[" else OBJECT
            if name == "Ljava/lang/String;":
                shape = name
            code.call(CallKind.VIRTUAL, p.method_id(_BUILDER, "append", f"({shape}){_BUILDER}"), [builder, value])
        to_string = p.method_id(_BUILDER, "toString", "()Ljava/lang/String;")
        code.ret(code.call(CallKind.VIRTUAL, to_string, [builder]))
        descriptor = f"({''.join(map(p.type_name, params))}){p.type_name(ret)}"
        return self._kit.add(LAMBDA, f"concat${call_site}", descriptor, code)
