"""AIPP: what becomes of an image's pixels on the way into L1, worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cube_machine import on_l1, tensor

from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, MemoryFault, OperandError
from ascsim.language.basic import load_image_to_local, set_aipp_functions
from ascsim.language.core import (
    AippChannelPaddingParams,
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippInputFormat,
    AippPaddingParams,
    AippParams,
    AippSingleLineParams,
    AippSwapParams,
    LoadImageToLocalParams,
    TPosition,
)
from ascsim.language.core import dtype as dt

RGB, XRGB = AippInputFormat.RGB888_U8, AippInputFormat.XRGB8888_U8
YUV, GREY = AippInputFormat.YUV420SP_U8, AippInputFormat.YUV400_U8
FOUR = AippChannelPaddingParams(1, 9)  # to four channels, filled with 9
PART = LoadImageToLocalParams(2, 2, 2, 1, 8)  # 2 x 2 pixels from (2, 1) of rows of 8
IMAGE = np.arange(128, dtype=np.uint8)


def load(form: AippInputFormat, config: AippParams, part: LoadImageToLocalParams = PART, image: Any = IMAGE) -> Any:
    """What is in L1 as (pixel, channel), for images of up to 64 pixels."""

    def call(x):
        planes = (x, x[32:]) if form is YUV else (x,)
        set_aipp_functions(*planes, form, config)
        load_image_to_local(tensor(config.dtype, TPosition.A1), part)

    found, device = on_l1(np.zeros(4096, np.uint8), call, image)
    assert device.findings == []
    channels = 4 if config.c_padding_params is FOUR else 32 // config.dtype.size
    return found["L1"].view(config.dtype.np).reshape(-1, channels)


def test_channels_and_swaps():
    plain = load(RGB, AippParams(dt.int8, c_padding_params=FOUR))
    assert plain[:4].tolist() == [[30, 31, 32, 9], [33, 34, 35, 9], [54, 55, 56, 9], [57, 58, 59, 9]]
    assert plain[4].tolist() == [0, 0, 0, 0]  # nothing beyond
    swap = AippSwapParams(is_swap_rb=True)
    assert load(RGB, AippParams(dt.int8, swap_params=swap, c_padding_params=FOUR))[0].tolist() == [32, 31, 30, 9]
    assert load(XRGB, AippParams(dt.int8, c_padding_params=FOUR))[1].tolist() == [44, 45, 46, 9]
    swap = AippSwapParams(is_swap_ax=True)  # the first channel goes to the end and is dropped
    assert load(XRGB, AippParams(dt.int8, swap_params=swap, c_padding_params=FOUR))[1].tolist() == [45, 46, 47, 9]
    assert load(GREY, AippParams(dt.int8))[:2].tolist() == [[10, *[0] * 31], [11, *[0] * 31]]


def test_planes_of_yuv420():
    """Y at bytes 0 to 31 (8 x 4), U and V in pairs from byte 32 on, a pair for 2 x 2 pixels."""
    part = LoadImageToLocalParams(4, 2, 2, 2, 8)
    assert load(YUV, AippParams(dt.int8, c_padding_params=FOUR), part)[:8].tolist() == [
        *([18, 42, 43, 9], [19, 42, 43, 9], [20, 44, 45, 9], [21, 44, 45, 9]),
        *([26, 42, 43, 9], [27, 42, 43, 9], [28, 44, 45, 9], [29, 44, 45, 9]),
    ]
    swapped = AippParams(dt.int8, swap_params=AippSwapParams(is_swap_uv=True), c_padding_params=FOUR)
    assert load(YUV, swapped, part)[0].tolist() == [18, 43, 42, 9]


def test_types():
    bright = np.full(128, 200, np.uint8)
    mean = AippDataTypeConvParams(10, 190, 0)
    assert load(RGB, AippParams(dt.int8, dtc_params=mean, c_padding_params=FOUR), image=bright)[0].tolist() == [
        *(127, 10, 127, 9)
    ]
    scaled = AippDataTypeConvParams(100, 0, 0, 0.5, -1.0, 0.0, 0.25, 1.0, 2.0)
    found = load(RGB, AippParams(dt.float16, dtc_params=scaled), image=bright)[0]
    assert found[:4].tolist() == [24.875, 201.0, 400.0, 0.0]  # (x - mean - min) * var


def test_a_border_and_a_single_line():
    border = AippPaddingParams(0, 1, 2, 3, 4)
    part = LoadImageToLocalParams(2, 2, 2, 1, 8, 0, 0, 1, 1)
    found = load(RGB, AippParams(dt.int8, padding_params=border, c_padding_params=FOUR), part)
    assert found[[0, 1, 2, 3, 4]].tolist() == [
        [1, 2, 3, 4],
        [30, 31, 32, 9],
        [33, 34, 35, 9],
        [1, 2, 3, 4],
        [1, 2, 3, 4],
    ]
    nearest = AippParams(dt.int8, padding_params=AippPaddingParams(1))
    found = load(GREY, nearest, LoadImageToLocalParams(2, 2, 2, 1, 8, 1, 0, 0, 2))[:, 0]
    assert found[:12].tolist() == [10, 11, 11, 11, 10, 11, 11, 11, 18, 19, 19, 19]
    part = LoadImageToLocalParams(3, 2, 2, 1, 8, 2, 1, 2, 1)  # 10 11 12 over 18 19 20
    block = load(GREY, AippParams(dt.int8, padding_params=AippPaddingParams(2)), part)[:30, 0].reshape(5, 6)
    assert block.tolist() == [
        *([10, 11, 10, 11, 12, 12], [18, 19, 18, 19, 20, 20], [10, 11, 10, 11, 12, 12], [18, 19, 18, 19, 20, 20]),
        [18, 19, 18, 19, 20, 20],
    ]
    mirror = load(GREY, AippParams(dt.int8, padding_params=AippPaddingParams(3)), part)[:30, 0].reshape(5, 6)
    assert mirror.tolist() == [
        *([19, 18, 18, 19, 20, 20], [11, 10, 10, 11, 12, 12], [11, 10, 10, 11, 12, 12], [19, 18, 18, 19, 20, 20]),
        [19, 18, 18, 19, 20, 20],
    ]
    line = AippParams(dt.int8, single_line_params=AippSingleLineParams(True))
    assert load(GREY, line)[:3, 0].tolist() == [10, 11, 0]


def test_a_colour_space():
    """30, 31, 32: 31 negated and a half are -30.5, cut to -30, and below 0 to 0 after what is added; (30 + 31) / 2 is
    rounded up."""
    matrix = (256, 0, 0, 0, -256, 0, 128, 128, 0)
    for biases, expected in (((0,) * 6, [30.0, 0.0, 31.0]), ((9, 9, 9, 1, 40, 255), [31.0, 10.0, 255.0])):
        params = AippColorSpaceConvParams(True, *matrix, *biases)
        assert load(RGB, AippParams(dt.float16, csc_params=params))[0, :3].tolist() == expected
    part = LoadImageToLocalParams(4, 2, 2, 2, 8)  # Y 18, U 42, V 43
    params = AippColorSpaceConvParams(True, *matrix, 10, 20, 30, 99, 99, 99)
    assert load(YUV, AippParams(dt.float16, csc_params=params), part)[0, :3].tolist() == [8.0, 0.0, 15.0]
    assert load(GREY, AippParams(dt.float16, csc_params=params))[0, :3].tolist() == [0.0, 20.0, 0.0]  # no colours


REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "no image": (lambda x: load_image_to_local(tensor(dt.int8, TPosition.A1), PART), ArgumentValueError, "no image"),
    "no tensor": (lambda x: set_aipp_functions(3, RGB, AippParams(dt.int8)), ArgumentTypeError, "src0 = 3"),
    "no format": (lambda x: set_aipp_functions(x, 3, AippParams(dt.int8)), ArgumentValueError, "RGB888_U8 \\(4\\)"),
    "arguments": (lambda x: set_aipp_functions(x, RGB), ArgumentTypeError, "2 arguments"),
    "border larger than the block": (
        lambda x: (
            set_aipp_functions(x, RGB, AippParams(dt.int8, padding_params=AippPaddingParams(2))),
            load_image_to_local(tensor(dt.int8, TPosition.A1), LoadImageToLocalParams(2, 2, 2, 0, 8, 0, 3)),
        ),
        ArgumentValueError,
        "bot_pad_size = 3.*nearest legal value: 2",
    ),
    "odd position": (
        lambda x: (
            set_aipp_functions(x, RGB, AippParams(dt.int8)),
            load_image_to_local(tensor(dt.int8, TPosition.A1), LoadImageToLocalParams(2, 2, 3, 0, 8)),
        ),
        ArgumentValueError,
        "horiz_start_pos = 3: is odd.*nearest legal value: 2",
    ),
    "constant border on top": (
        lambda x: (
            set_aipp_functions(x, RGB, AippParams(dt.int8)),
            load_image_to_local(tensor(dt.int8, TPosition.A1), LoadImageToLocalParams(2, 2, 2, 0, 8, 1)),
        ),
        ArgumentValueError,
        "top_pad_size = 1.*nearest legal value: 0",
    ),
    "type": (
        lambda x: (
            set_aipp_functions(x, RGB, AippParams(dt.int8)),
            load_image_to_local(tensor(dt.float16, TPosition.A1), PART),
        ),
        OperandError,
        "BAD_DTYPE",
    ),
    "one plane": (
        lambda x: (
            set_aipp_functions(x, YUV, AippParams(dt.int8)),
            load_image_to_local(tensor(dt.int8, TPosition.A1), LoadImageToLocalParams(2, 2, 2, 2, 8)),
        ),
        ArgumentValueError,
        "the UV plane is lacking",
    ),
    "beyond the image": (
        lambda x: (
            set_aipp_functions(x, RGB, AippParams(dt.int8)),
            load_image_to_local(tensor(dt.int8, TPosition.A1), LoadImageToLocalParams(2, 2, 0, 4000, 8)),
        ),
        MemoryFault,
        "OOB_GM",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        on_l1(np.zeros(512, np.uint8), call, IMAGE)
