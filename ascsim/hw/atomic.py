"""What an atomic store to global memory needs beside a plain one: it uses the bytes that stand there.

Atomic stores of one kind do not conflict (`intervals`). But a sum of floats depends on the order of its terms, which
is worth a note (ATOMIC_ORDER) where nothing orders them. Not here: what the update computes (the plan's `run`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .findings import place
from .ledger import Use
from .memory import runs_of
from .partition import Access

if TYPE_CHECKING:
    from .core import Core
    from .global_memory import GlobalArray

FLOAT_SUMS = frozenset(("add float16", "add float32", "add bfloat16"))  # kinds of update whose order shows


def before(core: Core, me: Access, gm: GlobalArray, at: int, end: int) -> None:
    """Judge an atomic store that is about to be compared with the earlier accesses."""
    if gm.defined is not None:
        _undefined(core, me, gm, at)
    if me[3].gm.atomic in FLOAT_SUMS and (gm.index is not None or (at < gm.high and end > gm.low)):
        _order(core, me, gm, at)


def _undefined(core: Core, me: Access, gm: GlobalArray, at: int) -> None:
    assert gm.defined is not None
    missing = np.zeros(gm.defined.size, np.bool_)
    for a, b in me[3].gm.runs(at):
        missing[a:b] = ~gm.defined[a:b]
    runs = runs_of(missing)
    if runs:
        plan = me[3]
        text = (
            f"{plan.name}, {place(me[2])} ({plan.pipe.name}) updates undefined bytes {{}} of argument {gm.name!r} "
            "atomically: never written"
        )
        core.device.undefined(core, Use(core.name, me, None, runs, text, []))


def _order(core: Core, me: Access, gm: GlobalArray, at: int) -> None:
    kind = me[3].gm.atomic
    known = core.slots[me[1]].known
    for a, b in me[3].gm.runs(at):
        for earlier, lo, hi in gm.runmap().atomic(a, b):
            if earlier[3].gm.atomic != kind:
                continue
            same = earlier[5] == me[5]
            clock = me[6] if same else known.get(earlier[5])
            if clock is None or earlier[0] > clock[earlier[1]]:
                other = core.device.core_name(earlier[5])
                cure = f"pipe_barrier(PIPE_{me[3].pipe.name}) between" if same else "an order between the two cores"
                mine, others = (f"{who[3].name}, {place(who[2])} ({who[3].pipe.name})" for who in (me, earlier))
                text = (
                    f"{mine} on {core.name} and {others} on {other} {kind} to the same bytes [{lo}:{hi}) of {gm.name} "
                    f"in either order: the last bits of the sum depend on it; {cure} fixes it"
                )
                core.report("ATOMIC_ORDER", text, earlier[2], me[2], operation=me[3].name)
                return
