"""gather, gatherb and scatter: hand-worked values, masks, strides, parked pipes, faults, and a second opinion."""

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
from ascsim.hw.errors import ArgumentTypeError, HazardError, MemoryFault, NotSimulatedError, OperandError
from ascsim.language.basic import (
    data_copy,
    duplicate,
    gather,
    gatherb,
    scatter,
    set_flag,
    set_mask_count,
    set_mask_norm,
    wait_flag,
    whole_reduce_sum,
)
from ascsim.language.core import GatherRepeatParams, HardEvent
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()
U16, U32 = np.uint16, np.uint32


def run(before: np.ndarray, call: Any) -> np.ndarray:
    after, device = on_image(before, call, COLLECT)
    assert codes(device) == []
    return after


def h(start: int, elements: int = 0) -> Any:
    return ub(dt.uint16, start, elements)


def w(start: int, elements: int = 0) -> Any:
    return ub(dt.uint32, start, elements)


# ------------------------------------------------------------------ gather


def test_reversed_order() -> None:
    # The vendor's example: offsets 254, 252, ... 0 turn 128 halves round.
    x, offsets = np.arange(128, dtype=U16), np.arange(254, -2, -2).astype(U32)
    after = run(laid(1056, (0, x), (256, offsets)), lambda: gather(h(768, 128), h(0, 128), w(256, 128), 0, 128))
    assert after[768:1024].view(U16).tolist() == list(range(127, -1, -1))
    assert (after[1024:] == 7).all()


def test_the_offsets_of_a_repeated_call_may_change() -> None:
    """Three gathers at the same places: the second has the offsets of the first, the third has others."""
    x = np.arange(64, dtype=U32) * 10

    def call() -> None:
        for start in (1024, 1280, 1536):
            if start == 1536:
                duplicate(w(256, 64), 8, 64)  # every offset: word 2
            gather(w(768, 64), w(0, 64), w(256, 64), 0, 64)
            data_copy(w(start, 64), w(768, 64), 64)

    after = run(laid(1792, (0, x), (256, np.arange(0, 256, 4).astype(U32))), call)
    assert after[1024:1280].view(U32).tolist() == after[1280:1536].view(U32).tolist() == x.tolist()
    assert after[1536:1792].view(U32).tolist() == [20] * 64


def test_base_and_rest_of_a_repeat() -> None:
    # 66 words: a repeat and a rest of two. Element i is that at byte 8 + offset: word 2 + 3 * (i % 4).
    x = np.arange(64, dtype=U32) * 10
    offsets = (np.arange(66) % 4 * 12).astype(U32)
    after = run(laid(1024, (0, x), (256, offsets)), lambda: gather(w(544, 72), w(0, 64), w(256, 72), 8, 66))
    assert after[544 : 544 + 264].view(U32).tolist() == ([20, 50, 80, 110] * 17)[:66]
    assert (after[544 + 264 :] == 7).all()


def test_masked_lanes_keep_their_offsets() -> None:
    # Lanes 1 and 65 of two repeats, results 16 blocks apart: offsets number 1, 65, 129 and 193 are used.
    x = np.arange(1000, 1128, dtype=U16)
    offsets = np.full(256, 254, U32)
    offsets[[1, 65, 129, 193]] = [2, 4, 6, 8]
    before = laid(2560, (0, x), (256, offsets))
    after = run(before, lambda: gather(h(1280, 640), h(0, 128), w(256, 256), 0, [0b10, 0b10], 2, 16))
    got = after[1280:].view(U16)
    assert [got[1], got[65], got[257], got[321]] == [1001, 1002, 1003, 1004]
    assert (np.delete(got, [1, 65, 257, 321]) == 0x0707).all()


def test_counter_mode() -> None:
    x = np.arange(128, dtype=U32)
    offsets = np.arange(0, 512, 4)[::-1].astype(U32)

    def call() -> None:
        set_mask_count()
        gather(w(1024, 72), w(0, 128), w(512, 128), 0, [70, 0], 1, 8)
        set_mask_norm()

    after = run(laid(1536, (0, x), (512, offsets)), call)
    assert after[1024 : 1024 + 280].view(U32).tolist() == list(range(127, 57, -1))
    assert (after[1024 + 280 :] == 7).all()


