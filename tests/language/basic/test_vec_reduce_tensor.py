"""reduce_sum, reduce_max, reduce_min: hand-worked values, work buffers, order of S and V, faults, a second opinion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_reduce as slow
from basic_machine import at, codes, launch, on_image, order, ub
from hypothesis import given, settings
from hypothesis import strategies as st
from images import differences, laid, mixed

from ascsim.hw.checks import Checks
from ascsim.hw.errors import DeadlockError, HazardError, NotSimulatedError, OperandError
from ascsim.language import basic
from ascsim.language.basic import (
    add,
    adds,
    data_copy,
    duplicate,
    reduce_max,
    reduce_min,
    reduce_sum,
    set_mask_count,
    set_vector_mask,
    wait_flag,
    whole_reduce_sum,
)
from ascsim.language.core import HardEvent, MaskMode
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()
F16, F32 = np.float16, np.float32
WORK = 176 * 1024  # the work buffer lies behind every image: what it leaves is undefined and not stored


def run(before: np.ndarray, call: Any) -> np.ndarray:
    after, device = on_image(before, call, COLLECT)
    assert codes(device) == []
    return after


def h(start: int, elements: int = 0) -> Any:
    return ub(dt.float16, start, elements)


def f(start: int, elements: int = 0) -> Any:
    return ub(dt.float32, start, elements)


# ------------------------------------------------------------------ sums


def test_sum_by_count_adds_repeats_in_order() -> None:
    # Three repeats of halves with the sums 2048, 1 and 1: in order 2048 + 1 = 2048 (a tie, to even), and again 2048.
    x = np.zeros(384, F16)
    x[[0, 128, 256]] = [2048, 1, 1]
    after = run(laid(864, (0, x)), lambda: reduce_sum(h(768, 16), h(0), h(800, 16), 384))
    assert after[768:770].view(F16).tolist() == [2048]
    assert (after[770:] == 7).all()


def test_sum_by_mask_adds_repeats_by_a_tree() -> None:
    # Four repeats with the sums 2048, 0, 1 and 1: the tree gives (2048 + 0) + (1 + 1) = 2050.
    x = np.zeros(512, F16)
    x[[0, 256, 384]] = [2048, 1, 1]
    after = run(laid(1056, (0, x)), lambda: reduce_sum(h(1024, 16), h(0), h(WORK, 16), 128, 4, 8))
    assert after[1024:1026].view(F16).tolist() == [2050]
    assert (after[1026:1056] == 7).all()


def test_vendor_examples_of_sums() -> None:
    one = np.ones(8320, F16)
    before = laid(16672, (0, one))
    after = run(before, lambda: reduce_sum(h(16640, 16), h(0), h(WORK, 80), 128, 65, 8))
    assert after[16640:16642].view(F16).tolist() == [8320]
    after = run(before, lambda: reduce_sum(h(16640, 16), h(0), h(WORK, 80), 288))
    assert after[16640:16642].view(F16).tolist() == [288]


@pytest.mark.parametrize("form", [(128,), (64, 2, 8), (3, 1, 8)])
def test_sum_of_negative_zeros_is_negative(form: tuple[int, ...]) -> None:
    x = np.full(128, -0.0, F32)
    after = run(laid(544, (0, x)), lambda: reduce_sum(f(512, 8), f(0), f(WORK, 8), *form))
    assert after[512:516].view(np.uint32).tolist() == [0x80000000]


def test_more_than_255_repeats() -> None:
    x = np.ones(64, F32)
    after = run(laid(288, (0, x)), lambda: reduce_sum(f(256, 8), f(0), f(WORK, 304), 64, 300, 0))
    assert after[256:260].view(F32).tolist() == [19200]


# ------------------------------------------------------------------ extremes


def test_max_by_count_with_index() -> None:
    # 300 halves: two repeats and a rest of 44. 7 at 130 and at 290: the first counts.
    x = np.zeros(300, F16)
    x[[130, 290]] = 7
    after = run(laid(672, (0, x)), lambda: reduce_max(h(640, 16), h(0, 304), h(WORK, 32), 300, True))
    assert after[640:644].view(np.uint16).tolist() == [0x4700, 130]
    assert (after[644:672] == 7).all()


def test_max_without_index_writes_one_element() -> None:
    x = np.arange(64, dtype=F32)
    after = run(laid(288, (0, x)), lambda: reduce_max(f(256, 8), f(0), f(WORK, 8), 64))
    assert after[256:260].view(F32).tolist() == [63]
    assert (after[260:288] == 7).all()


def test_index_counts_the_gaps_of_the_source() -> None:
    # Repeats 10 blocks apart, 80 elements of float32: -1 in lane 3 of repeat 2 is element 163.
    x = np.zeros(512, F32)
    x[2 * 80 + 3] = -1
    after = run(laid(2048 + 32, (0, x)), lambda: reduce_min(f(2048, 8), f(0), f(WORK, 16), 64, 3, 10, True))
    assert after[2048:2056].view(np.uint32).tolist() == [0xBF800000, 163]


def test_index_of_a_half_has_16_bits() -> None:
    # Element 65537: its index does not fit, and 1 is left.
    x = np.zeros(65664, F16)
    x[65537] = 1
    after = run(laid(131360, (0, x)), lambda: reduce_max(h(131328, 16), h(0), h(WORK, 1200), 128, 513, 8, True))
    assert after[131328:131332].view(np.uint16).tolist() == [0x3C00, 1]


# ------------------------------------------------------------------ work buffer


@pytest.mark.parametrize(
    ("call", "needs"),  # bytes, from the examples of the vendor's pages
    [
        (lambda tmp: reduce_max(h(8192, 16), h(0), tmp, 128, 4, 8, True), 64),
        (lambda tmp: reduce_max(h(40000, 16), h(0), tmp, 128, 65, 8, True), 352),
        (lambda tmp: reduce_min(h(80000, 16), h(0), tmp, 128, 255, 8, True), 1088),
        (lambda tmp: reduce_max(h(150016, 16), h(0), tmp, 65408, True), 2112),
        (lambda tmp: reduce_max(h(150016, 16), h(0), tmp, 65408, False), 2048),
        (lambda tmp: reduce_max(f(40000, 8), f(0), tmp, 64, 130, 8, True), 1152),
        (lambda tmp: reduce_sum(h(40000, 16), h(0), tmp, 128, 65, 8), 160),
        (lambda tmp: reduce_sum(h(40000, 16), h(0), tmp, 8320), 0),
    ],
)
def test_room_in_the_work_buffer(call: Any, needs: int) -> None:
    before = np.zeros(150048, np.uint8)
    dtype = dt.float32 if needs == 1152 else dt.float16
    run(before, lambda: call(ub(dtype, WORK, max(needs, 2) // dtype.size)))
    if needs:
        _, device = on_image(before, lambda: call(ub(dtype, WORK, needs // dtype.size - 1)), COLLECT)
        assert codes(device) == ["OOB_BUF"]
        assert f"rule: at least {needs}" in device.findings[0].message


def test_the_work_buffer_is_undefined_afterwards_and_the_result_in_it_is_not() -> None:
    x = np.arange(128, dtype=F32)
    before = laid(544, (0, x))

    def call(source: int) -> None:
        reduce_max(f(WORK, 16), f(0), f(WORK, 16), 64, 2, 8, True)  # dst at the start of the work buffer
        adds(f(512, 8), f(source, 8), 0.0, 1)

    after, device = on_image(before, lambda: call(WORK), COLLECT)
    assert codes(device) == []
    assert after[512:516].view(F32).tolist() == [127]
    _, device = on_image(before, lambda: call(WORK + 32), COLLECT)
    assert codes(device) == ["UNINIT_READ"]


def test_the_work_buffer_may_be_the_source() -> None:
    def call() -> None:
        duplicate(f(WORK, 128), 1.0, 128)
        reduce_sum(f(0, 8), f(WORK, 128), f(WORK, 128), 64, 2, 8)

    assert run(laid(32), call)[:4].view(F32).tolist() == [128]


# ------------------------------------------------------------------ order


def test_s_has_waited_for_the_result_so_a_store_may_follow() -> None:
    def body(target: Any) -> None:
        duplicate(f(0, 64), 2.0, 64)
        duplicate(f(512, 8), 0.0, 8)
        reduce_sum(f(512, 8), f(0, 64), f(544, 8), 64)
        data_copy(at(target), f(512, 8), 8)

    out = np.ones(8, F32)
    launch(body, out)
    assert out.tolist() == [128, 0, 0, 0, 0, 0, 0, 0]


def stored(reduce: Any) -> None:
    """Store a result with no flag between."""

    def body(target: Any) -> None:
        duplicate(f(0, 64), 2.0, 64)
        reduce()
        data_copy(at(target), f(512, 8), 8)

    launch(body, np.zeros(8, F32))


def test_nobody_waits_for_a_result_that_v_writes() -> None:
    for reduce in (
        lambda: whole_reduce_sum(f(512, 8), f(0, 64), 64, 1, 1, 1, 8),
        lambda: reduce_max(f(512, 8), f(0, 64), f(WORK, 16), 64, 1, 8, True),
        lambda: reduce_sum(f(512, 8), f(0, 64), f(WORK, 72), 64, 65, 0),
    ):
        with pytest.raises(HazardError, match="RAW"):
            stored(reduce)


def test_s_cannot_wait_for_a_parked_v() -> None:
    def call() -> None:
        wait_flag(HardEvent.MTE2_V, 3)
        reduce_sum(f(512, 8), f(0, 64), f(544, 8), 64)

    with pytest.raises(DeadlockError, match="S waits"):
        launch(call)


def test_v_alone_does_a_single_repeat_with_index() -> None:
    # Nothing for S to fetch: the instruction parks with V, and runs when the flag comes.
    def call() -> None:
        duplicate(f(0, 64), 2.0, 64)
        wait_flag(HardEvent.MTE3_V, 3)
        reduce_max(f(512, 8), f(0, 64), f(544, 16), 64, 1, 8, True)
        basic.set_flag(HardEvent.MTE3_V, 3)
        order(HardEvent.V_S)
        assert f(512, 8).get_value(0) == 2.0

    launch(call)


def test_count_form_leaves_all_lanes_in_normal_mode() -> None:
    x = np.ones(128, F32)

    def call() -> None:
        set_mask_count()
        set_vector_mask(5, dtype=dt.float32, mode=MaskMode.COUNTER)
        reduce_sum(f(512, 8), f(0), f(544, 8), 10)
        whole_reduce_sum(f(544, 8), f(0), 0, 2, 1, 1, 8, False)

    after = run(laid(576, (0, x)), call)
    assert after[512:516].view(F32).tolist() == [10]
    assert after[544:552].view(F32).tolist() == [64, 64]


# ------------------------------------------------------------------ faults


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reduce_sum(h(512), f(0), h(1024), 64), "BAD_DTYPE.*src has type float32, dst has float16"),
        (
            lambda: reduce_max(ub(dt.int32, 512), h(0), h(1024), 64),
            "BAD_DTYPE.*dst has type int32; rule: float16, float32",
        ),
        (lambda: reduce_max(h(512), h(0), 4, 64), "BAD_POSITION.*shared_tmp_buffer = 4"),
        (lambda: reduce_max(h(512), h(0), h(1024), 129, 1, 8), "BAD_MASK.*mask = 129"),
        (lambda: reduce_max(h(512), h(0), h(1024), 128, -1, 8), "BAD_REPEAT.*repeat_time = -1; rule: 0 to 2147483647"),
        (lambda: reduce_max(h(512), h(0), h(1024), 128, 1, 65536), "BAD_STRIDE.*src_rep_stride = 65536"),
        (lambda: reduce_max(h(512), h(0), h(1024), -3), "BAD_MASK.*count = -3; rule: 0 or more"),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(OperandError, match=message):
        launch(call)


@pytest.mark.parametrize(
    "call",
    [
        lambda: reduce_max(h(512), h(0), h(1024), [128, 0], 1, 8),
        lambda: reduce_sum(h(512), h(0), h(1024), [128, 0], 1, 8),
        lambda: reduce_min(h(512), h(0), h(1024), 128),
    ],
)
def test_refuses_counter_mode(call: Any) -> None:
    def body() -> None:
        set_mask_count()
        call()

    with pytest.raises(NotSimulatedError, match=r"reduce_...: in counter mode"):
        launch(body)


def test_nothing_to_do() -> None:
    before = laid(1056, (0, np.zeros(1024, np.uint8)))
    for call in (
        lambda: reduce_sum(h(1024, 16), h(0), h(512), 0),
        lambda: reduce_max(h(1024, 16), h(0), h(512), 128, 0, 8, True),
    ):
        after, device = on_image(before, call, COLLECT)
        assert codes(device) == ["ZERO_LENGTH"]
        assert (after == before).all()


def test_alignment_of_the_result() -> None:
    with pytest.raises(Exception, match=r"MISALIGNED_ADDR.*dst starts at byte 514 of UB; rule: a multiple of 4"):
        launch(lambda: reduce_max(h(514), h(0), h(1024), 128, True))
    with pytest.raises(Exception, match=r"MISALIGNED_ADDR.*shared_tmp_buffer starts at byte 1026"):
        launch(lambda: reduce_max(h(512), h(0), h(1026), 128, True))


def test_dst_of_another_instruction_is_ordered_behind() -> None:
    # S has waited for V, and V goes on behind S: no hazard without automatic synchronisation.
    x = np.ones(64, F32)

    def call() -> None:
        reduce_sum(f(512, 8), f(0), f(544, 8), 64)
        add(f(576), f(512), f(512), 1)

    assert run(laid(608, (0, x)), call)[576:580].view(F32).tolist() == [128]


# ------------------------------------------------------------------ second opinion

SIZE = 16384


@st.composite
def drawn(draw: Any, dtype: dt.DataType) -> dict[str, Any]:
    lanes = 256 // dtype.size
    call: dict[str, Any] = {"seed": draw(st.integers(0, 1000)), "indexed": draw(st.booleans())}
    if draw(st.booleans()):
        call["count"] = draw(st.one_of(st.integers(1, 3 * lanes), st.sampled_from([lanes, 7 * lanes, 20 * lanes + 1])))
        return call
    call["repeat"] = draw(st.one_of(st.integers(1, 5), st.sampled_from([70, 130])))
    call["src_rep"] = draw(st.sampled_from([0, 1, 2, 3] + [8, 9] * (call["repeat"] < 6)))
    low = draw(st.integers(1, (1 << 64) - 1))
    bits = [low, draw(st.integers(0, (1 << 64) - 1)) if lanes == 128 else 0]
    call["mask"] = bits if draw(st.booleans()) else draw(st.integers(1, lanes))
    return call


@pytest.mark.parametrize("dtype", [dt.float16, dt.float32], ids=str)
@pytest.mark.parametrize("what", ["sum", "max", "min"])
def test_against_the_second_opinion(what: str, dtype: dt.DataType) -> None:
    @settings(derandomize=True, max_examples=20, deadline=None, database=None)
    @given(drawn(dtype))
    def check(call: dict[str, Any]) -> None:
        indexed = call.pop("indexed") and what != "sum"
        before = mixed(dtype, SIZE, call.pop("seed"))

        def issue() -> None:
            tensors = (ub(dtype, SIZE - 32), ub(dtype, 0), ub(dtype, WORK))
            form = [call["count"]] if "count" in call else [call["mask"], call["repeat"], call["src_rep"]]
            getattr(basic, f"reduce_{what}")(*tensors, *form, *([True] if indexed else []))

        after, device = on_image(before, issue, COLLECT)
        value, at = slow.tensor(before, what, dtype.name, 0, **call)
        want = before.copy()
        slow.store(want, SIZE - 32, dtype.name, value)
        if indexed:
            slow.put_bits(want, SIZE - 32 + dtype.size, dtype.size, at)
        assert differences(after, want, dtype) == []
        assert codes(device) == []

    check()
