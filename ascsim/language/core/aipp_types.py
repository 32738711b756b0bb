"""Parameter structures of AIPP, the image preprocessing on the way into L1. Values only."""

from __future__ import annotations

from .dtype import DataType, float16, int8
from .params import I16, U8, U32, Flag, Float, Number, Object, Params, Type


class AippPaddingParams(Params):
    """Border of the image: mode and one value a channel, in the type of the output."""

    padding_mode: int = U32(0)
    padding_value_ch0: int | float = Number(0)
    padding_value_ch1: int | float = Number(0)
    padding_value_ch2: int | float = Number(0)
    padding_value_ch3: int | float = Number(0)


class AippSwapParams(Params):
    """Channel swaps on input: red with blue, U with V, alpha to the other end."""

    is_swap_rb: bool = Flag(False)
    is_swap_uv: bool = Flag(False)
    is_swap_ax: bool = Flag(False)


class AippSingleLineParams(Params):
    """Copy of a single line."""

    is_single_line_copy: bool = Flag(False)


class AippDataTypeConvParams(Params):
    """Conversion of pixels: (x - mean - min) * var, channel by channel."""

    dtc_mean_ch0: int = U8(0)
    dtc_mean_ch1: int = U8(0)
    dtc_mean_ch2: int = U8(0)
    dtc_min_ch0: float = Float(float16, 0.0)
    dtc_min_ch1: float = Float(float16, 0.0)
    dtc_min_ch2: float = Float(float16, 0.0)
    dtc_var_ch0: float = Float(float16, 1.0)
    dtc_var_ch1: float = Float(float16, 1.0)
    dtc_var_ch2: float = Float(float16, 1.0)
    dtc_round_mode: int = U32(0)


class AippChannelPaddingParams(Params):
    """Filling of the channels that the image lacks, in the type of the output."""

    c_padding_mode: int = U32(0)
    c_padding_value: int | float = Number(0)


class AippColorSpaceConvParams(Params):
    """Colour space conversion: a 3 by 3 matrix, offsets before and after."""

    is_enable_csc: bool = Flag(False)
    csc_matrix_r0_c0: int = I16(0)
    csc_matrix_r0_c1: int = I16(0)
    csc_matrix_r0_c2: int = I16(0)
    csc_matrix_r1_c0: int = I16(0)
    csc_matrix_r1_c1: int = I16(0)
    csc_matrix_r1_c2: int = I16(0)
    csc_matrix_r2_c0: int = I16(0)
    csc_matrix_r2_c1: int = I16(0)
    csc_matrix_r2_c2: int = I16(0)
    csc_bias_in_0: int = U8(0)
    csc_bias_in_1: int = U8(0)
    csc_bias_in_2: int = U8(0)
    csc_bias_out_0: int = U8(0)
    csc_bias_out_1: int = U8(0)
    csc_bias_out_2: int = U8(0)


class AippParams(Params):
    """What AIPP does to an image on its way to L1; a part left out keeps its defaults."""

    dtype: DataType = Type(int8, float16)
    padding_params: AippPaddingParams | None = Object(AippPaddingParams, None)
    swap_params: AippSwapParams | None = Object(AippSwapParams, None)
    single_line_params: AippSingleLineParams | None = Object(AippSingleLineParams, None)
    dtc_params: AippDataTypeConvParams | None = Object(AippDataTypeConvParams, None)
    c_padding_params: AippChannelPaddingParams | None = Object(AippChannelPaddingParams, None)
    csc_params: AippColorSpaceConvParams | None = Object(AippColorSpaceConvParams, None)
