"""Where memories end, for footprints inside a core and in global memory.

Not here: the ends of tensors (the language knows them), and alignment (a rule of each operand).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .errors import LaunchError
from .findings import Site, many
from .global_memory import ENDED, PADDING, GlobalArray
from .instruction import Plan
from .memory import Piece, Region, last_byte

if TYPE_CHECKING:
    from .core import Core

BLOCK = 32  # bytes: what a block copy stores at least


class Bounds:
    """The part of a Core that keeps accesses inside memories. Mixed into `core.Core`, whose attributes it uses."""

    __slots__ = ()

    def region(  # type: ignore[misc]
        self: Core,
        memory: str,
        pieces: tuple[Piece, ...],
        operation: str,
        site: Site,
        tensor: Callable[[], str] | None = None,
    ) -> Region:
        """The interned region of a footprint; OOB_PHYS, which names the `tensor`, where it leaves the memory."""
        store = self.memories[memory]
        found = store.regions.get(pieces)
        if found is not None:
            return found
        start, end = min(first for first, _ in pieces), max(map(last_byte, pieces))
        if start < 0 or end > store.size:
            past = end - store.size
            where = f"{many(past, 'byte')} past the end" if past > 0 else f"{many(-start, 'byte')} before the start"
            whose = f"; its tensor: {tensor()}" if tensor is not None else ""
            self.report(
                "OOB_PHYS",
                f"{operation} touches {memory} bytes [{start}:{end}), {where} of {memory} ({store.size} bytes)"
                f"{whose}{self.loop()}",
                site,
                operation=operation,
            )
            raise AssertionError("OOB_PHYS ends the launch")
        return store.region(pieces)

    def loop(self: Core) -> str:  # type: ignore[misc]
        """`, in turn 3 of its loop`; nothing outside a loop."""
        return f", in turn {self.turn} of its loop" if self.turn >= 0 else ""

    def stray(self: Core, plan: Plan, site: Site, gm: GlobalArray, at: int, end: int) -> None:  # type: ignore[misc]
        """An access that leaves its array: a warning inside the padding, a fault beyond it."""
        if gm.nbytes == ENDED:
            raise LaunchError(plan.name, "the tensor belongs to a launch that has ended", operand=gm.name)
        past = end - gm.nbytes
        if plan.stores and at >= 0 and 0 < past < BLOCK and plan.gm.block % BLOCK == 0:  # type: ignore[union-attr]
            self.tail(plan, site, gm, at, end)
            return
        beyond = at < 0 or past > PADDING
        verb = "writes" if plan.gm is not None and plan.gm.write else "reads"
        where = f"{many(-at, 'byte')} before its start" if at < 0 else f"{many(past, 'byte')} past its end"
        self.report(
            "OOB_GM",
            f"{plan.name} {verb} bytes [{at}:{end}) of argument {gm.name!r} ({gm.nbytes} bytes), {where}{self.loop()}",
            site,
            operation=plan.name,
            severity="fault" if beyond else "warn",
        )
        if not gm.owned:
            gm.own()

    def tail(self: Core, plan: Plan, site: Site, gm: GlobalArray, at: int, end: int) -> None:  # type: ignore[misc]
        """A store of whole blocks, the last of which reaches past the end of its array: into the padding behind it."""
        self.report(
            "GM_TAIL",
            f"{plan.name} stores bytes [{at}:{end}) of argument {gm.name!r} ({gm.nbytes} bytes) in whole blocks of "
            f"{BLOCK} bytes: the last one puts junk into the {many(end - gm.nbytes, 'byte')} behind it, nobody's; "
            "data_copy_pad stores single bytes",
            site,
            operation=plan.name,
        )
        if not gm.owned:
            gm.own()
