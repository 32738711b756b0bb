"""Barriers and fences of one core, what the scalar unit has waited for, and the end of the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import deadlock, unitflag
from .findings import Site, place
from .pipe import ALWAYS, Pipe, Token, merge

if TYPE_CHECKING:
    from .core import Core

# Memory and pipe whose instructions, once their accesses to that memory have ended, have ended altogether. Of the
# others a data-sync barrier orders the accesses to the memory and nothing else (`Core.fences`).
LAST_ACCESS = frozenset((("GM", "MTE3"), ("UB", "MTE2"), ("UB", "V"), ("UB", "S")))


class Barriers:
    """The part of a Core in which S, or a pipe, waits for what is under way. Mixed into `core.Core`."""

    __slots__ = ()

    counted: int  # instructions issued when the scalar unit last worked or waited

    @property
    def now(self: Core) -> int:  # type: ignore[misc]
        """Cycle of the scalar unit: its own work and waits, and the handing over of instructions since."""
        issued = -self.counted
        for pipe in self.slots:
            issued += pipe.n
        return self.scalar.free + self.issue_cost * issued

    def barrier(self: Core, pipe: Pipe, site: Site) -> None:  # type: ignore[misc]
        """pipe_barrier(P): what was issued to P ends before what will be issued to P starts."""
        if pipe.parked is not None:
            self.park(pipe, self.barrier, (pipe, site), site)
        elif pipe.clock[pipe.slot] != ALWAYS:
            pipe.clock = pipe.ended(self.now).clock
            pipe.rest(pipe.free + self.device.cost.barrier(pipe.name))

    def barrier_all(self: Core, site: Site) -> None:  # type: ignore[misc]
        """pipe_barrier(PIPE_ALL): S waits until every pipe has drained."""
        if any(pipe.parked is not None for pipe in self.slots):
            deadlock.scalar_all(self, site)
        self.join_scalar(self.everything())

    def everything(self: Core) -> Token:  # type: ignore[misc]
        """All that has ended once every pipe has drained."""
        known = self.scalar.known
        for pipe in self.slots:
            known = merge(known, pipe.known)
        return Token([pipe.n for pipe in self.slots], known, max(self.now, *(pipe.free for pipe in self.slots)))

    def drain(self: Core, pipe: Pipe) -> None:  # type: ignore[misc]
        """S waits until one pipe has done all that was issued to it."""
        self.join_scalar(pipe.ended(0))

    def join_scalar(self: Core, token: Token) -> None:  # type: ignore[misc]
        """S has waited for a token: so has everything issued from now on, in every pipe."""
        self.scalar.rest(max(self.now, token.time))
        self.catch_up()
        clock, known, _ = token
        join = self.join
        for pipe in self.slots:  # `_join`, in place
            if pipe.parked is not None:
                self._join(pipe, token)
                continue
            pipe.clock = join(pipe.clock, clock)
            if known is not pipe.known:
                pipe.known = merge(pipe.known, known)

    def catch_up(self: Core) -> None:  # type: ignore[misc]
        """What is issued from now on starts no earlier than the scalar unit has come."""
        counted, free = 0, self.scalar.free
        for pipe in self.slots:
            counted += pipe.n
            if free > pipe.free:  # `Pipe.rest`, in place
                pipe.idle += free - pipe.free
                pipe.free, pipe.cold = free, pipe.latency
        self.counted = counted

    def _join(self: Core, pipe: Pipe, token: Token) -> None:  # type: ignore[misc]
        if pipe.parked is not None:  # no entry of the hardware's queue: what was issued before is not held to it
            pipe.parked.append((self._join, (pipe, token), None, self.turn, self.scalar.n))
            return
        pipe.clock = self.join(pipe.clock, token.clock)
        pipe.known = merge(pipe.known, token.known)

    def fence(self: Core, memories: tuple[str, ...], site: Site | None = None) -> None:  # type: ignore[misc]
        """data_sync_barrier: earlier accesses to these memories end before anything issued later."""
        if any(pipe.parked is not None for pipe in self.slots):
            deadlock.scalar_all(self, site)
        ended = [0] * len(self.slots)
        known = self.scalar.known
        for pipe in self.slots:
            if any((memory, pipe.name) in LAST_ACCESS for memory in memories):
                token = pipe.ended(self.now)
                ended, known = self.join(ended, token.clock), merge(known, token.known)
        self.join_scalar(Token(ended, known, max(self.now, *(pipe.free for pipe in self.slots))))
        for memory in memories:
            self.fences[memory] = [pipe.n for pipe in self.slots]

    def finish(self: Core) -> None:  # type: ignore[misc]
        """The kernel's body has returned: every pipe must have drained, every flag be down."""
        for check in self.at_end:
            check()
        deadlock.at_end(self)
        unitflag.finish(self)
        for row in self.flag_rows:
            for flag in row.values():
                if flag.outstanding > 0:
                    self.report(
                        "FLAG_LEFT_SET",
                        f"{flag.name} on {self.name}, set at {place(flag.last_set)}, is never waited for; the next "
                        "kernel on this core would start with the flag up",
                        flag.last_set,
                        operation="set_flag",
                    )
