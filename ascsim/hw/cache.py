"""The data cache of one core: scalar access to global memory, 64-byte lines, written back when cleaned.

Nothing keeps a cache coherent with other cores or with the copies of MTE2, MTE3 and FIX, which bypass it:

CACHE_NOT_FLUSHED   someone reads or overwrites bytes in memory that are newer in a cache; a warning where nobody does
                    but the kernel ends without having cleaned them
CACHE_STALE         a hit on bytes that someone else has changed since the line was filled
CACHE_LINE_SHARED   a line is written back whole, and with it old copies of bytes that are another core's

A word that another core's clean brought to memory orders its reader after that clean ("reads from"). A core that
reads unchanged bytes again and again is polling: it gives up its turn until they change.

Not here: eviction at an unknown moment (only the oldest line of a full cache is written back early), the caches of
instructions, and the time of a miss.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .deadlock import stuck_cores
from .findings import Finding, Site, place
from .instruction import GmShape, Plan, gm_shape
from .intervals import DIRTY, WHOLE_LINE
from .ledger import Use
from .meetings import arrive, foreign
from .memory import UNDEFINED, Access, runs_of
from .pipe import Known, Token
from .scheduler import Waiter

if TYPE_CHECKING:
    from .core import Core
    from .device import Device
    from .global_memory import GlobalArray

LINE = 64  # bytes
LINES = 512  # 32 KiB
NEVER_ENDED = 1 << 63  # number of a store that only the cache has seen: no clock reaches it
PATIENCE = 1000  # equal reads in a row, nothing else issued, after which a core that nobody can help is stuck
Key = tuple["GlobalArray", int]  # array, number of the line in it


class Line:
    """One line: its bytes, which of them are newer than memory, and what memory held when it was filled."""

    __slots__ = ("array", "at", "data", "dirty", "known", "seen", "site")

    def __init__(self, array: GlobalArray, at: int, known: Known) -> None:
        self.array, self.at, self.known = array, at, known
        self.seen = _memory(array, at, LINE)
        self.data = bytearray(self.seen)
        self.dirty: set[int] = set()
        self.site: Site | None = None  # of the first store

    def runs(self, dirty: bool) -> list[tuple[int, int]]:
        """Runs of dirty or of clean bytes, as offsets in the array, its padding left out."""
        size = min(LINE, self.array.nbytes - self.at)
        mask = np.array([(k in self.dirty) is dirty for k in range(size)], np.bool_)
        return [(self.at + a, self.at + b) for a, b in runs_of(mask)]


class Cleaned:
    """The last clean of a line: what it wrote, and all that its core had done by then."""

    __slots__ = ("data", "serial", "token")

    def __init__(self, serial: int, data: dict[int, int], token: Token) -> None:
        self.serial, self.data, self.token = serial, data, token


def load(core: Core, gm: GlobalArray, at: int, nbytes: int, site: Site) -> bytes:
    """get_value: the bytes as the core sees them."""
    first, last = at // LINE, (at + nbytes - 1) // LINE
    if all((gm, number) in core.lines for number in range(first, last + 1)):
        core.issue(_plan(core, "get_value"), site)
    else:
        _follow(core, gm, at, nbytes)
        core.issue(_plan(core, "get_value", gm_shape(nbytes)), site, gm, at)
        _undefined(core, gm, at, nbytes, site)
    value = b"".join(
        bytes(_line(core, gm, number).data[max(0, at - number * LINE) : at + nbytes - number * LINE])
        for number in range(first, last + 1)
    )
    _stale(core, gm, at, nbytes, site)
    _poll(core, gm, at, value, site)
    return value


def store(core: Core, gm: GlobalArray, at: int, data: bytes, site: Site) -> None:
    """set_value: changed in the cache; memory follows when the line is cleaned."""
    core.issue(_plan(core, "set_value"), site)
    core.polled = None
    for k, byte in enumerate(data):
        line = _line(core, gm, (at + k) // LINE)
        line.data[(at + k) % LINE] = byte
        line.dirty.add((at + k) % LINE)
        line.site = line.site or site
    if core.checks.hazards:
        shape = gm_shape(len(data), write=True, atomic=DIRTY)
        plan = Plan("set_value", core.scalar, (), (), _nothing, 0, shape)
        me: Access = [NEVER_ENDED, core.scalar.slot, site, plan, core.turn, core.serial, core.scalar.clock]
        gm.runmap().write(at, at + len(data), me, _unchecked, DIRTY)


def clean(core: Core, gm: GlobalArray, at: int, whole: bool, site: Site) -> None:
    """data_cache_clean_and_invalid: dirty lines go to memory, and they are dropped; one line, or all of the cache."""
    keys = list(core.lines) if whole else [(gm, at // LINE)]
    for key in keys:
        line = core.lines.pop(key, None)
        if line is not None and line.dirty:
            _write_back(core, line, site)
    core.issue(_plan(core, "data_cache_clean_and_invalid"), site)


def leave(core: Core) -> None:
    """The core has ended: its dirty lines wait for the end of the launch."""
    core.device.leftover += [(core.serial, line) for line in core.lines.values() if line.dirty]


def end(device: Device) -> None:
    """The launch has ended: what was never cleaned is written back in core order."""
    for serial, line in sorted(device.leftover, key=lambda pair: pair[0]):
        name = device.core_name(serial)
        runs = line.runs(dirty=True)
        text = (
            f"set_value, {place(line.site)}: bytes [{runs[0][0]}:{runs[-1][1]}) of {line.array.name} are still in the "
            f"data cache of {name} when the kernel ends; needs data_cache_clean_and_invalid"
        )
        if device.checks.hazards:
            device.report(Finding("CACHE_NOT_FLUSHED", text, name, "set_value", (line.site,), "warn"))
        _put(line, line.array, line.at)


# ------------------------------------------------------------------ lines


def _nothing(*_: Any) -> None:
    """Work of an instruction that moves no bytes of its own."""


def _unchecked(*_: Any) -> None:
    """For entries that are compared with nothing."""


def _plan(core: Core, name: str, shape: GmShape | None = None) -> Plan:
    return Plan(name, core.scalar, (), (), _nothing, core.device.cost.scalar_access(), shape)


def _memory(array: GlobalArray, at: int, nbytes: int) -> bytes:
    """Bytes of an array; what lies behind it is undefined."""
    return bytes(array.bytes(at, at + nbytes)).ljust(nbytes, bytes((UNDEFINED,)))


def _line(core: Core, gm: GlobalArray, number: int) -> Line:
    line = core.lines.get((gm, number))
    if line is None:
        if len(core.lines) >= LINES:
            oldest = core.lines.pop(next(iter(core.lines)))
            if oldest.dirty:
                _write_back(core, oldest, oldest.site)
        line = core.lines[gm, number] = Line(gm, number * LINE, core.scalar.known)
    return line


def _put(line: Line, gm: GlobalArray, at: int) -> None:
    """Write a line to memory, whole."""
    gm.stores += 1
    end = min(line.at + LINE, gm.nbytes)
    gm.claim(line.at, end, fill=False)
    gm.data[line.at : end] = bytes(line.data[: end - line.at])
    if gm.defined is not None:
        for a, b in line.runs(dirty=True):
            gm.defined[a:b] = True


def _write_back(core: Core, line: Line, site: Site | None) -> None:
    """Dirty bytes are stores of the scalar unit; the clean bytes beside them must not be anyone else's."""
    gm = line.array
    if core.checks.hazards:
        _shared(core, line, site)
    runs = line.runs(dirty=True)
    cycles = core.device.cost.scalar_access()
    for number, (a, b) in enumerate(runs):
        put: Callable[..., None] = partial(_put, line) if number == 0 else _nothing
        shape = gm_shape(b - a, write=True)
        core.issue(Plan("data_cache_clean_and_invalid", core.scalar, (), (), put, cycles, shape), site, gm, a)
    data = {at: line.data[at - line.at] for a, b in runs for at in range(a, b)}
    token = foreign(core, core.scalar.ended(core.now))
    core.device.cleaned[gm, line.at // LINE] = Cleaned(core.serial, data, token)


# ------------------------------------------------------------------ checks


def _shared(core: Core, line: Line, site: Site | None) -> None:
    """Whether the clean bytes of a line that is written back belong to another core."""
    gm = line.array

    def clash(earlier: Access, a: int, b: int, write: bool) -> None:
        if not write or earlier[5] in (-1, core.serial):
            return
        clock = line.known.get(earlier[5])  # what had ended when the line was filled
        if clock is None or earlier[0] > clock[earlier[1]]:
            other = core.device.core_name(earlier[5])
            _report_shared(core, line, a, b, site, f"{other} writes them ({earlier[3].name}, {place(earlier[2])})")

    for a, b in line.runs(dirty=False):
        old, now = line.seen[a - line.at : b - line.at], _memory(gm, a, b - a)
        if old != now:
            _report_shared(core, line, a, b, site, "they have changed in memory since the line was filled")
        shape = gm_shape(b - a, write=True, atomic=WHOLE_LINE)
        plan = Plan("data_cache_clean_and_invalid", core.scalar, (), (), _nothing, 0, shape)
        n = core.scalar.n + 1  # the store of the dirty bytes, which follows
        me: Access = [n, core.scalar.slot, site, plan, core.turn, core.serial, core.scalar.clock]
        gm.runmap().write(a, b, me, clash, WHOLE_LINE)


def _report_shared(core: Core, line: Line, a: int, b: int, site: Site | None, why: str) -> None:
    core.report(
        "CACHE_LINE_SHARED",
        f"the line [{line.at}:{line.at + LINE}) of {line.array.name} goes to memory whole ({place(site)}), and with it "
        f"old copies of bytes [{a}:{b}): {why}; keep words of different cores in different 64-byte lines",
        site,
        operation="data_cache_clean_and_invalid",
    )


def _stale(core: Core, gm: GlobalArray, at: int, nbytes: int, site: Site) -> None:
    for k in range(at, at + nbytes):
        line = core.lines[gm, k // LINE]
        if k < gm.nbytes and k - line.at not in line.dirty and gm.bytes(k, k + 1)[0] != line.seen[k - line.at]:
            core.report(
                "CACHE_STALE",
                f"get_value, {place(site)} on {core.name} finds byte {k} of {gm.name} in its data cache, but memory "
                "has changed since; needs data_cache_clean_and_invalid before the read",
                site,
                operation="get_value",
            )
            return


def _undefined(core: Core, gm: GlobalArray, at: int, nbytes: int, site: Site) -> None:
    if gm.defined is None or not core.checks.hazards or gm.defined[at : at + nbytes].all():
        return
    text = f"get_value, {place(site)} (S) uses undefined bytes {{}} of argument {gm.name!r}: never written"
    core.device.undefined(core, Use(core.name, core.me, None, [(at, at + nbytes)], text, []))


# ------------------------------------------------------------------ other cores


def _follow(core: Core, gm: GlobalArray, at: int, nbytes: int) -> None:
    """A miss that returns what another core's clean wrote comes after that clean."""
    for number in range(at // LINE, (at + nbytes - 1) // LINE + 1):
        last = core.device.cleaned.get((gm, number))
        if last is None or last.serial == core.serial:
            continue
        wanted = range(max(at, number * LINE), min(at + nbytes, (number + 1) * LINE))
        if all(last.data.get(k) == gm.bytes(k, k + 1)[0] for k in wanted):
            arrive(core, last.token)


def _poll(core: Core, gm: GlobalArray, at: int, value: bytes, site: Site) -> None:
    """Give up the turn where the core does nothing but read the same unchanged bytes."""
    issued = tuple([pipe.n for pipe in core.slots[1:]])
    reading = (gm, at, value, site, issued)
    before, turns = core.polled or (None, 0)
    if before != reading:
        core.polled = reading, 0
        return
    core.polled = reading, turns + 1
    scheduler = core.device.scheduler
    nbytes = len(value)

    def why() -> str:
        return f"{core.name} reads bytes [{at}:{at + nbytes}) of {gm.name} again and again ({place(site)})"

    if scheduler.others_can_run():
        if core.checks.hazards:  # reads that see no change are no part of a race with the write that makes one
            gm.runmap().forget(at, at + nbytes, (core.serial, core.scalar.slot))
        scheduler.wait(core, lambda: _memory(gm, at, nbytes) != value, why, None)
    elif turns >= PATIENCE:
        waiters = [Waiter(core, lambda: False, why), *scheduler.waiting]
        raise stuck_cores(core.device, "rendezvous", "get_value", waiters)
