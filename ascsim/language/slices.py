"""Slice copies: a block of a tensor with up to eight axes, cut out of one side and laid into the other.

The software form of data_copy: one strided copy for each row of the innermost axis. Page: DataCopy, slice form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from ..hw.core import Core
from ..hw.errors import ArgumentTypeError, ArgumentValueError
from ..hw.findings import Site
from .copies import Moves
from .core.place import BLOCK, index, report
from .core.tensor import LocalTensor
from .core.types import SliceInfo

AXES = 8


def _refuse(operand: str, value: Any, rule: str) -> ArgumentValueError:
    return ArgumentValueError("data_copy", operand=operand, value=value, rule=rule)


class _Side:
    """One side: where its rows start (elements), and the bursts of a row. `shape`: sizes of its axes."""

    def __init__(self, name: str, slices: list[Any], shape: Sequence[int], size: int) -> None:
        inner = slices[0]
        self.burst = inner.burst_len * BLOCK // size  # elements
        self.gap = inner.stride  # elements
        extent = inner.end_index - inner.start_index + 1
        self.bursts: int
        self.bursts, rest = divmod(extent + self.gap, self.burst + self.gap) if self.burst else (0, 1)
        if rest or self.bursts < 1:
            rule = "end - start + 1 = bursts * burst_len * 32 bytes + (bursts - 1) * stride, with whole bursts"
            raise _refuse(f"{name}[0]", inner, rule)
        self.axes = []
        pitch = 1
        for number, axis in enumerate(slices[1:], 1):
            pitch *= shape[number - 1]
            if axis.end_index < axis.start_index:
                raise _refuse(f"{name}[{number}]", axis, "start_index <= end_index")
            self.axes.append([k * pitch for k in range(axis.start_index, axis.end_index + 1, 1 + axis.stride)])
        self.first = inner.start_index

    def rows(self) -> list[int]:
        """Start of each row in elements, second axis fastest."""
        return [self.first + sum(where) for where in product(*reversed(self.axes))]


def _shape(name: str, slices: Sequence[SliceInfo], tensor: Any, from_info: bool, count: int) -> Sequence[int]:
    """Sizes of the axes, innermost first."""
    if not from_info:
        return [axis.shape_value for axis in slices]
    shape: tuple[int, ...] = tensor.get_shape_info().key[0]
    if len(shape) < count - 1:
        rule = f"a shape_value an axis, or set_shape_info with {count} axes on the tensor"
        raise _refuse(f"{name}[0].shape_value", 0, rule)
    return shape


def moves_of_slices(
    core: Core, dst: Any, src: Any, dst_slices: Any, src_slices: Any, dims: Any, size: int, site: Site
) -> Iterator[tuple[int, int, Moves]]:
    """The strided copies of a slice copy: element offsets in dst and src, and the blocks to move."""
    both = (("slice_list1", dst_slices, dst), ("slice_list2", src_slices, src))
    for name, slices, _ in both:
        if not isinstance(slices, (list, tuple)) or not all(isinstance(s, SliceInfo) for s in slices):
            raise ArgumentTypeError("data_copy", "is no list", operand=name, value=slices, rule="a list of SliceInfo")
    count = len(src_slices) if dims is None else index(dims, "data_copy", "dim_value")
    if not 1 <= count <= AXES:
        raise _refuse("dim_value", count, f"1 to {AXES} axes")
    for name, slices, _ in both:
        if len(slices) < count:
            raise _refuse(name, len(slices), f"{count} entries, one an axis")
    from_info = src_slices[0].shape_value == 0  # then the tensors' own shape information gives every pitch
    to, source = (
        _Side(name, list(slices[:count]), _shape(name, slices, tensor, from_info, count), size)
        for name, slices, tensor in both
    )
    if to.burst != source.burst or to.bursts != source.bursts or len(to.rows()) != len(source.rows()):
        raise _refuse("slices", (to.bursts, source.bursts), "both sides have as many rows and bursts, of one length")
    for side, tensor in ((to, dst), (source, src)):
        if isinstance(tensor, LocalTensor) and side.gap * size % BLOCK:
            text = f"stride = {side.gap} elements on the UB side; rule: a multiple of 32 bytes"
            report(core, "BAD_STRIDE", text, site, "data_copy")
    length = source.burst * size
    moves = Moves(length, length + to.gap * size, length + source.gap * size, source.bursts)
    for at, since in zip(to.rows(), source.rows(), strict=True):
        yield at, since, moves
