"""Loads into L0, ND-to-NZ copies and fills: hand-worked cases, and a second opinion that loops over elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_cube as reference
from basic_machine import at, launch, order
from cube_machine import on_l1, tensor
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentValueError, HazardError, MemoryFault, NotSimulatedError, OperandError
from ascsim.language.basic import (
    data_copy,
    init_const_value,
    load_data,
    load_data_with_sparse,
    load_data_with_transpose,
    pipe_barrier,
    set_load_data_boundary,
    set_load_data_padding_value,
    set_load_data_repeat,
)
from ascsim.language.core import (
    DataCopyParams,
    HardEvent,
    InitConstValueParams,
    LoadData2DParams,
    LoadData2DParamsV2,
    LoadData2dTransposeParams,
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    LoadData3DParamsV2Pro,
    LoadDataRepeatParam,
    Nd2NzParams,
    Nz2NdParamsFull,
    PipeID,
    TPosition,
)
from ascsim.language.core import dtype as dt
from ascsim.language.core.place import running

A1, B1, C1, A2, B2, C2 = TPosition.A1, TPosition.B1, TPosition.C1, TPosition.A2, TPosition.B2, TPosition.C2
MEMORY = {A1: "L1", A2: "L0A", B2: "L0B"}
DRAWN = settings(derandomize=True, max_examples=12, deadline=None, database=None)
FREE = Checks.off()
IMAGE = np.arange(1 << 15, dtype=np.uint16)  # 64 KiB


def numbers(dtype: dt.DataType, nbytes: int = 1 << 15) -> np.ndarray:
    """Bytes that differ, as elements without NaN."""
    return np.random.default_rng(7).integers(0, 256, nbytes, np.uint8).view(f"u{dtype.size}")


def check(call: Any, dtype: dt.DataType, position: TPosition, mirror: Any, *arrays: np.ndarray) -> None:
    """What `call` leaves in a memory is what `mirror(memory, L1 before)` does to it."""
    image = numbers(dtype)
    found, _ = on_l1(image, call, *arrays, checks=FREE)
    expected = np.full_like(found[MEMORY[position]], 0xFF)
    if position is A1:
        expected[: image.nbytes] = image.view(np.uint8)
    mirror(expected.view(image.dtype), image)
    np.testing.assert_array_equal(found[MEMORY[position]], expected)


# --- 2D -------------------------------------------------------------------------------------------------------------


def test_a_2d_load_by_hand():
    found, _ = on_l1(
        IMAGE, lambda: load_data(tensor(dt.float16, A2), tensor(dt.float16, A1), LoadData2DParams(1, 3, 2, 0, 1))
    )
    words = found["L0A"].view(np.uint16)
    assert words[[0, 255, 512, 1024]].tolist() == [256, 511, 768, 1280]  # fractals 1, 3, 5 into 0, 2, 4
    assert words[256] == 0xFFFF  # the gap

    found, _ = on_l1(
        IMAGE, lambda: load_data(tensor(dt.int16, B2), tensor(dt.int16, B1), LoadData2DParams(0, 1, 0, 0, 0, True))
    )
    assert found["L0B"].view(np.uint16)[:17].tolist() == [*range(0, 256, 16), 1]


@DRAWN
@given(
    st.sampled_from((dt.int8, dt.bfloat16, dt.float32)),
    st.tuples(st.integers(0, 9), st.integers(1, 5), st.integers(0, 4), st.just(0), st.integers(0, 3)),
    st.sampled_from((A2, B2)),
    st.booleans(),
)
def test_2d_loads_from_l1(dtype, fields, position, turn):
    fields = (*fields, turn and dtype.size == 2, 0)
    call = lambda: load_data(tensor(dtype, position), tensor(dtype, A1), LoadData2DParams(*fields))  # noqa: E731
    check(call, dtype, position, lambda memory, image: reference.load_2d(memory, image, fields))


@pytest.mark.parametrize("position", [A1, A2, B2])
def test_2d_loads_from_global_memory(position):
    down = int(position is A1)
    fields = (6, 4, 2, 0, 1, False, down)
    outside = np.arange(1 << 13, dtype=np.uint16).view(np.int16)
    call = lambda x: load_data(tensor(dt.int16, position), x, LoadData2DParams(*fields))  # noqa: E731
    check(call, dt.int16, position, lambda memory, image: reference.load_2d(memory, outside, fields), outside)


# --- squares --------------------------------------------------------------------------------------------------------


@DRAWN
@given(
    st.sampled_from((dt.int8, dt.float16, dt.float32)),
    st.tuples(st.integers(2, 6), st.integers(1, 3), st.integers(0, 3)),
    st.sampled_from(((0, 3), (1, 0), (3, 1), (5, 2))),
    st.sampled_from((A2, B2)),
    st.booleans(),
)
def test_transposed_squares(dtype, head, gaps, position, down):
    if down and head[0] < (head[1] - 1) * head[2]:
        return
    fields = (*head, *gaps, int(down))
    call = lambda: load_data_with_transpose(  # noqa: E731
        tensor(dtype, position), tensor(dtype, B1), LoadData2dTransposeParams(*fields)
    )
    check(call, dtype, position, lambda memory, image: reference.load_transposed(memory, image, fields))


# --- image to column ------------------------------------------------------------------------------------------------


def window(map_: dict, k: int, m: int, k_at: int, m_at: int, turn: bool, pad: int) -> LoadData3DParamsV2:
    """The parameters of a load."""
    return LoadData3DParamsV2(
        map_["pads"], map_["height"], map_["width"], map_["channels"], k, m, k_at, m_at, *map_["strides"],
        *map_["filter"], *map_["dilation"], turn, pad,
    )  # fmt: skip


@DRAWN
@given(
    st.sampled_from((dt.uint8, dt.float16, dt.uint32)),
    st.tuples(*(st.integers(0, 2) for _ in range(4))),
    st.tuples(st.integers(4, 7), st.integers(4, 7)),
    st.tuples(*(st.integers(1, 2) for _ in range(6))),
    st.integers(1, 2),
    st.sampled_from(("plain", "turned", "L0B")),
)
def test_windows(dtype, pads, extent, steps, blocks, way):
    c0 = 32 // dtype.size
    map_ = {
        "pads": pads, "height": extent[0], "width": extent[1], "channels": blocks * c0,
        "strides": steps[:2], "filter": steps[2:4], "dilation": steps[4:],
    }  # fmt: skip
    way = "plain" if dtype.size == 1 else way
    position = B2 if way == "L0B" else A2
    k = steps[2] * steps[3] * blocks * c0
    wide, high = (
        (extent[1 - i] + sum(pads[2 * i : 2 * i + 2]) - (steps[2 + i] - 1) * steps[4 + i] - 1) // steps[i] + 1
        for i in range(2)
    )
    m_at, m = min(1, wide * high - 1), 16
    rows, columns = range(m_at, min(m_at + m, wide * high)), range(k)
    params = window(map_, k, m, 0, m_at, way == "turned", 3)
    pad = 0x4200 if dtype is dt.float16 else 3  # the bits of half 3.0

    def mirror(memory, image):
        matrix = reference.column_matrix(image, map_, rows, columns, pad)
        if way == "turned":
            reference.store_matrix(memory, matrix.T, "ZZ", k, m)
        else:
            reference.store_matrix(memory, matrix, "ZN" if way == "L0B" else "ZZ", m, k)

    check(lambda: load_data(tensor(dtype, position), tensor(dtype, A1), params), dtype, position, mirror)


PLAIN = {"pads": (0, 0, 0, 0), "height": 1, "width": 64, "channels": 32, "strides": (1, 1), "filter": (1, 1)}
PLAIN["dilation"] = (1, 1)


@pytest.mark.parametrize("mode", [0, 1])
def test_repeats_are_one_matrix(mode):
    """Two repeats of 16 rows by 16 columns, 32 rows or 16 columns apart."""
    rows = [*range(16), *range(32, 48)] if mode == 0 else range(16)
    columns = range(16) if mode == 0 else range(32)

    def call():
        set_load_data_repeat(LoadDataRepeatParam(2, 2 - mode, mode))
        load_data(tensor(dt.int16, A2), tensor(dt.int16, A1), window(PLAIN, 16, 16, 0, 0, False, 0))

    def mirror(memory, image):
        matrix = reference.column_matrix(image, PLAIN, rows, columns, 0)
        reference.store_matrix(memory, matrix, "ZZ", len(rows), len(columns))

    check(call, dt.int16, A2, mirror)


def test_packed_words_take_the_map_and_the_padding_from_the_registers():
    map_ = {**PLAIN, "pads": (1, 1, 0, 0), "width": 32, "filter": (3, 1), "channels": 16}
    words = 16 << 16 | 48, 0x010101030101  # m_extension, k_extension; filter 3 by 1

    def call():
        load_data(tensor(dt.int16, A2), tensor(dt.int16, A1), window(map_, 48, 16, 0, 0, False, 5))
        set_load_data_padding_value(9)
        pipe_barrier(PipeID.PIPE_ALL)
        load_data(
            tensor(dt.int16, A2),
            tensor(dt.int16, A1),
            LoadData3DParamsV2Pro(16, False, False, False, False, False, *words),
        )

    def mirror(memory, image):
        reference.store_matrix(memory, reference.column_matrix(image, map_, range(16), range(48), 9), "ZZ", 16, 48)

    check(call, dt.int16, A2, mirror)


def test_a_boundary_sends_a_load_back_to_the_start_of_l1():
    def call():
        set_load_data_boundary(1024)
        load_data(
            tensor(dt.int16, A2), tensor(dt.int16, A1, 768), window({**PLAIN, "channels": 16}, 16, 16, 0, 0, False, 0)
        )

    found, _ = on_l1(IMAGE, call, checks=FREE)
    words = found["L0A"].view(np.uint16)
    assert words[[0, 127, 128, 255]].tolist() == [384, 511, 0, 127]


# --- copies to L1, fills, sparse tiles -------------------------------------------------------------------------------


@DRAWN
@given(
    st.sampled_from((dt.int8, dt.float16, dt.uint32)),
    st.integers(1, 3),
    st.integers(1, 9),
    st.integers(1, 40),
    st.integers(0, 3),
    st.integers(0, 50),
)
def test_nd_to_nz(dtype, many, rows, columns, more, jump):
    c0 = 32 // dtype.size
    blocks = -(-columns // c0)
    fields = (many, rows, columns, jump, columns + more, rows + more, 1, blocks * (rows + more) * c0)
    outside = numbers(dtype, 1 << 13)[::-1].copy().view(dtype.np)
    call = lambda x: data_copy(tensor(dtype, A1, 64), x[3:], Nd2NzParams(*fields))  # noqa: E731

    def mirror(memory, image):
        reference.nd2nz(memory[64 // dtype.size :], outside[3:].view(image.dtype), fields)

    check(call, dtype, A1, mirror, outside)


def test_nd_to_nz_by_hand():
    """The strided example of the page: two matrices of 8 x 23 half, rows of 32, every other row of the target."""
    outside = np.arange(1024, dtype=np.uint16).view(np.float16)
    params = Nd2NzParams(2, 8, 23, 384, 32, 37, 2, 320)
    found, device = on_l1(IMAGE, lambda x: data_copy(tensor(dt.float16, A1), x, params), outside)
    words = found["L1"].view(np.uint16).reshape(-1, 16)
    assert words[0].tolist() == list(range(16))
    assert words[2].tolist() == list(range(32, 48))
    assert words[37].tolist() == [*range(16, 23), *[0] * 9]
    assert words[20].tolist() == list(range(384, 400))
    assert words[1].tolist() == list(range(16, 32))  # between rows: as it was
    assert device.findings == []


def test_nd_to_nz_takes_one_plan_from_any_address():
    """A loop along the rows of a matrix, 32 bytes a turn: the price does not depend on the address."""
    outside, plans = np.arange(1024, dtype=np.uint16).view(np.float16), []
    params, target = Nd2NzParams(1, 16, 16, 0, 64, 16, 1, 0), lambda: tensor(dt.float16, A1)

    def call(x):
        for start in (0, 16, 48):
            data_copy(target(), x[start:], params)
            plans.append(target().place.loads[params])
            pipe_barrier(PipeID.PIPE_ALL)

    found, device = on_l1(IMAGE, call, outside)
    assert plans[0] is plans[1] is plans[2]
    expected = [[64 * row + 48 + column for column in range(16)] for row in range(16)]
    assert found["L1"][:512].view(np.uint16).reshape(16, 16).tolist() == expected
    assert device.findings == []


@pytest.mark.parametrize(("dtype", "row", "jump"), [(dt.float16, 160, 48), (dt.float32, 144, 40)])
def test_nz_to_nd_by_the_examples_of_the_page(dtype, row, jump):
    """Two matrices of 4 x 32 out of UB: row n of column block b of matrix i is at 256 i + 64 b + 16 n."""
    image, out = np.arange(512).astype(dtype.np), np.full(1024, -1, dtype.np)

    def body(source, target):
        data_copy(tensor(dtype, TPosition.VECOUT), at(source), 512)
        order(HardEvent.MTE2_MTE3)
        data_copy(at(target), tensor(dtype, TPosition.VECOUT), Nz2NdParamsFull(2, 4, 32, 1, 4, row, jump))

    assert launch(body, image, out).findings == []
    expected = np.full(1024, -1, dtype.np)
    for i in range(2):
        for n in range(4):
            for d in range(32):
                expected[i * jump + n * row + d] = 256 * i + 64 * (d // 16) + 16 * n + d % 16
    np.testing.assert_array_equal(out, expected)


def test_copies_of_l1_to_the_bias_table_and_to_global_memory():
    image = np.arange(128, dtype=np.float16)
    out = np.zeros(64, np.float16)

    def call(x):
        data_copy(tensor(dt.float32, C2, 0, 64), tensor(dt.float16, C1), DataCopyParams(1, 2, 0, 0))
        data_copy(x, tensor(dt.float16, A1, 32), 64)

    found, _ = on_l1(image, call, out)
    assert found["BT"].view(np.float32)[:64].tolist() == list(range(64))
    assert out.tolist() == list(range(16, 80))

    found, _ = on_l1(
        np.arange(128, dtype=np.int32),
        lambda: data_copy(tensor(dt.int32, C2, 0), tensor(dt.int32, C1), DataCopyParams(2, 1, 2, 1)),
    )  # two blocks of 64 bytes, 64 bytes apart here and there
    assert found["BT"].view(np.int32)[[0, 15, 16, 32, 47]].tolist() == [0, 15, -1, 32, 47]


def test_fills():
    def call():
        init_const_value(tensor(dt.float32, A2), InitConstValueParams(2, 1, 1, 1.5))
        init_const_value(tensor(dt.int16, A1), InitConstValueParams(2, 3, 2, -7))

    found, _ = on_l1(IMAGE, call)
    assert found["L0A"].view(np.float32)[[0, 127, 256, 383]].tolist() == [1.5] * 4
    assert np.isnan(found["L0A"].view(np.float32)[[128, 255, 384]]).all()
    assert found["L1"].view(np.int16)[[0, 47, 48, 79, 80, 127, 128]].tolist() == [-7, -7, 48, 79, -7, -7, 128]


def test_a_sparse_tile_and_what_is_refused_of_it():
    params = LoadData2DParams(1, 2)
    tile = lambda dtype: (tensor(dt.int8, B2), tensor(dtype, B1), tensor(dt.uint8, B1, 8192), params)  # noqa: E731
    found, _ = on_l1(IMAGE, lambda: load_data_with_sparse(*tile(dt.int8)))
    assert found["L0B"].view(np.uint16)[[0, 511]].tolist() == [256, 767]
    assert found["IX"].view(np.uint16)[[0, 127]].tolist() == [4160, 4287]  # from byte 8192 + 128 on
    with pytest.raises(OperandError, match="BAD_DTYPE"):
        on_l1(IMAGE, lambda: load_data_with_sparse(*tile(dt.uint8)))


# --- faults ---------------------------------------------------------------------------------------------------------


def half(position: TPosition, start: int = 0, elements: int = 0) -> Any:
    return tensor(dt.float16, position, start, elements)


TWO = LoadData2DParams(0, 2, 1)
FAULTS: dict[str, tuple[Any, type[Exception], str]] = {
    "L0 position": (lambda: load_data(half(A1), half(A2), TWO), OperandError, "BAD_POSITION.*dst lies in A1"),
    "types": (lambda: load_data(half(A2), tensor(dt.int8, A1), TWO), OperandError, "BAD_DTYPE"),
    "alignment of L0": (lambda: load_data(half(A2, 256), half(A1), TWO), MemoryFault, "MISALIGNED_ADDR.*512"),
    "end of L0": (lambda: load_data(half(A2, 65024), half(A1), TWO), MemoryFault, "OOB_PHYS.*512 bytes past"),
    "end of L1": (lambda: load_data(half(A2), half(A1, 524288 - 512), TWO), MemoryFault, "OOB_PHYS"),
    "bytes transposed": (
        lambda: load_data(tensor(dt.int8, A2), tensor(dt.int8, A1), LoadData2DParams(0, 1, 0, 0, 0, True)),
        OperandError,
        "load_data_with_transpose takes others",
    ),
    "address mode": (
        lambda: load_data(half(A2), half(A1), LoadData2DParams(4, 2, 1, 0, 0, False, 1)),
        ArgumentValueError,
        "addr_mode = 1.*nearest legal value: 0",
    ),
    "other chips": (lambda: load_data(half(A2), half(A1), LoadData2DParamsV2()), NotSimulatedError, "other chips"),
    "first form": (lambda: load_data(half(A2), half(A1), LoadData3DParamsV1()), NotSimulatedError, "other chips"),
    "8 bits to L0B": (
        lambda: load_data(tensor(dt.int8, B2), tensor(dt.int8, B1), window(PLAIN, 32, 16, 0, 0, False, 0)),
        OperandError,
        "BAD_DTYPE",
    ),
    "channels": (
        lambda: load_data(half(A2), half(A1), window({**PLAIN, "channels": 18}, 16, 16, 0, 0, False, 0)),
        ArgumentValueError,
        "channel_size = 18.*nearest legal value: 16",
    ),
    "window": (
        lambda: load_data(half(A2), half(A1), window({**PLAIN, "filter": (1, 2)}, 16, 16, 0, 0, False, 0)),
        ArgumentValueError,
        "leaves no window",
    ),
    "repeats beyond the matrix": (
        lambda: (
            set_load_data_repeat(LoadDataRepeatParam(4, 2, 0)),
            load_data(half(A2), half(A1), window(PLAIN, 16, 16, 0, 0, False, 0)),
        ),
        ArgumentValueError,
        r"repeat_time = \(4,\): reaches beyond it; rule: the column matrix has 64 rows",
    ),
    "boundary": (lambda: set_load_data_boundary(1000), ArgumentValueError, "nearest legal value: 1024"),
    "boundary inside a pixel": (lambda: set_load_data_boundary(1040), NotSimulatedError, "multiples of 32"),
    "words without a map": (
        lambda: load_data(half(A2), half(A1), LoadData3DParamsV2Pro(16)),
        ArgumentValueError,
        "no feature map has been set",
    ),
    "squares on squares": (
        lambda: load_data_with_transpose(
            tensor(dt.int8, A2), tensor(dt.int8, A1), LoadData2dTransposeParams(0, 2, 1, 0, 0)
        ),
        OperandError,
        "BAD_STRIDE.*lie apart",
    ),
    "type of the bias": (
        lambda: data_copy(tensor(dt.int32, C2), half(C1), DataCopyParams(1, 1, 0, 0)),
        OperandError,
        "BAD_DTYPE",
    ),
    "L1 to UB": (lambda: data_copy(half(TPosition.VECIN), half(A1), 16), OperandError, "no way from L1 to UB"),
    "fill of bytes": (
        lambda: init_const_value(tensor(dt.int8, A1), InitConstValueParams(1, 1, 0, 0)),
        OperandError,
        "BAD_DTYPE",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name):
    call, error, text = FAULTS[name]
    with pytest.raises(error, match=text):
        on_l1(IMAGE, call)


def test_a_load_that_does_not_wait_and_one_whose_target_is_still_written():
    outside = np.zeros(512, np.float16)
    with pytest.raises(HazardError, match="RAW"):
        on_l1(IMAGE, lambda x: (data_copy(half(A1), x, 512), load_data(half(A2), half(A1), TWO)), outside)
    with pytest.raises(HazardError, match="NO_BARRIER_WAW"):
        on_l1(IMAGE, lambda: (load_data(half(A2), half(A1), TWO), load_data(half(A2, 512), half(A1), TWO)))


def test_what_was_never_written_is_carried_along_and_the_padding_is_not():
    """Half a fractal is written; what is loaded of the rest stays undefined until an instruction uses it."""
    known = {}

    def call(x):
        data_copy(half(A1, 65536), x, Nd2NzParams(1, 8, 16, 0, 16, 16, 1, 0))
        pipe_barrier(PipeID.PIPE_ALL)
        load_data(half(A2), half(A1, 65536), LoadData2DParams(0, 1, 0, 0, 0, True))
        load_data(
            half(B2), half(A1, 65536), window({**PLAIN, "width": 16, "pads": (0, 0, 1, 0)}, 16, 32, 0, 0, False, 0)
        )
        for name, memory in running("test").memories.items():
            known[name] = memory.defined.copy()

    _, device = on_l1(IMAGE, call, np.ones(512, np.float16))
    assert device.findings == []
    turned = known["L0A"][:512].reshape(16, 32)  # row by row: the first 8 halves
    assert turned[:, :16].all()
    assert not turned[:, 16:].any()
    pixels = known["L0B"][:1024].reshape(2, 16, 32)  # 16 windows in the padding, then those of the map
    assert pixels[0].all()
    assert (pixels[1] == turned).all()


def test_in_a_mix_kernel_the_vector_cores_pass_loads_by():
    found, device = on_l1(IMAGE, lambda: load_data(half(A2), half(A1), TWO), kind="mix")
    assert found["L0A"].view(np.uint16)[511] == 511
    assert device.findings == []
    with pytest.raises(OperandError, match="WRONG_CORE"):
        on_l1(IMAGE, lambda: load_data(half(A2), half(A1), TWO), kind="aiv")
