"""Workspaces of soft synchronisation: slots in global memory by which vector cores talk, and scratch in UB.

A slot is one 32-byte block whose first int32 says something. A call's reads and writes of its slots and scratch are
instructions with a duration, but private: the order of cores comes from the meeting itself, so slots take no part in
race checks. Not modelled: the polling (a call reads the slots once, however long it waits) and its traffic.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ..hw.core import PLAIN_STORE, Core
from ..hw.errors import ArgumentTypeError
from ..hw.findings import Site
from ..hw.global_memory import GlobalArray
from ..hw.instruction import Plan
from .copies import Moves, load_plan, store_plan
from .core.dtype import int32
from .core.global_tensor import GlobalTensor
from .core.place import Place, report
from .core.scalar_access import load_element
from .forms import present
from .operand import BLOCK, aligned, local, typed

WORDS = 8  # int32 in a slot


class Workspace:
    """The slots and the scratch of one call, checked. Every access ends before the next thing starts."""

    __slots__ = ("array", "core", "operation", "scratch", "site", "start")

    def __init__(self, core: Core, array: GlobalArray, start: int, scratch: Place, operation: str, site: Site) -> None:
        self.core, self.array, self.start, self.scratch = core, array, start, scratch
        self.operation, self.site = operation, site

    def fault(self, message: str) -> None:
        """The workspace is not what the protocol needs."""
        report(self.core, "SYNC_WORKSPACE", message, self.site, self.operation)

    def slot(self, number: int) -> int:
        """What a slot says now."""
        at = self.start + number * BLOCK
        return int.from_bytes(self.array.bytes(at, at + 4), "little", signed=True)

    def load(self, slot: int, slots: int, scratch_slot: int = 0) -> None:
        """Slots to scratch."""
        self._copy(load_plan, slot, slots, scratch_slot)

    def store(self, slot: int, slots: int, scratch_slot: int = 0) -> None:
        """Scratch to slots. Under an atomic mode the device would add to them: reported, here a plain store."""
        core, atomic = self.core, self.core.atomic
        if atomic != PLAIN_STORE:
            self.fault(f"under atomic {atomic[0]} its stores change the slots; rule: set_atomic_none before the call")
        core.atomic = PLAIN_STORE
        self._copy(store_plan, slot, slots, scratch_slot)
        core.atomic = atomic

    def _copy(self, make: Any, slot: int, slots: int, scratch_slot: int) -> None:
        here = self.scratch.offset(scratch_slot * WORDS)
        at, length = self.start + slot * BLOCK, slots * BLOCK
        plan: Plan = make(self.core, self.operation, here, Moves(length, length, length, 1), at, self.site)
        plan.private = True
        self.core.issue(plan, self.site, self.array, at)
        self.core.barrier_all(self.site)

    def word(self, at: int) -> int:
        """A word of the scratch, read by the scalar unit."""
        number: int = load_element(self.scratch, at, self.site).v
        return number

    def fill(self, at: int, words: int, value: int) -> None:
        """Put one number into words of the scratch."""
        core, start = self.core, self.scratch.start + at * 4
        region = core.region("UB", ((start, ((words * 4, 1),)),), self.operation, self.site)
        run = partial(_fill, self.scratch.offset(at), words, value)
        core.issue(Plan(self.operation, core.scalar, (), (region,), run, core.device.cost.scalar_access()), self.site)
        core.barrier_all(self.site)


def _fill(here: Place, words: int, value: int) -> None:
    here.array(words)[:] = value


def workspace(
    core: Core, gm: Any, ub: Any, gm_bytes: int, ub_bytes: int, operation: str, site: Site
) -> Workspace | None:
    """The workspace of a call that needs so many bytes; None where this kind of core does nothing."""
    scratch = local(core, ub, "ub_workspace", operation, site)
    typed(core, scratch, (int32,), "ub_workspace", operation, site)
    if not isinstance(gm, GlobalTensor):
        raise ArgumentTypeError(operation, "is no GlobalTensor", operand="gm_workspace", value=gm)
    window = gm._set(operation)
    if window.dtype is not int32:
        report(core, "BAD_DTYPE", f"gm_workspace has type {window.dtype}; rule: int32", site, operation)
    if not present(core, scratch.memory, operation, site):
        return None
    aligned(core, scratch, "ub_workspace", operation, site)
    array = window.array
    assert array is not None
    for name, has, needs in (
        ("gm_workspace", min(window.end, array.nbytes) - gm.start, gm_bytes),
        ("ub_workspace", scratch.nbytes, ub_bytes),
    ):
        if has < needs:
            text = f"{name} has {max(0, has)} bytes; rule: at least {needs}, 32 for each core that takes part"
            report(core, "SYNC_WORKSPACE", text, site, operation)
    return Workspace(core, array, gm.start, scratch, operation, site)
