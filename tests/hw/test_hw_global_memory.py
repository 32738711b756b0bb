"""Arrays of a launch: whose bytes they are, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine import MIX_AIV, Kernel, codes, device, run

from ascsim.hw.arena import ALIGN, Arena
from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentValueError, HazardError, MemoryFault
from ascsim.hw.global_memory import PADDING, GlobalArray
from ascsim.hw.instruction import Plan, gm_shape


def test_arrays_are_copied_at_the_first_store_and_written_back_at_the_end() -> None:
    x, z = bytearray(range(64)), bytearray(64)
    machine = device()
    gx, gz = machine.argument("x", memoryview(x)), machine.argument("z", memoryview(z))

    def body(k: Kernel) -> None:
        k.load(1, 0, gx, 0, 64)
        k.order(2, "MTE2_MTE3")
        k.store(3, gz, 0, 0, 64)

    assert run(machine, body) == []
    assert (gx.owned, gz.owned) == (False, True)
    assert z == bytes(64)  # until the launch gives its results back
    machine.write_back()
    assert z == bytes(range(64))


def test_a_body_that_raises_leaves_the_arrays_untouched() -> None:
    z = bytearray(b"old bytes" * 8)
    machine = device()
    gz = machine.argument("z", memoryview(z))

    def body(k: Kernel) -> None:
        k.fill(1, 0, 64, 5)
        k.order(2, "V_MTE3")
        k.store(3, gz, 0, 0, 64)
        raise KeyError("the author's own")

    with pytest.raises(KeyError, match="the author's own"):
        run(machine, body)
    assert z == b"old bytes" * 8
    assert bytes(gz.data[:64]) == b"\x05" * 64


def test_a_read_only_array_refuses_results() -> None:
    machine = device()
    gz = machine.argument("z", memoryview(bytes(64)))

    def body(k: Kernel) -> None:
        k.fill(1, 0, 64, 5)
        k.order(2, "V_MTE3")
        k.store(3, gz, 0, 0, 64)

    run(machine, body)
    with pytest.raises(ArgumentValueError, match="z: the kernel writes this argument, but the array is read-only"):
        machine.write_back()


def test_addresses_are_aligned_apart_and_found_again() -> None:
    arena = Arena()
    a = arena.add("a", memoryview(bytearray(100)))
    b = arena.add("b", memoryview(bytearray(100)))
    assert (a.address % ALIGN, b.address % ALIGN) == (0, 0)
    assert b.address - a.address >= 100 + PADDING
    assert arena.at(a.address + 99 + PADDING) is a
    assert arena.at(a.address - 1) is None
    assert arena.at(b.address) is b


def test_the_padding_behind_an_array_can_be_read_and_is_undefined() -> None:
    machine = device()
    gx = machine.argument("x", memoryview(bytearray(32)))
    run(machine, lambda k: k.load(1, 0, gx, 0, 64))
    (finding,) = machine.findings
    assert finding.text() == ("OOB_GM: load reads bytes [0:64) of argument 'x' (32 bytes), 32 bytes past its end")
    assert finding.severity == "warn"
    with pytest.raises(MemoryFault, match=r"bytes \[4096:4160\) of argument 'x' \(32 bytes\), 4128 bytes past its end"):
        run(device_with(gx), lambda k: k.load(1, 0, gx, 4096, 64))


def device_with(array: object) -> object:
    machine = device()
    machine.arena.arrays.append(array)  # type: ignore[arg-type]
    return machine


def two_writers(values: tuple[int, int], initial: bytes, checks: Checks) -> object:
    machine = device(2, MIX_AIV, checks)
    gz = machine.argument("z", memoryview(bytearray(initial)))

    def body(k: Kernel) -> None:
        k.fill(1, 0, 32, values[k.core.index])
        k.order(2, "V_MTE3")
        k.store(3, gz, 0, 0, 32)

    run(machine, body)
    return machine


def test_writers_that_change_no_byte_are_a_warning_and_others_a_fault() -> None:
    bytes_only = replace(Checks.collect(), gm_races="bytes")
    same = two_writers((7, 7), b"\x07" * 32, bytes_only)
    assert [(f.code, f.severity) for f in same.findings] == [("GM_RACE_WW", "warn")]  # type: ignore[attr-defined]
    other = two_writers((7, 8), b"\x00" * 32, bytes_only)
    assert [(f.code, f.severity) for f in other.findings] == [("GM_RACE_WW", "fault")]  # type: ignore[attr-defined]
    with pytest.raises(HazardError, match="GM_RACE_WW on GM z"):
        two_writers((7, 8), b"\x00" * 32, Checks(warnings="off"))


def test_a_race_report_names_both_sites_and_the_cure() -> None:
    machine = two_writers((1, 2), bytes(32), Checks.collect())
    assert codes(machine) == ["GM_RACE_WW"]  # type: ignore[arg-type]
    assert machine.findings[0].message == (  # type: ignore[attr-defined]
        "GM_RACE_WW on GM z[0:32): aiv 1: store, k:3 (MTE3) overwrites what aiv 0: store, k:3 (MTE3) writes; "
        "nothing orders the two cores. Needs bytes of its own for each core at line 3, or turns: "
        "cross_core_set_flag on pipe MTE3 after it on aiv 0 and cross_core_wait_flag before it on aiv 1"
    )


def test_a_footprint_of_several_matrices_is_its_exact_runs():
    shape = gm_shape(4, 16, 2, many=3, jump=4)  # rows 0..4 and 16..20, three times 4 bytes on
    assert shape.runs(100) == [(100, 112), (116, 128)]
    assert (shape.span, shape.nbytes, shape.plain) == (28, 24, False)
    assert gm_shape(8, 8, 4, many=2, jump=64).runs(0) == [(0, 32), (64, 96)]  # rows without a gap are one run
    assert gm_shape(8, 32, 2, many=2, jump=8).runs(0) == [(0, 16), (32, 48)]


# A store of rows: first byte, bytes of a row, bytes from row to row, rows.
Rows = tuple[int, int, int, int]


def stores(made: list[list[Rows]]) -> tuple[object, object]:
    """Each core stores its rows in order, all of one line."""
    machine = device(len(made), MIX_AIV, Checks.collect())
    gz = machine.argument("z", memoryview(bytearray(512)))

    def body(k: Kernel) -> None:
        region = k.region(0, 64)
        k.fill(1, 0, 64, k.core.index + 1)
        k.order(2, "V_MTE3")
        for at, block, pitch, count in made[k.core.index]:
            shape = gm_shape(block, pitch, count, write=True)

            def run(array: object, at: int, shape: object = shape) -> None:
                for a, b in shape.runs(at):  # type: ignore[attr-defined]
                    array.data[a:b] = bytes(b - a)  # type: ignore[attr-defined]

            k.core.issue(Plan("store", k.core.pipes["MTE3"], (region,), (), run, 10, shape), ("k", 3), gz, at)
            k.core.barrier(k.core.pipes["MTE3"], ("k", 4))

    run(machine, body)
    return machine, gz


def test_columns_of_a_matrix_are_compared_as_such() -> None:
    left, right = (0, 16, 64, 8), (16, 48, 64, 8)  # of eight rows of 64 bytes
    machine, gz = stores([[left], [right]])
    assert codes(machine) == []  # type: ignore[arg-type]
    assert gz.index is None  # type: ignore[attr-defined]
    machine, gz = stores([[left], [(15, 48, 64, 8)]])
    assert codes(machine) == ["GM_RACE_WW"]  # type: ignore[arg-type]
    assert "GM z[15:16)" in machine.findings[0].message  # type: ignore[attr-defined]


rows = st.tuples(st.integers(0, 40), st.sampled_from([8, 16, 24]), st.sampled_from([32, 40]), st.integers(1, 5))


@given(st.lists(st.lists(rows, max_size=4), min_size=2, max_size=2))
def test_stores_are_found_to_meet_whether_or_not_columns_are_compared(made: list[list[Rows]]) -> None:
    """The run map knows of no columns."""

    def told() -> list[str]:
        return [finding.message for finding in stores(made)[0].findings]  # type: ignore[attr-defined]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GlobalArray, "_apart", lambda *store: False)
        expected = told()
    assert told() == expected
    runs = [
        {byte for at, *shape in made[k] for a, b in gm_shape(*shape).runs(at) for byte in range(a, b)} for k in (0, 1)
    ]
    assert bool(expected) == bool(runs[0] & runs[1])
