"""brcb: hand-worked values, strides, faults, and a second opinion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_reduce as slow
from basic_machine import codes, launch, on_image, ub
from hypothesis import given, settings
from hypothesis import strategies as st
from images import laid, mixed

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, MemoryFault, NotSimulatedError, OperandError
from ascsim.language.basic import brcb, set_mask_count
from ascsim.language.core import BrcbRepeatParams
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()
DENSE = (1, 8)


def call(dtype: dt.DataType, dst: int, src: int, times: int, strides: tuple[int, int] = DENSE) -> Any:
    return lambda: brcb(ub(dtype, dst), ub(dtype, src), times, BrcbRepeatParams(*strides))


def test_each_element_fills_a_block() -> None:
    x = np.arange(1, 17, dtype=np.int16)
    after, device = on_image(laid(576, (0, x)), call(dt.int16, 32, 0, 2), COLLECT)
    assert codes(device) == []
    assert after[32:544].view(np.int16).tolist() == [i for i in range(1, 17) for _ in range(16)]
    assert (after[544:] == 7).all()


def test_strides() -> None:
    # Blocks two apart, repeats 17 apart: element 8 * r + b stands in block 17 * r + 2 * b.
    x = np.arange(16, dtype=np.float32)
    after, _ = on_image(laid(64 + 34 * 32, (0, x)), call(dt.float32, 64, 0, 2, (2, 17)), COLLECT)
    rows = after[64:].view(np.float32).reshape(34, 8)
    filled = {17 * r + 2 * b: 8 * r + b for r in range(2) for b in range(8)}
    untouched = np.full(32, 7, np.uint8).view(np.float32).tolist()
    assert rows.tolist() == [[filled[i]] * 8 if i in filled else untouched for i in range(34)]


def test_repeats_in_one_place_leave_the_last() -> None:
    x = np.arange(16, dtype=np.float32)
    after, _ = on_image(laid(384, (0, x)), call(dt.float32, 64, 0, 2, (1, 0)), COLLECT)
    assert after[64:320].view(np.float32).tolist() == [i for i in range(8, 16) for _ in range(8)]
    assert (after[320:] == 7).all()


def test_refuses() -> None:
    for bad, error, message in (
        (call(dt.int8, 512, 0, 1), OperandError, "BAD_DTYPE.*dst has type int8"),
        (call(dt.int16, 512, 0, 256), OperandError, "BAD_REPEAT.*repeat_times = 256"),
        (call(dt.int16, 512, 0, 1, (0, 8)), OperandError, "BAD_STRIDE.*dst_blk_stride = 0; .* value: 1"),
        (call(dt.int16, 512, 2, 1), MemoryFault, "MISALIGNED_ADDR.*src0 starts at byte 2 "),
        (call(dt.int16, 528, 0, 1), MemoryFault, "MISALIGNED_ADDR.*dst starts at byte 528"),
        (lambda: brcb(ub(dt.int16, 512), ub(dt.int32), 1, BrcbRepeatParams()), OperandError, "src0 has type int32"),
        (lambda: brcb(ub(dt.int16, 512), ub(dt.int16), 1, (1, 8)), ArgumentTypeError, "rule: a BrcbRepeatParams"),
        (lambda: brcb(ub(dt.int16, 512), 1, 1, BrcbRepeatParams()), OperandError, "BAD_POSITION.*src0 = 1"),
    ):
        with pytest.raises(error, match=message):
            launch(bad)


def test_dst_on_src_and_a_short_src() -> None:
    before = laid(1024)
    _, device = on_image(before, call(dt.int16, 0, 0, 1), COLLECT)
    assert codes(device) == ["OVERLAP_PARTIAL"]
    _, device = on_image(
        before, lambda: brcb(ub(dt.int16, 512), ub(dt.int16, 0, 16), 3, BrcbRepeatParams(1, 0)), COLLECT
    )
    assert codes(device) == ["OOB_BUF"]
    assert "src0 touches bytes [0:48), 16 bytes past its tensor (16 elements of int16, " in device.findings[0].message
    after, device = on_image(before, call(dt.int16, 512, 0, 0), COLLECT)
    assert codes(device) == ["ZERO_LENGTH"]
    assert (after == before).all()


def test_counter_mode_is_not_simulated() -> None:
    def counted() -> None:
        set_mask_count()
        call(dt.int16, 512, 0, 1)()

    with pytest.raises(NotSimulatedError, match="brcb: in counter mode"):
        launch(counted)


@pytest.mark.parametrize("dtype", [dt.int16, dt.bfloat16, dt.float16, dt.uint32, dt.float32], ids=str)
def test_against_the_second_opinion(dtype: dt.DataType) -> None:
    @settings(derandomize=True, max_examples=20, deadline=None, database=None)
    @given(st.integers(0, 100), st.integers(1, 6), st.integers(1, 3), st.sampled_from([0, 1, 3, 8, 8, 20]))
    def check(seed: int, times: int, block: int, pitch: int) -> None:
        before = mixed(dtype, 8192, seed)
        after, device = on_image(before, call(dtype, 1024, 0, times, (block, pitch)), COLLECT)
        want = before.copy()
        slow.brcb(want, dtype.size, 1024, 0, times, block, pitch)
        assert np.flatnonzero(after != want).tolist() == []
        assert codes(device) == []

    check()
