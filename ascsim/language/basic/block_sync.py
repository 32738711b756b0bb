"""Flags and barriers. Meetings of cores are in `meetings`.

Pages: SetFlag/WaitFlag, PipeBarrier, DataSyncBarrier, CrossCoreSetFlag, CrossCoreWaitFlag.
"""

from __future__ import annotations

from typing import Any

from ...hw.core import Core
from ...hw.current import core as current
from ...hw.errors import ArgumentValueError
from ...hw.events import EVENTS, SILENT, Flag
from ...hw.findings import Site, author, place
from ..core.enums import HardEvent, MemDsbT, PipeID
from ..core.ir_value import Int32
from ..core.place import index, report, running
from ..plans import OTHER_KIND

_core = current.get


def set_flag(event: Any, event_id: Any = 0) -> None:
    """Raise a flag once everything issued so far to the event's first pipe has ended.

    `event`: HardEvent A_B; `event_id`: 0 to 7 (without a TPipe 0 to 5; with one, from alloc_event_id or
    fetch_event_id). Faults: FLAG_BAD_ID, FLAG_DOUBLE_SET, FLAG_LEFT_SET, FLAG_ID_CONFLICT; warnings: FLAG_BAD_PAIR,
    FLAG_RESERVED_ID. Page: SetFlag/WaitFlag.
    """
    core = _core()
    if event_id.__class__ is Int32:
        event_id = event_id.v
    elif event_id.__class__ is not int:
        event_id = index(event_id, "set_flag", "event_id")
    try:
        flag = core.flags[event][event_id]
    except (AttributeError, KeyError, TypeError, IndexError):
        _no_flag(event, event_id, "set_flag", author(1))
        return
    if flag.guard:
        _guarded(core, flag, "set_flag", author(1))
    core.set_flag(flag)


def wait_flag(event: Any, event_id: Any = 0) -> None:
    """Hold the event's second pipe until the flag is up, then take it down. Page: SetFlag/WaitFlag.

    Arguments as set_flag. Faults: FLAG_BAD_ID, DEADLOCK where S would wait for ever; warning: FLAG_BAD_PAIR.
    """
    core = _core()
    if event_id.__class__ is Int32:
        event_id = event_id.v
    elif event_id.__class__ is not int:
        event_id = index(event_id, "wait_flag", "event_id")
    try:
        flag = core.flags[event][event_id]
    except (AttributeError, KeyError, TypeError, IndexError):
        _no_flag(event, event_id, "wait_flag", author(1))
        return
    core.wait_flag(flag)


def _no_flag(event: Any, event_id: Any, operation: str, site: Site) -> None:
    """A flag that is not there: a bad event or id, a pair that this kind of core has not, or a barrier in disguise."""
    core = running(operation)
    number = index(event, operation, "event", "a HardEvent")
    if not 0 <= number < len(EVENTS):
        rule = f"a HardEvent, 0 to {len(EVENTS) - 1}"
        report(core, "FLAG_BAD_PAIR", f"event = {number}; rule: {rule}", site, operation, severity="fault")
        return
    if not 0 <= event_id <= 7:
        nearest = min(max(event_id, 0), 7)
        what = f"event_id = {event_id} of {HardEvent(number).name} on {core.name}, {place(site)}"
        text = f"{what}; rule: 0 to 7; nearest legal value: {nearest}"
        report(core, "FLAG_BAD_ID", text, site, operation)
        return
    first, second = EVENTS[number]
    if first == second and first in core.pipes:  # V_V and FIX_FIX: the set is a barrier, the wait nothing
        if operation == "set_flag":
            core.barrier(core.pipes[first], site)
        return
    name = HardEvent(number).name
    silent = core.device.mix and name in SILENT[core.kind]
    what = f"event {name} does not exist on {core.kind} cores"
    text = f"{name} id {event_id} on {core.name}, {place(site)}: {what}; the call does nothing"
    report(core, "FLAG_BAD_PAIR", text, site, operation, severity="note" if silent else "")


def _guarded(core: Core, flag: Flag, operation: str, site: Site) -> None:
    """An id that is not the author's to use."""
    what = f"{flag.name} on {core.name}, {place(site)}"
    if flag.holder:
        text = f"{what}: belongs to {flag.holder}; take ids from alloc_event_id or fetch_event_id"
        report(core, "FLAG_ID_CONFLICT", text, site, operation)
    elif core.state.get("tpipe") is not None:
        own = "under a TPipe ids come from alloc_event_id or fetch_event_id, a fixed one may collide"
        text = f"{what}: {own}"
        report(core, "FLAG_RESERVED_ID", text, site, operation)
    else:
        kept = "ids 6 and 7 are kept by the system and by automatic synchronisation; use 0 to 5"
        text = f"{what}: {kept}"
        report(core, "FLAG_RESERVED_ID", text, site, operation)


