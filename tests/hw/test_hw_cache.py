"""The data cache: what each core sees, what memory holds, and the three faults."""

from __future__ import annotations

import pytest
from machine import AIV_ONLY, Kernel, codes, device, run

from ascsim.hw import cache
from ascsim.hw.checks import Checks
from ascsim.hw.errors import DeadlockError, HazardError


def word(value: int) -> bytes:
    return value.to_bytes(4, "little")


def load(k: Kernel, line: int, array: object, at: int) -> int:
    return int.from_bytes(cache.load(k.core, array, at, 4, ("k", line)), "little")  # type: ignore[arg-type]


def store(k: Kernel, line: int, array: object, at: int, value: int) -> None:
    cache.store(k.core, array, at, word(value), ("k", line))  # type: ignore[arg-type]


def clean(k: Kernel, line: int, array: object, at: int = 0, whole: bool = False) -> None:
    cache.clean(k.core, array, at, whole, ("k", line))  # type: ignore[arg-type]


def launched(body: object, blocks: int = 1, size: int = 256, checks: Checks | None = None) -> object:
    machine = device(blocks, AIV_ONLY, **({"checks": checks} if checks else {}))
    array = machine.argument("w", memoryview(bytearray(size)))
    machine.w = array  # type: ignore[attr-defined]
    run(machine, lambda k: body(k, array))  # type: ignore[operator]
    return machine


def test_a_core_sees_its_own_store_and_memory_does_not() -> None:
    seen = []

    def body(k: Kernel, w: object) -> None:
        store(k, 1, w, 8, 77)
        seen.append((load(k, 2, w, 8), bytes(w.bytes(8, 12))))  # type: ignore[attr-defined]
        clean(k, 3, w, 8)
        seen.append((load(k, 4, w, 8), bytes(w.bytes(8, 12))))  # type: ignore[attr-defined]

    machine = launched(body)
    assert seen == [(77, word(0)), (77, word(77))]
    assert codes(machine) == []  # type: ignore[arg-type]


def test_an_element_across_two_lines() -> None:
    def body(k: Kernel, w: object) -> None:
        cache.store(k.core, w, 62, b"abcd", ("k", 1))  # type: ignore[arg-type]
        assert cache.load(k.core, w, 62, 4, ("k", 2)) == b"abcd"  # type: ignore[arg-type]
        clean(k, 3, w, whole=True)

    assert bytes(launched(body).w.bytes(60, 68)) == b"\0\0abcd\0\0"  # type: ignore[attr-defined]


def test_clean_of_one_line_leaves_the_others() -> None:
    def body(k: Kernel, w: object) -> None:
        store(k, 1, w, 0, 1)
        store(k, 2, w, 64, 2)
        clean(k, 3, w, 4)
        assert (bytes(w.bytes(0, 4)), bytes(w.bytes(64, 68))) == (word(1), word(0))  # type: ignore[attr-defined]
        clean(k, 4, w, 64)

    assert codes(launched(body)) == []  # type: ignore[arg-type]


def test_a_line_never_cleaned_is_written_at_the_end_with_a_warning() -> None:
    machine = launched(lambda k, w: store(k, 1, w, 8, 5))
    (finding,) = machine.findings  # type: ignore[attr-defined]
    assert (finding.code, finding.severity) == ("CACHE_NOT_FLUSHED", "warn")
    assert finding.message == (
        "set_value, k:1: bytes [8:12) of w are still in the data cache of aiv 0 when the kernel ends; needs "
        "data_cache_clean_and_invalid"
    )
    assert bytes(machine.w.bytes(8, 12)) == word(5)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("cleaned", "found"), [(False, ["CACHE_NOT_FLUSHED", "CACHE_NOT_FLUSHED"]), (True, [])])
def test_a_copy_of_bytes_that_the_cache_holds_newer(cleaned: bool, found: list[str]) -> None:
    def body(k: Kernel, w: object) -> None:
        store(k, 1, w, 0, 5)
        if cleaned:
            clean(k, 2, w)
        k.order(3, "S_MTE2")
        k.load(4, 0, w, 0, 32)  # type: ignore[arg-type]

    machine = launched(body)
    assert codes(machine) == found  # type: ignore[arg-type]
    if found:
        assert machine.findings[0].message == (  # type: ignore[attr-defined]
            "CACHE_NOT_FLUSHED on GM w[0:4): aiv 0: load, k:4 (MTE2) reads bytes which the data cache of aiv 0 holds "
            "newer (set_value, k:1); needs data_cache_clean_and_invalid between, and an order after it"
        )


def test_a_clean_alone_is_no_order() -> None:
    def body(k: Kernel, w: object) -> None:
        store(k, 1, w, 0, 5)
        clean(k, 2, w)
        k.load(3, 0, w, 0, 32)  # type: ignore[arg-type]

    assert codes(launched(body)) == ["RAW"]  # type: ignore[arg-type]


@pytest.mark.parametrize(("cleaned", "found"), [(False, ["CACHE_STALE"]), (True, [])])
def test_a_hit_on_bytes_that_a_store_has_changed(cleaned: bool, found: list[str]) -> None:
    seen = []

    def body(k: Kernel, w: object) -> None:
        k.fill(1, 0, 32, 9)
        seen.append(load(k, 2, w, 0))
        k.barrier_all(3)
        k.store(4, w, 0, 0, 32)  # type: ignore[arg-type]
        k.barrier_all(5)
        if cleaned:
            clean(k, 6, w)
        seen.append(load(k, 7, w, 0))

    assert codes(launched(body)) == found  # type: ignore[arg-type]
    assert seen == [0, 0x09090909 if cleaned else 0]


