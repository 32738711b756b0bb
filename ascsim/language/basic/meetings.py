"""Meetings of cores: sync_all, and the mailboxes ib_set and ib_wait.

The hard form of sync_all works by cross-core flags. The other calls work by words in a workspace in global memory,
which must be zero before the launch; what they poll on the device is a wait here (`language.workspace`). The event
ids that the vendor's code borrows for its copies are not taken from the author's. Pages: SyncAll, IBSet, IBWait.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site, author
from ..core.ir_value import unwrap
from ..core.place import index, report, running
from ..forms import signatures
from ..operand import BLOCK
from ..workspace import WORDS, Workspace, workspace


def sync_all(gm_workspace: Any = None, ub_workspace: Any = None, used_cores: Any = 0, is_aiv_only: Any = True) -> None:
    """All cores wait for all: everything before the call, on every core, comes before everything after it.

        sync_all(is_aiv_only=True)                              hard form, by cross-core flags 11 to 14
        sync_all(gm_workspace, ub_workspace, used_cores=0, is_aiv_only=True)   soft form, vector cores only

    Hard form: cores of the caller's kind meet; with is_aiv_only=False, which pyasc cannot emit (a warning says so),
    all cores of a mix kernel. It needs a MIX kernel type. Soft form: `used_cores` vector cores meet (0: all),
    by int32 workspaces of 32 bytes a core each; the one in global memory is zero before the launch.
    Faults: XFLAG_KERNEL_TYPE, XFLAG_RESERVED_ID, SYNC_WORKSPACE, DEADLOCK; warning: XFLAG_TOO_MANY_BLOCKS.
    Page: SyncAll.
    """
    site = author(1)
    core = running("sync_all")
    first = unwrap(gm_workspace)
    if isinstance(first, bool) and ub_workspace is None:  # sync_all(False)
        gm_workspace, is_aiv_only = None, first
    whole = not index(is_aiv_only, "sync_all", "is_aiv_only")
    if gm_workspace is None and ub_workspace is None:
        _foreign(core, "sync_all", whole, site)
        core.device.cross.sync_all(core, site, whole=whole)
    elif gm_workspace is None or ub_workspace is None:
        name = "gm_workspace" if gm_workspace is None else "ub_workspace"
        raise ArgumentTypeError("sync_all", "the soft form takes two workspaces", operand=name, rule="both or none")
    else:
        _foreign(core, "sync_all", whole, site)
        if core.device.ratio > 1 and not whole:
            text = (
                "the soft form is for vector-only kernels: in a 1:2 kernel the two vector cores of a group share a slot"
            )
            report(core, "XFLAG_KERNEL_TYPE", text, site, "sync_all")
        _soft(core, gm_workspace, ub_workspace, index(used_cores, "sync_all", "used_cores"), site)


sync_all.__overloads__ = signatures(  # type: ignore[attr-defined]
    "is_aiv_only=True", "gm_workspace, ub_workspace, used_cores=0, is_aiv_only=True"
)


def _foreign(core: Core, operation: str, whole: bool, site: Site) -> None:
    """Warn of an argument with which the kernel runs here and nowhere else."""
    if whole:
        text = "is_aiv_only=False does here what its page says, but pyasc 1.1 cannot emit the call"
        report(core, "XFLAG_KERNEL_TYPE", text, site, operation, severity="warn")


def _soft(core: Core, gm: Any, ub: Any, used: int, site: Site) -> None:
    device = core.device
    cores = device.blocks * device.aiv
    if not 0 <= used <= cores:
        nearest = min(max(used, 0), cores)
        rule = f"0 (all) to {cores}, the vector cores of the launch"
        raise ArgumentValueError("sync_all", operand="used_cores", value=used, rule=rule, nearest=nearest)
    used = used or cores
    room = workspace(core, gm, ub, cores * BLOCK, cores * BLOCK, "sync_all", site)
    if room is None:
        return
    if core.index >= used:
        room.fault(f"{core.name} calls it, but used_cores = {used}; rule: only cores below that number call")
        return
    core.barrier_all(site)
    key = "sync_all", room.array, room.start
    made: dict[Any, int] = core.state.setdefault("sync_all", {})
    calls = made.get(key, 0)
    made[key] = calls + 1
    room.load(core.index, 1, core.index)
    held = room.word(core.index * WORDS)
    if held != calls:
        text = f"the slot of {core.name} holds {held} before its call number {calls + 1}; rule: {calls}, since the "
        room.fault(text + "workspace is zero before the launch and nothing else uses it")
    room.fill(core.index * WORDS, 1, calls + 1)
    room.store(core.index, 1, core.index)
    members = sum(place.kind == "aiv" and place.index < used for place in device.places)
    device.cross.meet(key, core, members, "sync_all", site)
    room.load(0, used)


def ib_set(gm_workspace: Any, ub_workspace: Any, block_idx: Any, event_id: Any, is_aiv_only: Any = True) -> None:
    """Tell the core that calls ib_wait with the same arguments that all work of this core so far has ended.

    A mailbox for one letter in slot cores * event_id + block_idx of the workspace: a second set waits until the first
    has been taken. `cores` is get_block_num(), twice that with is_aiv_only=False. Vector cores only. `ub_workspace`:
    32 bytes of scratch. Faults: SYNC_WORKSPACE, XFLAG_LEFT_SET, DEADLOCK. Page: IBSet.
    """
    site = author(1)
    core, number, room = _box("ib_set", gm_workspace, ub_workspace, block_idx, event_id, is_aiv_only, site)
    if room is not None:
        cross = core.device.cross
        box, what = _slot(core, room, number)
        cross.await_empty(box, core, what, site)
        _leave(room, number, 1)
        cross.post(box, core, what, site)  # the other core finds the word: its polls follow this store


def ib_wait(gm_workspace: Any, ub_workspace: Any, block_idx: Any, event_id: Any, is_aiv_only: Any = True) -> None:
    """Wait for the ib_set with the same arguments and empty its slot. Arguments as ib_set. Page: IBWait."""
    site = author(1)
    core, number, room = _box("ib_wait", gm_workspace, ub_workspace, block_idx, event_id, is_aiv_only, site)
    if room is not None:
        cross = core.device.cross
        box, what = _slot(core, room, number)
        cross.take(box, core, what, site)
        _leave(room, number, 0)
        cross.taken(box, core)


def _box(
    operation: str, gm: Any, ub: Any, block_idx: Any, event_id: Any, aiv_only: Any, site: Site
) -> tuple[Core, int, Workspace | None]:
    """The core, the slot's number, and the workspace."""
    core = running(operation)
    whole = not index(aiv_only, operation, "is_aiv_only")
    _foreign(core, operation, whole, site)
    cores = core.device.blocks * (2 if whole else 1)
    block, event = index(block_idx, operation, "block_idx"), index(event_id, operation, "event_id")
    if not 0 <= block < cores:
        nearest = min(max(block, 0), cores - 1)
        raise ArgumentValueError(
            operation, operand="block_idx", value=block, rule=f"0 to {cores - 1}, below the cores", nearest=nearest
        )
    if event < 0:
        raise ArgumentValueError(operation, operand="event_id", value=event, rule="0 or more", nearest=0)
    number = cores * event + block
    return core, number, workspace(core, gm, ub, (number + 1) * BLOCK, BLOCK, operation, site)


def _slot(core: Core, room: Workspace, number: int) -> tuple[Hashable, str]:
    """After PIPE_ALL: the box of a slot, and what waits for it, in words."""
    core.barrier_all(room.site)
    box = "ib", room.array, room.start + number * BLOCK
    if box not in core.device.cross.boxes and room.slot(number) != 0:
        room.fault(f"slot {number} holds {room.slot(number)} before its first use; rule: zero before the launch")
    return box, f"{room.operation}, slot {number} of {room.array.name}"


def _leave(room: Workspace, number: int, word: int) -> None:
    """Poll a slot for the last time, and leave `word` in it."""
    room.load(number, 1)
    room.fill(0, 1, word)
    room.store(number, 1)


__all__ = ["ib_set", "ib_wait", "sync_all"]
