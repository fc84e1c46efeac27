"""Look-ups: which entry decides, how places fit a method's shape, what comes out."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from analyzer.models import Access, Knowledge
from gpu.errors import WrongConfiguration

KNOWN = Knowledge.load()
STRING = "Ljava/lang/String;"


def user_rules(folder: Path, content: str, name: str = "more.yaml") -> Knowledge:
    path = folder / name
    path.write_text(content)
    return Knowledge.load([path])


def flows(*query: object) -> set[str]:
    model = KNOWN.model(*query)  # type: ignore[arg-type]
    assert model is not None
    return {str(f) for f in model.flows}


def test_loading_is_quick() -> None:
    best = min(_load_s() for _ in range(5))
    assert best < 0.06


def _load_s() -> float:
    start = time.perf_counter()
    Knowledge.load()
    return time.perf_counter() - start


def test_first_class_of_the_chain_with_an_entry_decides() -> None:
    chain = ["Ljava/util/ArrayList;", "Ljava/util/AbstractList;", "Ljava/util/List;", "Ljava/util/Collection;"]
    assert flows(chain, "add", "(ILjava/lang/Object;)V") == {"arg1 -> this.$elem"}
    assert flows(chain, "add", "(Ljava/lang/Object;)Z") == {"arg0 -> this.$elem"}
    assert flows(chain[-1:], "add", "(Ljava/lang/Object;)Z") == {"arg0 -> this.$elem"}


def test_constant_keys_are_named_by_their_argument() -> None:
    assert "arg1 -> this.$elem[arg0]" in flows(
        ["Landroid/content/Intent;"], "putExtra", "(Ljava/lang/String;Ljava/lang/String;)Landroid/content/Intent;"
    )
    assert "this.$elem[arg0] -> ret" in flows(
        ["Landroid/content/Intent;"], "getStringExtra", "(Ljava/lang/String;)Ljava/lang/String;"
    )
    assert "arg1 -> this.$target.$elem[arg0]" in flows(
        ["Landroid/content/SharedPreferences$Editor;"],
        "putString",
        "(Ljava/lang/String;Ljava/lang/String;)Landroid/content/SharedPreferences$Editor;",
    )


def test_a_pure_method_has_a_model_without_flows() -> None:
    model = KNOWN.model([STRING], "length", "()I")
    assert model is not None and not model.flows and not model.fresh
    assert KNOWN.model(["La/Unknown;"], "length", "()I") is None


def test_elements_of_arrays_are_array_cells_and_missing_arguments_are_dropped() -> None:
    assert flows([STRING], "toCharArray", "()[C") == {"this ~> ret.#any", "this.$value ~> ret.#any"}
    assert "arg0.#any ~> this" in flows([STRING], "<init>", "([C)V")
    fixed = flows(["Ljava/util/List;"], "of", "(Ljava/lang/Object;)Ljava/util/List;")
    assert "arg0 -> ret.$elem" in fixed and not any(f.startswith("arg1") for f in fixed)
    varargs = flows(["Ljava/util/List;"], "of", "([Ljava/lang/Object;)Ljava/util/List;")
    assert "arg0.#any -> ret.$elem" in varargs


def test_data_of_a_reference_comes_with_that_of_its_value() -> None:
    append = flows(["Ljava/lang/StringBuilder;"], "append", "(Ljava/lang/String;)Ljava/lang/StringBuilder;")
    assert append == {"arg0 ~> this.$value", "arg0.$value ~> this.$value", "this -> ret"}
    assert flows(["Ljava/lang/StringBuilder;"], "append", "(I)Ljava/lang/StringBuilder;") == {
        "arg0 ~> this.$value",
        "this -> ret",
    }


def test_the_results_of_void_and_primitive_methods_are_not_fresh() -> None:
    model = KNOWN.model(["Landroid/view/View;"], "getWidth", "()I")
    assert model is not None and not model.fresh


def test_class_patterns_count_only_after_all_plain_names() -> None:
    button = ["Landroid/widget/Button;", "Landroid/widget/TextView;", "Landroid/view/View;", "Ljava/lang/Object;"]
    assert "arg0 ~> this.$value" in flows(button, "setText", "(Ljava/lang/CharSequence;)V")
    scroller = KNOWN.model(["Landroid/widget/Scroller;", "Ljava/lang/Object;"], "fling", "(IIII)V")
    assert scroller is not None and scroller.escapes


def test_what_is_shown_is_called_back() -> None:
    for cls in ("Landroid/app/Dialog;", "Landroidx/fragment/app/DialogFragment;"):
        model = KNOWN.model([cls], "show", "()V")
        assert model is not None and model.begins
    model = KNOWN.model(["Landroid/app/Dialog;"], "dismiss", "()V")
    assert model is not None and not model.begins


def test_what_shipped_support_libraries_carry_is_modelled() -> None:
    kept = ("(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",)
    for cls in ("Landroidx/collection/SimpleArrayMap;", "Landroid/support/v4/util/SimpleArrayMap;"):
        assert "arg1 -> this.$elem[arg0]" in flows([cls], "put", *kept)
        assert flows([cls], "get", "(Ljava/lang/Object;)Ljava/lang/Object;") == {"this.$elem[arg0] -> ret"}
    text = "(Ljava/lang/String;)Ljava/lang/String;"
    assert "this.$elem[arg0] -> ret" in flows(["Landroidx/work/Data;"], "getString", text)
    for cls in ("Landroidx/lifecycle/LiveData;", "Landroid/arch/lifecycle/LiveData;"):
        assert flows([cls], "getValue", "()Ljava/lang/Object;") == {"this.$held -> ret"}


def test_libraries_can_be_taken_from_models(tmp_path: Path) -> None:
    assert "Landroidx/" in KNOWN.modelled and "Landroidx/databinding/" in KNOWN.analysed
    found = user_rules(tmp_path, "modelled: [com.acme.ui]\nanalysed: [com.acme.ui.generated]\n")
    assert {"Lcom/acme/ui/", "Lokio/"} <= set(found.modelled)
    assert "Lcom/acme/ui/generated/" in found.analysed


def test_sources_name_their_kind_place_and_condition() -> None:
    (imei,) = KNOWN.sources(["Landroid/telephony/TelephonyManager;"], "getDeviceId", "()Ljava/lang/String;")
    assert (imei.kind, imei.at, imei.when) == ("device_id", Access("ret"), None)
    (text,) = KNOWN.sources(["Landroid/widget/EditText;"], "getText", "()Landroid/text/Editable;")
    assert (text.kind, text.at, text.when) == ("password", Access("ret", ("$value",)), "password_widget")
    (where,) = KNOWN.parameter_sources(
        ["Landroid/location/LocationListener;"], "onLocationChanged", "(Landroid/location/Location;)V"
    )
    assert where.at == Access("arg0", ("$value",))
    assert KNOWN.field_sources("Landroid/os/Build;", "SERIAL")[0].kind == "device_id"


def test_the_time_of_a_location_is_not_its_place() -> None:
    chain = ["Landroid/location/Location;", "Ljava/lang/Object;"]
    assert flows(chain, "getLatitude", "()D") and not flows(chain, "getTime", "()J")


def test_streams_in_memory_are_no_sinks() -> None:
    memory = ["Ljava/io/ByteArrayOutputStream;", "Ljava/io/OutputStream;"]
    assert KNOWN.sinks(memory, "write", "([B)V") == ()
    (file,) = KNOWN.sinks(["Ljava/io/FileOutputStream;", "Ljava/io/OutputStream;"], "write", "([B)V")
    assert (file.kind, file.at, file.reach) == ("file", (Access("arg0"),), True)
    (stream,) = KNOWN.sinks(["Ljava/io/OutputStream;"], "write", "([B)V")
    assert stream.when is not None and "Ljava/io/ByteArrayOutputStream;" in KNOWN.conditions[stream.when].types


def test_shims_say_what_is_called_back() -> None:
    shim = KNOWN.shim(
        ["Landroid/os/AsyncTask;"],
        "execute",
        "([Ljava/lang/Object;)Landroid/os/AsyncTask;",
    )
    assert shim is not None
    names = [s.method[1] for s in shim.steps]
    assert names[:3] == ["onPreExecute", "doInBackground", "onPostExecute"]
    assert shim.steps[1].args == (Access("arg0"),) and shim.steps[2].args == (Access(shim.steps[1].to or ""),)
    assert shim.later == (Access("this"),)
    runnable = KNOWN.shim(["Landroid/os/AsyncTask;"], "execute", "(Ljava/lang/Runnable;)V")
    assert runnable is not None and [s.method[1] for s in runnable.steps] == ["run"]


def test_rules_join_kinds_and_foreign_data_is_no_leak() -> None:
    assert [r.id for r in KNOWN.rules_for("device_id", "sms")] == ["leak-sms"]
    assert KNOWN.rules_for("external_intent", "log") == ()
    assert {r.kind for r in KNOWN.rules_for("external_intent", "process")} == {"injection"}
    assert [r.id for r in KNOWN.rules] == sorted(r.id for r in KNOWN.rules)


def test_known_libraries_are_told_from_apps() -> None:
    assert KNOWN.is_library("Landroidx/fragment/app/Fragment;") and KNOWN.is_library("Lkotlin/Pair;")
    assert not KNOWN.is_library("Landroidxtra/App;") and not KNOWN.is_library("Lde/ecspride/MainActivity;")


def test_the_saved_bundle_comes_back_in_a_later_on_create() -> None:
    activity = KNOWN.lifecycles["activity"]
    calls = {c.name + c.descriptor: c for c in activity.calls}
    bundle = "(Landroid/os/Bundle;)V"
    assert calls["onCreate" + bundle].arguments == ("$saved",)
    assert calls["onSaveInstanceState" + bundle].saves == ((Access("arg0"), "$saved"),)
    assert activity.states["resumed"].running and activity.states["resumed"].resting


def test_rules_of_users_go_before_the_default(tmp_path: Path) -> None:
    mine = user_rules(
        tmp_path,
        """