@pytest.mark.parametrize(("apart", "found"), [(4, ["CACHE_LINE_SHARED"]), (64, [])])
def test_two_cores_that_count_in_one_line(apart: int, found: list[str]) -> None:
    def body(k: Kernel, w: object) -> None:
        at = apart * k.core.index
        store(k, 1, w, at, load(k, 2, w, at) + 1)
        clean(k, 3, w, at)

    machine = launched(body, blocks=2)
    assert sorted(set(codes(machine))) == found  # type: ignore[arg-type]


def test_a_line_filled_before_another_core_changed_it_takes_the_change_back() -> None:
    def body(k: Kernel, w: object) -> None:
        if k.core.index == 0:
            load(k, 1, w, 0)  # filled
            store(k, 2, w, 0, 1)
            while load(k, 3, w, 64) == 0:  # until core 1 has written its word
                clean(k, 4, w, 64)
            clean(k, 5, w, 0)
        else:
            store(k, 6, w, 4, 7)
            clean(k, 7, w, 4)
            store(k, 8, w, 64, 1)
            clean(k, 9, w, 64)

    machine = launched(body, blocks=2)
    assert set(codes(machine)) == {"CACHE_LINE_SHARED"}  # type: ignore[arg-type]
    assert bytes(machine.w.bytes(0, 8)) == word(1) + word(0)  # type: ignore[attr-defined]


def test_polling_waits_for_the_other_core_and_follows_its_clean() -> None:
    """Core 0 polls a word that core 1 cleans after a store: no race on the data, none on the word."""
    turns = []

    def body(k: Kernel, w: object) -> None:
        if k.core.index == 0:
            while load(k, 1, w, 0) == 0:
                turns.append(0)
                clean(k, 2, w)
            k.load(3, 0, w, 128, 32)  # type: ignore[arg-type]
        else:
            k.fill(4, 0, 32, 3)
            k.order(5, "V_MTE3")
            k.store(6, w, 128, 0, 32)  # type: ignore[arg-type]
            k.order(7, "MTE3_S")
            store(k, 8, w, 0, 1)
            clean(k, 9, w)

    machine = launched(body, blocks=2)
    assert codes(machine) == []  # type: ignore[arg-type]
    assert len(turns) == 2  # the second unchanged read gave up the turn


def test_a_word_read_once_before_it_is_cleaned_is_a_race() -> None:
    def body(k: Kernel, w: object) -> None:
        if k.core.index == 0:
            load(k, 1, w, 0)
        else:
            store(k, 2, w, 0, 1)
            clean(k, 3, w)

    assert codes(launched(body, blocks=2)) == ["GM_RACE_RW"]  # type: ignore[arg-type]


@pytest.mark.parametrize("invalidates", [True, False])
def test_polling_what_nobody_writes_ends_in_a_deadlock_report(invalidates: bool) -> None:
    def body(k: Kernel, w: object) -> None:
        while load(k, 1, w, 0) == 0:
            if invalidates:
                clean(k, 2, w)

    text = r"DEADLOCK \(rendezvous\): aiv 0 reads bytes \[0:4\) of w again and again \(k:1\)"
    with pytest.raises(DeadlockError, match=text):
        launched(body, checks=Checks())


def test_equal_reads_among_other_work_are_no_polling() -> None:
    def body(k: Kernel, w: object) -> None:
        for _ in range(3000):
            load(k, 1, w, 0)
            k.fill(2, 0, 32, 1)
            k.core.barrier(k.core.pipes["V"], ("k", 3))

    assert codes(launched(body, blocks=1)) == []  # type: ignore[arg-type]


def test_a_word_that_nobody_has_written_is_undefined() -> None:
    machine = device(1, AIV_ONLY)
    w = machine.argument("w", memoryview(bytearray(64)), defined=False)
    run(machine, lambda k: load(k, 1, w, 0))
    assert [f.text() for f in machine.findings] == [
        "UNINIT_READ: get_value, k:1 (S) uses undefined bytes [0:4) of argument 'w': never written"
    ]


def test_a_full_cache_writes_its_oldest_line_back() -> None:
    def body(k: Kernel, w: object) -> None:
        store(k, 1, w, 0, 5)
        for number in range(1, 513):
            load(k, 2, w, 64 * number)
        assert bytes(w.bytes(0, 4)) == word(5)  # type: ignore[attr-defined]

    assert codes(launched(body, size=64 * 513)) == []  # type: ignore[arg-type]


def test_it_works_without_checks() -> None:
    def body(k: Kernel, w: object) -> None:
        store(k, 1, w, 0, 5)
        clean(k, 2, w)
        assert load(k, 3, w, 0) == 5
        store(k, 4, w, 64, 6)

    machine = launched(body, checks=Checks.off())
    assert machine.findings == []  # type: ignore[attr-defined]
    assert bytes(machine.w.bytes(64, 68)) == word(6)  # type: ignore[attr-defined]


def test_faults_raise_at_the_access() -> None:
    def body(k: Kernel, w: object) -> None:
        store(k, 1, w, 0, 5)
        k.order(2, "S_MTE2")
        k.load(3, 0, w, 0, 32)  # type: ignore[arg-type]

    with pytest.raises(HazardError, match="CACHE_NOT_FLUSHED"):
        launched(body, checks=Checks())
