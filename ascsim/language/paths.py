"""The ways of a copy: one row a pair of memories, and what issues a copy along it. Page: Data paths (overview).

Not here: what makes the blocks of a copy (`basic.data_copy`), the plans themselves (`copies`, `moves`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..hw.core import PLAIN_STORE, Core
from ..hw.errors import NotSimulatedError
from ..hw.findings import Site, many
from ..hw.instruction import ANY, Plan
from . import copies
from .core.dtype import float16, float32, int32
from .core.global_tensor import GlobalTensor, Window
from .core.place import BLOCK, MEMORY_OF, Place, report
from .core.tensor import LocalTensor
from .moves import Side, move_plan
from .operand import aligned, local, typed
from .plans import present

BIAS_BLOCK = 64  # bytes
KNOWN = frozenset(MEMORY_OF)
THROUGH_GM = (
    "UB to L1: the library goes through global memory and a registered matmul object, to a tensor in TSCM, a position "
    "that pyasc has not got"
)


class Way(NamedTuple):
    """`issue(core, operation, dst, src, moves, site, key)`; `block`: bytes that block_len and dst_stride count."""

    issue: Callable[..., None]
    block: int = BLOCK


def way(
    core: Core, dst: Any, src: Any, operation: str, site: Site, among: Collection[tuple[str, str]] | None = None
) -> Way:
    """The way of a copy; a pair of memories that is none of `among` (None: of any way of this chip) is refused."""
    names = _memory(core, src, "src", operation, site), _memory(core, dst, "dst", operation, site)
    if names not in (WAYS if among is None else among):
        joined = ", ".join(f"{source} to {target}" for source, target in among or WAYS)
        report(core, "BAD_POSITION", f"no way from {names[0]} to {names[1]}; rule: {joined}", site, operation)
    return WAYS[names]


def _memory(core: Core, tensor: Any, name: str, operation: str, site: Site) -> str:
    if isinstance(tensor, GlobalTensor):
        return "GM"
    return MEMORY_OF[local(core, tensor, name, operation, site, KNOWN).position]


def load(
    core: Core, operation: str, dst: LocalTensor, src: GlobalTensor, moves: copies.Moves, site: Site, key: Any
) -> None:
    """Out of global memory."""
    _global(core, operation, dst, src, moves, site, key, True)


def _store(
    core: Core, operation: str, dst: GlobalTensor, src: LocalTensor, moves: copies.Moves, site: Site, key: Any
) -> None:
    _global(core, operation, src, dst, moves, site, key, False)


def _global(
    core: Core,
    operation: str,
    tensor: LocalTensor,
    outside: GlobalTensor,
    moves: copies.Moves,
    site: Site,
    key: Any,
    loads: bool,
) -> None:
    """Between global memory and a local one."""
    here = tensor.place.live
    if not present(core, here.memory, operation, site):
        return
    window, at = outside.window, outside.start
    plans: Any = here.loads if loads else here.stores
    if not loads and core.atomic is not PLAIN_STORE:
        key = (core.atomic, key)
    plan = plans.get(key)
    if plan is not None and plan.phase == at & 511 and at + plan.span <= window.end and window.dtype is here.dtype:
        core.issue(plan, site, window.array, at)
        return
    one_type(core, operation, outside if loads else tensor, tensor if loads else outside, site)
    aligned(core, here, "dst" if loads else "src", operation, site)
    make = copies.load_plan if loads else copies.store_plan
    plan = make(core, operation, here, moves, at, site)
    issue_global(core, operation, here, outside, plan, site, key, loads)


def issue_global(
    core: Core, operation: str, here: Place, outside: GlobalTensor, plan: Plan, site: Site, key: Any, loads: bool
) -> None:
    """Issue a new plan between global memory and a local one, and remember it."""
    window, at = outside.window, outside.start
    assert window.array is not None
    assert plan.gm is not None
    past_buffer(core, window, at + plan.gm.span, "src" if loads else "dst", operation, site)
    if plan.phase != ANY:
        plan.phase = at & 511
    if core.told:
        core.told = False  # as in `Place.keep`
    else:
        (here.loads if loads else here.stores)[key] = plan
    core.issue(plan, site, window.array, at)


def past_buffer(core: Core, window: Window, end: int, name: str, operation: str, site: Site) -> None:
    """Report an access that ends outside the declared buffer and inside the argument; `end`: byte behind its last."""
    array = window.array
    assert array is not None
    past = end - window.end
    if past > 0 and end <= array.nbytes:
        text = f"{name} reaches byte {end}, {many(past, 'byte')} past its tensor ({window.origin()}){core.loop()}"
        report(core, "OOB_BUF", text, site, operation)


def one_type(core: Core, operation: str, src: Any, dst: Any, site: Site) -> None:
    """One element type for both sides."""
    if src.dtype is not dst.dtype:
        text = f"dst has type {dst.dtype}, src has {src.dtype}; rule: one type for both"
        report(core, "BAD_DTYPE", text, site, operation)


def _inside(
    core: Core, operation: str, dst: LocalTensor, src: LocalTensor, moves: copies.Moves, site: Site, key: Any
) -> None:
    """UB to UB, a vector instruction."""
    to, source = dst.place.live, src.place.live
    if not present(core, to.memory, operation, site):
        return
    one_type(core, operation, source, to, site)
    aligned(core, to, "dst", operation, site)
    aligned(core, source, "src", operation, site)
    plan = to.plans.get((operation, source, key))
    if plan is None:
        plan = to.keep((operation, source, key), copies.local_plan(core, operation, to, source, moves, site))
    core.issue(plan, site)


def _bias(
    core: Core, operation: str, dst: LocalTensor, src: LocalTensor, moves: copies.Moves, site: Site, key: Any
) -> None:
    """L1 to the bias table; half becomes float32 on the way."""
    to, source = dst.place.live, src.place.live
    if not present(core, to.memory, operation, site):
        return
    plan = to.plans.get((operation, source, key))
    if plan is None:
        plan = to.keep((operation, source, key), bias_plan(core, operation, to, source, moves, site))
    core.issue(plan, site)


def bias_plan(core: Core, operation: str, to: Place, source: Place, moves: copies.Moves, site: Site) -> Plan:
    """The plan of a copy from L1 to the bias table."""
    typed(core, to, (int32, float32), "dst", operation, site)
    wider = to.dtype is float32 and source.dtype is float16
    if not wider:
        one_type(core, operation, source, to, site)
    aligned(core, to, "dst", operation, site)
    aligned(core, source, "src", operation, site)
    count = moves.length // source.dtype.size
    target = _blocks(to, count, moves.dst_pitch - moves.length, moves.blocks)
    origin = _blocks(source, count, moves.src_pitch - moves.length, moves.blocks)
    cycles = core.device.cost.load_l0("BT", moves.length * moves.blocks)
    if not wider:
        return move_plan(core, operation, "MTE1", target, origin, cycles, site)
    write = to.region((target.piece(),), "dst", operation, site)
    read = source.region((origin.piece(),), "src", operation, site)
    memories = write.memory, read.memory
    run = partial(np.copyto, target.view(memories[0].bytes, to.dtype.np), origin.view(memories[1].bytes, np.float16))
    carry = partial(_carry_wider, target.view(memories[0].defined), origin.view(memories[1].defined))
    return Plan(operation, core.pipes["MTE1"], (read,), (write,), run, cycles, carry=carry)


def _blocks(where: Place, count: int, gap: int, blocks: int) -> Side:
    """Blocks of `count` elements with a gap in bytes between them."""
    size = where.dtype.size
    return Side(where, where.start, ((blocks, count * size + gap), (count, size)), size)


def _carry_wider(known: np.ndarray, source: np.ndarray) -> None:
    """A float32 is defined where its half is: then each of their bytes is 1."""
    known[...] = (source == 0x0101) * np.uint32(0x01010101)


def _through_gm(core: Core, operation: str, *_: Any) -> NoReturn:
    raise NotSimulatedError(operation, THROUGH_GM)


def _by_fixpipe(core: Core, operation: str, *_: Any) -> NoReturn:
    raise NotSimulatedError(operation, "copies out of L0C take DataCopyCO12DstParams")


# (source, target)
WAYS: dict[tuple[str, str], Way] = {
    ("GM", "UB"): Way(load),
    ("UB", "GM"): Way(_store),
    ("UB", "UB"): Way(_inside),
    ("GM", "L1"): Way(load),
    ("L1", "GM"): Way(_store),
    ("L1", "BT"): Way(_bias, BIAS_BLOCK),
    ("UB", "L1"): Way(_through_gm),
    ("L0C", "GM"): Way(_by_fixpipe),
    ("L0C", "L1"): Way(_by_fixpipe),
}
EXACT = (("GM", "UB"), ("UB", "GM"), ("UB", "L1"))  # ways of data_copy_pad and of slices
