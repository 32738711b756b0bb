"""The data cache of one core: scalar access to global memory, 64-byte lines, written back when cleaned.

Nothing keeps a cache coherent with other cores or with the copies of MTE2, MTE3 and FIX, which bypass it:

CACHE_NOT_FLUSHED   someone reads or overwrites bytes in memory that are newer in a cache; a warning where nobody does
                    but the kernel ends without having cleaned them
CACHE_STALE         a hit on bytes that someone else has changed since the line was filled
CACHE_LINE_SHARED   a line is written back whole, and with it old copies of bytes that are another core's

A word that another core's clean brought to memory orders a reader that polls it after that clean ("reads from"); a word
that is read once is a race, whichever core comes first. A core that
reads unchanged bytes again and again is polling: it gives up its turn until they change.

Not here: eviction at an unknown moment (only the oldest line of a full cache is written back early), the caches of
instructions, and the time of a miss.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .cache_line import LINE, Cleaned, Line, memory_bytes, nothing, put, shared, stale, unchecked, uncleaned, undefined
from .calls import recorded
from .deadlock import stuck_cores
from .findings import Site, place
from .instruction import GmShape, Plan, gm_shape
from .intervals import DIRTY
from .meetings import arrive, foreign
from .partition import Access
from .polling import repeats
from .scheduler import Waiter

if TYPE_CHECKING:
    from .core import Core
    from .device import Device
    from .global_memory import GlobalArray

LINES = 512  # 32 KiB
NEVER_ENDED = 1 << 63  # number of a store that only the cache has seen: no clock reaches it
PATIENCE = 1000  # equal reads in a row, nothing else issued, after which a core that nobody can help is stuck


@recorded()
def load(core: Core, gm: GlobalArray, at: int, nbytes: int, site: Site) -> bytes:
    """get_value: the bytes as the core sees them."""
    first, last = at // LINE, (at + nbytes - 1) // LINE
    lines = [core.lines.get((gm, number)) for number in range(first, last + 1)]
    if all(line is not None and not line.preloaded for line in lines):
        core.issue(_plan(core, "get_value"), site)
    else:
        if core.checks.hazards:
            _follow(core, gm, at, nbytes, site)
        core.issue(_plan(core, "get_value", gm_shape(nbytes)), site, gm, at)
        undefined(core, gm, at, nbytes, site)
    value = b"".join(
        bytes(_line(core, gm, number).data[max(0, at - number * LINE) : at + nbytes - number * LINE])
        for number in range(first, last + 1)
    )
    stale(core, gm, at, nbytes, site)
    _poll(core, gm, at, value, site)
    return value


@recorded()
def store(core: Core, gm: GlobalArray, at: int, data: bytes, site: Site) -> None:
    """set_value: changed in the cache; memory follows when the line is cleaned."""
    plan = _plan(core, "set_value", gm_shape(len(data), write=True))
    if at < 0 or at + len(data) > gm.nbytes:
        core.stray(plan, site, gm, at, at + len(data))
    core.issue(_plan(core, "set_value"), site)
    core.polled = None
    for k, byte in enumerate(data):
        line = _line(core, gm, (at + k) // LINE)
        line.data[(at + k) % LINE] = byte
        line.dirty.add((at + k) % LINE)
        line.site = line.site or site
    if core.checks.hazards:
        shape = gm_shape(len(data), write=True, atomic=DIRTY)
        plan = Plan("set_value", core.scalar, (), (), nothing, 0, shape)
        me: Access = [NEVER_ENDED, core.scalar.slot, site, plan, core.turn, core.serial, core.scalar.clock]
        gm.runmap().write(at, at + len(data), me, unchecked, DIRTY)


@recorded()
def preload(core: Core, gm: GlobalArray, at: int, site: Site) -> None:
    """data_cache_preload: fill the line of a byte. Only the bytes that are read later count as read."""
    if at < 0 or at >= gm.nbytes:
        core.stray(_plan(core, "data_cache_preload", gm_shape(1)), site, gm, at, at + 1)
    core.issue(_plan(core, "data_cache_preload"), site)
    fresh = (gm, at // LINE) not in core.lines
    _line(core, gm, at // LINE).preloaded |= fresh


@recorded()
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
        if not runs:  # all of it lies in the padding
            continue
        if device.checks.hazards:
            uncleaned(device, name, line, runs)
        put(line, line.array, line.at)


# ------------------------------------------------------------------ lines


def _plan(core: Core, name: str, shape: GmShape | None = None) -> Plan:
    return Plan(name, core.scalar, (), (), nothing, core.device.cost.scalar_access(), shape)


def _line(core: Core, gm: GlobalArray, number: int) -> Line:
    line = core.lines.get((gm, number))
    if line is None:
        if len(core.lines) >= LINES:
            oldest = core.lines.pop(next(iter(core.lines)))
            if oldest.dirty:
                _write_back(core, oldest, oldest.site)
        line = core.lines[gm, number] = Line(gm, number * LINE, core.scalar.known)
    return line


def _write_back(core: Core, line: Line, site: Site | None) -> None:
    """Dirty bytes are stores of the scalar unit; the clean bytes beside them must not be anyone else's."""
    gm = line.array
    if core.checks.hazards:
        shared(core, line, site)
    runs = line.runs(dirty=True)
    cycles = core.device.cost.scalar_access()
    for number, (a, b) in enumerate(runs):
        work: Callable[..., None] = partial(put, line) if number == 0 else nothing
        shape = gm_shape(b - a, write=True)
        core.issue(Plan("data_cache_clean_and_invalid", core.scalar, (), (), work, cycles, shape), site, gm, a)
    data = {at: line.data[at - line.at] for a, b in runs for at in range(a, b)}
    token = foreign(core, core.scalar.ended(core.now))
    core.device.cleaned[gm, line.at // LINE] = Cleaned(core.serial, data, token)


# ------------------------------------------------------------------ other cores


def _follow(core: Core, gm: GlobalArray, at: int, nbytes: int, site: Site) -> None:
    """A miss that returns what another core's clean wrote comes after that clean, if it polls."""
    for number in range(at // LINE, (at + nbytes - 1) // LINE + 1):
        last = core.device.cleaned.get((gm, number))
        if last is None or last.serial == core.serial:
            continue
        wanted = range(max(at, number * LINE), min(at + nbytes, (number + 1) * LINE))
        if all(last.data.get(k) == gm.bytes(k, k + 1)[0] for k in wanted) and repeats(site):
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
        scheduler.wait(core, lambda: memory_bytes(gm, at, nbytes) != value, why, site, None)
    elif turns >= PATIENCE:
        waiters = [Waiter(core, lambda: False, why, site), *scheduler.waiting]
        raise stuck_cores(core.device, "rendezvous", "get_value", waiters)
