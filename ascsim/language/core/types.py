"""Parameter structures of the vector side and of data copies, shapes, and the names of `cube_types`.

Values only: what a field does is written where the instruction that takes it is.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

from ...hw.errors import ArgumentTypeError, ArgumentValueError, ArrayIndexError, NotSimulatedError
from .cube_types import (
    DataCopyCO12DstParams,
    FixpipeConfig,
    FixpipeParamsV220,
    LoadData2DParams,
    LoadData2DParamsV2,
    LoadData2dTransposeParams,
    LoadData2dTransposeParamsV2,
    LoadData3DParamsV1,
    LoadData3DParamsV2,
    LoadData3DParamsV2Pro,
    LoadDataRepeatParam,
    LoadImageToLocalParams,
    MmadParams,
    Nd2NzParams,
    Nz2NdParamsFull,
    VdeqInfo,
)
from .dtype import DataType
from .enums import BlockMode, DataFormat, DeqScale, TransposeType, pad_t
from .ir_value import PlainValue, int32, to_index, unwrap
from .params import U8, U16, U32, U64, Flag, Float, Items, Member, Params, Tensor, Type, Typed, sequence

__all__ = [
    "BinaryRepeatParams",
    "BrcbRepeatParams",
    "CheckLocalMemoryIAParam",
    "CopyRepeatParams",
    "DataCopyCO12DstParams",
    "DataCopyEnhancedParams",
    "DataCopyExtParams",
    "DataCopyPadExtParams",
    "DataCopyPadParams",
    "DataCopyParams",
    "FixpipeConfig",
    "FixpipeParamsV220",
    "GatherMaskParams",
    "GatherRepeatParams",
    "InitConstValueParams",
    "LoadData2DParams",
    "LoadData2DParamsV2",
    "LoadData2dTransposeParams",
    "LoadData2dTransposeParamsV2",
    "LoadData3DParamsV1",
    "LoadData3DParamsV2",
    "LoadData3DParamsV2Pro",
    "LoadDataRepeatParam",
    "LoadImageToLocalParams",
    "MmadParams",
    "MrgSort4Info",
    "MrgSortSrcList",
    "Nd2NzParams",
    "Nz2NdParamsFull",
    "ShapeInfo",
    "SliceInfo",
    "TensorShape",
    "TransDataTo5HDParams",
    "TransposeParamsExt",
    "UnaryRepeatParams",
    "VdeqInfo",
    "get_shape_size",
]

_MAX_DIMS = 8  # dimensions that a ShapeInfo holds


class MrgSortSrcList(Params):
    """The sorted lists of a merge: two to four tensors of type `dtype`."""

    dtype: DataType = Type()
    src1: Any = Tensor()
    src2: Any = Tensor()
    src3: Any = Tensor(None)
    src4: Any = Tensor(None)


class BinaryRepeatParams(Params):
    """Strides of an instruction with two sources, in 32-byte blocks: between blocks, and between repeats."""

    dst_blk_stride: int = U8(1)
    src0_blk_stride: int = U8(1)
    src1_blk_stride: int = U8(1)
    dst_rep_stride: int = U8(8)
    src0_rep_stride: int = U8(8)
    src1_rep_stride: int = U8(8)


class BrcbRepeatParams(Params):
    """Strides of `brcb`, in 32-byte blocks."""

    dst_blk_stride: int = U16(1)
    dst_rep_stride: int = U16(8)


class CheckLocalMemoryIAParam(Params):
    """An address range of local memory to watch, and the accesses to report."""

    enable_bit: int = U8(0)
    start_addr: int = U32(0)
    end_addr: int = U32(0)
    is_scalar_read: bool = Flag(False)
    is_scalar_write: bool = Flag(False)
    is_vector_read: bool = Flag(False)
    is_vector_write: bool = Flag(False)
    is_mte_read: bool = Flag(False)
    is_mte_write: bool = Flag(False)
    is_enable: bool = Flag(False)


class CopyRepeatParams(Params):
    """Strides of `copy`, in 32-byte blocks: between blocks, and between repeats."""

    dst_stride: int = U16(0)
    src_stride: int = U16(0)
    dst_repeat_size: int = U16(0)
    src_repeat_size: int = U16(0)


class DataCopyEnhancedParams(Params):
    """What a copy does on the way: block shape, dequantisation, relu, padding."""

    block_mode: BlockMode = Member(BlockMode, BlockMode.BLOCK_MODE_NORMAL)
    deq_scale: DeqScale = Member(DeqScale, DeqScale.DEQ_NONE)
    deq_value_in: int = U64(0)
    sid_store_mode_in: int = U8(0)
    is_relu_in: bool = Flag(False)
    pad_mode_in: pad_t = Member(pad_t, pad_t.PAD_NONE)
    pad_value_in: int = U64(0)


class DataCopyExtParams(Params):
    """A copy of `block_count` runs of `block_len` bytes; gaps in bytes in global, in 32-byte blocks in local memory."""

    block_count: int = U16(1)
    block_len: int = U32(0)
    src_stride: int = U32(0)
    dst_stride: int = U32(0)
    rsv: int = U32(0)


class DataCopyParams(Params):
    """A copy of `block_count` runs of `block_len` blocks of 32 bytes; gaps between runs in the same unit."""

    block_count: int = U16(1)
    block_len: int = U16(0)
    src_stride: int = U16(0)
    dst_stride: int = U16(0)


class DataCopyPadExtParams(Params):
    """Padding of the runs of a copy: elements left and right, and the value in the type `dtype`."""

    dtype: DataType = Type()
    is_pad: bool = Flag(False)
    left_padding: int = U16(0)
    right_padding: int = U16(0)
    padding_value: int | float = Float(None, 0)


class DataCopyPadParams(Params):
    """Padding of the runs of a copy: elements left and right, and the value as 64 raw bits."""

    is_pad: bool = Flag(False)
    left_padding: int = U16(0)
    right_padding: int = U16(0)
    padding_value: int = U64(0)


class GatherMaskParams(Params):
    """Strides of the sources of `gather_mask`, in 32-byte blocks, and the number of repeats."""

    src0_block_stride: int = U8(1)
    repeat_times: int = U16(1)
    src0_repeat_stride: int = U16(0)
    src1_repeat_stride: int = U8(0)


class GatherRepeatParams(Params):
    """Strides of the destination of `gatherb`, in 32-byte blocks."""

    dst_blk_stride: int = U16(1)
    dst_rep_stride: int = U16(8)


class InitConstValueParams(Params):
    """Fill: `repeat_times` runs of `block_num` blocks, gaps of `dst_gap` blocks; `init_value` is a typed scalar."""

    repeat_times: int = U16(0)
    block_num: int = U16(0)
    dst_gap: int = U16(0)
    init_value: PlainValue = Typed(0)


class MrgSort4Info(Params):
    """Lengths of up to four sorted lists to merge, which of them count (bits), and how often."""

    element_lengths: tuple[int, ...] = Items(U16, (1, 4))
    if_exhausted_suspension: bool = Flag(False)
    valid_bit: int = U16(15)
    repeat_times: int = U16(1)


class SliceInfo(Params):
    """A range of one dimension of a sliced copy. `burst_len` in blocks of 32 bytes; the defaults are pyasc's."""

    start_index: int = U32(0)
    end_index: int = U32(31)
    stride: int = U32(0)
    burst_len: int = U32(32)
    shape_value: int = U32(0)

    def __getitem__(self, slices: Any) -> NoReturn:
        raise NotSimulatedError("SliceInfo", "has no elements to index", operand="index", value=slices)


