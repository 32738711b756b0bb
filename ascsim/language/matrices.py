"""What loads, mmad and fixpipe share: the index of a sparse tile, the values of a unit flag."""

from __future__ import annotations

from collections.abc import Iterable

from ..hw.errors import ArgumentValueError
from ..hw.memory import Piece

UNIT_FLAGS = (0, 2, 3)


def unit_flag(operation: str, value: int) -> None:
    """A unit flag is 0 (off), 2 (keeps the marks of the blocks) or 3 (changes them)."""
    if value not in UNIT_FLAGS:
        raise ArgumentValueError(
            operation, "is reserved", operand="unit_flag", value=value, rule="0, 2 or 3", nearest=0 if value == 1 else 3
        )


def index_pieces(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The footprint in the cube's index buffer that belongs to one in L0B, whose runs are whole fours of bytes.

    Byte i of the buffer belongs to bytes 4 * i to 4 * i + 3 of L0B, two bits each, low bits first.
    """
    return tuple(
        (start // 4, tuple((n, step // 4) if step > 1 else (n // 4, 1) for n, step in dims)) for start, dims in pieces
    )
