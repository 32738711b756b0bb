"""The memory of a cube core that a Matmul works in: blocks of A and B in L1, and the halves of L0A, L0B and L0C.

How blocks stay in L1 follows the vendor's templates. Norm keeps single blocks: as many as the tiling says stay for as
long as their rows of A or columns of B are wanted, the rest take turns in one or two buffers. MDL loads whole steps
(step_m by step_k_a blocks), one or two buffers in turn, each kept until another is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...hw.core import Core
from ...hw.findings import Site
from ..core.dtype import DataType, float32, int8, int32, uint8
from ..core.enums import TPosition
from ..core.place import Place, place
from ..fractals import SIDE, align_up, c0_of
from .matmul_moves import Block, Stored, footprint
from .matmul_product import Product
from .tiling_rules import Cut


class Step(NamedTuple):
    """Blocks of one load: along M or N, and along K."""

    lines: int
    k: int


class Reuse(NamedTuple):
    """How many blocks stay, how many buffers take turns, and whether those keep what they hold until it is replaced."""

    staying: int
    turning: int
    keeps: bool


def norm(depth: int, wanted: int, along_k: int) -> Reuse:
    """Norm: `wanted` blocks come again as long as a row or column of blocks is worked on, `along_k` blocks cover K."""
    if depth >= wanted and not (along_k == 1 and depth == 2):
        return Reuse(depth, 0, False)
    return Reuse(max(depth - 2, 0), min(depth, 2), False)


def first_of_two(cut: Cut, product: Product, mi: int, ni: int) -> bool:
    """Whether block (mi, ni) of C is the first of two of a step, which OUTER_PRODUCT computes together."""
    m_first = cut.iterate_order == 0
    at, step = (ni, cut.step_n) if m_first else (mi, cut.step_m)
    end = (at + 1) * (cut.base_n if m_first else cut.base_m)
    return at % step % 2 == 0 and at % step + 1 < step and end < (product.n if m_first else product.m)


class Slots:
    """The L1 buffers of one operand. `find` says where a block is to be, and whether it is there already."""

    def __init__(
        self, core: Core, dtype: DataType, start: int, nbytes: int, reuse: Reuse, flag: Callable[[str], Any]
    ) -> None:
        self.core, self.reuse = core, reuse
        many = reuse.staying + reuse.turning
        self.places = [place(core, TPosition.A1, dtype, start + i * nbytes, nbytes) for i in range(many)]
        self.holds: list[Any] = [None] * many
        self.flags = [flag("MTE1_MTE2") for _ in range(reuse.turning)]
        self.up = [False] * reuse.turning  # flags that are set
        self.turn = 0
        self.held: int | None = None
        self.stale = False  # the staying blocks were wanted, and are not any more

    def find(self, position: int, what: Any, again: Any, site: Site) -> tuple[Place, bool]:
        """The place of block `what`, the `position`-th of its row or column; True if it has to be loaded.

        `again`: the flag by which MTE2 waits for MTE1 before it loads over blocks that stayed.
        """
        staying = self.reuse.staying
        if not self.reuse.turning:
            position %= staying  # more steps along K than the tiling was made for
        if position < staying:
            if self.holds[position] == what:
                return self.places[position], False
            if self.stale or self.holds[position] is not None:
                self.core.set_flag(again, site)
                self.core.wait_flag(again, site)
                self.stale = False
            self.holds[position] = what
            return self.places[position], True
        if self.held is not None and self.reuse.keeps and self.holds[staying + self.held] == what:
            return self.places[staying + self.held], False
        self.release(site)
        slot = self.turn
        self.turn = (slot + 1) % self.reuse.turning
        self.settle(slot, site)
        self.held, self.holds[staying + slot] = slot, what
        return self.places[staying + slot], True

    def release(self, site: Site) -> None:
        """MTE1 has been given the last load from the buffer in turn."""
        if self.held is not None:
            self.core.set_flag(self.flags[self.held], site)
            self.up[self.held], self.held = True, None

    def settle(self, slot: int, site: Site) -> None:
        """MTE2 waits for the loads from a buffer."""
        if self.up[slot]:
            self.core.wait_flag(self.flags[slot], site)
            self.up[slot] = False

    def reset(self, site: Site) -> None:
        """None of the blocks is wanted again."""
        self.release(site)
        if any(held is not None for held in self.holds[: self.reuse.staying]):
            self.holds[: self.reuse.staying] = [None] * self.reuse.staying
            self.stale = True

    def drain(self, site: Site) -> None:
        """Take down every flag that is up."""
        self.reset(site)
        for slot in range(len(self.up)):
            self.settle(slot, site)


class Piece(NamedTuple):
    """What one load to L1 brings of a matrix, and what of it one load to L0 takes."""

    position: int  # among the blocks that stay
    number: tuple[int, int]  # of the load: along M or N, along K
    pitch: int  # bytes from one column of fractals to the next
    corner: tuple[int, int]  # its first element, as the matrix is stored
    rows: int
    columns: int
    block: Block


class Kinds(NamedTuple):
    """What the layout of memory depends on beside the tiling: types, which way A and B lie, and what L1 holds."""

    a: DataType
    b: DataType
    bias: DataType | None
    a_across: bool
    b_across: bool
    a_in_l1: bool
    b_in_l1: bool
    quant: bool
    mdl: bool
    own_l0c: bool  # the results go to blocks of L0C that the author gives
    sparse: bool  # B is 4:2 compressed along K; its index follows it in L1


class Layout:
    """Places of everything, from byte `start` of L1 and `l0c` of L0C on. Plans of instructions on them are kept too."""

    def __init__(self, core: Core, start: int, l0c: int, cut: Cut, kinds: Kinds, flag: Callable[[str], Any]) -> None:
        self.core, self.cut, self.kinds = core, cut, kinds
        self.plans: dict[Any, Any] = core.operands.setdefault(("Matmul", start, l0c, cut, kinds), {})
        blocks_k = -(-cut.single_core_k // cut.base_k)
        m_first = cut.iterate_order == 0
        steps = Step(cut.step_m, cut.step_k_a), Step(cut.step_n, cut.step_k_b)
        depths = cut.depth_a1, cut.depth_b1
        bases = (cut.base_m, cut.base_k), (cut.base_n, cut.base_k)
        across = kinds.a_across, kinds.b_across
        many = (1 if m_first else cut.step_m), (cut.step_n if m_first else 1)  # rows or columns of blocks that stay
        self.step = []
        self.slots: list[Slots | None] = []
        for i, dtype in enumerate((kinds.a, kinds.b)):
            step = steps[i] if kinds.mdl else Step(1, 1)
            self.step.append(step)
            if (kinds.a_in_l1, kinds.b_in_l1)[i]:
                self.slots.append(None)
                continue
            lines, k = bases[i][0] * step.lines, bases[i][1] * step.k
            if i and kinds.sparse:
                self.kept = footprint(lines, k // 2, dtype, False)[1]  # bytes, without the index
                nbytes = self.kept + self.kept // 4
            else:
                _, nbytes = footprint(k, lines, dtype, True) if across[i] else footprint(lines, k, dtype, False)
            if kinds.mdl:
                reuse = Reuse(0, max(depths[i] // (step.lines * step.k), 1), True)
            else:
                reuse = norm(depths[i], blocks_k * many[i], blocks_k)
            self.slots.append(Slots(core, dtype, start, nbytes, reuse, flag))
            start += nbytes * (reuse.staying + reuse.turning)
        self.sums = int32 if kinds.a is int8 else float32
        row = align_up(cut.base_n, SIDE)
        if kinds.bias is not None:
            size = align_up(row * kinds.bias.size, 64)
            self.bias = place(core, TPosition.C1, kinds.bias, start, size)
            self.table = place(core, TPosition.C2, self.sums, 0, align_up(row * self.sums.size, 64))
            start += size
        self.factors = start  # of quantisation by column
        self.end = start + (row * 8 if kinds.quant else 0)
        double = cut.db_l0a == 2 and cut.db_l0b == 2
        self.l0 = [
            (place(core, TPosition.A2, kinds.a, half * core.memories["L0A"].size // 2, self._l0(cut.base_m, kinds.a)),
             place(core, TPosition.B2, kinds.b, half * core.memories["L0B"].size // 2,
                   self._l0(cut.base_n, kinds.b) // (2 if kinds.sparse else 1)))
            for half in range(1 + double)
        ]  # fmt: skip
        accumulators = align_up(cut.base_m, SIDE) * row * 4
        many_c = 0 if kinds.own_l0c else cut.db_l0c
        self.l0c = [place(core, TPosition.CO1, self.sums, l0c + i * accumulators, accumulators) for i in range(many_c)]
        self.l0c_end = l0c + many_c * accumulators

    def keep(self, key: Any, plan: Any) -> Any:
        """Remember what was worked out; not what has just been warned about, for it is to be so each time."""
        if self.core.told:
            self.core.told = False
        else:
            self.plans[key] = plan
        return plan

    def index_of(self, stored: Stored) -> Stored:
        """The index of a piece of compressed B, behind it in L1."""
        where = stored.place
        there = place(where.core, TPosition.B1, uint8, where.start + self.kept, self.kept // 4)
        return Stored(there, stored.pitch // 4)

    def _l0(self, lines: int, dtype: DataType) -> int:
        return align_up(lines, SIDE) * align_up(self.cut.base_k, c0_of(dtype)) * dtype.size

    def piece(self, which: int, at: tuple[int, int], size: tuple[int, int], whole: tuple[int, int]) -> Piece:
        """The piece that block `at` of A (0) or B (1) belongs to, counted along M or N and K; `size` of the block and
        `whole` sizes of the matrix in elements."""
        cut, step = self.cut, self.step[which]
        across = self.kinds.b_across if which else self.kinds.a_across
        (row, ki), base = at, cut.base_n if which else cut.base_m
        outer, first = row // step.lines, ki // step.k
        position = 0
        if not self.kinds.mdl:
            along_k = -(-whole[1] // cut.base_k)
            inner = which == cut.iterate_order  # its rows of blocks change fastest but one
            group = 1 if inner else (cut.step_n if which else cut.step_m)
            position = row % group * along_k + ki
        at_line, at_k = outer * step.lines * base, first * step.k * cut.base_k
        rows, columns = min(step.lines * base, whole[0] - at_line), min(step.k * cut.base_k, whole[1] - at_k)
        block = Block(*size, row * base - at_line, ki * cut.base_k - at_k, across)
        if which and self.kinds.sparse:
            at_k, columns = at_k // 2, columns // 2
            block = block._replace(k=block.k // 2, at_k=block.at_k // 2)
        corner = at_line, at_k
        if across:
            rows, columns, corner = columns, rows, (at_k, at_line)
        pitch, _ = footprint(rows, columns, self.kinds.b if which else self.kinds.a, across)
        return Piece(position, (outer, first), pitch, corner, rows, columns, block)

    def drain(self, site: Site) -> None:
        """Take down every flag of the L1 buffers."""
        for slots in self.slots:
            if slots is not None:
                slots.drain(site)