class TransDataTo5HDParams(Params):
    """Halves, repeats and strides of `trans_data_to_5hd`; strides in 32-byte blocks."""

    dst_high_half: bool = Flag(False)
    src_high_half: bool = Flag(False)
    repeat_times: int = U8(1)
    dst_rep_stride: int = U16(0)
    src_rep_stride: int = U16(0)


class TransposeParamsExt(Params):
    """Sizes of the four axes and the layout change of `transpose`."""

    n_size: int = U16(0)
    c_size: int = U16(0)
    h_size: int = U16(0)
    w_size: int = U16(0)
    transpose_type: TransposeType = Member(TransposeType, TransposeType.TRANSPOSE_ND2ND_B16)


class UnaryRepeatParams(Params):
    """Strides of an instruction with one source, in 32-byte blocks: between blocks, and between repeats."""

    dst_blk_stride: int = U16(1)
    src_blk_stride: int = U16(1)
    dst_rep_stride: int = U8(8)
    src_rep_stride: int = U8(8)


def _dims(operand: str, dims: Any) -> tuple[int, ...]:
    """Dimensions as plain ints that fit 32 unsigned bits."""
    sizes = tuple(to_index(size, "ShapeInfo", operand) for size in sequence(dims, "ShapeInfo", operand))
    if len(sizes) > _MAX_DIMS or not all(0 <= size < 1 << 32 for size in sizes):
        rule = f"at most {_MAX_DIMS} dimensions of 0..{(1 << 32) - 1}"
        raise ArgumentValueError("ShapeInfo", "does not fit", operand=operand, value=sizes, rule=rule)
    return sizes


