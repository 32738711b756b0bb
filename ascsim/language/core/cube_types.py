"""Parameter structures of the cube side: loads into L0, matrix product, copies out of L0C, fractal layouts.

Values only. Their public home is `types`.
"""

from __future__ import annotations

from .dtype import float32
from .enums import CO2Layout, QuantModes
from .params import I16, I32, U8, U16, U32, U64, Flag, Float, Items, Member, Params


class Nd2NzParams(Params):
    """Conversion of row-major matrices to fractal layout while copying; elements, the C0 stride in 32-byte blocks."""

    nd_num: int = U16()
    n_value: int = U16()
    d_value: int = U16()
    src_nd_matrix_stride: int = U16()
    src_d_value: int = U16()
    dst_nz_c0_stride: int = U16()
    dst_nz_n_stride: int = U16()
    dst_nz_matrix_stride: int = U16()


class Nz2NdParamsFull(Params):
    """Conversion of fractal matrices to row-major while copying."""

    nd_num: int = U16()
    n_value: int = U16()
    d_value: int = U16()
    src_nd_matrix_stride: int = U16()
    src_n_stride: int = U16()
    dst_d_stride: int = U16()
    dst_nd_matrix_stride: int = U16()


class DataCopyCO12DstParams(Params):
    """A copy out of L0C by `data_copy`: sizes, strides, quantisation, relu."""

    n_size: int = U64()
    m_size: int = U64()
    dst_stride: int = U64()
    src_stride: int = U64()
    quant_pre: QuantModes = Member(QuantModes, QuantModes.NoQuant)
    relu_pre: int = U8(0)
    channel_split: bool = Flag(False)
    nz2nd_en: bool = Flag(False)


class FixpipeConfig(Params):
    """Layout that `fixpipe` writes."""

    layout: CO2Layout = Member(CO2Layout)

    @classmethod
    def cfg_nz(cls) -> FixpipeConfig:
        """Fractal layout."""
        return cls(CO2Layout.NZ)

    @classmethod
    def cfg_row_major(cls) -> FixpipeConfig:
        """Row-major layout."""
        return cls(CO2Layout.ROW_MAJOR)


class FixpipeParamsV220(Params):
    """A copy out of L0C: sizes in elements, strides, quantisation, relu, splitting of matrices."""

    n_size: int = U16()
    m_size: int = U16()
    src_stride: int = U16()
    dst_stride: int = U32()
    quant_pre: QuantModes = Member(QuantModes, QuantModes.NoQuant)
    deq_scalar: int = U64(0)
    nd_num: int = U16(1)
    src_nd_stride: int = U16(0)
    dst_nd_stride: int = U16(0)
    relu_en: bool = Flag(False)
    unit_flag: int = U8(0)
    is_channel_split: bool = Flag(False)


class MmadParams(Params):
    """One matrix product of m by k and k by n. `unit_flag` is 0, 2 or 3, as the hardware takes it."""

    m: int = U16(0)
    n: int = U16(0)
    k: int = U16(0)
    is_bias: bool = Flag(False)
    fm_offset: int = I32(0)
    en_ssparse: bool = Flag(False)
    en_winograd_a: bool = Flag(False)
    en_winograd_b: bool = Flag(False)
    unit_flag: int = U8(0)
    cmatrix_source: bool = Flag(False)
    cmatrix_init_val: bool = Flag(True)


class LoadData2DParams(Params):
    """A load of 512-byte fractals from L1 or global memory; positions and strides in fractals."""

    start_index: int = U16(0)
    repeat_times: int = U8(1)
    src_stride: int = U16(0)
    sid: int = U16(0)
    dst_gap: int = U16(0)
    if_transpose: bool = Flag(False)
    addr_mode: int = U8(0)


class LoadData2DParamsV2(Params):
    """A load of a rectangle of fractals; positions, steps and strides in fractals."""

    m_start_position: int = U32(0)
    k_start_position: int = U32(0)
    m_step: int = U16(0)
    k_step: int = U16(0)
    src_stride: int = I32(0)
    dst_stride: int = U16(0)
    if_transpose: bool = Flag(False)
    sid: int = U8(0)


