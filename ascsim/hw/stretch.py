"""Accesses of one source line in a steady loop, remembered as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .partition import Access

if TYPE_CHECKING:
    from .global_memory import GlobalArray
    from .instruction import GmShape

NOWHERE = 1 << 62  # no byte of any array


class Stretch:
    """Accesses that one plan makes at one line, whose start and number grow in equal steps.

    `next_at` and `next_n` say what the next one must be; until the second access they are unknown (-1).
    """

    __slots__ = ("array", "at", "me", "n_step", "next_at", "next_n", "site", "step")

    def __init__(self, array: GlobalArray | None, me: Access, at: int) -> None:
        self.array, self.me, self.at = array, me, at  # the first access
        self.site = me[2]
        self.step = self.n_step = 0
        self.next_at = self.next_n = -1

    def second(self, me: Access, at: int) -> None:
        """The second access, which fixes the steps."""
        self.step, self.n_step = at - self.at, me[0] - self.me[0]
        self.next_at, self.next_n = at + self.step, me[0] + self.n_step

    @property
    def count(self) -> int:
        """How many accesses it stands for."""
        return (self.next_n - self.me[0]) // self.n_step if self.n_step else 1

    def accesses(self) -> list[tuple[Access, int]]:
        """The accesses with their start bytes, in order. Loop turns are known of the first alone."""
        n, slot, site, plan, turn, serial, clock = self.me
        return [
            ([n + k * self.n_step, slot, site, plan, -1 if k else turn, serial, clock], self.at + k * self.step)
            for k in range(self.count)
        ]

    def apart(self, shape: GmShape, at: int) -> bool:
        """Whether bytes of a footprint are none of its: they lie before or behind, or, where both are columns of rows
        of one length, in other columns."""
        mine, pitch, end = self.me[3].gm, shape.stride, at + shape.span
        rows = mine.stride == pitch and mine.many == shape.many == 1
        column = at % pitch
        for k in range(self.count):
            start = self.at + k * self.step
            if end <= start or start + mine.span <= at:
                continue
            other = start % pitch
            if not rows or max(column + shape.block, other + mine.block) > pitch:
                return False
            if column < other + mine.block and other < column + shape.block:
                return False
        return True


NO_STRETCH = Stretch(None, [0, 0, (None, -1), None, -1, -1, None], -1)