_FORMAT = Member(DataFormat)
_FORMAT.name = "data_format"


class ShapeInfo:
    """The shape of a tensor and its shape before padding (the same if not given), each an `asc.array` or a sequence."""

    __slots__ = ("data_format", "key")

    key: tuple[Any, ...]
    data_format: DataFormat

    def __init__(
        self,
        shape: Any = None,
        original_shape: Any = None,
        data_format: DataFormat = DataFormat.ND,
        handle: Any = None,  # the front end's hidden parameter; ignored
    ) -> None:
        sizes = () if shape is None else _dims("shape", shape)
        original = sizes if original_shape is None else _dims("original_shape", original_shape)
        self.data_format = DataFormat.ND if data_format is None else _FORMAT.take(data_format, "ShapeInfo", [])
        self.key = (sizes, original, int(self.data_format))

    def _size(self, operand: str, sizes: tuple[int, ...], dim: Any) -> PlainValue:
        i = to_index(dim, f"ShapeInfo.{operand}", "dim")
        if not 0 <= i < len(sizes):
            raise ArrayIndexError(
                f"ShapeInfo.{operand}", "no such dimension", operand="dim", value=i, rule=f"of {sizes}"
            )
        return int32(sizes[i])

    def shape(self, dim: Any) -> PlainValue:
        """The size of a dimension."""
        return self._size("shape", self.key[0], dim)

    def original_shape(self, dim: Any) -> PlainValue:
        """The size of a dimension before padding."""
        return self._size("original_shape", self.key[1], dim)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeInfo) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"ShapeInfo(shape={self.key[0]}, original_shape={self.key[1]}, data_format={self.data_format!r})"

    def to_ir(self) -> ShapeInfo:
        """Itself, as for every parameter structure."""
        return self

    @classmethod
    def from_ir(cls, params: ShapeInfo) -> ShapeInfo:
        """`params` itself."""
        return params


def get_shape_size(shape_info: ShapeInfo) -> PlainValue:
    """The product of all dimensions of the shape; 1 if there are none."""
    if not isinstance(shape_info, ShapeInfo):
        raise ArgumentTypeError("get_shape_size", "is no ShapeInfo", operand="shape_info", value=shape_info)
    return int32(math.prod(shape_info.key[0]))


class TensorShape(tuple[int, ...]):
    """A tuple of sizes: `TensorShape(8)`, `TensorShape(2, 8)`, `TensorShape([2, 8])`; empty of nothing or None."""

    def __new__(cls, *args: Any) -> TensorShape:
        dims = args
        if len(args) == 1 and args[0] is None:
            dims = ()
        elif len(args) == 1 and not isinstance(args[0], PlainValue):
            sizes = unwrap(args[0])
            dims = tuple(sizes) if hasattr(sizes, "__iter__") else (sizes,)
        return super().__new__(cls, (to_index(dim, "TensorShape", "dim") for dim in dims))
