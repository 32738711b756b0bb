"""The machine with less, or with more: without any bookkeeping of order, and with a record.

Chosen once for a launch, so that what is switched off costs nothing.
"""

from __future__ import annotations

from typing import Any

from .checks import Checks
from .core import Core
from .events import Flag
from .findings import Site, author
from .global_memory import GlobalArray
from .instruction import Plan
from .pipe import NOTHING


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
    """Enters every instruction into the record of the launch."""

    __slots__ = ()

    def issue(self, plan: Plan, site: Site | None = None, gm: GlobalArray | None = None, at: int = 0) -> Any:
        """Issue and enter into the record of the launch."""
        if site is None:
            site = author(2)
        if plan.pipe.parked is not None:
            return self.park(plan.pipe, self.issue, (plan, site, gm, at), site)
        result = super().issue(plan, site, gm, at)
        self.device.record.enter(self, plan, gm, at)  # type: ignore[union-attr]
        return result


class RecordedCore(_Recorded, Core):
    """Checked and recorded."""

    __slots__ = ()


class RecordedHoldingCore(_Recorded, HoldingCore):
    """Checked and recorded, with held sets."""

    __slots__ = ()


class RecordedBareCore(_Recorded, BareCore):
    """Recorded without checks: the clocks are kept, since a replay needs them."""

    __slots__ = ()

    set_flag, wait_flag = Core.set_flag, Core.wait_flag


def core_class(checks: Checks, record: bool) -> type[Core]:
    """The machine that a launch asks for. Held sets need the clocks' tokens, so they are not for the bare one."""
    if checks.hold_sets:
        return RecordedHoldingCore if record else HoldingCore
    if checks.hazards:
        return RecordedCore if record else Core
    return RecordedBareCore if record else BareCore
