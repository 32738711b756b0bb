"""Atomic stores: their registers, what they compute, and what they may meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_atomic
from basic_machine import FREE, at, launch, order, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    HazardError,
    LaunchError,
    NotSimulatedError,
    OperandError,
)
from ascsim.hw.soc import soc
from ascsim.language.basic import (
    data_copy,
    data_copy_pad,
    duplicate,
    get_block_idx,
    get_store_atomic_config,
    init_soc_state,
    pipe_barrier,
    set_atomic_add,
    set_atomic_max,
    set_atomic_min,
    set_atomic_none,
    set_atomic_type,
    set_flag,
    set_store_atomic_config,
    wait_flag,
)
from ascsim.language.core import (
    AtomicDtype,
    AtomicOp,
    DataCopyExtParams,
    DataCopyParams,
    GlobalAddress,
    HardEvent,
    PipeID,
)
from ascsim.language.core import dtype as dt

SET: dict[str, Callable[[Any], None]] = {"add": set_atomic_add, "max": set_atomic_max, "min": set_atomic_min}
TYPES = (dt.float32, dt.float16, dt.bfloat16, dt.int32, dt.int16, dt.int8)
INF, NAN = float("inf"), float("nan")
BARRIER = PipeID.PIPE_MTE3


def stored(
    dtype: dt.DataType, old: Any, new: Any, switch: Callable[[], object], checks: Checks | None = None
) -> np.ndarray:
    """What stands where `old` stood after `new` was stored there under `switch`; both fill up to 32 bytes."""
    width = 32 // dtype.size
    gm, source = np.zeros(width, dtype.np), np.zeros(width, dtype.np)
    gm[: len(old)], source[: len(new)] = np.array(old).astype(dtype.np), np.array(new).astype(dtype.np)

    def body(a: GlobalAddress, b: GlobalAddress) -> None:
        here = ub(dtype, 0, width)
        data_copy(here, at(b), width)
        order(HardEvent.MTE2_MTE3)
        switch()
        data_copy(at(a), here, width)

    launch(body, gm, source, checks=checks)
    return gm[: len(old)]


SUMS = [
    # dtype, what stands there, what is stored, the sum
    (dt.float32, [1, 2.0**24, -0.0, INF, 3e38], [2, 1, 0.0, -INF, 3e38], [3, 2.0**24, 0.0, NAN, INF]),
    (dt.float32, [2.0**24 + 2, 1e-45, -0.0], [1, 1e-45, -0.0], [2.0**24 + 4, 2.8e-45, -0.0]),  # ties to even
    (dt.float16, [2048, 2050, 65504, 6e-8], [1, 1, 16, 6e-8], [2048, 2052, INF, 1.2e-7]),
    (dt.bfloat16, [256, 258, -1, NAN], [1, 1, 1, 0], [256, 260, 0, NAN]),
    (dt.int32, [2**31 - 1, -(2**31), 5], [1, -1, -7], [-(2**31), 2**31 - 1, -2]),
    (dt.int16, [32767, -32768, 100], [1, -1, 200], [-32768, 32767, 300]),
    (dt.int8, [127, -128, 100], [1, -1, 100], [-128, 127, -56]),
]


@pytest.mark.parametrize(("dtype", "old", "new", "expected"), SUMS)
def test_sums(dtype: dt.DataType, old: list[float], new: list[float], expected: list[float]) -> None:
    got = stored(dtype, old, new, lambda: set_atomic_add(dtype))
    want = np.array(expected).astype(dtype.np)
    np.testing.assert_array_equal(got.astype(float), want.astype(float))
    assert (np.signbit(got.astype(float)) == np.signbit(want.astype(float)))[~np.isnan(want.astype(float))].all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("name", "expected"), [("max", [3, 2, -4]), ("min", [-1, 1, -5])])
def test_greater_and_lesser(dtype: dt.DataType, name: str, expected: list[int]) -> None:
    assert stored(dtype, [-1, 2, -5], [3, 1, -4], lambda: SET[name](dtype)).astype(int).tolist() == expected


@pytest.mark.parametrize("dtype", [dt.float32, dt.float16, dt.bfloat16])
def test_greater_and_lesser_of_zeros_and_nan(dtype: dt.DataType) -> None:
    old, new = [0.0, -0.0, NAN, 1.0], [-0.0, 0.0, 1.0, NAN]
    greater = stored(dtype, old, new, lambda: set_atomic_max(dtype)).astype(float)
    lesser = stored(dtype, old, new, lambda: set_atomic_min(dtype)).astype(float)
    assert np.signbit(greater[:2]).tolist() == [False, False]
    assert np.signbit(lesser[:2]).tolist() == [True, True]
    assert np.isnan(greater[2:]).all()
    assert np.isnan(lesser[2:]).all()


# --- any copy, against the second opinion ----------------------------------------------------------------------------


@settings(derandomize=True, max_examples=80, deadline=None, database=None)
@given(
    st.sampled_from(TYPES),
    st.sampled_from(list(SET)),
    st.sampled_from(["count", "params", "pad"]),
    st.tuples(st.integers(1, 4), st.integers(1, 40), st.integers(0, 3), st.integers(0, 70)),
    st.integers(0, 20),
)
def test_copies_of_every_form(dtype: dt.DataType, name: str, form: str, fields: Any, gm_at: int) -> None:
    blocks, length, src_gap, dst_gap = fields
    rng = np.random.default_rng(length)
    local, outside = rng.integers(0, 256, 2048, np.uint8), rng.integers(0, 256, 4096, np.uint8)
    expected, size = outside.copy(), dtype.size
    if form == "count":
        arguments: Any = length * size
        moves = (1, length * size * size // 32 * 32, 0, 0)  # whole blocks of 32 bytes
    elif form == "params":
        length %= 5
        arguments = DataCopyParams(blocks, length, src_gap, dst_gap % 4)
        moves = (blocks, length * 32, (length + src_gap) * 32, (length + dst_gap % 4) * 32)
    else:
        length = length % 20 * size
        dst_gap *= size
        arguments = DataCopyExtParams(blocks, length, src_gap, dst_gap, 0)
        moves = (blocks, length, -(-length // 32) * 32 + src_gap * 32, length + dst_gap)

    def body(image: GlobalAddress, gm: GlobalAddress) -> None:
        data_copy(ub(dt.uint8, 0, 2048), at(image), 2048)
        order(HardEvent.MTE2_MTE3)
        SET[name](dtype)
        (data_copy_pad if form == "pad" else data_copy)(at(gm)[gm_at:], ub(dtype, 64), arguments)

    gm = outside.view(dtype.np)
    launch(body, local, gm, checks=FREE)
    with np.errstate(all="ignore"):
        reference_atomic.atomic_store(expected, gm_at * size, local, 64, moves, name, dtype.name)
        got, want = (image.view(dtype.np).astype(float) for image in (outside, expected))
    np.testing.assert_array_equal(got, want)
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


# --- the registers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("switch", "expected"),
    [
        (lambda: None, 2),
        (lambda: (set_atomic_add(dt.int16), set_atomic_none()), 2),
        (lambda: (set_atomic_add(dt.int16), init_soc_state()), 2),
        (lambda: set_atomic_type(dt.int16), 5),  # the type is the switch, and the sum is the first operation
        (lambda: (set_atomic_max(dt.int32), set_atomic_type(dt.int16)), 3),
        (lambda: (set_atomic_min(dt.int16), set_atomic_add(dt.int16)), 5),
        (lambda: set_store_atomic_config(AtomicDtype.ATOMIC_S16, AtomicOp.ATOMIC_SUM), 5),
        (lambda: (set_atomic_max(dt.int16), set_store_atomic_config(3, 0)), 5),
        (lambda: (set_atomic_max(dt.int16), set_store_atomic_config(AtomicDtype.ATOMIC_NONE, AtomicOp.ATOMIC_SUM)), 2),
    ],
)
def test_what_is_in_force(switch: Callable[[], object], expected: int) -> None:
    assert stored(dt.int16, [3], [2], switch).tolist() == [expected]


@pytest.mark.parametrize(("member", "dtype"), list(zip(list(AtomicDtype)[1:], TYPES, strict=False)))
def test_the_configuration_reads_back(member: AtomicDtype, dtype: dt.DataType) -> None:
    seen = []

    def body() -> None:
        seen.append(get_store_atomic_config())
        set_store_atomic_config(member, AtomicOp.ATOMIC_SUM)
        seen.append(get_store_atomic_config())

    launch(body)
    assert [(kind.v, what.v) for kind, what in seen] == [(0, 0), (int(member), 0)]
    assert {scalar.dtype for pair in seen for scalar in pair} == {dt.int16}


def test_numbers_of_the_types() -> None:
    numbers = {}

    def body() -> None:
        for dtype in TYPES:
            set_atomic_add(dtype)
            numbers[dtype.name] = get_store_atomic_config()[0].v

    launch(body)
    assert numbers == {"float32": 1, "float16": 2, "int16": 3, "int32": 4, "int8": 5, "bfloat16": 6}


def test_the_number_of_a_comparison_is_not_known() -> None:
    def body() -> None:
        set_atomic_max(dt.float32)
        get_store_atomic_config()

    with pytest.raises(NotSimulatedError, match=r"^get_store_atomic_config: the number that the chip has for max"):
        launch(body)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: set_atomic_add(dt.float64), OperandError, "BAD_DTYPE: set_atomic_add: dtype = float64; rule: float32"),
        (lambda: set_atomic_max(dt.uint32), OperandError, "BAD_DTYPE: set_atomic_max: dtype = uint32; rule: float32"),
        (lambda: set_atomic_type(dt.int64), OperandError, "BAD_DTYPE: set_atomic_type: dtype = int64; rule: float32"),
        (lambda: set_atomic_min("half"), ArgumentTypeError, "set_atomic_min: dtype = 'half': is no data type"),
        (lambda: set_store_atomic_config(7, 0), ArgumentValueError, "set_store_atomic_config: atomic_type = 7; rule: "),
        (lambda: set_store_atomic_config(1, 1), ArgumentValueError, "set_store_atomic_config: atomic_op = 1; rule: "),
        (lambda: set_store_atomic_config("x", 0), ArgumentTypeError, "set_store_atomic_config: atomic_type = 'x'"),
    ],
)
def test_bad_arguments(call: Callable[[], None], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        launch(call)
    assert str(caught.value).startswith(text)
    with pytest.raises((LaunchError, ArgumentTypeError)):
        call()


def test_an_atomic_store_takes_its_own_type_or_for_a_sum_that_without_sign() -> None:
    assert stored(dt.uint32, [2**32 - 1, 7], [2, 1], lambda: set_atomic_add(dt.int32)).tolist() == [1, 8]
    for dtype, switch in (
        (dt.float32, lambda: set_atomic_add(dt.int32)),
        (dt.int16, lambda: set_atomic_add(dt.int32)),
        (dt.uint32, lambda: set_atomic_max(dt.int32)),
    ):
        with pytest.raises(OperandError, match=r"BAD_DTYPE: data_copy: .*rule: one type for both, or set_atomic_none"):
            stored(dtype, [1], [1], switch)


def test_loads_and_copies_inside_ub_are_plain() -> None:
    gm = np.full(8, 5, np.int32)

    def body(a: GlobalAddress) -> None:
        first, second = ub(dt.int32, 0, 8), ub(dt.int32, 32, 8)
        duplicate(first, 1, 8)
        duplicate(second, 1, 8)
        set_atomic_add(dt.int32)
        order(HardEvent.V_MTE2)
        data_copy(first, at(a), 8)
        order(HardEvent.MTE2_V)
        data_copy(second, first, 8)
        set_atomic_none()
        order(HardEvent.V_MTE3)
        data_copy(at(a), second, 8)

    launch(body, gm)
    assert gm.tolist() == [5] * 8


@pytest.mark.parametrize("checks", [Checks(), Checks.off()])
def test_one_line_under_changing_modes(checks: Checks) -> None:
    """A call that is remembered for one mode is not used for another."""
    gm = np.zeros(8, np.int32)
    seen = []

    def body(a: GlobalAddress) -> None:
        here = ub(dt.int32, 0, 8)
        modes = (set_atomic_none, lambda: set_atomic_add(dt.int32), lambda: set_atomic_max(dt.int32))
        for value, mode in ((4, 0), (3, 1), (9, 2), (1, 1), (5, 2), (2, 0), (1, 1)):
            pipe_barrier(PipeID.PIPE_ALL)
            duplicate(here, value, 8)
            order(HardEvent.V_MTE3)
            modes[mode]()
            data_copy(at(a), here, 8)
            seen.append(int(a.array.bytes(0, 4)[0]))

    launch(body, gm, checks=checks)
    assert seen == [4, 7, 9, 10, 10, 2, 3]
    assert gm.tolist() == [3] * 8


def test_a_store_takes_the_mode_of_its_issue() -> None:
    """The store stands in a pipe that waits for a flag, and runs only after the mode has been switched off."""
    gm = np.full(8, 5, np.int32)

    def body(a: GlobalAddress) -> None:
        here = ub(dt.int32, 0, 8)
        duplicate(here, 2, 8)
        set_atomic_add(dt.int32)
        wait_flag(HardEvent.V_MTE3, 0)
        data_copy(at(a), here, 8)
        set_atomic_none()
        assert a.array.bytes(0, 4)[0] == 5
        set_flag(HardEvent.V_MTE3, 0)

    launch(body, gm)
    assert gm.tolist() == [7] * 8


# --- order -----------------------------------------------------------------------------------------------------------


def cores(
    body: Callable[[int, Any], None], blocks: int = 2, gm: np.ndarray | None = None
) -> tuple[list[int], list[str]]:
    """Run `body(core, global float32 tensor)` on several cores with 1.0 in UB; what it left, and what was found."""
    array = np.zeros(8, np.float32) if gm is None else gm
    device = Device(soc("Ascend910B1"), 0, blocks, checks=Checks.collect())
    address = GlobalAddress(device.argument("a", memoryview(array.view(np.uint8))), 0, dt.float32)

    def one() -> None:
        from_ub = ub(dt.float32, 0, 8)
        duplicate(from_ub, 1, 8)
        order(HardEvent.V_MTE3)
        body(get_block_idx().v, at(address))

    device.run(one)
    device.write_back()
    return array.tolist(), [finding.code for finding in device.findings]


def store(gm: Any, switch: Callable[[Any], None] = set_atomic_add, dtype: dt.DataType = dt.float32) -> None:
    """The 1.0 in UB goes out under a mode."""
    switch(dtype)
    data_copy(gm, ub(dt.float32, 0, 8), 8)


def plain(gm: Any) -> None:
    store(gm, lambda _: set_atomic_none())


def test_adding_cores_do_not_race_but_float_sums_depend_on_their_order() -> None:
    assert cores(lambda core, gm: store(gm), blocks=4) == ([4.0] * 8, ["ATOMIC_ORDER"])


@pytest.mark.parametrize("name", ["max", "min"])
def test_comparing_cores_do_not_race(name: str) -> None:
    expected = [1.0 if name == "max" else 0.0] * 8
    assert cores(lambda core, gm: store(gm, SET[name]), blocks=3) == (expected, [])


def test_adding_cores_that_write_apart_need_no_note() -> None:
    def body(core: int, gm: Any) -> None:
        set_atomic_add(dt.float32)
        data_copy_pad(gm[4 * core :], ub(dt.float32, 0, 8), DataCopyExtParams(1, 16, 0, 0, 0))

    assert cores(body) == ([1.0] * 8, [])


def test_integer_sums_do_not_depend_on_the_order() -> None:
    array = np.zeros(8, np.int32)
    device = Device(soc("Ascend910B1"), 0, 3, checks=Checks.strict())
    address = GlobalAddress(device.argument("a", memoryview(array.view(np.uint8))), 0, dt.int32)

    def body() -> None:
        here = ub(dt.int32, 0, 8)
        duplicate(here, get_block_idx() + 1, 8)
        order(HardEvent.V_MTE3)
        set_atomic_add(dt.int32)
        data_copy(at(address), here, 8)

    device.run(body)
    device.write_back()
    assert array.tolist() == [6] * 8
    assert device.findings == []


@pytest.mark.parametrize(
    ("first", "second"),
    [(store, plain), (plain, store), (store, lambda gm: store(gm, set_atomic_max))],
)
def test_finds_an_atomic_store_that_meets_one_of_another_kind(first: Any, second: Any) -> None:
    assert cores(lambda core, gm: (first, second)[core](gm))[1] == ["GM_RACE_WW"]


def test_finds_a_sum_and_a_load_of_two_cores() -> None:
    def body(core: int, gm: Any) -> None:
        if core:
            data_copy(ub(dt.float32, 32, 8), gm, 8)
        else:
            store(gm)

    assert cores(body)[1] == ["GM_RACE_RW"]


def test_finds_a_sum_behind_a_plain_store_of_its_own_pipe() -> None:
    """The pair of the next test without its barrier: the plain store may overwrite the sum."""

    def body(core: int, gm: Any) -> None:
        plain(gm)
        store(gm)

    assert cores(body, blocks=1)[1] == ["NO_BARRIER_WAW"]


def test_no_hazard_in_a_sum_behind_a_plain_store_and_a_barrier() -> None:
    def body(core: int, gm: Any) -> None:
        plain(gm)
        pipe_barrier(BARRIER)
        store(gm)
        pipe_barrier(BARRIER)
        store(gm)

    assert cores(body, blocks=1, gm=np.full(8, 9, np.float32)) == ([3.0] * 8, [])


def test_float_sums_of_one_pipe_are_noted_without_a_barrier() -> None:
    def body(core: int, gm: Any) -> None:
        store(gm)
        store(gm)

    assert cores(body, blocks=1) == ([2.0] * 8, ["ATOMIC_ORDER"])


def test_a_race_is_raised_at_the_line_of_the_store() -> None:
    array = np.zeros(8, np.float32)

    def body(a: GlobalAddress) -> None:
        here = ub(dt.float32, 0, 8)
        duplicate(here, 1, 8)
        set_atomic_add(dt.float32)
        data_copy(at(a), here, 8)

    with pytest.raises(HazardError, match=r"^RAW on UB .*data_copy, test_basic_atomic.py:\d+ \(MTE3\) reads what dup"):
        launch(body, array)
    assert not array.any()
