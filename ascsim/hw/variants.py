"""The machine with less, or with more: without any bookkeeping of order, and with a record.

Chosen once for a launch, so that what is switched off costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import notes
from .checks import Checks
from .core import Core
from .events import Flag
from .findings import Site, author
from .global_memory import GlobalArray
from .instruction import Plan
from .pipe import NOTHING, Pipe


class BareCore(Core):
    """Values, flags and timeline; no order, definedness or bounds but the end of an array's padding."""

    __slots__ = ()

    def issue(self, plan: Plan, site: Site | None = None, gm: GlobalArray | None = None, at: int = 0) -> Any:
        """The same without any check but the end of an array's padding."""
        pipe = plan.pipe
        if pipe.parked is not None:
            if site is None:
                site = author(2)
            return self.park(pipe, self.issue, (plan, site, gm, at), site)
        pipe.n += 1
        result = None
        if gm is None:
            result = plan.run()
        else:
            end = at + plan.span
            if end > gm.nbytes or at < 0:
                self.stray(plan, site or author(2), gm, at, end)
            view = plan.view
            if plan.stores:
                if at == gm.high and view is not None:
                    gm.high = end
                else:
                    gm.stores += 1
                    gm.claim(at, end, fill=not plan.gm.plain)  # type: ignore[union-attr]
            elif gm.owned:
                gm.cover(at, end)
            if view is None:
                result = plan.run(gm, at)
            elif plan.stores:
                gm.data[at:end] = view
            else:
                view[:] = gm.data[at:end]
            pipe.moved += plan.nbytes
        free = pipe.free + plan.cycles
        if pipe.cold:
            free += pipe.cold
            pipe.cold = 0
        pipe.free = free
        if not pipe.slot:
            self.catch_up()
        return result

    def set_flag(self, flag: Flag, site: Site | None = None) -> None:
        """`set_flag` where nothing asks for order: the token carries a time alone."""
        src = flag.src
        if flag.outstanding or src.parked is not None:
            self.set_slowly(flag, site or author(2))
        else:
            flag.outstanding = 1
            flag.last_set = site
            flag.tokens.append((src.clock, NOTHING, src.free))

    def wait_flag(self, flag: Flag, site: Site | None = None) -> None:
        """`wait_flag` where nothing asks for order."""
        flag.outstanding -= 1
        dst = flag.dst
        if flag.tokens and dst.parked is None and dst.slot:
            time = flag.tokens.popleft()[2]
            if time > dst.free:  # `Pipe.rest`, in place
                dst.idle += time - dst.free
                dst.free, dst.cold = time, dst.latency
        else:
            self.wait_slowly(flag, site or author(2))


class HoldingCore(Core):
    """A set whose flag is still up holds its pipe until the flag is taken down (`Checks.hold_sets`)."""

    __slots__ = ()

    def set_flag(self, flag: Flag, site: Site | None = None) -> None:
        """Every set may have to wait."""
        self.set_slowly(flag, site or author(2))

    def wait_flag(self, flag: Flag, site: Site | None = None) -> None:
        """Every wait may let a held set go."""
        flag.outstanding -= 1
        self.wait_slowly(flag, site or author(2))


class _Recorded(Core):
    """Enters every call and every instruction into the record of the launch."""

    __slots__ = ()

    def _enter(self, call: str, site: Site, *args: Any) -> Site:
        """Enter a call, which ends in its site; the one object for that site."""
        calls = self.device.record.calls  # type: ignore[union-attr]
        site = calls.site(site)
        calls.enter(self, call, (*args, site), site)
        return site

    def issue(self, plan: Plan, site: Site | None = None, gm: GlobalArray | None = None, at: int = 0) -> Any:
        """Issue and enter into the record of the launch."""
        record = self.device.record
        assert record is not None
        site = record.calls.site(site or author(2))
        record.calls.enter(self, "issue", (plan, site, gm), site, at)
        if plan.pipe.parked is not None:
            return self.park(plan.pipe, self.issue, (plan, site, gm, at), site)
        result = super().issue(plan, site, gm, at)
        record.enter(self, plan, gm, at, site)
        return result

    def set_flag(self, flag: Flag, site: Site | None = None) -> None:
        """Enter, and set."""
        super().set_flag(flag, self._enter("set_flag", site or author(2), flag))

    def wait_flag(self, flag: Flag, site: Site | None = None) -> None:
        """Enter, and wait."""
        site = self._enter("wait_flag", site or author(2), flag)
        dst = flag.dst
        before, token = dst.clock, flag.tokens[0] if flag.tokens and dst.parked is None else None
        super().wait_flag(flag, site)
        if token is not None and self.checks.hazards:
            notes.redundant(self, flag, before, token[0], site)

    def barrier(self, pipe: Pipe, site: Site) -> None:
        """Enter; a barrier that was parked comes here again."""
        super().barrier(pipe, self._enter("barrier", site, pipe))

    def barrier_all(self, site: Site) -> None:
        """Enter, and drain."""
        super().barrier_all(self._enter("barrier_all", site))

    def fence(self, memories: tuple[str, ...], site: Site | None = None) -> None:
        """Enter, and fence."""
        super().fence(memories, self._enter("fence", site or author(2), memories))

    def drain(self, pipe: Pipe) -> None:
        """Enter, and wait for a pipe."""
        self.device.record.calls.enter(self, "drain", (pipe,), None)  # type: ignore[union-attr]
        super().drain(pipe)

    def park(self, pipe: Pipe, call: Callable[..., Any], args: tuple[Any, ...], site: Site | None) -> None:
        """A call of the language that is worked out when its pipe has come to it is entered here."""
        if getattr(call, "__self__", None) is not self:
            self.device.record.calls.function(self, call, args, site)  # type: ignore[union-attr]
        super().park(pipe, call, args, site)


class RecordedCore(_Recorded, Core):
    """Checked and recorded."""

    __slots__ = ()


class RecordedHoldingCore(_Recorded, HoldingCore):
    """Checked and recorded, with held sets."""

    __slots__ = ()


class _ClockedBareCore(BareCore):
    """Without checks, but with clocks, since a replay needs them."""

    __slots__ = ()

    set_flag, wait_flag = Core.set_flag, Core.wait_flag


class RecordedBareCore(_Recorded, _ClockedBareCore):
    """Recorded without checks."""

    __slots__ = ()


def core_class(checks: Checks, record: bool) -> type[Core]:
    """The machine that a launch asks for. Held sets need the clocks' tokens, so they are not for the bare one."""
    if checks.hold_sets:
        return RecordedHoldingCore if record else HoldingCore
    if checks.hazards:
        return RecordedCore if record else Core
    return RecordedBareCore if record else BareCore
