"""Reductions of repeats, blocks and pairs: hand-worked values, layouts, masks, strides, faults, second opinion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_reduce as slow
from basic_machine import codes, launch, on_image, ub
from hypothesis import given, settings
from hypothesis import strategies as st
from images import differences, laid, mixed

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentValueError, OperandError
from ascsim.language import basic
from ascsim.language.basic import (
    block_reduce_max,
    block_reduce_sum,
    pair_reduce_sum,
    repeat_reduce_sum,
    reset_mask,
    set_mask_count,
    set_mask_norm,
    set_vector_mask,
    whole_reduce_max,
    whole_reduce_min,
    whole_reduce_sum,
)
from ascsim.language.core import MaskMode, ReduceOrder
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()
FULL = (1 << 64) - 1
F16, F32 = np.float16, np.float32


def run(before: np.ndarray, call: Any) -> np.ndarray:
    after, device = on_image(before, call, COLLECT)
    assert codes(device) == []
    return after


# ------------------------------------------------------------------ sums


def test_block_sum_is_a_tree_of_neighbours_rounded_at_every_node() -> None:
    # The vendor's example: 60000 + 60000 is inf in half (no saturation here), so the block is inf, although in another
    # order it would be 90100. Block 1: (2048 + 0) + (1 + 1) = 2050; in another order 2048 + 1 = 2048, a tie to even.
    x = np.zeros(128, F16)
    x[:4] = [60000, 60000, -30000, 100]
    x[16:20] = [2048, 0, 1, 1]
    x[32:48] = -0.0
    after = run(laid(320, (0, x)), lambda: block_reduce_sum(ub(dt.float16, 256, 16), ub(dt.float16), 1, 128, 1, 1, 8))
    got = after[256:272].view(F16)
    assert got.tolist() == [np.inf, 2050, 0, 0, 0, 0, 0, 0]
    assert np.signbit(got).tolist() == [False, False, True, False, False, False, False, False]
    assert (after[272:] == 7).all()


def test_block_results_of_masked_blocks_are_not_written() -> None:
    # float32: 8 lanes a block. Lanes 0 and 9 to 11: blocks 0 and 1.
    x = np.arange(64, dtype=F32)
    after = run(
        laid(320, (0, x)),
        lambda: block_reduce_sum(ub(dt.float32, 256, 16), ub(dt.float32), 1, [0b1110_0000_0001, 0], 1, 1, 8),
    )
    assert after[256:264].view(F32).tolist() == [0, 9 + 10 + 11]
    assert (after[264:] == 7).all()


def test_block_strides() -> None:
    # Source blocks two apart, repeats 16 blocks apart; results of a repeat (32 bytes of float32) two units apart.
    x = np.arange(256, dtype=F32)
    after = run(laid(1152, (0, x)), lambda: block_reduce_max(ub(dt.float32, 1024, 32), ub(dt.float32), 2, 64, 2, 2, 16))
    assert after[1024:1056].view(F32).tolist() == [7, 23, 39, 55, 71, 87, 103, 119]
    assert (after[1056:1088] == 7).all()
    assert after[1088:1120].view(F32).tolist() == [135, 151, 167, 183, 199, 215, 231, 247]


def test_pair_sum() -> None:
    # The vendor's example, then repeats 128 bytes apart in dst.
    x = np.tile(np.array([1, 1, 1, -1, 2, 2, -1, 2, 3, 3, 3, -1, 4, 4, -2, 4], F16), 16)
    after = run(laid(1024, (0, x)), lambda: pair_reduce_sum(ub(dt.float16, 512), ub(dt.float16), 2, 128, 1, 1, 8))
    assert after[512:768].view(F16).tolist() == [2, 0, 4, 1, 6, 2, 8, 2] * 16
    assert (after[768:] == 7).all()


def test_pair_sum_of_a_half_masked_pair_is_the_other_lane() -> None:
    x = np.arange(1, 65, dtype=F32)
    x[0] = -0.0
    after = run(
        laid(512, (0, x)),
        lambda: pair_reduce_sum(ub(dt.float32, 256, 32), ub(dt.float32), 1, [0b11_00_10_01, 0], 1, 1, 8),
    )
    assert after[256:260].view(np.uint32).tolist() == [0x80000000]  # -0, not -0 + 0
    assert after[260:264].view(F32).tolist() == [4]
    assert (after[264:268] == 7).all()
    assert after[268:272].view(F32).tolist() == [7 + 8]
    assert (after[272:] == 7).all()


def test_whole_sum_packs_elements() -> None:
    x = np.arange(256, dtype=F32)
    after = run(laid(1056, (0, x)), lambda: whole_reduce_sum(ub(dt.float32, 1024, 8), ub(dt.float32), 64, 4, 1, 1, 8))
    assert after[1024:1040].view(F32).tolist() == [2016, 6112, 10208, 14304]
    assert (after[1040:] == 7).all()


def test_whole_sum_in_place() -> None:
    x = np.arange(256, dtype=F32)
    after = run(laid(1024, (0, x)), lambda: whole_reduce_sum(ub(dt.float32, 0, 256), ub(dt.float32), 64, 4, 1, 1, 8))
    assert after[:16].view(F32).tolist() == [2016, 6112, 10208, 14304]


def test_repeat_sum_takes_no_block_stride_of_dst() -> None:
    x = np.arange(128, dtype=F32)
    after = run(laid(576, (0, x)), lambda: repeat_reduce_sum(ub(dt.float32, 512, 16), ub(dt.float32), 2, 2, 9, 1, 3, 8))
    assert after[512:516].view(F32).tolist() == [0 + 1]
    assert after[524:528].view(F32).tolist() == [64 + 65]
    assert (np.delete(after[512:], [*range(4), *range(12, 16)]) == 7).all()


def test_whole_sum_in_counter_mode() -> None:
    # 70 elements: a full repeat and one of six lanes. repeat_time is ignored.
    x = np.arange(128, dtype=F32)

    def call() -> None:
        set_mask_count()
        set_vector_mask(0, 70, dtype=dt.float32, mode=MaskMode.NORMAL)
        whole_reduce_sum(ub(dt.float32, 512, 8), ub(dt.float32), 0, 1, 1, 1, 8, False)
        set_mask_norm()
        reset_mask()

    after = run(laid(544, (0, x)), call)
    assert after[512:520].view(F32).tolist() == [2016, 64 + 65 + 66 + 67 + 68 + 69]
    assert (after[520:] == 7).all()


def test_results_in_one_place_leave_the_last() -> None:
    x = np.arange(128, dtype=F32)
    after = run(laid(544, (0, x)), lambda: whole_reduce_sum(ub(dt.float32, 512, 8), ub(dt.float32), 64, 2, 0, 1, 8))
    assert after[512:516].view(F32).tolist() == [6112]
    assert (after[516:] == 7).all()


# ------------------------------------------------------------------ extremes

# Two repeats of halves. The first: 9 at lanes 5 and 70 (the first counts), -9 at 100. The second: a NaN at lane 3.
X = np.zeros(256, F16)
X[[5, 70, 100, 128 + 3, 128 + 4]] = [9, 9, -9, np.nan, 100]
NAN = 0x7E00
NINE, MINUS_NINE = 0x4880, 0xC880


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (ReduceOrder.ORDER_VALUE_INDEX, [NINE, 5, NAN, 3]),
        (ReduceOrder.ORDER_INDEX_VALUE, [5, NINE, 3, NAN]),
        (ReduceOrder.ORDER_ONLY_VALUE, [NINE, NAN]),
        (ReduceOrder.ORDER_ONLY_INDEX, [5, 0, 3, 0]),  # as uint32: two words of 16 bits each
    ],
)
def test_whole_max_orders(order: ReduceOrder, expected: list[int]) -> None:
    after = run(
        laid(576, (0, X)), lambda: whole_reduce_max(ub(dt.float16, 512, 16), ub(dt.float16), 128, 2, 1, 1, 8, order)
    )
    end = 512 + 2 * len(expected)
    assert after[512:end].view(np.uint16).tolist() == expected
    assert (after[end:] == 7).all()


def test_whole_min_counts_lanes_not_active_lanes() -> None:
    # Only lanes 64 to 127: the least is lane 100 of the first repeat, and the first zero, lane 64, of the second.
    after = run(
        laid(576, (0, X)), lambda: whole_reduce_min(ub(dt.float16, 512, 16), ub(dt.float16), [0, FULL], 2, 1, 1, 8)
    )
    assert after[512:520].view(np.uint16).tolist() == [MINUS_NINE, 100, 0, 64]


def test_the_greater_zero_is_positive() -> None:
    x = np.full(64, -0.0, F32)
    x[40] = 0.0

    def call() -> None:
        whole_reduce_max(ub(dt.float32, 256, 8), ub(dt.float32), 64, 1, 1, 1, 8)
        whole_reduce_min(ub(dt.float32, 288, 8), ub(dt.float32), 64, 1, 1, 1, 8)

    after = run(laid(320, (0, x)), call)
    assert after[256:264].view(np.uint32).tolist() == [0, 40]
    assert after[288:296].view(np.uint32).tolist() == [0x80000000, 0]


def test_all_infinite_lanes_leave_the_first_active_one() -> None:
    # A masked lane must not stand for the least: all active ones are -inf, and lane 2 is the first of them.
    x = np.full(64, -np.inf, F32)
    after = run(
        laid(288, (0, x)), lambda: whole_reduce_max(ub(dt.float32, 256, 8), ub(dt.float32), [0b1100, 0], 1, 1, 1, 8)
    )
    assert after[256:264].view(np.uint32).tolist() == [0xFF800000, 2]


# ------------------------------------------------------------------ faults


def whole(dst: Any = None, src: Any = None, mask: Any = 64, times: Any = 1, strides: Any = (1, 1, 8)) -> None:
    dst = ub(dt.float32, 1024, 16) if dst is None else dst
    whole_reduce_sum(dst, ub(dt.float32) if src is None else src, mask, times, *strides)


def half(start: int) -> Any:
    return ub(dt.float16, start)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: whole(dst=3), r"BAD_POSITION.*dst = 3 is an int; rule: a LocalTensor"),
        (lambda: whole(src=ub(dt.int32)), r"BAD_DTYPE.*src has type int32; rule: float16, float32"),
        (lambda: whole(src=half(0)), r"BAD_DTYPE.*src has type float16, dst has float32; rule: one type"),
        (lambda: whole(mask=65), r"BAD_MASK.*mask = 65; rule: 1 to 64 .*nearest legal value: 64"),
        (lambda: whole(times=256), r"BAD_REPEAT.*repeat_times = 256; rule: 0 to 255"),
        (lambda: whole(strides=(-1, 1, 8)), r"BAD_STRIDE.*dst_rep_stride = -1; rule: 0 to 65535; .*: 0"),
        (lambda: whole(strides=(1, 65536, 8)), r"BAD_STRIDE.*src_blk_stride = 65536; .*: 65535"),
        (lambda: whole(strides=(1, 1, 65536)), r"BAD_STRIDE.*src_rep_stride = 65536"),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(OperandError, match=f"(?s){message}"):
        launch(call)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: whole(src=ub(dt.float32, 16)), "src starts at byte 16 of UB; rule: a multiple of 32"),
        (lambda: whole(dst=ub(dt.float32, 1026)), "dst starts at byte 1026 of UB; rule: a multiple of 4"),
        (
            lambda: whole_reduce_max(ub(dt.float32, 1028), ub(dt.float32), 64, 1, 1, 1, 8),
            "dst starts at byte 1028 of UB; rule: a multiple of 8",
        ),
        (
            lambda: whole_reduce_max(half(1026), half(0), 128, 1, 1, 1, 8, ReduceOrder.ORDER_ONLY_INDEX),
            "dst starts at byte 1026 of UB; rule: a multiple of 4",
        ),
        (lambda: block_reduce_sum(half(1032), half(0), 1, 128, 1, 1, 8), "byte 1032 of UB; rule: a multiple of 16"),
        (lambda: pair_reduce_sum(half(1040), half(0), 1, 128, 1, 1, 8), "byte 1040 of UB; rule: a multiple of 32"),
    ],
)
def test_alignment_of_results(call: Any, message: str) -> None:
    with pytest.raises(Exception, match=rf"MISALIGNED_ADDR.*{message}"):
        launch(call)


def test_smallest_legal_alignments() -> None:
    before = laid(2048, (0, np.zeros(1024, np.uint8)))

    def call() -> None:
        whole_reduce_sum(ub(dt.float16, 1026, 8), half(0), 128, 1, 1, 1, 8)
        whole_reduce_max(ub(dt.float32, 1032, 8), ub(dt.float32), 64, 1, 1, 1, 8)
        whole_reduce_max(half(1054), half(0), 128, 1, 1, 1, 8, ReduceOrder.ORDER_ONLY_VALUE)
        block_reduce_sum(half(1072), half(0), 1, 128, 1, 1, 8)

    run(before, call)


def test_order_by_name() -> None:
    with pytest.raises(
        ArgumentValueError, match=r"whole_reduce_max: order = 4: is no ReduceOrder; rule: one of ORDER_"
    ):
        launch(lambda: whole_reduce_max(ub(dt.float32, 1024), ub(dt.float32), 64, 1, 1, 1, 8, 4))


def test_results_over_a_later_source_are_reported() -> None:
    # Results of 128 bytes a repeat, 512 bytes apart, over a source of 256 bytes a repeat: that of repeat 1 lies on
    # bytes 512 to 639, which repeat 2 reads.
    before = laid(4096, (0, np.zeros(3072, np.uint8)))
    _, device = on_image(before, lambda: pair_reduce_sum(half(0), half(0), 3, 128, 4, 1, 8), COLLECT)
    assert codes(device) == ["OVERLAP_REPEAT"]
    assert "meet in bytes [512:640) at repeat 1" in device.findings[0].message
    _, device = on_image(before, lambda: pair_reduce_sum(half(0), half(0), 2, 128, 4, 1, 8), COLLECT)
    assert codes(device) == []


def test_nothing_to_do() -> None:
    before = laid(1056, (0, np.zeros(1024, np.uint8)))
    after, device = on_image(before, lambda: whole(times=0), COLLECT)
    assert codes(device) == ["ZERO_LENGTH"]
    assert (after == before).all()


def test_dst_past_its_tensor() -> None:
    before = laid(2048, (0, np.zeros(1024, np.uint8)))
    _, device = on_image(before, lambda: whole(dst=ub(dt.float32, 1024, 2), times=3), COLLECT)
    assert codes(device) == ["OOB_BUF"]
    assert ", 4 bytes past its tensor" in device.findings[0].message


# ------------------------------------------------------------------ second opinion

SIZE = 16384
ORDERS = {0: "value index", 1: "index value", 2: "value", 3: "index"}
FUNCTIONS = {
    "block_reduce_sum": "block sum",
    "block_reduce_max": "block max",
    "block_reduce_min": "block min",
    "pair_reduce_sum": "pair sum",
    "repeat_reduce_sum": "whole sum",
    "whole_reduce_sum": "whole sum",
    "whole_reduce_max": "whole max",
    "whole_reduce_min": "whole min",
}


@st.composite
def drawn(draw: Any, name: str, dtype: dt.DataType) -> dict[str, Any]:
    lanes = 256 // dtype.size
    form = draw(st.sampled_from(["number", "bits", "registers", "counter"]))
    if name.startswith("block") and form in ("registers", "counter"):
        form = "bits"
    call: dict[str, Any] = {"form": form, "seed": draw(st.integers(0, 1000)), "times": draw(st.integers(1, 5))}
    call["dst"] = draw(st.sampled_from([0, 32, 4096, 8192]))
    call["src"] = draw(st.sampled_from([0, 0, 64, 4128]))
    call["strides"] = (
        draw(st.sampled_from([0, 1, 1, 2, 5])),
        draw(st.sampled_from([0, 1, 1, 2])),
        draw(st.sampled_from([0, 1, 8, 8, 9, 16])),
    )
    call["order"] = draw(st.integers(0, 3)) if name in ("whole_reduce_max", "whole_reduce_min") else 2
    if form == "number":
        call["mask"] = draw(st.integers(1, lanes))
    elif form == "counter":
        call["mask"] = draw(st.integers(1, 4 * lanes))
    else:
        low = draw(st.one_of(st.integers(1, FULL), st.just(FULL), st.just(1 << 63)))
        call["mask"] = [low, draw(st.integers(0, FULL)) if lanes == 128 else 0]
    return call


def issue(name: str, dtype: dt.DataType, call: dict[str, Any]) -> None:
    form, mask, times = call["form"], call["mask"], call["times"]
    dst_rep, src_blk, src_rep = call["strides"]
    tensors = (ub(dtype, call["dst"]), ub(dtype, call["src"]))
    if form == "counter":
        set_mask_count()
        set_vector_mask(0, mask, dtype=dtype, mode=MaskMode.NORMAL)
    elif form == "registers":
        set_vector_mask(mask[1], mask[0], dtype=dtype, mode=MaskMode.NORMAL)
    given_mask = 0 if form in ("registers", "counter") else mask
    if name.startswith("whole"):
        arguments = [given_mask, times, *call["strides"]]
        arguments += [call["order"]] if name != "whole_reduce_sum" else []
    elif name.startswith("repeat"):
        arguments = [times, given_mask, 1, src_blk, dst_rep, src_rep]
    else:
        arguments = [times, given_mask, *call["strides"]]
    more = {"is_set_mask": False} if form in ("registers", "counter") else {}
    getattr(basic, name)(*tensors, *arguments, **more)
    set_mask_norm()
    reset_mask()


@pytest.mark.parametrize("dtype", [dt.float16, dt.float32], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_the_second_opinion(name: str, dtype: dt.DataType) -> None:
    @settings(derandomize=True, max_examples=20, deadline=None, database=None)
    @given(drawn(name, dtype))
    def check(call: dict[str, Any]) -> None:
        before = mixed(dtype, SIZE, call["seed"])
        after, device = on_image(before, lambda: issue(name, dtype, call), COLLECT)
        want = before.copy()
        dst_rep, src_blk, src_rep = call["strides"]
        how = {"count": call["mask"]} if call["form"] == "counter" else {"mask": call["mask"], "repeat": call["times"]}
        slow.fold(
            want,
            FUNCTIONS[name],
            dtype.name,
            call["dst"],
            call["src"],
            dst_rep=dst_rep,
            src_blk=src_blk,
            src_rep=src_rep,
            order=ORDERS[call["order"]],
            **how,
        )
        assert differences(after, want, dtype) == []
        assert set(codes(device)) <= {"OVERLAP_REPEAT", "BAD_MASK"}

    check()
