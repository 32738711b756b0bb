"""fixpipe and data_copy out of L0C: literal values, layouts, scales, atomic stores, and a second opinion."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import reference_mmad as slow
from basic_machine import at, codes, launch, order, whole
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.errors import (
    ArgumentValueError,
    NotSimulatedError,
)
from ascsim.language.basic import (
    data_copy,
    fixpipe,
    set_atomic_add,
    set_atomic_max,
    set_atomic_none,
    set_fix_pipe_pre_quant_flag,
)
from ascsim.language.core import (
    CO2Layout,
    DataCopyCO12DstParams,
    FixpipeConfig,
    FixpipeParamsV220,
    HardEvent,
    LocalTensor,
    QuantModes,
    TPosition,
)
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

NZ = FixpipeConfig(CO2Layout.NZ)
ROWS = FixpipeConfig(CO2Layout.ROW_MAJOR)
Q = QuantModes


def co1(dtype: dt.DataType = dt.float32, start: int = 0) -> LocalTensor:
    return LocalTensor(dtype, TPosition.CO1, start, 0)


def c1(dtype: dt.DataType, start: int = 0, n: int = 0) -> LocalTensor:
    return LocalTensor(dtype, TPosition.C1, start, n)


def out_of(c: np.ndarray, out: np.ndarray, *arguments: Any, stride: int = 0, call: Any = fixpipe) -> list[str]:
    """`call(out, c, *arguments)` with c in L0C, its padding undefined. Codes found."""

    def body(gm: Any) -> None:
        image = slow.l0c(c, stride)
        whole("L0C", image, known=slow.l0c(np.zeros_like(c), stride) == 0)
        call(at(gm), co1(dt.from_numpy(c.dtype)), *arguments)

    return codes(launch(body, out, kind="aic", checks=Checks.collect()))


def numbers(m: int, n: int, kind: Any, most: int = 300) -> np.ndarray:
    return np.random.default_rng(m * n).integers(-most, most + 1, (m, n)).astype(kind)


# --- values ----------------------------------------------------------------------------------------------------------


def test_scale_round_offset_saturate() -> None:
    """The scale keeps 10 bits of mantissa (1.7 acts as 1.69921875); ties to even; 9 bits before the offset."""
    c = np.array([[1, 3, -3, 160, -400, 0.5, 75, np.nan]], np.float32)
    by_scale = [(1.7, 0, True), (0.5, 0, True), (0.5, -3, True), (0.5, 7, False)]
    found = []
    for scale, offset, signed in by_scale:
        out = np.zeros((1, 8), np.int8 if signed else np.uint8)
        word = slow.word(scale, offset, signed)
        assert out_of(c, out, FixpipeParamsV220(8, 1, 16, 8, Q.QF322B8_PRE, word)) == []
        found.append(out[0].tolist())
    assert found == [
        [2, 5, -5, 127, -128, 1, 127, 0],  # 1.699, 5.098, -5.098, 271.9, -679.7, 0.85, 127.4
        [0, 2, -2, 80, -128, 0, 38, 0],  # 0.5, 1.5, -1.5, 80, -200, 0.25, 37.5
        [-3, -1, -5, 77, -128, -3, 35, -3],
        [7, 9, 5, 87, 0, 7, 45, 7],
    ]


def test_requantised_integers_shift_first() -> None:
    """A shift of 4 rounds down and saturates to 16 bits."""
    c = np.array([[100, -100, 15, -1, 1 << 30, -(1 << 30)]], np.int32)
    out = np.zeros((1, 6), np.int8)
    out_of(c, out, FixpipeParamsV220(6, 1, 16, 6, Q.REQ8, slow.word(1.0, shift=4)))
    assert out.tolist() == [[6, -7, 0, -1, 127, -128]]
    halves = np.zeros((1, 6), np.float16)
    out_of(c, halves, FixpipeParamsV220(6, 1, 16, 6, Q.DEQF16, slow.word(0.25, shift=4)))
    assert halves.tolist() == [[1.5, -1.75, 0, -0.25, 8192, -8192]]
    out_of(c, halves, FixpipeParamsV220(6, 1, 16, 6, Q.DEQF16, slow.word(0.3), relu_en=True))
    assert halves.tolist() == [[np.float16(100 * 0.2998046875), 0, np.float16(15 * 0.2998046875), 0, 65504, 0]]


def test_conversions_without_scale() -> None:
    c = np.array([[1 + 2**-11, 1 + 3 * 2**-11, 70000, -1.5, 1 + 2**-8, 3e38]], np.float32)
    half, wide, same = (np.zeros((1, 6), kind) for kind in (np.float16, ml_dtypes.bfloat16, np.float32))
    assert out_of(c, half, FixpipeParamsV220(6, 1, 16, 6, Q.F322F16)) == []
    assert out_of(c, wide, FixpipeParamsV220(6, 1, 16, 6, Q.F322BF16, relu_en=True)) == []
    assert out_of(c, same, FixpipeParamsV220(6, 1, 16, 6, relu_en=True), ROWS) == []
    assert half.tolist() == [[1, 1 + 2**-9, np.inf, -1.5, 1 + 2**-8, np.inf]]
    assert wide.astype(float).tolist()[0][:5] == [1, 1, 70144, 0, 1]
    assert same.tolist() == [np.maximum(c, 0)[0].tolist()]
    whole_numbers = np.zeros((1, 2), np.int32)
    out_of(np.array([[-5, 1 << 30]], np.int32), whole_numbers, FixpipeParamsV220(2, 1, 16, 2, relu_en=True))
    assert whole_numbers.tolist() == [[0, 1 << 30]]


MODES: list[tuple[QuantModes, Any, Any, str]] = [
    (Q.NoQuant, np.float32, np.float32, ""),
    (Q.F322F16, np.float32, np.float16, ""),
    (Q.DEQF16, np.int32, np.float16, "half"),
    (Q.VDEQF16, np.int32, np.float16, "half"),
    (Q.QF322B8_PRE, np.float32, np.int8, "byte"),
    (Q.VQF322B8_PRE, np.float32, np.uint8, "byte"),
    (Q.REQ8, np.int32, np.uint8, "byte"),
    (Q.VREQ8, np.int32, np.int8, "byte"),
]


@settings(max_examples=16, deadline=None)
@given(
    st.sampled_from(MODES), st.integers(1, 35), st.integers(1, 5), st.booleans(), st.booleans(), st.integers(0, 40),
    st.integers(0, 2), st.randoms(use_true_random=False),
)  # fmt: skip
def test_the_second_opinion(
    case: Any, m: int, blocks: int, rows: bool, relu: bool, extra: int, more: int, draw: Any
) -> None:
    mode, source, target, to = case
    n = 16 * blocks - (draw.randrange(16) if rows else 0)
    size = np.dtype(target).itemsize
    c = numbers(m, n, source, 2000)
    src_stride = -(-m // 16) * 16 + 16 * more
    shift = draw.randrange(4) if source is np.int32 else 0
    vector = mode.name.startswith("V")
    signed = target is np.int8
    words = [
        slow.word(draw.uniform(-1, 1), draw.randrange(-256, 256), signed, shift) for _ in range(n if vector else 1)
    ]
    wide = 32 if size == 1 else 16
    dst_stride = n + extra if rows else m * wide * size // 32 + extra
    if rows:
        nbytes = ((m - 1) * dst_stride + n) * size
    else:
        nbytes = max(slow.nz_place(m - 1, column, dst_stride, size, wide, n) for column in range(n)) + size
    out = np.full(nbytes // size, 1, target)
    parameters = FixpipeParamsV220(n, m, src_stride, dst_stride, mode, words[0] if not vector else 0, relu_en=relu)

    def body(gm: Any) -> None:
        whole("L0C", slow.l0c(c, src_stride), known=slow.l0c(np.zeros_like(c), src_stride) == 0)
        table = (c1(dt.uint64, 64, n),) if vector else ()
        if vector:
            whole("L1", np.array(words, np.uint64).view(np.uint8), 64)
        fixpipe(at(gm), co1(dt.from_numpy(c.dtype)), *table, parameters, ROWS if rows else NZ)

    assert codes(launch(body, out, kind="aic", checks=Checks.collect())) == []
    expected = np.full(nbytes // size, 1, target)
    for row in range(m):
        for column in range(n):
            x = c[row, column].item()
            if to:
                word = words[column if vector else 0]
                x = slow.quantised(x, word, relu, to, source is np.int32)
            elif relu:
                x = max(x, 0)
            place = row * dst_stride + column
            if not rows:
                place = slow.nz_place(row, column, dst_stride, size, wide, n) // size
            expected[place] = x
    assert out.tolist() == expected.tolist()


def test_several_matrices() -> None:
    """Two of 20 x 24, four fractals apart in L0C; their rows lie inside each other in global memory."""
    first, second = numbers(20, 24, np.float32), numbers(20, 24, np.float32, 99)
    out = np.zeros((20, 64), np.float32)

    def body(gm: Any) -> None:
        whole("L0C", slow.l0c(first))
        whole("L0C", slow.l0c(second), 4096)
        fixpipe(at(gm), co1(), FixpipeParamsV220(24, 20, 32, 64, nd_num=2, src_nd_stride=4, dst_nd_stride=32))

    assert codes(launch(body, out, kind="aic", checks=Checks.collect())) == []
    assert (out[:, :24] == first).all()
    assert (out[:, 32:56] == second).all()
    assert (out[:, 24:32] == 0).all()


def test_channel_split() -> None:
    c = numbers(20, 24, np.float32)
    out = np.zeros((3, 25, 8), np.float32)
    assert out_of(c, out, FixpipeParamsV220(24, 20, 32, 25, is_channel_split=True), FixpipeConfig.cfg_nz) == []
    assert [(out[i, :20] == c[:, 8 * i : 8 * i + 8]).all() for i in range(3)] == [True] * 3
    assert (out[:, 20:] == 0).all()


def test_to_l1() -> None:
    """Undefined accumulators arrive undefined, and are reported by who uses them."""
    c = numbers(20, 48, np.float32, 100)
    back = np.zeros((20, 16), np.int8)
    found = np.zeros(0, np.uint8)

    def body(gm: Any) -> None:
        nonlocal found
        known = slow.l0c(np.zeros_like(c)) == 0
        known[3 * 64 + 1] = False  # one byte of four
        whole("L0C", slow.l0c(c), known=known)
        params = FixpipeParamsV220(48, 20, 32, 20, Q.QF322B8_PRE, slow.word(1.0))
        fixpipe(c1(dt.int8, 32), co1(), params, NZ)
        memory = running("test").memories["L1"]
        found = memory.bytes[: 32 + 960].copy()
        missing.extend(np.flatnonzero(~memory.defined[32 : 32 + 960]).tolist())
        order(HardEvent.FIX_MTE3)
        data_copy(at(gm), c1(dt.int8, 32 + 640), 320)

    missing: list[int] = []
    assert codes(launch(body, back, kind="aic", checks=Checks.collect())) == []
    assert missing == [96]  # row 3, column 0
    merged = found[32:672].view(np.int8).reshape(20, 32)
    assert (merged == c[:, :32]).all()
    assert (back == c[:, 32:]).all()


def test_atomic_stores() -> None:
    c = numbers(16, 16, np.float32)
    out = np.full((16, 16), 10, np.float32)
    halves = np.full((16, 16), 10, np.float16)

    def body(gm: Any, gm_half: Any) -> None:
        whole("L0C", slow.l0c(c))
        set_atomic_add(dt.float32)
        for _ in range(2):
            fixpipe(at(gm), co1(), FixpipeParamsV220(16, 16, 16, 16))
        set_atomic_max(dt.float16)
        fixpipe(at(gm_half), co1(), FixpipeParamsV220(16, 16, 16, 16, Q.F322F16))
        set_atomic_none()

    launch(body, out, halves, kind="aic", checks=Checks.collect())
    assert (out == 10 + 2 * c).all()
    assert (halves == np.maximum(c, 10)).all()


# --- data_copy -------------------------------------------------------------------------------------------------------


def test_data_copy_takes_scale_and_rows_from_registers() -> None:
    c = numbers(20, 32, np.float32)
    out, rows = np.zeros((20, 32), np.int8), np.zeros((20, 32), np.float16)

    def body(gm: Any, gm_half: Any) -> None:
        whole("L0C", slow.l0c(c))
        set_fix_pipe_pre_quant_flag(slow.word(0.25))
        data_copy(at(gm), co1(), DataCopyCO12DstParams(32, 20, 20, 32, Q.QF322B8_PRE, 1))
        with pytest.raises(NotSimulatedError, match="row-major layout"):
            data_copy(at(gm_half), co1(), DataCopyCO12DstParams(32, 20, 32, 32, Q.F322F16, nz2nd_en=True))
        fixpipe(at(gm_half), co1(), FixpipeParamsV220(32, 1, 32, 32, Q.F322F16))
        data_copy(at(gm_half), co1(), DataCopyCO12DstParams(32, 20, 32, 32, Q.F322F16, nz2nd_en=True))

    launch(body, out, rows, kind="aic", checks=Checks.collect())
    assert (out == np.rint(np.maximum(c, 0) / 4)).all()
    assert (rows == c).all()


def test_data_copy_without_its_registers() -> None:
    params = [DataCopyCO12DstParams(16, 16, 16, 16, mode) for mode in (Q.QF322B8_PRE, Q.VQF322B8_PRE)]
    for parameters, error, message in (
        (params[0], ArgumentValueError, "has no scale; rule: set_fix_pipe_pre_quant_flag"),
        (params[1], NotSimulatedError, "no name for the register that takes the vector"),
    ):
        with pytest.raises(error, match=message):
            out_of(np.zeros((16, 16), np.float32), np.zeros((16, 16), np.int8), parameters, call=data_copy)
