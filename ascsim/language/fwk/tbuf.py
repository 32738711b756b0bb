"""TBuf: one buffer without states or events. All ordering of its users is the author's."""

from __future__ import annotations

from typing import Any

from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site, author
from ..core import ir_value
from ..core.dtype import DataType
from ..core.enums import TPosition
from ..core.made import remember
from ..core.place import element_type, report
from ..core.place import place as place_at
from ..core.tensor import LocalTensor, _tensor
from ..core.tensor import position as local_position
from ..core.types import TensorShape
from . import faults
from .buffer import Buffer, Lease, Tensors
from .placement import BLOCK, logical, natural
from .queue import TQueBind


class TBuf(TQueBind):
    """A buffer for intermediate results. Page: TBuf.

    TBuf(pos): the position chooses the memory; `TPipe.init_buffer` gives the bytes. As on the device, alloc_tensor and
    deque are `get`, enque and free_tensor do nothing, and the questions of a queue are not available.
    """

    __slots__ = ()

    is_queue = both_ends = False

    def __init__(self, pos: TPosition) -> None:
        where = local_position(ir_value.unwrap(pos), "TBuf")
        self._begin(where, where, where, None, author(1))
        self.depth = 0

    def bind(self, *args: Any) -> None:
        """Take the buffer. Its tensors share one lease for as long as the TPipe keeps the memory."""
        super().bind(*args)
        buffer = self.ring[0]
        buffer.lease = Lease(buffer, Tensors())

    def get(self, dtype: DataType, len: Any = None, shape: TensorShape | None = None) -> LocalTensor:
        """A tensor of `len` elements (None or 0: all) at the start of the buffer, the same each time. Page: Get.

        OOB_BUF, a warning, if it is longer than the buffer. `shape` is for the compiler and has no effect.
        """
        site = author(1)
        return self._get(dtype, len, site)

    def get_with_offset(self, size: Any, buf_offset: Any, dtype: DataType) -> LocalTensor:
        """A tensor of `size` elements, `buf_offset` bytes (a multiple of 32) into the buffer. Page: GetWithOffset."""
        operation, site = "get_with_offset", author(1)
        offset = natural(buf_offset, operation, "buf_offset")
        if offset % BLOCK:
            raise ArgumentValueError(
                operation,
                operand="buf_offset",
                value=offset,
                rule=f"a multiple of {BLOCK} bytes",
                nearest=offset // BLOCK * BLOCK,
            )
        return self._part(dtype, natural(size, operation, "size"), offset, operation, site)

    def alloc_tensor(self, dtype: Any = None, tensor: LocalTensor | None = None) -> LocalTensor:
        """The whole buffer, as `get`."""
        _alone(dtype, tensor, "alloc_tensor")
        return self._get(dtype, None, author(1))

    def deque(
        self, dtype: Any = None, src_user_pos: Any = None, dst_user_pos: Any = None, tensor: LocalTensor | None = None
    ) -> LocalTensor:
        """The whole buffer, as `get`."""
        _alone(dtype, tensor, "deque")
        _pair(src_user_pos, dst_user_pos, "deque")
        return self._get(dtype, None, author(1))

    def enque(self, tensor: LocalTensor, src_user_pos: Any = None, dst_user_pos: Any = None) -> None:
        """Does nothing, on the device too: a TBuf has no events."""
        _local(tensor, "enque")
        _pair(src_user_pos, dst_user_pos, "enque")

    def free_tensor(self, tensor: LocalTensor) -> None:
        """Does nothing, on the device too: a TBuf has no events."""
        _local(tensor, "free_tensor")

    def _get(self, dtype: Any, len: Any, site: Site) -> LocalTensor:
        elements = 0 if len is None else natural(len, "get", "len")
        return self._part(dtype, elements or None, 0, "get", site)

    def _part(self, dtype: Any, elements: int | None, offset: int, operation: str, site: Site) -> LocalTensor:
        dtype = element_type(dtype, operation)
        if not self.ring:
            faults.not_init(self, operation, site)
        buffer = self.ring[0]
        if self.pool is not None and not self.pool.used:
            self.pool.touch(self.label, operation, site)
        rest = buffer.nbytes - offset
        nbytes = rest if elements is None else elements * dtype.size
        if nbytes > rest:
            self._too_long(buffer, dtype, nbytes, offset, operation, site)
        where = place_at(self.core, self.position, dtype, buffer.start + offset, nbytes)
        remember(self.core, where, site)
        return _tensor(where, buffer.lease)

    def _too_long(self, buffer: Buffer, dtype: DataType, nbytes: int, offset: int, operation: str, site: Site) -> None:
        fits = max(0, buffer.nbytes - offset) // dtype.size
        text = f"{self.label}: {nbytes} bytes from byte {offset} of a buffer of {buffer.nbytes} bytes"
        report(self.core, "OOB_BUF", f"{text}; at most {fits} elements of {dtype} fit", site, operation)


def _alone(dtype: Any, tensor: Any, operation: str) -> None:
    if dtype is not None and tensor is not None:
        raise ArgumentTypeError(operation, "is given beside a data type", operand="tensor", value=tensor, rule="one")


def _pair(src: Any, dst: Any, operation: str) -> None:
    if src is not None or dst is not None:
        logical(src, operation, "src_user_pos")
        logical(dst, operation, "dst_user_pos")


def _local(tensor: Any, operation: str) -> None:
    if not isinstance(tensor, LocalTensor):
        raise ArgumentTypeError(operation, "is no LocalTensor", operand="tensor", value=tensor)