def test_results_in_one_place_leave_the_last() -> None:
    x, offsets = np.arange(64, dtype=U32), np.zeros(128, U32)
    offsets[64:] = 4
    after = run(laid(1280, (0, x), (256, offsets)), lambda: gather(w(768, 64), w(0, 64), w(256, 128), 0, 64, 2, 0))
    assert after[768:1024].view(U32).tolist() == [1] * 64


def test_the_count_form_leaves_the_mask_of_its_last_repeat() -> None:
    x, offsets = np.ones(128, np.float32), np.zeros(66, U32)

    def call() -> None:
        gather(ub(dt.float32, 1024, 72), ub(dt.float32, 0, 128), w(512, 72), 0, 66)
        whole_reduce_sum(ub(dt.float32, 1312, 8), ub(dt.float32), 0, 1, 1, 1, 8, False)

    after = run(laid(1344, (0, x), (512, offsets)), call)
    assert after[1312:1316].view(np.float32).tolist() == [2]


def test_offsets_are_those_that_v_finds() -> None:
    """V is parked when the call comes; what it was parked behind sets the offsets."""
    out = np.zeros(8, U32)

    def body(source: Any, target: Any) -> None:
        duplicate(w(0, 64), 5, 64)
        duplicate(w(0, 8), 9, 8)
        wait_flag(HardEvent.MTE2_V, 1)
        gather(w(512, 8), w(0, 64), w(256, 8), 0, 8)
        data_copy(w(256, 8), at(source), 8)
        set_flag(HardEvent.MTE2_V, 1)
        order(HardEvent.V_MTE3)
        data_copy(at(target), w(512, 8), 8)

    launch(body, np.array([0, 32, 4, 36, 0, 0, 0, 252], U32), out)
    assert out.tolist() == [9, 5, 9, 5, 9, 9, 9, 5]


def test_finds_an_unordered_load_of_the_offsets() -> None:
    def body(source: Any) -> None:
        duplicate(w(0, 64), 5, 64)
        data_copy(w(256, 8), at(source), 8)
        gather(w(512, 8), w(0, 64), w(256, 8), 0, 8)

    with pytest.raises(HazardError, match=r"RAW.*gather"):
        launch(body, np.zeros(8, U32))


def collected(before: np.ndarray, call: Any) -> list[str]:
    return [f"{found.code}: {found.message}" for found in on_image(before, call, COLLECT)[1].findings]


def offsets_image(*offsets: int) -> np.ndarray:
    return laid(1024, (0, np.zeros(128, U16)), (256, np.array(offsets, U32)))


def test_offsets_that_are_refused() -> None:
    def four(base: int = 0) -> Any:
        return lambda: gather(h(512, 16), h(0, 64), w(256, 8), base, 4)

    with pytest.raises(MemoryFault, match=r"MISALIGNED_ADDR.*offset\[2\] = 3; rule: a multiple of 2 bytes"):
        on_image(offsets_image(0, 2, 3, 4), four())
    past = offsets_image(0, 126, 128, 4)
    (message,) = collected(past, four())
    assert message.startswith("OOB_BUF: gather: offset[2] = 128; rule: at most 126, src is 64 elements of uint16, ")
    assert "offset[1] = 126 from src_base = 2; rule" in collected(past, four(2))[0]
    with pytest.raises(MemoryFault, match=r"OOB_PHYS.*gather: src touches UB"):
        on_image(offsets_image(200000, 0, 0, 0), four())


def test_too_few_offsets() -> None:
    (found,) = collected(offsets_image(*[0] * 9), lambda: gather(h(512), h(0), w(256, 8), 0, 9))
    assert found.startswith("OOB_BUF: gather: 9 offsets are read of a tensor of 8 elements of uint32, bytes [256:288) ")


