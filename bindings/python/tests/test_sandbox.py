"""What the sandbox promises, shown with the component that misbehaves as it is asked to."""

import resource
import threading
from pathlib import Path

import pytest
from memory import Apps
from wasmtime import wat2wasm

from portico_dashboard import ANONYMOUS, AppInput, Caller, CallFailed, Portico, PorticoError

REPOSITORY = Path(__file__).parents[3]


@pytest.mark.parametrize("what", ["loop", "loop-over-storage", "memory", "recursion", "random:5000000000", "panic"])
def test_a_call_without_end_or_bound_fails_alone(hostile: Portico, what: str) -> None:
    with pytest.raises(CallFailed):
        hostile.apps.by_id(ANONYMOUS, f"hostile:{what}")
    assert hostile.apps.by_id(ANONYMOUS, "hostile:look").name == ""


def test_a_loop_is_ended_when_its_time_is_over(hostile: Portico) -> None:
    with pytest.raises(CallFailed, match="the call took longer than 2 s"):
        hostile.apps.by_id(ANONYMOUS, "hostile:loop")


def test_a_trap_in_a_write_changes_nothing_and_leaves_nothing_open(hostile: Portico, storage: Apps, me: Caller) -> None:
    for _ in range(3):
        with pytest.raises(CallFailed):
            hostile.apps.by_id(me, "hostile:trap-in-write:half")
    assert (storage.apps, storage.open) == ({}, 0)
    with pytest.raises(CallFailed):
        hostile.apps.by_id(me, "hostile:trap-after-commit:whole")
    assert [app.name for app in storage.apps.values()] == ["whole"]
    assert storage.open == 0


def test_nothing_of_a_call_is_visible_in_another_one(hostile: Portico, me: Caller) -> None:
    hostile.apps.by_id(me, "hostile:hide:a secret")
    for caller in (me, ANONYMOUS):
        assert hostile.apps.by_id(caller, "hostile:look").name == ""


def test_a_thousand_calls_are_right_alongside_one_that_loops(hostile: Portico, me: Caller, jellyfin: AppInput) -> None:
    created = hostile.apps.create(me, jellyfin)
    stop, failed = threading.Event(), []

    def misbehave() -> None:
        while not stop.is_set():
            for what in ("loop", "memory", "trap-in-write:half"):
                with pytest.raises(PorticoError) as found:
                    hostile.apps.by_id(me, f"hostile:{what}")
                failed.append(found.value)

    beside = threading.Thread(target=misbehave)
    beside.start()
    try:
        for _ in range(1_000):
            assert hostile.apps.by_id(me, created.id) == created
    finally:
        stop.set()
        beside.join()
    assert failed
    assert [app.name for app in hostile.apps.all(me)] == [created.name]


def test_answers_that_would_fill_the_memory_end_their_call(hostile: Portico) -> None:
    for what in ("many:20000000", "aliases:200000"):
        with pytest.raises(PorticoError):
            hostile.apps.search(ANONYMOUS, f"hostile:{what}")
    assert hostile.apps.by_id(ANONYMOUS, "hostile:look").name == ""


def test_memory_stays_flat_over_fresh_instances(portico: Portico, me: Caller, jellyfin: AppInput) -> None:
    created = portico.apps.create(me, jellyfin)

    def run(calls: int) -> int:
        for _ in range(calls):
            portico.apps.by_id(me, created.id)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(1_000)
    # In kilobytes: a hundred bytes for each call would be more.
    assert run(3_000) - before < 1_000


def test_a_later_file_of_the_same_contract_runs(tmp_path: Path, storage: Apps, me: Caller, jellyfin: AppInput) -> None:
    shipped = (REPOSITORY / "dist/portico.wasm").read_bytes()
    later = shipped
    for interface in ("apps", "users", "types", "storage", "sign-in", "icons", "log", "names", "state", "procedures"):
        name = f"portico:dashboard/{interface}@1."
        later = later.replace(f"{name}0.0".encode(), f"{name}7.3".encode())
    assert later != shipped
    file = tmp_path / "later.wasm"
    file.write_bytes(later)
    portico = Portico.open(storage=storage, component=file)
    assert portico.apps.create(me, jellyfin).name == "Jellyfin"


def test_what_the_host_does_not_offer_is_named(tmp_path: Path, storage: Apps) -> None:
    file = tmp_path / "other.wasm"
    shipped = (REPOSITORY / "dist/portico.wasm").read_bytes()
    file.write_bytes(shipped.replace(b"portico:dashboard/icons@1.0.0", b"portico:dashboard/icons@2.0.0"))
    with pytest.raises(CallFailed, match=r"imports portico:dashboard/icons@2.0.0, which this host does not offer"):
        Portico.open(storage=storage, component=file)
    file.write_bytes(b"not a component")
    with pytest.raises(CallFailed, match="the file is not a component"):
        Portico.open(storage=storage, component=file)


@pytest.mark.parametrize("lies", ["result", "parameter"])
def test_a_component_with_other_types_is_refused_before_it_runs(tmp_path: Path, storage: Apps, lies: str) -> None:
    if lies == "result":
        core = """(core module $m (func (export "f") (result i32) i32.const 7))
            (core instance $i (instantiate $m))
            (func $f (result u32) (canon lift (core func $i "f")))
            (instance $e (export "describe" (func $f)))
            (export "portico:dashboard/procedures@1.0.0" (instance $e))"""
        message = "the component's procedures.describe has another type"
    else:
        core = """(import "portico:dashboard/log@1.0.0"
            (instance (export "write" (func (param "level" u64) (param "message" u64)))))"""
        message = "imports portico:dashboard/log@1.0.0 with another type of write"
    file = tmp_path / "liar.wasm"
    file.write_bytes(wat2wasm(f"(component {core})"))
    with pytest.raises(CallFailed, match=message):
        Portico.open(storage=storage, component=file)