class LoadData2dTransposeParams(Params):
    """A transposing load of fractals; positions and gaps in square blocks."""

    start_index: int = U16(0)
    repeat_times: int = U8(1)
    src_stride: int = U16(0)
    dst_gap: int = U16(0)
    dst_frac_gap: int = U16(0)
    addr_mode: int = U8(0)


class LoadData2dTransposeParamsV2(Params):
    """A transposing load of fractals with a source gap; positions and gaps in square blocks."""

    start_index: int = U16(0)
    repeat_times: int = U8(0)
    src_stride: int = U16(0)
    dst_gap: int = U16(0)
    dst_frac_gap: int = U16(0)
    src_frac_gap: int = U16(0)
    addr_mode: int = U8(0)


class LoadData3DParamsV1(Params):
    """The image-to-column load, first form: window by window."""

    pad_list: tuple[int, ...] = Items(U8, (4, 4), (0, 0, 0, 0))
    l1_h: int = U16(1)
    l1_w: int = U16(1)
    c1_index: int = U16(0)
    fetch_filter_w: int = U8(0)
    fetch_filter_h: int = U8(0)
    left_top_w: int = I16(0)
    left_top_h: int = I16(0)
    stride_w: int = U8(1)
    stride_h: int = U8(1)
    filter_w: int = U8(1)
    filter_h: int = U8(1)
    dilation_filter_w: int = U8(1)
    dilation_filter_h: int = U8(1)
    jump_stride: int = U8(1)
    repeat_mode: int = U8(0)
    repeat_time: int = U8(1)
    c_size: int = U8(0)
    pad_value: int = U16(0)


class LoadData3DParamsV2(Params):
    """The image-to-column load, second form: a part of the column matrix, in elements."""

    pad_list: tuple[int, ...] = Items(U8, (4, 4), (0, 0, 0, 0))
    l1_h: int = U16(1)
    l1_w: int = U16(1)
    channel_size: int = U8(1)
    k_extension: int = U16(1)
    m_extension: int = U16(1)
    k_start_pt: int = U16(0)
    m_start_pt: int = U16(0)
    stride_w: int = U8(1)
    stride_h: int = U8(1)
    filter_w: int = U8(1)
    filter_h: int = U8(1)
    dilation_filter_w: int = U8(1)
    dilation_filter_h: int = U8(1)
    en_transpose: bool = Flag(False)
    pad_value: int = U16(0)
    filter_size_w: bool = Flag(False)
    filter_size_h: bool = Flag(False)
    f_matrix_ctrl: bool = Flag(False)


class LoadData3DParamsV2Pro(Params):
    """The second form with its fields packed into two 64-bit words."""

    channel_size: int = U16(0)
    en_transpose: bool = Flag(False)
    en_small_k: bool = Flag(False)
    filter_size_w: bool = Flag(False)
    filter_size_h: bool = Flag(False)
    f_matrix_ctrl: bool = Flag(False)
    ext_config: int = U64(0)
    filter_config: int = U64(1103823438081)


class LoadDataRepeatParam(Params):
    """Repetition of an image-to-column load."""

    repeat_time: int = U8(1)
    repeat_stride: int = U16(0)
    repeat_mode: int = U8(0)


class LoadImageToLocalParams(Params):
    """The part of an image to load, and the padding around it."""

    horiz_size: int = U16(2)
    vert_size: int = U16(2)
    horiz_start_pos: int = U16(0)
    vert_start_pos: int = U16(0)
    src_horiz_size: int = U16(2)
    top_pad_size: int = U16(0)
    bot_pad_size: int = U16(0)
    left_pad_size: int = U16(0)
    right_pad_size: int = U16(0)

    _ignored = frozenset({"sid"})


class VdeqInfo(Params):
    """Scale, offset and sign of the 16 channels of a vector dequantisation."""

    scale: tuple[float, ...] = Items(lambda: Float(float32), (16, 16))
    offset: tuple[int, ...] = Items(I16, (16, 16))
    sign_mode: tuple[bool, ...] = Items(Flag, (16, 16))
