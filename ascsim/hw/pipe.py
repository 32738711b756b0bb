"""Pipes and their clocks.

A clock says how many instructions of each pipe of a core are known to have ended: a list, one entry a pipe slot,
never changed in place. `Pipe.clock` is what has ended when the pipe's next instruction starts. What is known of
other cores stands apart in `known` (core serial -> clock), which is replaced, not copied, at a cross-core wait.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

Clock = list[int]
Known = dict[int, Clock]

AIV_PIPES = ("S", "V", "MTE2", "MTE3")
AIC_PIPES = ("S", "M", "MTE1", "MTE2", "MTE3", "FIX")
ALWAYS = 1 << 62  # clock entry of a pipe whose own earlier instructions have always ended (S; V under auto_sync)
NOTHING: Known = {}


def join4(a: Clock, b: Clock) -> Clock:
    """Elementwise maximum, four pipes. Written out: a wait costs two of these."""
    a0, a1, a2, a3 = a
    b0, b1, b2, b3 = b
    return [a0 if a0 > b0 else b0, a1 if a1 > b1 else b1, a2 if a2 > b2 else b2, a3 if a3 > b3 else b3]


def join6(a: Clock, b: Clock) -> Clock:
    """The same for six pipes."""
    a0, a1, a2, a3, a4, a5 = a
    b0, b1, b2, b3, b4, b5 = b
    return [
        a0 if a0 > b0 else b0,
        a1 if a1 > b1 else b1,
        a2 if a2 > b2 else b2,
        a3 if a3 > b3 else b3,
        a4 if a4 > b4 else b4,
        a5 if a5 > b5 else b5,
    ]


def join_any(a: Clock, b: Clock) -> Clock:
    """Elementwise maximum of two clocks of one core."""
    return [x if x > y else y for x, y in zip(a, b)]  # noqa: B905 - equal lengths by construction


def merge(a: Known, b: Known) -> Known:
    """What two parties know of other cores, together."""
    if a is b or not b:
        return a
    if not a:
        return b
    out = dict(a)
    for core, clock in b.items():
        mine = out.get(core)
        out[core] = clock if mine is None else join_any(mine, clock)
    return out


class Token(NamedTuple):
    """What a set carries to its wait: everything that has ended by then, and the cycle at which it fired."""

    clock: Clock
    known: Known
    time: int


class Pipe:
    """One in-order queue of a core."""

    __slots__ = (
        *("clock", "cold", "floor", "free", "idle", "known", "latency", "moved", "n", "name", "parked", "self_ordered"),
        "slot",
    )

    def __init__(self, name: str, slot: int, width: int, *, self_ordered: bool, latency: int = 0) -> None:
        self.name, self.slot, self.latency = name, slot, latency  # latency: cycles before work when it stood idle
        self.floor = [0] * width  # the clock at the start of a block
        self.self_ordered = self_ordered
        if self_ordered:
            self.floor[slot] = ALWAYS
        self.reset()

    def reset(self) -> None:
        """State at the start of a block."""
        self.n = 0  # instructions issued
        self.clock: Clock = self.floor
        self.known: Known = NOTHING
        self.parked: deque[tuple[Any, ...]] | None = None  # entries behind an unmet wait, the wait first
        self.free = 0  # cycle at which everything issued so far, waits included, has ended
        self.idle = 0  # cycles up to `free` in which it did not work
        self.cold = self.latency  # cycles that the next instruction pays because the pipe stands idle
        self.moved = 0  # bytes from or to global memory

    def rest(self, until: int) -> None:
        """Stand idle until a cycle."""
        if until > self.free:
            self.idle += until - self.free
            self.free, self.cold = until, self.latency

    def ended(self, now: int) -> Token:
        """All that has ended once everything issued to this pipe so far has ended."""
        clock = self.clock.copy()
        clock[self.slot] = self.n
        return Token(clock, self.known, max(self.free, now))