def test_operands_that_are_refused() -> None:
    for call, error, message in (
        (
            lambda: gather(ub(dt.int8, 512), h(0), w(256), 0, 8),
            OperandError,
            "BAD_DTYPE.*dst has type int8; rule: int16, ",
        ),
        (lambda: gather(h(512), w(0), w(256), 0, 8), OperandError, "BAD_DTYPE.*src has type uint32; rule: uint16"),
        (lambda: gather(h(512), h(0), h(256), 0, 8), OperandError, "src_offset has type uint16; rule: uint32"),
        (lambda: gather(h(512), h(0), w(256), 3, 8), MemoryFault, "src_base = 3; rule: a multiple of 2 .* value: 2"),
        (lambda: gather(h(512), h(0), w(256), 0, -1), OperandError, "BAD_MASK.*count = -1"),
        (lambda: gather(h(512), h(0), w(256), 0, 129, 1, 8), OperandError, "BAD_MASK.*mask = 129; rule: 1 to 128"),
        (lambda: gather(h(512), h(0), w(256), 0, 8, 256, 8), OperandError, "BAD_REPEAT.*repeat_times = 256"),
        (lambda: gather(h(512), h(0), w(256), 0, 8, 1, -8), OperandError, "BAD_STRIDE.*dst_rep_stride = -8; .*: 0"),
        (lambda: gather(h(514), h(0), w(256), 0, 8), MemoryFault, "MISALIGNED_ADDR.*dst starts at byte 514"),
        (lambda: gather(h(512), h(0), w(260), 0, 8), MemoryFault, "MISALIGNED_ADDR.*src_offset starts at byte 260"),
        (lambda: gather(h(512), 5, w(256), 0, 8), OperandError, "BAD_POSITION.*src = 5 is an int"),
    ):
        with pytest.raises(error, match=message):
            launch(call)


def test_dst_on_src_is_refused() -> None:
    before = laid(1024, (0, np.zeros(64, U16)), (256, np.array([0, 2, 4, 6], U32)))
    assert "OVERLAP_PARTIAL" in collected(before, lambda: gather(h(0, 64), h(0, 64), w(256, 8), 0, 4))[0]
    assert "OVERLAP_PARTIAL" in collected(before, lambda: gather(h(256, 64), h(0, 64), w(256, 8), 0, 4))[0]
    # Into the same tensor, but onto bytes that nothing is gathered from.
    assert collected(before, lambda: gather(h(32, 48), h(0, 64), w(256, 8), 0, 4)) == []


def test_count_form_in_counter_mode_is_not_simulated() -> None:
    def call() -> None:
        set_mask_count()
        gather(h(512), h(0), w(256), 0, 8)

    with pytest.raises(NotSimulatedError, match="gather: by count in counter mode"):
        launch(call)


def test_nothing_to_do() -> None:
    before = laid(1024)
    for call in (lambda: gather(h(512), h(0), w(256), 0, 0), lambda: gather(h(512), h(0), w(256), 0, 128, 0, 8)):
        assert collected(before, call)[0].startswith("ZERO_LENGTH")


# ------------------------------------------------------------------ gatherb


def test_blocks_reversed() -> None:
    # The vendor's example.
    x, offsets = np.arange(128, dtype=U16), np.arange(224, -32, -32).astype(U32)
    before = laid(608, (0, x), (256, offsets))
    after = run(before, lambda: gatherb(h(320, 128), h(0, 128), w(256, 8), 1, GatherRepeatParams(1, 8)))
    assert after[320:576].view(U16).tolist() == [16 * b + i for b in range(7, -1, -1) for i in range(16)]


@pytest.mark.parametrize(("stride", "step"), [(0, 1), (2, 2)])
def test_block_stride_zero_stands_for_one(stride: int, step: int) -> None:
    x, offsets = np.arange(8, dtype=U32), np.zeros(8, U32)
    before = laid(576, (0, x), (32, offsets))
    after = run(before, lambda: gatherb(w(64, 128), w(0, 8), w(32, 8), 1, GatherRepeatParams(stride, 8)))
    rows = after[64:576].view(U32).reshape(16, 8)
    assert [row.tolist() == list(range(8)) for row in rows] == [b % step == 0 and b < 8 * step for b in range(16)]


