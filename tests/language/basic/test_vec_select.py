"""select: literal cases of every mode and form, scratch, barriers, and draws against `reference_convert`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_convert
from basic_machine import codes, launch, on_image, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, NotSimulatedError, OperandError, SimulatorWarning
from ascsim.hw.soc import soc
from ascsim.language.basic import (
    compare,
    duplicate,
    pipe_barrier,
    reset_mask,
    select,
    set_cmp_mask,
    set_mask_count,
    set_vector_mask,
)
from ascsim.language.core import CMPMODE, BinaryRepeatParams, MaskMode, PipeID, SelMode
from ascsim.language.core import dtype as dt

COLLECT = Checks.collect()
A, B, SEL, DST = 0, 2048, 4096, 4608
SPR, SCALAR, TENSOR = SelMode.VSEL_CMPMASK_SPR, SelMode.VSEL_TENSOR_SCALAR_MODE, SelMode.VSEL_TENSOR_TENSOR_MODE
DENSE = BinaryRepeatParams(1, 1, 1, 8, 8, 8)


def selected(dtype: dt.DataType, bits: list[int], call: Any, sel: dt.DataType = dt.uint8) -> np.ndarray:
    """dst after `call(dst, sel_mask, src0, src1)`: src0 counts 0, 1, .. and src1 -1, -2, ..; dst holds 7 before."""
    before = np.zeros(DST + 2048, np.uint8)
    many = 2048 // dtype.size
    before[A : A + 2048] = np.arange(many).astype(dtype.np).view(np.uint8)
    before[B : B + 2048] = (-1 - np.arange(many)).astype(dtype.np).view(np.uint8)
    before[SEL : SEL + len(bits)] = bits
    before[DST:] = np.full(many, 7).astype(dtype.np).view(np.uint8)
    after, _ = on_image(before, lambda: call(ub(dtype, DST), ub(sel, SEL), ub(dtype, A), ub(dtype, B)))
    return after[DST:].view(dtype.np)


@pytest.mark.parametrize("sel", [dt.uint8, dt.uint16, dt.uint32, dt.uint64])
def test_tensor_mode_takes_a_bit_an_element(sel: dt.DataType) -> None:
    bits = [0b101, 255] + [0] * 6 + [0b10]
    out = selected(dt.float32, bits, lambda d, s, a, b: select(d, s, a, b, TENSOR, 67), sel)
    assert out[:8].tolist() == [0, -2, 2, -4, -5, -6, -7, -8]
    assert out[8:16].tolist() == list(range(8, 16))
    assert out[16:68].tolist() == [*(-1 - i for i in range(16, 65)), 65, -67, 7]


def test_register_mode_takes_the_same_bits_for_every_repeat() -> None:
    """64 bits for floats, 128 for halves; later bytes of sel_mask are not looked at."""
    out = selected(dt.float32, [1] + [0] * 7 + [255] * 8, lambda d, s, a, b: select(d, s, a, b, SPR, 130))
    assert np.flatnonzero(out >= 0)[:4].tolist() == [0, 64, 128, 130]
    out = selected(dt.float16, [1] + [0] * 14 + [128] + [255] * 8, lambda d, s, a, b: select(d, s, a, b, SPR, 256))
    assert np.flatnonzero(out[:256] >= 0).tolist() == [0, 127, 128, 255]


def test_a_number_has_the_type_of_the_tensors() -> None:
    out = selected(dt.float16, [0b10], lambda d, s, a, b: select(d, s, a, 0.1, SCALAR, 4))
    assert out[:5].tolist() == [0.0999755859375, 1, 0.0999755859375, 0.0999755859375, 7]


def test_mask_form_keeps_the_lanes_left_out() -> None:
    """Lanes 1 and 63 of two repeats; in tensor mode repeat 1 starts at bit 64."""
    call = lambda d, s, a, b: select(d, s, a, b, TENSOR, [2 | 1 << 63, 0], 2, DENSE)  # noqa: E731
    out = selected(dt.float32, [2] + [0] * 14 + [128], call)
    assert np.flatnonzero(out != 7).tolist() == [1, 63, 65, 127]
    assert out[[1, 63, 65, 127]].tolist() == [1, -64, -66, 127]


def test_nan_and_signed_zero_are_moved_as_they_are() -> None:
    before = np.zeros(512, np.uint8)
    before[:32] = np.array([0x7FC12345, 0x80000000, 0x7F800001, 1, 0, 0, 0, 0], np.uint32).view(np.uint8)
    before[32] = 0b1010

    def call() -> None:
        select(ub(dt.float32, 64), ub(dt.uint8, 32), ub(dt.float32, 0), ub(dt.float32, 0), TENSOR, 4)

    after, _ = on_image(before, call)
    assert after[64:80].view(np.uint32).tolist() == [0x7FC12345, 0x80000000, 0x7F800001, 1]


def test_one_plan_a_number() -> None:
    def call(d: Any, s: Any, a: Any, b: Any) -> None:
        for number in (1.0, 2.0, 1.0):
            select(d, s, a, number, SCALAR, 8)

    assert selected(dt.float32, [0], call)[:8].tolist() == [1] * 8


# ------------------------------------------------------------------ the forms without mask


def test_bits_from_compare() -> None:
    def call(d: Any, s: Any, a: Any, b: Any) -> None:
        compare(a, b, CMPMODE.GT, 64, DENSE)  # i > -1 - i, always
        reset_mask()
        set_vector_mask(0, 0b1001, dtype=dt.float32, mode=MaskMode.NORMAL)
        select(d, a, b, repeat_times=2, repeat_params=DENSE, sel_mode=SPR)

    out = selected(dt.float32, [], call)
    assert np.flatnonzero(out != 7).tolist() == [0, 3, 64, 67]
    assert out[[0, 3, 64, 67]].tolist() == [0, 3, 64, 67]


def test_bits_from_set_cmp_mask_by_position() -> None:
    def call(d: Any, s: Any, a: Any, b: Any) -> None:
        set_cmp_mask(s)
        select(d, a, b, 1, DENSE, SPR)

    assert selected(dt.float16, [0b110], call)[:4].tolist() == [-1, 1, 2, -4]


def test_a_number_from_set_cmp_mask() -> None:
    """The first element of the tensor is the number; the bits come from sel_mask."""

    def call(d: Any, s: Any, a: Any, b: Any) -> None:
        set_cmp_mask(b)
        select(d, s, a, 1, DENSE)
        select(d[256:], s, a, repeat_times=1, repeat_params=DENSE)

    out = selected(dt.float32, [0b110], call)
    assert out[:4].tolist() == out[256:260].tolist() == [-1, 1, 2, -1]


def test_what_the_register_does_not_hold() -> None:
    def unset() -> None:
        select(ub(dt.float32, DST), ub(dt.float32), ub(dt.float32), 1, DENSE, SPR)

    with pytest.raises(NotSimulatedError, match="bit 0 of the compare mask is not defined"):
        launch(unset)

    def call(d: Any, s: Any, a: Any, b: Any) -> None:
        set_cmp_mask(s)
        select(d, s, a, b, SPR, 8)  # leaves its own bits there
        select(d, a, b, 1, DENSE, SPR)

    with pytest.raises(NotSimulatedError, match="bit 0 of the compare mask"):
        selected(dt.float32, [0], call)

    def masked(d: Any, s: Any, a: Any, b: Any) -> None:
        compare(a, b, CMPMODE.LT, 8, DENSE)
        reset_mask()
        select(d, a, b, 1, DENSE, SPR)

    with pytest.raises(NotSimulatedError, match="bit 8 of the compare mask"):
        selected(dt.float32, [0], masked)
    with pytest.raises(NotSimulatedError, match="the compare mask holds the address"):
        launch(lambda: select(ub(dt.float32, DST), ub(dt.float32), ub(dt.float32), 1, DENSE, TENSOR))


# ------------------------------------------------------------------ draws


@st.composite
def calls(draw: Any) -> dict[str, Any]:
    call: dict[str, Any] = {"seed": draw(st.integers(0, 1000))}
    call["dtype"] = dtype = draw(st.sampled_from([dt.float16, dt.float32]))
    call["mode"] = mode = draw(st.sampled_from([SPR, SCALAR, TENSOR]))
    call["scalar"] = draw(st.sampled_from([0.0, 0.1, -2.0])) if mode == SCALAR else None
    lanes = 256 // dtype.size
    if draw(st.booleans()):
        call["count"] = draw(st.integers(1, 3 * lanes))
        return call
    call["blocks"] = [draw(st.sampled_from([1, 1, 2])), *(draw(st.sampled_from([1, 0, 2])) for _ in range(2))]
    call["steps"] = [draw(st.sampled_from([8, 16])), *(draw(st.sampled_from([8, 0, 3])) for _ in range(2))]
    if mode == SPR and draw(st.booleans()):
        call["counter"] = draw(st.integers(1, 3 * lanes))
        return call
    call["repeats"] = draw(st.integers(1, 3))
    words = [draw(st.integers(1, (1 << 64) - 1)), draw(st.integers(0, (1 << 64) - 1)) if lanes == 128 else 0]
    call["mask"] = draw(st.sampled_from([lanes, 1, lanes - 5, words]))
    return call


@settings(derandomize=True, max_examples=60, deadline=None, database=None)
@given(calls())
def test_against_the_second_opinion(call: dict[str, Any]) -> None:
    dtype, mode = call["dtype"], call["mode"]
    random = np.random.default_rng(call["seed"])
    before = random.normal(size=16384 // dtype.size).astype(dtype.np).view(np.uint8)
    before[12288:12352] = random.integers(0, 256, 64, np.uint8)

    def body() -> None:
        tensors = [ub(dtype, 4096), ub(dt.uint8, 12288), ub(dtype, 0)]
        other = ub(dtype, 2048) if call["scalar"] is None else call["scalar"]
        if "count" in call:
            select(*tensors, other, mode, call["count"])
            return
        params = BinaryRepeatParams(*call["blocks"], *call["steps"])
        if "counter" in call:
            set_mask_count()
        mask = [call["counter"], 0] if "counter" in call else call["mask"]
        select(*tensors, other, mode, mask, call.get("repeats", 1), params)

    after, device = on_image(before, body, COLLECT)
    want = before.copy()
    how = {name: call[name] for name in ("mask", "repeats", "blocks", "steps", "scalar") if name in call}
    how["count"] = call.get("count", call.get("counter"))
    sources = [0, 2048] if call["scalar"] is None else [0]
    reference_convert.select(want, str(dtype), 4096, 12288, sources, again=mode == SPR, **how)
    assert (after == want).all(), call
    assert codes(device) == []


# ------------------------------------------------------------------ scratch, order, refusals


def _filled() -> None:
    duplicate(ub(dt.float32, A, 64), 1, 64)
    duplicate(ub(dt.float32, B, 64), 2, 64)
    duplicate(ub(dt.uint16, SEL, 16), 1, 16)


def test_scratch() -> None:
    """32 elements from 184 KiB on, in the modes that need it."""

    def body(start: int, mode: SelMode) -> None:
        duplicate(ub(dt.int32, start, 8), 9, 8)
        _filled()
        other = 1.0 if mode == SCALAR else ub(dt.float32, B)
        for _ in range(2):
            select(ub(dt.float32, DST), ub(dt.uint8, SEL), ub(dt.float32, A), other, mode, 64)

    for mode, found in ((SPR, []), (SCALAR, ["RESERVED_MEM"]), (TENSOR, ["RESERVED_MEM"])):
        assert codes(launch(lambda mode=mode: body(188416 + 96, mode), checks=COLLECT)) == found
        assert codes(launch(lambda mode=mode: body(188416 + 128, mode), checks=COLLECT)) == []
    with pytest.raises(SimulatorWarning, match=r"RESERVED_MEM.*UB bytes \[188416:188544\) hold data"):
        launch(lambda: body(188416, TENSOR))


@pytest.mark.parametrize(("mode", "found"), [(SPR, ["NO_BARRIER_RAW"]), (SCALAR, []), (TENSOR, [])])
def test_barriers_inside(mode: SelMode, found: list[str]) -> None:
    """Without automatic synchronisation: only the bits of VSEL_CMPMASK_SPR are read before the first barrier."""
    device = Device(soc("Ascend910B1"), 0, 1, checks=COLLECT, auto_sync=False)

    def body() -> None:
        _filled()
        other = 1.0 if mode == SCALAR else ub(dt.float32, B)
        select(ub(dt.float32, DST), ub(dt.uint8, SEL), ub(dt.float32, A), other, mode, 64)
        if mode == SCALAR:
            pipe_barrier(PipeID.PIPE_V)  # the other modes end with one
        duplicate(ub(dt.float32, DST, 64), 1, 64)

    device.run(body)
    assert codes(device) == found


def test_used_bytes() -> None:
    """64 floats take eight bytes of bits, 65 in tensor mode nine; src1 is not read in scalar mode."""

    def body(count: int, mode: SelMode) -> None:
        duplicate(ub(dt.float32, A, 128), 1, 128)
        duplicate(ub(dt.float32, SEL, 2), 1, 2)
        other = 1.0 if mode == SCALAR else ub(dt.float32, A)
        select(ub(dt.float32, DST), ub(dt.uint8, SEL), ub(dt.float32, A), other, mode, count)

    assert codes(launch(lambda: body(64, TENSOR), checks=COLLECT)) == []
    assert codes(launch(lambda: body(65, TENSOR), checks=COLLECT)) == ["UNINIT_READ"]
    assert codes(launch(lambda: body(65, SCALAR), checks=COLLECT)) == ["UNINIT_READ"]
    assert codes(launch(lambda: body(128, SPR), checks=COLLECT)) == []


def test_refused() -> None:
    dst, sel, a = (dt.float32, DST), (dt.uint8, SEL), (dt.float32, A)
    with pytest.raises(ArgumentTypeError, match=r"select: src1 = 1.0; rule: a LocalTensor with VSEL_TENSOR"):
        launch(lambda: select(ub(*dst), ub(*sel), ub(*a), 1.0, TENSOR, 8))
    with pytest.raises(ArgumentTypeError, match=r"rule: a number with VSEL_TENSOR_SCALAR_MODE"):
        launch(lambda: select(ub(*dst), ub(*sel), ub(*a), ub(*a), SCALAR, 8))
    with pytest.raises(ArgumentValueError, match=r"select: sel_mode = 5; rule: VSEL_CMPMASK_SPR"):
        launch(lambda: select(ub(*dst), ub(*sel), ub(*a), ub(*a), 5, 8))
    with pytest.raises(OperandError, match=r"BAD_DTYPE: select: sel_mask has type float32; rule: uint8, uint16"):
        launch(lambda: select(ub(*dst), ub(*a), ub(*a), ub(*a), SPR, 8))
    with pytest.raises(OperandError, match=r"BAD_DTYPE: select: src1 has type float16, dst has float32"):
        launch(lambda: select(ub(*dst), ub(*sel), ub(*a), ub(dt.float16), SPR, 8))
    with pytest.raises(OperandError, match=r"BAD_DTYPE: select: dst has type int32; rule: float16, float32"):
        launch(lambda: select(ub(dt.int32, DST), ub(*sel), ub(dt.int32), ub(dt.int32), SPR, 8))
    with pytest.raises(NotSimulatedError, match=r"is_set_mask = False: the parameter is reserved"):
        launch(lambda: select(ub(*dst), ub(*sel), ub(*a), ub(*a), SPR, 0, 1, DENSE, False))
    with pytest.raises(OperandError, match=r"OVERLAP_PARTIAL: select: dst .* sel_mask .* meet in bytes \[4096:4097\)"):
        launch(lambda: select(ub(dt.float32, SEL), ub(*sel), ub(*a), ub(*a), SPR, 8))

    def counted() -> None:
        set_mask_count()
        select(ub(*dst), ub(*sel), ub(*a), ub(*a), TENSOR, [8, 0], 1, DENSE)

    with pytest.raises(NotSimulatedError, match="VSEL_TENSOR_TENSOR_MODE in counter mode"):
        launch(counted)
