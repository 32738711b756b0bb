"""One line of a data cache, and the faults of what it holds (see `cache`)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .findings import Finding, Site, place
from .instruction import Plan, gm_shape
from .intervals import WHOLE_LINE
from .ledger import Use
from .memory import UNDEFINED, runs_of
from .partition import Access
from .pipe import Known, Token

if TYPE_CHECKING:
    from .core import Core
    from .device import Device
    from .global_memory import GlobalArray

LINE = 64  # bytes
CLEAN = "data_cache_clean_and_invalid"
APART = "words of different cores in different 64-byte lines"
CHANGED = "they have changed in memory since the line was filled"


class Line:
    """One line: its bytes, which of them are newer than memory, and what memory held when it was filled."""

    __slots__ = ("array", "at", "data", "dirty", "known", "preloaded", "seen", "site")

    def __init__(self, array: GlobalArray, at: int, known: Known) -> None:
        self.array, self.at, self.known = array, at, known
        self.seen = memory_bytes(array, at, LINE)
        self.data = bytearray(self.seen)
        self.dirty: set[int] = set()
        self.site: Site | None = None  # of the first store
        self.preloaded = False  # filled before anyone read it

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


def nothing(*_: Any) -> None:
    """Work of an instruction that moves no bytes of its own."""


def unchecked(*_: Any) -> None:
    """For entries that are compared with nothing."""


def memory_bytes(array: GlobalArray, at: int, nbytes: int) -> bytes:
    """Bytes of an array; what lies behind it is undefined."""
    return bytes(array.bytes(at, at + nbytes)).ljust(nbytes, bytes((UNDEFINED,)))


def put(line: Line, gm: GlobalArray, at: int) -> None:
    """Write a line to memory, whole."""
    gm.stores += 1
    end = min(line.at + LINE, gm.nbytes)
    gm.claim(line.at, end, fill=False)
    gm.data[line.at : end] = bytes(line.data[: end - line.at])
    if gm.defined is not None:
        for a, b in line.runs(dirty=True):
            gm.defined[a:b] = True


def shared(core: Core, line: Line, site: Site | None) -> None:
    """Whether the clean bytes of a line that is written back belong to another core."""
    gm = line.array
    told = partial(_clobbered, core.name, line, site)

    def report(text: str) -> None:
        core.device.report(Finding("CACHE_LINE_SHARED", text, core.name, CLEAN, (site,), remedy=APART))

    def clash(earlier: Access, a: int, b: int, write: bool) -> None:
        if not write or earlier[5] in (-1, core.serial):
            return
        clock = line.known.get(earlier[5])  # what had ended when the line was filled
        if clock is None or earlier[0] > clock[earlier[1]]:
            other = core.device.core_name(earlier[5])
            report(told(a, b, f"{other} writes them ({earlier[3].name}, {place(earlier[2])})"))

    for a, b in line.runs(dirty=False):
        old, now = line.seen[a - line.at : b - line.at], memory_bytes(gm, a, b - a)
        if old != now:
            report(told(a, b, CHANGED))
        shape = gm_shape(b - a, write=True, atomic=WHOLE_LINE)
        plan = Plan("data_cache_clean_and_invalid", core.scalar, (), (), nothing, 0, shape)
        n = core.scalar.n + 1  # the store of the dirty bytes, which follows
        me: Access = [n, core.scalar.slot, site, plan, core.turn, core.serial, core.scalar.clock]
        gm.runmap().write(a, b, me, clash, WHOLE_LINE)


def uncleaned(device: Device, name: str, line: Line, runs: list[tuple[int, int]]) -> None:
    """The launch has ended, and a core has not cleaned a line with dirty bytes."""
    text = (
        f"set_value, {place(line.site)}: bytes [{runs[0][0]}:{runs[-1][1]}) of {line.array.name} are still in the "
        f"data cache of {name} when the kernel ends; needs {CLEAN}"
    )
    device.report(Finding("CACHE_NOT_FLUSHED", text, name, "set_value", (line.site,), "warn", remedy=CLEAN))
    changed(device, name, line)


def changed(device: Device, name: str, line: Line) -> None:
    """Whether a line that is written back at the end of the launch undoes what others have stored beside it."""
    for a, b in line.runs(dirty=False):
        if line.seen[a - line.at : b - line.at] != memory_bytes(line.array, a, b - a):
            text = _clobbered(name, line, line.site, a, b, CHANGED)
            device.report(Finding("CACHE_LINE_SHARED", text, name, "set_value", (line.site,), remedy=APART))


def _clobbered(name: str, line: Line, site: Site | None, a: int, b: int, why: str) -> str:
    return (
        f"the line [{line.at}:{line.at + LINE}) of {line.array.name} goes to memory whole ({place(site)}, {name}), and "
        f"with it old copies of bytes [{a}:{b}): {why}; needs {APART}"
    )


def stale(core: Core, gm: GlobalArray, at: int, nbytes: int, site: Site) -> None:
    for k in range(at, at + nbytes):
        line = core.lines[gm, k // LINE]
        if k < gm.nbytes and k - line.at not in line.dirty and gm.bytes(k, k + 1)[0] != line.seen[k - line.at]:
            cure, last = f"{CLEAN} before the read", gm.runmap().writer(k)
            who = f" ({_call(core, last)})" if last is not None else ""
            text = (
                f"get_value, {place(site)} (S) on {core.name} finds byte {k} of {gm.name} in its data cache, but "
                f"memory has changed since{who}; needs {cure}"
            )
            core.device.report(Finding("CACHE_STALE", text, core.name, "get_value", (site,), remedy=cure))
            return


def _call(core: Core, access: Access) -> str:
    return f"{access[3].name}, {place(access[2])}, {access[3].pipe.name} of {core.device.core_name(access[5])}"


def undefined(core: Core, gm: GlobalArray, at: int, nbytes: int, site: Site) -> None:
    if gm.defined is None or not core.checks.hazards or gm.defined[at : at + nbytes].all():
        return
    text = f"get_value, {place(site)} (S) uses undefined bytes {{}} of argument {gm.name!r}: never written"
    core.device.undefined(core, Use(core.name, core.me, None, [(at, at + nbytes)], text, []))
