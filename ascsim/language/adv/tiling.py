"""Tiling structures: made on the host, handed to a kernel, read by the operations of adv."""

from __future__ import annotations

from ..core.dtype import int32
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


__all__ = ["SoftmaxTiling"]
