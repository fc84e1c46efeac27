"""The model that comes with the package: what apps rely on is in it, and it is cheap to load."""

from __future__ import annotations

import time
from importlib.resources import files

import pytest

from analyzer import framework
from analyzer.framework.families import comparable, family, parameter_types
from analyzer.framework.model import DATA_FILE, Framework
from analyzer.framework.table import decode
from gpu.errors import UnreadableInput


@pytest.fixture(scope="module")
def model() -> Framework:
    return framework.load()


def up(model: Framework, descriptor: str) -> set[str]:
    """All supertypes in the model."""
    reached, stack = set(), [descriptor]
    while stack:
        current = stack.pop()
        if current in reached:
            continue
        reached.add(current)
        if (found := model.find(current)) is not None:
            stack += [*found.interfaces, *([found.superclass] if found.superclass else [])]
    return reached


def data() -> bytes:
    return files("analyzer.framework").joinpath(DATA_FILE).read_bytes()


def test_it_is_small_and_loads_in_a_moment() -> None:
    content = data()
    assert len(content) < 1_000_000
    best = 1.0
    for _ in range(5):
        start = time.process_time()
        Framework(decode(content, "test"))
        best = min(best, time.process_time() - start)
    assert best < 0.05


def test_all_of_it_can_be_decoded(model: Framework) -> None:
    count = interfaces = methods = 0
    for descriptor in model.classes():
        found = model.find(descriptor)
        assert found is not None and found.descriptor == descriptor
        if found.is_interface:
            assert found.superclass is None and found.is_abstract
        count += 1
        interfaces += found.is_interface
        methods += len(model.methods(descriptor))
        assert {method.name for method in model.methods(descriptor)} == set(found.methods)
    assert count > 9000
    assert interfaces > 1700
    assert methods > 100_000


def test_no_class_is_its_own_supertype_and_superclasses_are_classes(model: Framework) -> None:
    for descriptor in model.classes():
        found = model.find(descriptor)
        assert found is not None
        for above in (found.superclass, *found.interfaces):
            assert above is None or descriptor not in up(model, above)
        parent = model.find(found.superclass or "")
        assert parent is None or not parent.is_interface, descriptor


@pytest.mark.parametrize(
    ("descriptor", "above"),
    [
        ("Landroid/app/Activity;", "Landroid/content/Context;"),
        ("Landroid/app/Activity;", "Landroid/view/KeyEvent$Callback;"),
        ("Landroid/widget/EditText;", "Landroid/view/View;"),
        ("Landroid/os/AsyncTask;", "Ljava/lang/Object;"),
        ("Landroid/app/job/JobService;", "Landroid/app/Service;"),
        ("Landroid/text/Editable;", "Ljava/lang/CharSequence;"),
        ("Landroid/view/View$AccessibilityDelegate;", "Ljava/lang/Object;"),
        ("Landroid/net/Uri;", "Landroid/os/Parcelable;"),
        ("Landroid/os/Bundle;", "Landroid/os/BaseBundle;"),
        ("Ljava/util/ArrayList;", "Ljava/util/Collection;"),
        ("Ljava/util/ArrayList;", "Ljava/lang/Iterable;"),
        ("Ljava/util/LinkedHashMap;", "Ljava/util/Map;"),
        ("Ljava/util/TreeMap;", "Ljava/util/SortedMap;"),
        ("Ljava/util/ArrayDeque;", "Ljava/util/Queue;"),
        ("Ljava/util/ListIterator;", "Ljava/util/Iterator;"),
        ("Ljava/util/concurrent/ThreadPoolExecutor;", "Ljava/util/concurrent/Executor;"),
        ("Ljava/util/concurrent/FutureTask;", "Ljava/lang/Runnable;"),
        ("Ljava/lang/String;", "Ljava/lang/CharSequence;"),
        ("Ljava/lang/StringBuilder;", "Ljava/lang/CharSequence;"),
        ("Ljava/lang/Integer;", "Ljava/lang/Comparable;"),
        ("Ljava/lang/NullPointerException;", "Ljava/lang/RuntimeException;"),
        ("Ljava/lang/OutOfMemoryError;", "Ljava/lang/Throwable;"),
        ("Ljava/io/FileNotFoundException;", "Ljava/io/IOException;"),
        ("Ljava/io/BufferedReader;", "Ljava/lang/AutoCloseable;"),
        ("Ljava/util/function/UnaryOperator;", "Ljava/util/function/Function;"),
        ("Lkotlin/coroutines/jvm/internal/SuspendLambda;", "Lkotlin/coroutines/Continuation;"),
        ("Lkotlin/jvm/functions/Function22;", "Lkotlin/Function;"),
        ("Landroidx/fragment/app/FragmentActivity;", "Landroid/app/Activity;"),
        ("Landroid/graphics/Bitmap$Config;", "Ljava/lang/Enum;"),
    ],
)
def test_supertypes_that_analyses_rest_on(model: Framework, descriptor: str, above: str) -> None:
    assert above in up(model, descriptor)


