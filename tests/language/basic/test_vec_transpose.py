"""transpose: the vendor's examples, every form against element loops, faults."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import reference_sort
from basic_machine import at, codes, launch, on_image, order, ub
from hypothesis import given, settings
from hypothesis import strategies as st

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, MemoryFault, OperandError
from ascsim.language.basic import data_copy, duplicate, transpose
from ascsim.language.core import GlobalAddress, HardEvent, TPosition, TransposeParamsExt, TransposeType
from ascsim.language.core import dtype as dt

TO_HWC, TO_CHW = TransposeType.TRANSPOSE_NCHW2NHWC, TransposeType.TRANSPOSE_NHWC2NCHW
COLLECT = Checks.collect()
RAMP = np.arange(256, dtype=np.uint16)


def bytes_of(nbytes: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, nbytes, np.uint8)


# ------------------------------------------------------------------ transpose


@pytest.mark.parametrize("dtype", [dt.int16, dt.uint16, dt.float16])
def test_square(dtype: dt.DataType) -> None:
    image = np.concatenate([RAMP, np.zeros(256, np.uint16)]).view(np.uint8)
    after, _ = on_image(image, lambda: transpose(ub(dtype, 512, 256), ub(dtype, 0, 256)), Checks())
    rows = after[512:].view(np.uint16).reshape(16, 16)
    assert rows[0].tolist() == [0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240]
    assert rows[15].tolist() == [15, 31, 47, 63, 79, 95, 111, 127, 143, 159, 175, 191, 207, 223, 239, 255]
    assert after[:512].view(np.uint16).tolist() == list(range(256))


def test_square_in_place() -> None:
    after, _ = on_image(RAMP.view(np.uint8), lambda: transpose(ub(dt.int16, 0, 256), ub(dt.int16, 0, 256)), Checks())
    assert after.view(np.uint16)[[0, 1, 16, 255, 18, 33]].tolist() == [0, 16, 1, 255, 33, 18]


def test_square_as_an_extended_form() -> None:
    image = np.concatenate([RAMP, np.zeros(256, np.uint16)]).view(np.uint8)
    params = TransposeParamsExt(0, 0, 16, 16, TransposeType.TRANSPOSE_ND2ND_B16)

    def call() -> None:
        transpose(ub(dt.uint16, 512, 256), ub(dt.uint16, 0, 256), ub(dt.uint8, 1024, 32), params)

    after, _ = on_image(image, call, Checks())
    assert after[512:].view(np.uint16)[[1, 16, 17, 240]].tolist() == [16, 1, 17, 15]


def test_nchw_to_nhwc_of_the_vendor_s_sample_shape() -> None:
    # Two images of 3 channels of 2 x 8: element (n, c, h, w) holds 100 n + 16 c + 8 h + w.
    source = np.array([100 * n + 16 * c + p for n in range(2) for c in range(3) for p in range(16)], np.uint16)
    image = np.zeros(512, np.uint8)
    image[:192] = source.view(np.uint8)
    params = TransposeParamsExt(2, 3, 2, 8, TO_HWC)

    def call() -> None:
        transpose(ub(dt.uint16, 256, 96), ub(dt.uint16, 0, 96), ub(dt.uint8, 65536, 5 * 512), params)

    after, device = on_image(image, call, COLLECT)
    got = after[256:448].view(np.uint16).tolist()
    assert got[:9] == [0, 16, 32, 1, 17, 33, 2, 18, 34]
    assert got[45:51] == [15, 31, 47, 100, 116, 132]
    assert (after[448:512] == 0).all()
    assert codes(device) == []


@settings(max_examples=25, deadline=None)
@given(
    size=st.sampled_from([(dt.int8, 1), (dt.uint8, 1), (dt.float16, 2), (dt.uint32, 4), (dt.float32, 4)]),
    images=st.integers(1, 3),
    channels=st.integers(1, 5),
    blocks=st.integers(1, 3),
    form=st.sampled_from([TO_HWC, TO_CHW]),
)
def test_conversions_against_loops(
    size: tuple[dt.DataType, int], images: int, channels: int, blocks: int, form: TransposeType
) -> None:
    dtype, width = size
    plane = blocks * 32 // width
    nbytes = images * channels * plane * width
    image = bytes_of(2 * nbytes + 64)
    expected = image.copy()
    rows, columns = (channels, plane) if form is TO_HWC else (plane, channels)
    reference_sort.swapped(expected, nbytes + 32, 0, width, images, rows, columns)
    params = TransposeParamsExt(images, channels, 1, plane, form)

    def call() -> None:
        scratch = ub(dt.uint8, 65536, 1024 * (2 * channels + 2))
        transpose(ub(dtype, nbytes + 32, nbytes // width), ub(dtype, 0, nbytes // width), scratch, params)

    after, _ = on_image(image, call, COLLECT)
    assert (after == expected).all()


@pytest.mark.parametrize(
    ("params", "error", "text"),
    [
        (TransposeParamsExt(1, 4096, 1, 16, TO_HWC), ArgumentValueError, "c_size = 4096.*nearest legal value: 4095"),
        (TransposeParamsExt(1, 2, 64, 64, TO_HWC), ArgumentValueError, r"h_size \* w_size = 4096.*value: 4095"),
        (TransposeParamsExt(1, 2, 3, 7, TO_CHW), ArgumentValueError, r"h_size \* w_size = 21.*multiple of 16.*: 16"),
        (TransposeParamsExt(0, 0, 16, 8), ArgumentValueError, "w_size = 8.*rule: 16"),
        (TransposeParamsExt(1, 1, 1, 1, TransposeType.TRANSPOSE_ND2ND_ONLY), ArgumentValueError, "transpose_type = "),
        ((1, 2), ArgumentTypeError, "params = .*TransposeParamsExt"),
    ],
)
def test_transpose_refuses_parameters(params: Any, error: type[Exception], text: str) -> None:
    def body() -> None:
        transpose(ub(dt.uint16, 0, 512), ub(dt.uint16, 4096, 512), ub(dt.uint8, 8192, 4096), params)

    with pytest.raises(error, match=text):
        launch(body)


def found(call: Callable[[], Any]) -> list[str]:
    """What a call is reported for, over an image that is defined."""
    _, device = on_image(bytes_of(16384), call, COLLECT)
    return codes(device)


def test_transpose_reports_operands() -> None:
    small = TransposeParamsExt(1, 2, 1, 16, TO_HWC)
    half = partial(ub, dt.float16)
    assert found(lambda: transpose(half(0, 256), half(256, 256))) == ["OVERLAP_PARTIAL"]
    assert found(lambda: transpose(half(1024, 128), half(0, 256))) == ["OOB_BUF"]
    assert found(lambda: transpose(half(0, 32), half(0, 32), ub(dt.uint8, 65536, 2048), small)) == ["OVERLAP_PARTIAL"]
    assert found(lambda: transpose(half(0, 32), half(64, 32), ub(dt.uint8, 65536, 2047), small)) == ["OOB_BUF"]
    nothing = TransposeParamsExt(1, 0, 1, 16, TO_HWC)
    assert found(lambda: transpose(half(0, 32), half(64, 32), ub(dt.uint8, 65536, 2048), nothing)) == ["ZERO_LENGTH"]
    for legal, dtype in ((dt.uint16, dt.float16), (dt.float16, dt.uint16)):
        with pytest.raises(OperandError, match=r"BAD_DTYPE.*src has type"):
            launch(lambda a=legal, b=dtype: transpose(ub(a, 0, 256), ub(b, 512, 256)))
    with pytest.raises(OperandError, match=r"BAD_DTYPE.*dst has type float32"):
        launch(lambda: transpose(ub(dt.float32, 0, 256), ub(dt.float32, 1024, 256)))
    with pytest.raises(MemoryFault, match=r"MISALIGNED_ADDR.*src starts at byte 514"):
        launch(lambda: transpose(ub(dt.int16, 0, 256), ub(dt.int16, 514, 256)))
    with pytest.raises(OperandError, match=r"BAD_POSITION.*A1"):
        launch(lambda: transpose(ub(dt.int16, 0, 256), ub(dt.int16, 512, 256, TPosition.A1)))


def test_scratch_is_undefined_afterwards_and_padding_stays_what_it_was() -> None:
    out = np.zeros(128, np.uint8)

    def body(address: GlobalAddress) -> None:
        duplicate(ub(dt.uint16, 0, 1024), 7, 1024)
        duplicate(ub(dt.uint16, 4096, 1024), 7, 1024)
        params = TransposeParamsExt(1, 2, 1, 16, TO_HWC)
        transpose(ub(dt.uint16, 2048, 32), ub(dt.uint16, 0, 32), ub(dt.uint8, 4096, 2048), params)
        order(HardEvent.V_MTE3)
        data_copy(at(address), ub(dt.uint8, 2048, 64), 64)
        data_copy(at(address)[64:], ub(dt.uint8, 4096, 64), 64)

    device = launch(body, out, checks=COLLECT)
    assert (out[:64].view(np.uint16) == 7).all()
    assert codes(device) == ["UNINIT_READ"]