sources:
  - {method: "La/Secret;->get(I)Ljava/lang/String;", kind: device_id, at: ret}
sinks:
  - class: android.util.Log
    kind: none
    methods: {d: arg1}
propagations:
  - {class: a.Codec, name: [encode, decode], descriptor: (Ljava/lang/String;), subclasses: false, flows: arg0 ~> ret}
sanitizers:
  - {class: a.Codec, methods: ["hash, digest"]}
""",
    )
    assert mine.sources(["La/Secret;"], "get", "(I)Ljava/lang/String;")[0].kind == "device_id"
    assert mine.sources(["La/Secret;"], "get", "(J)Ljava/lang/String;") == ()
    assert mine.sinks(["Landroid/util/Log;"], "d", "(Ljava/lang/String;Ljava/lang/String;)I") == ()
    assert mine.sinks(["Landroid/util/Log;"], "i", "(Ljava/lang/String;Ljava/lang/String;)I")
    assert mine.model(["La/Codec;"], "decode", "(Ljava/lang/String;)Ljava/lang/String;") is not None
    assert mine.model(["La/Sub;", "La/Codec;"], "decode", "(Ljava/lang/String;)Ljava/lang/String;") is None
    hashed = mine.model(["La/Codec;"], "hash", "(Ljava/lang/String;)Ljava/lang/String;")
    assert hashed is not None and hashed.sanitizer


def test_lists_of_flowdroid_are_read(tmp_path: Path) -> None:
    mine = user_rules(
        tmp_path,
        """% a comment
