"""Tiling structures, made on the host, handed to a kernel, read by the operations of adv; shape and configuration."""

from __future__ import annotations

from ..core.dtype import float32, int32
from ..core.params import U32, Flag, Params
from ..core.struct import Field, Struct


class SoftmaxTiling(Struct):
    """How softmax cuts [m, k] into pieces. Sizes in elements: of the source, of its maxima, of one piece, of the
    scratch of a piece, and of the piece that is left over; `range_m` pieces. Page: SoftMax tiling."""

    src_m = Field(dtype=int32, default=0, name="srcM")
    src_k = Field(dtype=int32, default=0, name="srcK")
    src_size = Field(dtype=int32, default=0, name="srcSize")
    out_max_m = Field(dtype=int32, default=0, name="outMaxM")
    out_max_k = Field(dtype=int32, default=0, name="outMaxK")
    out_max_size = Field(dtype=int32, default=0, name="outMaxSize")
    split_m = Field(dtype=int32, default=0, name="splitM")
    split_k = Field(dtype=int32, default=0, name="splitK")
    split_size = Field(dtype=int32, default=0, name="splitSize")
    reduce_m = Field(dtype=int32, default=0, name="reduceM")
    reduce_k = Field(dtype=int32, default=0, name="reduceK")
    reduce_size = Field(dtype=int32, default=0, name="reduceSize")
    range_m = Field(dtype=int32, default=0, name="rangeM")
    tail_m = Field(dtype=int32, default=0, name="tailM")
    tail_split_size = Field(dtype=int32, default=0, name="tailSplitSize")
    tail_reduce_size = Field(dtype=int32, default=0, name="tailReduceSize")


class SoftMaxShapeInfo(Params):
    """Rows and columns of a source in elements, and both before padding. Page: SoftmaxFlashV2."""

    src_m: int = U32(0)
    src_k: int = U32(0)
    ori_src_m: int = U32(0)
    ori_src_k: int = U32(0)


class SoftmaxConfig(Params):
    """Compile-time settings of softmax_flash_v2. Page: SoftmaxFlashV2.

    `is_check_tiling`: a tiling of another shape is made anew, else it is an error. `ori_src_m`, `ori_src_k`: the shape
    before padding as constants; both 0: that of the call. Not here: `mode`.
    """

    is_check_tiling: bool = Flag(True)
    ori_src_m: int = U32(0)
    ori_src_k: int = U32(0)


class RmsNormTiling(Struct):
    """How rmsnorm cuts [b, s, h] into `loop_round` pieces of `main_bs_length` rows and one of `tail_bs_length`.

    `original_h_length`: h before padding, of which `reciprocal_of_h_length` is the reciprocal; the lengths in
    elements are `*_bsh_*`, and `input_tail_pos` is where the last piece starts. Page: RmsNorm Tiling."""

    b_length = Field(dtype=int32, default=0, name="bLength")
    s_length = Field(dtype=int32, default=0, name="sLength")
    h_length = Field(dtype=int32, default=0, name="hLength")
    original_h_length = Field(dtype=int32, default=0, name="originalHLength")
    reciprocal_of_h_length = Field(dtype=float32, default=0.0, name="reciprocalOfHLength")
    main_bsh_length = Field(dtype=int32, default=0, name="mainBshLength")
    main_bs_length = Field(dtype=int32, default=0, name="mainBsLength")
    main_bs_length_align = Field(dtype=int32, default=0, name="mainBsLengthAlign")
    loop_round = Field(dtype=int32, default=0, name="loopRound")
    input_tail_pos = Field(dtype=int32, default=0, name="inputTailPos")
    tail_bsh_length = Field(dtype=int32, default=0, name="tailBshLength")
    tail_bs_length = Field(dtype=int32, default=0, name="tailBsLength")


__all__ = ["RmsNormTiling", "SoftMaxShapeInfo", "SoftmaxConfig", "SoftmaxTiling"]
