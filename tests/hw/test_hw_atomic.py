"""Atomic stores to global memory: what they use, and the order of float sums."""

from __future__ import annotations

from machine import COLLECT, MIX_AIV, Kernel, codes, device, run

from ascsim.hw.device import Device


def launched(body: object, blocks: int = 1, defined: bool = True) -> Device:
    machine = device(blocks, MIX_AIV, COLLECT)
    machine.argument("w", memoryview(bytearray(256)), defined)
    run(machine, body)  # type: ignore[arg-type]
    return machine


def ready(k: Kernel) -> object:
    k.fill(1, 0, 64, 1)
    k.order(2, "V_MTE3")
    return k.device.arena.arrays[0]


def test_an_update_uses_what_stands_there() -> None:
    def body(k: Kernel) -> None:
        w = ready(k)
        k.store(3, w, 0, 0, 32)  # type: ignore[arg-type]
        k.barrier_all(4)
        k.store(5, w, 0, 0, 64, "add int32")  # type: ignore[arg-type]

    (found,) = launched(body, defined=False).findings
    assert (found.code, found.sites) == ("UNINIT_READ", (("k", 5),))
    assert "store, k:5 (MTE3) updates undefined bytes [32:64) of argument 'w' atomically" in found.message


def test_an_update_of_what_was_stored_before_is_fine_and_leaves_it_defined() -> None:
    def body(k: Kernel) -> None:
        w = ready(k)
        k.store(3, w, 0, 0, 64)  # type: ignore[arg-type]
        k.barrier_all(4)
        k.store(5, w, 0, 0, 64, "max int32")  # type: ignore[arg-type]
        k.barrier_all(6)
        k.load(7, 64, w, 0, 64)  # type: ignore[arg-type]

    machine = launched(body, defined=False)
    assert machine.findings == []


def test_float_sums_in_either_order_are_noted_with_both_lines() -> None:
    def body(k: Kernel) -> None:
        w = ready(k)
        k.store(3 + k.core.index, w, 16 * k.core.index, 0, 32, "add float32")  # type: ignore[arg-type]

    (found,) = launched(body, blocks=2).findings
    assert (found.code, found.severity, found.sites) == ("ATOMIC_ORDER", "note", (("k", 3), ("k", 4)))
    both = "store, k:4 (MTE3) on aiv 1 and store, k:3 (MTE3) on aiv 0"  # bytes 16 to 47, and 0 to 31
    assert f"{both} add float32 to the same bytes [16:32) of w in either order" in found.message


def test_no_note_for_float_sums_that_are_ordered_or_lie_apart() -> None:
    def body(k: Kernel) -> None:
        w = ready(k)
        k.store(3, w, 64 + 64 * k.core.index, 0, 64, "add float16")  # type: ignore[arg-type]
        if k.core.index == 0:
            k.store(4, w, 0, 0, 32, "add float16")  # type: ignore[arg-type]
        k.xset(5, 4, 0, "MTE3")
        k.xwait(6, 4)
        k.barrier_all(7)
        if k.core.index == 1:
            k.store(8, w, 0, 0, 32, "add float16")  # type: ignore[arg-type]

    assert codes(launched(body, blocks=2)) == []


def test_no_note_for_comparisons_and_integers() -> None:
    for kind in ("max float32", "add int32"):

        def body(k: Kernel, kind: str = kind) -> None:
            w = ready(k)
            for line in (3, 4, 5):
                k.store(line, w, 0, 0, 32, kind)  # type: ignore[arg-type]

        assert codes(launched(body, blocks=3)) == []
