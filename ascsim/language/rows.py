"""The rows of vector instructions: what a family needs to know of each member, and the registry of them all.

`REGISTRY` serves tests and documentation; what is made of a row stands in `forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .core.dtype import DataType
from .signatures import signatures


@dataclass(frozen=True, eq=False)
class Row:
    """One instruction of a family. `value(*sources[, scalar])` computes whole arrays in the declared type."""

    name: str
    value: Callable[..., Any]
    dtypes: tuple[DataType, ...]
    does: str
    page: str
    cost: str = "simple"
    reads_dst: bool = False  # the destination is also the last source of `value`
    accumulates: bool = False  # may add up repeats in one place (destination over src1, repeat stride 0)
    sources: int = 2
    scalar: Callable[[Any, DataType], Any] | None = None  # makes the scalar operand of a number, refuses a bad one


REGISTRY: dict[str, Row] = {}


def register(row: Row) -> Row:
    """Enter a row; a name stands once."""
    assert row.name not in REGISTRY
    REGISTRY[row.name] = row
    return row


def finish(function: Any, row: Row, forms: Sequence[str], doc: str, device: str = "") -> Any:
    """Give a made function its name, documentation and call forms; `device`: where hardware differs, why, how much."""
    function.__name__ = function.__qualname__ = row.name
    function.__overloads__ = signatures(*forms)
    types = ", ".join(map(str, row.dtypes))
    shown = "\n    ".join(f"{row.name}({form})" for form in forms)
    last = f"Device: {device}\n" if device else ""
    function.__doc__ = f"{row.does}\n\n    {shown}\n\n{doc}\nTypes: {types}. Page: {row.page}.\n{last}"
    return function


FORMS_DOC = """`count`: elements, contiguous from the start of every operand. `mask`: lanes of a repeat of 256 bytes, as
a number or as two words of bits [low, high]; `repeat_times`: 0 to 255; strides in 32-byte blocks. With
is_set_mask=False the mask registers rule instead. Operands lie in UB at multiples of 32 bytes. Faults: BAD_DTYPE,
BAD_POSITION, BAD_MASK, BAD_REPEAT, BAD_STRIDE, MISALIGNED_ADDR, OOB_PHYS, OVERLAP_*; warnings: OOB_BUF, ZERO_LENGTH,
UNINIT_READ."""
