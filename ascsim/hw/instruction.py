"""What an issue needs to know of an instruction: its footprints, its work, and its price.

A Plan is everything about a call that depends only on its operands' places, types and parameters. It is made once
and issued many times; what changes from issue to issue (the place in global memory, the call site) is handed to
`Core.issue`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from .memory import Region, cells_of
from .pipe import Pipe
from .stretch import NO_STRETCH


class GmShape:
    """A footprint in global memory relative to its start: `count` runs of `block` bytes, `stride` bytes apart.

    `many` such matrices, `jump` bytes apart, may lie inside each other. `write` tells a store from a load; `atomic`
    names the update of an atomic store ("" for a plain one).
    """

    __slots__ = ("atomic", "block", "count", "jump", "many", "nbytes", "plain", "span", "stride", "write")

    def __init__(self, block: int, stride: int, count: int, write: bool, atomic: str, many: int, jump: int) -> None:
        self.block, self.stride, self.count, self.write, self.atomic = block, stride, count, write, atomic
        self.many, self.jump = many, jump
        self.span = (many - 1) * jump + (count - 1) * stride + block  # bytes from the first to the last
        self.nbytes = many * count * block  # bytes moved
        self.plain = count == many == 1 and not atomic  # overwrites every byte from the first to the last

    def runs(self, at: int) -> list[tuple[int, int]]:
        """The runs [start, end), in order, when the footprint starts at byte `at`."""
        if self.many == 1:
            return [(a, a + self.block) for a in range(at, at + self.count * self.stride, self.stride)]
        starts = {at + i * self.jump + k * self.stride for i in range(self.many) for k in range(self.count)}
        out: list[tuple[int, int]] = []
        for a in sorted(starts):
            if out and a <= out[-1][1]:
                out[-1] = out[-1][0], a + self.block
            else:
                out.append((a, a + self.block))
        return out


@lru_cache(maxsize=4096)
def gm_shape(
    block: int, stride: int = 0, count: int = 1, write: bool = False, atomic: str = "", many: int = 1, jump: int = 0
) -> GmShape:
    """The interned footprint; equal ones are one object."""
    if count == 1 or stride == block:
        block, count = block * count, 1
    if many > 1 and count == 1:  # the matrices are the runs
        return gm_shape(block, jump, many, write, atomic)
    return GmShape(block, stride if count > 1 else block, count, write, atomic, many, jump)


ANY = -1  # phase of a plan whose price does not depend on it


class Plan:
    """One instruction, ready to issue on one core.

    name     the call, for reports
    pipe     where it goes
    reads, writes   local footprints
    run      does the work: `run()`, or `run(array, at)` where `gm` is given
    cycles   how long the pipe is busy
    gm       footprint in global memory, or None
    carry    copies definedness along with the bytes, called like `run`; None for an instruction that uses its
             sources (undefined bytes are then reported)
    voids    bytes written whose value is undefined (padding that no pad value fills)
    view     the local bytes of a contiguous copy, which is done without `run`
    private  True if its accesses to `gm` are exempt from race checks (slots of soft synchronisation)
    chained  True if the hardware orders it after an earlier chained instruction of its pipe on the same bytes (an
             `mmad` that accumulates into a large enough block)
    """

    __slots__ = (
        *(
            "carry",
            "chained",
            "cycles",
            "epoch",
            "gm",
            "name",
            "nbytes",
            "phase",
            "pipe",
            "private",
            "proved",
            "read_cells",
            "reads",
        ),
        *("run", "span", "stores", "stretch", "updates", "view", "voids", "write_cells", "writes"),
    )

    def __init__(
        self,
        name: str,
        pipe: Pipe,
        reads: Sequence[Region],
        writes: Sequence[Region],
        run: Callable[..., Any],
        cycles: int,
        gm: GmShape | None = None,
        carry: Callable[..., Any] | None = None,
        voids: Region | None = None,
        private: bool = False,
        chained: bool = False,
        view: memoryview | None = None,
    ) -> None:
        self.name, self.pipe, self.run, self.cycles, self.gm = name, pipe, run, cycles, gm
        self.reads, self.writes = tuple(reads), tuple(writes)
        # Cells of all reads, of all writes: what `issue` walks through.
        self.read_cells, self.write_cells = cells_of(self.reads), cells_of(self.writes)
        self.carry, self.voids, self.private, self.chained = carry, voids, private, chained
        self.overlaps()
        self.view = view
        self.span, self.nbytes = (gm.span, gm.nbytes) if gm is not None else (0, 0)
        self.stores = gm is not None and gm.write
        self.stretch = NO_STRETCH  # where its last access to global memory was logged
        self.phase = 0  # of the global address modulo the 512 bytes for which a copy was priced; ANY: all alike
        self.epoch = -1  # the core's definedness epoch in which the operands were last proved defined
        self.proved = -1  # the same for a plan with `voids`, which are to be looked at each time

    def overlaps(self) -> None:
        """Note the pairs of footprints that are read and written at once, where the pipe does not order itself."""
        both = () if self.pipe.self_ordered else [(r, w) for r in self.reads for w in self.writes if r.meets(w)]
        self.updates = tuple(both)
