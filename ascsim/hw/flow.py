"""Flags and parked pipes of one core.

A pipe whose wait has no token is parked: what is issued to it queues behind the wait and executes when the token
comes. Only the pipe is held, unless it is S: then the program itself can go no further, and since nobody else can
set an in-core flag that is a deadlock.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import deadlock, unitflag
from .events import Flag
from .findings import Site, author, place
from .pipe import Pipe, Token, merge

if TYPE_CHECKING:
    from .core import Core

_getframe = sys._getframe


class Flow:
    """The part of a Core that orders pipes by flags. Mixed into `core.Core`, whose attributes it uses."""

    __slots__ = ()

    turn: int
    resumed: int | None  # while a parked entry executes: scalar instructions issued before it

    def set_flag(self: Core, flag: Flag, site: Site | None = None) -> None:  # type: ignore[misc]
        """Issue a set: in the source pipe's queue it captures the end of everything before it.

        `site` is the author's call site; None stands for the caller of the function that calls this one.
        """
        if site is None:
            frame = _getframe(2)
            site = frame.f_code, frame.f_lasti
        src = flag.src
        if not flag.outstanding and src.parked is None:  # the usual case, in one piece
            flag.outstanding = 1
            flag.last_set = site
            clock = src.clock.copy()
            clock[src.slot] = src.n
            flag.tokens.append((clock, src.known, src.free))
            return
        self.set_slowly(flag, site)

    def set_slowly(self: Core, flag: Flag, site: Site) -> None:  # type: ignore[misc]
        """A set that finds something out of the usual: an outstanding one, or a parked pipe."""
        src = flag.src
        flag.outstanding += 1
        if flag.outstanding > 1:
            both = ""
            if len(flag.fetched) > 1:
                lines = " and ".join(place(fetch) for fetch in flag.fetched)
                both = f"; both ids were fetched ({lines}): fetch_event_id does not reserve, it gave one id twice"
            self.report(
                "FLAG_DOUBLE_SET",
                f"set_flag({flag.name}) on {self.name}, {place(site)}: the set at {place(flag.last_set)} is still "
                f"outstanding; a second set without a wait between is undefined on the device{both}",
                flag.last_set,
                site,
                operation="set_flag",
            )
        flag.last_set = site
        if src.parked is not None:
            self.park(src, self._fire, (flag, site), site)
        else:
            self._fire(flag, site)

    def _fire(self: Core, flag: Flag, site: Site) -> None:  # type: ignore[misc]
        src = flag.src
        if flag.tokens and self.hold_sets:
            src.parked = deque(((self._fire, (flag, site), site, self.turn, self.scalar.n),))
            return
        clock = src.clock.copy()
        clock[src.slot] = src.n
        flag.tokens.append((clock, src.known, src.free))
        if flag.dst.parked is not None:
            self.wake(flag.dst)

    def wait_flag(self: Core, flag: Flag, site: Site | None = None) -> None:  # type: ignore[misc]
        """Issue a wait: the destination pipe goes on once the flag is up, and takes it down. `site` as in set_flag."""
        flag.outstanding -= 1
        dst = flag.dst
        if flag.tokens and dst.parked is None and dst.slot:  # the usual case, in one piece
            clock, known, time = flag.tokens.popleft()
            dst.clock = self.join(dst.clock, clock)
            if known is not dst.known:
                dst.known = merge(dst.known, known)
            if time > dst.free:  # `Pipe.rest`, in place
                dst.idle += time - dst.free
                dst.free, dst.cold = time, dst.latency
            return
        self.wait_slowly(flag, site or author(2))

    def wait_slowly(self: Core, flag: Flag, site: Site) -> None:  # type: ignore[misc]
        """A wait that finds something out of the usual: no token, a parked pipe, or S."""
        dst = flag.dst
        if dst.parked is not None:
            self.park(dst, self._take, (flag, site), site)
        elif flag.tokens:
            self._take(flag, site)
        elif dst is self.scalar:
            deadlock.scalar(self, flag, site)
        else:
            dst.parked = deque(((self._take, (flag, site), site, self.turn, self.scalar.n),))

    def _take(self: Core, flag: Flag, site: Site | None) -> None:  # type: ignore[misc]
        clock, known, time = flag.tokens.popleft()
        dst = flag.dst
        if dst is self.scalar:
            self.join_scalar(Token(clock, known, time))
        else:
            dst.clock = self.join(dst.clock, clock)
            if known is not dst.known:
                dst.known = merge(dst.known, known)
            dst.rest(time)
        if flag.src.parked is not None:
            self.wake(flag.src)

    # ------------------------------------------------------------------ parking

    def park(self: Core, pipe: Pipe, call: Callable[..., Any], args: tuple[Any, ...], site: Site | None) -> None:  # type: ignore[misc]
        """Queue an entry behind the wait at the head of a parked pipe."""
        queue = pipe.parked
        assert queue is not None
        depth = self.checks.queue_depth
        if depth is not None and len(queue) >= depth and sum(call != self._join for call, *_ in queue) >= depth:
            deadlock.queue_full(self, pipe, depth, site)
        queue.append((call, args, site, self.turn, self.scalar.n))

    def wake(self: Core, pipe: Pipe) -> None:  # type: ignore[misc]
        """A flag that a parked pipe may stand at has changed: its queue executes as far as it can."""
        before = self.turn, self.resumed
        try:
            self._run_parked(pipe)
        finally:
            self.turn, self.resumed = before

    def _run_parked(self: Core, pipe: Pipe) -> None:  # type: ignore[misc]
        queue = pipe.parked
        while queue:
            call, args, _, self.turn, self.resumed = queue[0]
            if self.stuck(call, args):
                pipe.parked = queue
                return
            queue.popleft()
            pipe.parked = None
            call(*args)
        pipe.parked = None

    def stuck(self: Core, call: Callable[..., Any], args: tuple[Any, ...]) -> bool:  # type: ignore[misc]
        """Whether an entry at the head of a queue cannot go on: a wait without token, a held set, a unit flag."""
        if call is unitflag.issue:
            return unitflag.blocked(*args)
        if call == self._take:
            return not args[0].tokens
        return call == self._fire and self.hold_sets and bool(args[0].tokens)