def test_gatherb_refuses() -> None:
    params = GatherRepeatParams(1, 8)
    with pytest.raises(OperandError, match=r"BAD_DTYPE.*dst has type float16; rule: uint16, uint32"):
        launch(lambda: gatherb(ub(dt.float16, 512), ub(dt.float16), w(256), 1, params))
    with pytest.raises(ArgumentTypeError, match="gatherb: repeat_params = 8; rule: a GatherRepeatParams"):
        launch(lambda: gatherb(h(512), h(0), w(256), 1, 8))
    with pytest.raises(OperandError, match=r"BAD_STRIDE.*dst_blk_stride = 256; rule: 0 to 255 blocks"):
        launch(lambda: gatherb(h(512), h(0), w(256), 1, GatherRepeatParams(256, 8)))
    before = offsets_image(0, 32, 48, 0, 0, 0, 0, 0)
    with pytest.raises(MemoryFault, match=r"offset\[2\] = 48; rule: a multiple of 32 bytes"):
        on_image(before, lambda: gatherb(h(512), h(0), w(256, 8), 1, params))
    assert collected(before, lambda: gatherb(h(512), h(0), w(256, 8), 0, params))[0].startswith("ZERO_LENGTH")

    def counted() -> None:
        set_mask_count()
        gatherb(h(512), h(0), w(256, 8), 1, params)

    with pytest.raises(NotSimulatedError, match="gatherb: in counter mode"):
        launch(counted)


def test_there_is_no_scatter() -> None:
    with pytest.raises(NotSimulatedError, match=r"scatter: Ascend910B1 has no such instruction; rule: gather by the"):
        launch(lambda: scatter(h(512), h(0), w(256), 0, 8))


# ------------------------------------------------------------------ second opinion

SIZE = 16384
TYPES = [dt.int16, dt.uint16, dt.float16, dt.bfloat16, dt.int32, dt.uint32, dt.float32]


@st.composite
def drawn(draw: Any, size: int) -> dict[str, Any]:
    lanes = 256 // size
    call: dict[str, Any] = {"seed": draw(st.integers(0, 1000)), "base": size * draw(st.integers(0, 20))}
    if draw(st.booleans()):
        call["count"] = draw(st.one_of(st.integers(1, 3 * lanes), st.sampled_from([lanes, 5 * lanes])))
        return call
    call["repeat"] = draw(st.integers(1, 4))
    call["dst_rep"] = draw(st.sampled_from([0, 1, 8, 8, 9]))
    bits = [draw(st.integers(1, (1 << 64) - 1)), draw(st.integers(0, (1 << 64) - 1)) if lanes == 128 else 0]
    call["mask"] = bits if draw(st.booleans()) else draw(st.integers(1, lanes))
    return call


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_gather_against_the_second_opinion(dtype: dt.DataType) -> None:
    size = dtype.size

    @settings(derandomize=True, max_examples=15, deadline=None, database=None)
    @given(drawn(size))
    def check(call: dict[str, Any]) -> None:
        seed, base = call.pop("seed"), call.pop("base")
        before = mixed(dtype, SIZE, seed)
        offsets = np.random.default_rng(seed).integers(0, 4000 // size, 1024).astype(U32) * size
        before[8192:12288] = offsets.view(np.uint8)

        def issue() -> None:
            form = [call["count"]] if "count" in call else [call["mask"], call["repeat"], call["dst_rep"]]
            gather(ub(dtype, 12288, 4096 // size), ub(dtype, 0, 8192 // size), w(8192, 1024), base, *form)

        after, device = on_image(before, issue, COLLECT)
        want = before.copy()
        slow.gather(want, size, 12288, 0, 8192, base, **call)
        assert np.flatnonzero(after != want).tolist() == []
        assert codes(device) == []

    check()


@settings(derandomize=True, max_examples=25, deadline=None, database=None)
@given(st.integers(0, 100), st.integers(1, 5), st.sampled_from([0, 1, 2, 3]), st.sampled_from([0, 1, 4, 8, 12]))
def test_gatherb_against_the_second_opinion(seed: int, times: int, block: int, pitch: int) -> None:
    before = mixed(dt.uint32, SIZE, seed)
    before[4096:4256] = (np.random.default_rng(seed).integers(0, 128, 40).astype(U32) * 32).view(np.uint8)
    params = (block, pitch)
    after, device = on_image(
        before, lambda: gatherb(w(8192), w(0, 1024), w(4096, 40), times, GatherRepeatParams(*params)), COLLECT
    )
    want = before.copy()
    slow.gatherb(want, 8192, 0, 4096, times, block, pitch)
    assert differences(after, want, dt.uint32) == []
    assert codes(device) == []