def pipe_barrier(pipe: Any) -> None:
    """What was issued to a pipe ends before anything issued to it later starts; PIPE_ALL: all pipes, S included.

    Fault: BAD_PIPE (PIPE_S, or a pipe that the chip has not). Page: PipeBarrier.
    """
    site = author(1)
    core = running("pipe_barrier")
    number = index(pipe, "pipe_barrier", "pipe", "a PipeID")
    if number == _ALL:
        core.barrier_all(site)
        return
    name = _REAL.get(number) or _pipe_name(core, number, "pipe_barrier", site, " or PIPE_ALL")
    if name in core.pipes:
        core.barrier(core.pipes[name], site)
    elif not core.device.mix:
        _no_pipe(core, name, "pipe_barrier", site)


_ALL = int(PipeID.PIPE_ALL)
_REAL = {
    int(PipeID[f"PIPE_{name}"]): name for name in ("V", "M", "MTE1", "MTE2", "MTE3", "FIX")
}  # S has no barrier; MTE4, MTE5 and V2 do not exist on 2201


def _no_pipe(core: Core, name: str, operation: str, site: Site, also: str = "") -> None:
    """WRONG_CORE: a pipe of the other kind of core."""
    legal = ", ".join(f"PIPE_{pipe}" for pipe in core.pipes if pipe != "S")
    report(core, "WRONG_CORE", f"{core.kind} cores have no pipe {name}; rule: {legal}{also}", site, operation)


def _pipe_name(core: Core, number: int, operation: str, site: Site, also: str = "") -> str:
    name = _REAL.get(number)
    if name is None:
        legal = ", ".join(f"PIPE_{n}" for n in _REAL.values())
        report(core, "BAD_PIPE", f"pipe = {number}; rule: {legal}{also}", site, operation)
    return name or ""


_FENCED: dict[int, tuple[str, ...]] = {MemDsbT.ALL: ("GM", "UB"), MemDsbT.DDR: ("GM",), MemDsbT.UB: ("UB",)}


def data_sync_barrier(arg0: Any) -> None:
    """Accesses so far to the named memory end before anything issued later: MemDsbT ALL (GM and UB), DDR (GM), UB.

    SEQ is reserved and refused. Page: DataSyncBarrier.
    """
    site = author(1)
    core = running("data_sync_barrier")
    number = index(arg0, "data_sync_barrier", "arg0")
    if number not in _FENCED:
        report(core, "BAD_PIPE", f"arg0 = {number}; rule: MemDsbT.ALL, DDR or UB", site, "data_sync_barrier")
    core.fence(_FENCED[number])


def cross_core_set_flag(flag_id: Any, mode_id: Any, pipe: Any) -> None:
    """Report to other cores once everything issued so far to `pipe` has ended.

    `flag_id`: 0 to 15 (11 to 14 belong to sync_all); `mode_id`: 0 all cores of this kind, 1 the two vector cores of a
    group, 2 cube core and vector cores of a group. Unlike other calls it acts on both kinds of core, so a pipe that the
    core lacks is WRONG_CORE in a mix kernel too. Faults: XFLAG_*. Page: CrossCoreSetFlag.
    """
    site = author(1)
    core = running("cross_core_set_flag")
    name = _pipe_name(core, index(pipe, "cross_core_set_flag", "pipe", "a PipeID"), "cross_core_set_flag", site)
    if name not in core.pipes:
        guard = f", or the call under `if asc.ascend_is_{OTHER_KIND[core.kind]}()`" if core.device.mix else ""
        _no_pipe(core, name, "cross_core_set_flag", site, guard)
        return
    number, mode = index(flag_id, "cross_core_set_flag", "flag_id"), _mode(mode_id, "cross_core_set_flag")
    core.device.cross.set(core, number, mode, core.pipes[name], site)


def _mode(mode_id: Any, operation: str) -> int:
    mode = index(mode_id, operation, "mode_id")
    if mode not in (0, 1, 2):
        raise ArgumentValueError(
            operation, operand="mode_id", value=mode, rule="0, 1 or 2", nearest=min(max(mode, 0), 2)
        )
    return mode


def cross_core_wait_flag(flag_id: Any, mode_id: Any = 0, pipe: Any = PipeID.PIPE_S) -> None:
    """S issues nothing more until this core's counter of `flag_id` is above zero, then takes one.

    `mode_id` (0, 1 or 2) and `pipe` have no effect on this chip. Page: CrossCoreWaitFlag.
    """
    core = running("cross_core_wait_flag")
    index(pipe, "cross_core_wait_flag", "pipe", "a PipeID")
    _mode(mode_id, "cross_core_wait_flag")
    core.device.cross.wait(core, index(flag_id, "cross_core_wait_flag", "flag_id"), author(1))


__all__ = [
    "cross_core_set_flag",
    "cross_core_wait_flag",
    "data_sync_barrier",
    "pipe_barrier",
    "set_flag",
    "wait_flag",
]