<android.telephony.TelephonyManager: java.lang.String getFoo(int,java.lang.String[])> android.permission.X -> _SOURCE_

<a.b.C$D: void send(byte[])> -> _SINK_
<a.b.C: int both(int)> -> _BOTH_
""",
        "list.txt",
    )
    shape = "(I[Ljava/lang/String;)Ljava/lang/String;"
    assert mine.sources(["Landroid/telephony/TelephonyManager;"], "getFoo", shape)[0].kind == "listed"
    assert mine.sinks(["La/b/C$D;"], "send", "([B)V")[0].kind == "listed"
    assert mine.sources(["La/b/C;"], "both", "(I)I") and mine.sinks(["La/b/C;"], "both", "(I)I")
    assert mine.rules_for("listed", "sms") and mine.rules_for("device_id", "listed")


def test_a_bad_line_of_a_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(WrongConfiguration, match=r"list\.txt:2: expected <class: type name\(types\)> -> _SOURCE_"):
        user_rules(tmp_path, "% fine\nnonsense -> _SOURCE_\n", "list.txt")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(WrongConfiguration, match=r"gone\.yaml"):
        Knowledge.load([tmp_path / "gone.yaml"])


def test_static_addresses_of_the_framework_have_texts() -> None:
    assert KNOWN.constant("Landroid/provider/CallLog$Calls;", "CONTENT_URI") == "content://call_log/calls"
    assert KNOWN.constant("La/B;", "CONTENT_URI") is None