@pytest.mark.parametrize(
    ("descriptor", "name", "params"),
    [
        ("Landroid/app/Activity;", "onCreate", "(Landroid/os/Bundle;)V"),
        ("Landroid/app/Activity;", "onActivityResult", "(IILandroid/content/Intent;)V"),
        ("Landroid/content/BroadcastReceiver;", "onReceive", "(Landroid/content/Context;Landroid/content/Intent;)V"),
        ("Landroid/os/AsyncTask;", "doInBackground", "([Ljava/lang/Object;)V"),
        ("Landroid/os/AsyncTask;", "doInBackground", "([Ljava/lang/String;)V"),
        ("Landroid/location/LocationListener;", "onLocationChanged", "(Landroid/location/Location;)V"),
        ("Landroid/telephony/SmsManager;", "sendTextMessage",
         "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Landroid/app/PendingIntent;Landroid/app/PendingIntent;)V"),
        ("Ljava/lang/StringBuilder;", "append", "(C)V"),
        ("Ljava/lang/StringBuilder;", "append", "([CII)V"),
        ("Ljava/lang/System;", "arraycopy", "(Ljava/lang/Object;ILjava/lang/Object;II)V"),
        ("Ljava/util/Map;", "put", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
        ("Ljava/lang/invoke/MethodHandle;", "invokeExact", "(IJLjava/lang/String;)V"),
        ("Landroid/app/job/JobService;", "onStartJob", "(Landroid/app/job/JobParameters;)Z"),
        ("Lkotlin/coroutines/Continuation;", "resumeWith", "(Ljava/lang/Object;)V"),
    ],
)  # fmt: skip
def test_methods_that_analyses_rest_on(model: Framework, descriptor: str, name: str, params: str) -> None:
    types = parameter_types(params)
    assert types is not None
    assert model.declares(descriptor, name, types)
    assert not model.declares(descriptor, name, (*types, *"ZZZZ")) or "MethodHandle" in descriptor


def test_declares_tells_families_apart(model: Framework) -> None:
    activity = "Landroid/app/Activity;"
    assert not model.declares(activity, "onCreate", ("Ljava/lang/String;",))
    assert not model.declares(activity, "onCreate", ("I",))
    assert not model.declares(activity, "absent", ())
    assert not model.declares("Lno/Where;", "absent", ())
    assert not model.declares("Ljava/util/Map;", "put", ("I", "I"))


@pytest.mark.parametrize(
    ("declared", "actual", "yes"),
    [
        ("N", "J", True),
        ("N", "C", False),
        ("S", "C", True),
        ("S", "Ljava/lang/CharSequence;", True),
        ("S", "Ljava/lang/Object;", False),
        ("Z", "I", False),
        ("?", "Ljava/lang/String;", True),
        ("?", "[I", True),
        ("?", "I", False),
        ("?", "La/B;", True),
        ("[?", "[I", False),
        ("[?", "[[I", True),
        ("[N", "[B", True),
        ("[N", "[[B", False),
        ("La/B;", "La/B;", True),
        ("La/B;", "La/C;", False),
        ("V", "V", True),
    ],
)
def test_comparable_types(declared: str, actual: str, yes: bool) -> None:
    assert comparable(declared, family(actual)) is yes


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", data()[:8], data()[:-100], data()[:100] + data()[101:]])
def test_a_damaged_file_is_refused(damage: bytes) -> None:
    with pytest.raises(UnreadableInput, match=r"here\.bin"):
        decode(damage, "here.bin")


def test_malformed_descriptors_have_no_parameter_types() -> None:
    for text in ("", "(", ")", "I)V", "(Q)V", "(La/B)V", "([)V"):
        assert parameter_types(text) is None
