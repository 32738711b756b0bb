"""What AIPP does to the pixels of an image on the way into L1. Page: SetAippFunctions.

In order: channels of the format, swaps, colour space, type, padding of the channels, padding of the border. The means
are exact; a float16 is rounded once. What the page leaves to figures and formulas that are not published as text (the
blocks of the border, the biases and rounding of the colour space) is as in the vendor's own program for the chip that
has no such instruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..hw.errors import ArgumentValueError
from .core.aipp_types import (
    AippChannelPaddingParams,
    AippColorSpaceConvParams,
    AippDataTypeConvParams,
    AippPaddingParams,
    AippParams,
    AippSwapParams,
)
from .core.dtype import int8
from .core.enums import AippInputFormat
from .core.ir_value import value
from .core.limits import required
from .fractals import c0_of

NAME = "set_aipp_functions"
CONSTANT, BLOCK, MIRROR = 0, 2, 3  # modes of the border; 1: the nearest pixel
FOUR_CHANNELS = 1  # mode of the channels; 0: 32 bytes a pixel


class Format(NamedTuple):
    """Bytes a pixel of the first plane, channels of an image, alignment of the planes, whether positions are even."""

    pixel: int
    channels: int
    align: int
    even_rows: bool


FORMATS = {
    AippInputFormat.YUV420SP_U8: Format(1, 3, 2, True),
    AippInputFormat.XRGB8888_U8: Format(4, 3, 4, False),
    AippInputFormat.RGB888_U8: Format(3, 3, 1, False),
    AippInputFormat.YUV400_U8: Format(1, 1, 1, False),
}


class Work:
    """The settings of a call of set_aipp_functions, ready to be applied; what is not simulated is refused here."""

    def __init__(self, format_: AippInputFormat, config: AippParams) -> None:
        self.format, self.dtype = format_, config.dtype
        self.swap = config.swap_params or AippSwapParams()
        self.csc = config.csc_params or AippColorSpaceConvParams()
        self.conversion = config.dtc_params or AippDataTypeConvParams()
        border = config.padding_params or AippPaddingParams()
        channels = config.c_padding_params or AippChannelPaddingParams()
        self.single_line = bool(config.single_line_params and config.single_line_params.is_single_line_copy)
        self.mode, self.channel_mode = border.padding_mode, channels.c_padding_mode
        required(NAME, "padding_mode", self.mode, 0, 3)
        required(NAME, "c_padding_mode", self.channel_mode, 0, 1)
        if self.conversion.dtc_round_mode:
            raise ArgumentValueError(
                NAME, "exists on other chips only", operand="dtc_round_mode", value=1, rule="0", nearest=0
            )
        self.border = [self._as(getattr(border, f"padding_value_ch{i}")) for i in range(4)]
        self.rest = self._as(channels.c_padding_value)

    def _as(self, number: Any) -> Any:
        return self.dtype.np.type(value(number, self.dtype, NAME).v)

    @property
    def channels(self) -> int:
        """Channels of a pixel in L1."""
        return 4 if self.channel_mode == FOUR_CHANNELS else c0_of(self.dtype)

    def apply(self, planes: Sequence[np.ndarray], pads: tuple[int, int, int, int]) -> np.ndarray:
        """The image as (rows, columns, channels); `pads`: top, bottom, left, right."""
        image = self._converted(self._spaced(self._channels(planes)))
        whole = np.full((*image.shape[:2], self.channels), self.rest, self.dtype.np)
        whole[..., : image.shape[2]] = image
        return self._bordered(whole, image.shape[2], pads)

    def _bordered(self, image: np.ndarray, channels: int, pads: tuple[int, int, int, int]) -> np.ndarray:
        """The border of an image of which so many channels are its own: of four constants, or copies from inside."""
        top, bottom, left, right = pads
        rows, columns = image.shape[:2]
        out = np.full((rows + top + bottom, columns + left + right, self.channels), self.rest, self.dtype.np)
        if self.mode == CONSTANT:
            out[..., :4] = self.border
            out[top : top + rows, left : left + columns] = image
            return out
        from_rows, from_columns = _sources(rows, top, bottom, self.mode), _sources(columns, left, right, self.mode)
        out[..., :channels] = image[from_rows][:, from_columns, :channels]
        return out

    def _channels(self, planes: Sequence[np.ndarray]) -> np.ndarray:
        """The channels of the format, after the swaps."""
        image = planes[0]
        if self.format is AippInputFormat.YUV420SP_U8:
            rows, columns = image.shape[:2]
            colour = planes[1].repeat(2, axis=0).repeat(2, axis=1)[:rows, :columns]
            if self.swap.is_swap_uv:
                colour = colour[..., ::-1]
            return np.concatenate([image, colour], axis=2)
        if self.format is AippInputFormat.XRGB8888_U8:
            image = image[..., 1:] if self.swap.is_swap_ax else image[..., :3]
        return image[..., ::-1] if self.swap.is_swap_rb else image

    def _spaced(self, image: np.ndarray) -> np.ndarray:
        """The colour space conversion: a matrix in 1/256, rounded half up; to RGB `bias_in` is taken off before it, to
        YUV `bias_out` added after it."""
        if not self.csc.is_enable_csc:
            return image
        key = np.array(self.csc.key[1:], np.int64)
        matrix, before, after = key[:9].reshape(3, 3), key[9:12], key[12:]
        to_rgb = self.format in (AippInputFormat.YUV420SP_U8, AippInputFormat.YUV400_U8)
        pixels = np.zeros((*image.shape[:2], 3), np.int64)  # a grey image has no colours
        pixels[..., : image.shape[2]] = image
        sums = (pixels - before * to_rgb) @ matrix.T + 128
        return (np.sign(sums) * (abs(sums) >> 8) + after * (not to_rgb)).clip(0, 255)

    def _converted(self, image: np.ndarray) -> np.ndarray:
        """The type conversion: x - mean, for float16 (x - mean - min) * var."""
        mean, least, scale = (np.array(self.conversion._fields[i : i + 3][: image.shape[2]], float) for i in (0, 3, 6))
        centred = image.astype(np.float64) - mean
        if self.dtype is int8:
            return centred.clip(-128, 127).astype(np.int8)
        return ((centred - least) * scale).astype(np.float16)


def _sources(size: int, low: int, high: int, mode: int) -> np.ndarray:
    """Which rows (or columns) of an image stand in one with a copied border, `low` before it and `high` after it."""
    own = np.arange(size)
    if mode == BLOCK:
        return np.concatenate([own[:low], own, own[size - high :]])
    return np.pad(own, (low, high), "symmetric" if mode == MIRROR else "edge")
