"""The cube side of Matmul: the program of instructions and flags that one cube core runs for a product.

    GM --MTE2--> L1 --MTE1--> L0A, L0B --M--> L0C --FIX--> GM

Block after block of C, and for each step along K: load what L1 does not hold, bring a block of A and one of B to L0,
multiply into L0C. All order between the pipes is made by flags, so that what overlaps here is what the vendor's program
lets overlap: with one buffer in L1 a step costs its loads to L1 and to L0 together (Norm, depth 1), with two only the
longer (MDL). With a unit flag the copy out of a block runs along with its last multiply. Not modelled: scalar work of
the library, a unit flag where blocks are taken one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...hw import unitflag
from ...hw.core import Core
from ...hw.events import EVENT_NUMBER
from ...hw.findings import Site
from ..core.enums import TPosition
from ..core.place import Place
from ..fractals import SIDE, align_up, c0_of
from ..l0c import MATRIX
from . import matmul_moves as moves
from .matmul_buffers import Kinds, Layout
from .matmul_moves import INDEX_ROW, Block, Start, Stored
from .matmul_out import CopyOut
from .matmul_product import InGm, InL1, Product, Scalar
from .tiling_rules import Cut


class Cube(CopyOut):
    """What one cube core does for all Matmul objects it serves, one after the other in the same memory."""

    def __init__(self, core: Core, pipe: Any, site: Site) -> None:
        self.core, self.pipe, self.site = core, pipe, site
        self.flags: dict[Any, Any] = {}
        self.layouts: dict[Any, Layout] = {}
        self.layout: Layout | None = None
        self.rooms = {"L1": (0, 0), "L0C": (0, 0)}  # the piece of a memory taken last: first byte, bytes
        self.half = 0
        self.owner: Any = None  # the object that is in the middle of a round
        self.copies_up = [False, False]  # FIX_M, by buffer of L0C
        self.bias_up = self.factors_up = self.unit_up = False
        core.at_end.append(lambda: self.drain(site))

    label = "Matmul"

    def __str__(self) -> str:
        return "the Matmul objects"

    def flag(self, event: str, number: Any = 0) -> Any:
        """A flag of the library's own."""
        found = self.flags.get((event, number))
        if found is None:
            ids = self.pipe.ids(EVENT_NUMBER[event])
            found = self.flags[event, number] = ids.take(self, "register_matmul", self.site)
        return found

    def use(self, cut: Cut, kinds: Kinds, site: Site) -> Layout:
        """Lay out memory for a tiling; what a former layout has begun is waited for."""
        key = cut, kinds
        found = self.layouts.get(key)
        if found is None or found is not self.layout:
            self._leave(site)
        if found is None:
            found = self._lay(cut, kinds)
            if self._take("L1", found.end, 32, site) | self._take("L0C", found.l0c_end, MATRIX, site):
                found = self._lay(cut, kinds)
            self.layouts[key] = found
        self.layout = found
        return found

    def _lay(self, cut: Cut, kinds: Kinds) -> Layout:
        numbers, starts = iter(range(8)), (self.rooms["L1"][0], self.rooms["L0C"][0])
        return Layout(self.core, *starts, cut, kinds, lambda event: self.flag(event, ("turn", next(numbers))))

    def _take(self, memory: str, end: int, unit: int, site: Site) -> bool:
        """Take a memory up to byte `end`; True where what lies there has to move, behind what others have taken."""
        start, size = self.rooms[memory]
        need = align_up(end - start, 32)
        if need <= size:
            return False
        top = self.pipe._span(memory, self, "register_matmul", site).top
        at = start if top == start + size else align_up(top, unit)
        self.pipe._take(self, memory, 1, at + need - top, "register_matmul", site)
        self.rooms[memory] = at, need
        return at != start

    def _leave(self, site: Site) -> None:
        """Other blocks will lie where those of the layout in use do: all pipes are done with them."""
        core, layout = self.core, self.layout
        self.drain(site)
        if layout is None:
            return
        stay = self.flag("MTE1_MTE2", "stay")
        core.set_flag(stay, site)
        core.wait_flag(stay, site)
        for free in self.pipe.kept[: len(layout.l0)]:
            core.wait_flag(free, site)
            core.set_flag(free, site)
        self.half = 0

    def drain(self, site: Site) -> None:
        """Take down every flag that is still up; nothing is kept in L1."""
        core = self.core
        if self.layout is not None:
            self.layout.drain(site)
        for buffer, is_up in enumerate(self.copies_up):
            if is_up:
                core.wait_flag(self.flag("FIX_M", buffer), site)
                self.copies_up[buffer] = False
        self.close_unit(site)
        if self.bias_up:
            core.wait_flag(self.flag("MTE1_MTE2", "bias"), site)
        if self.factors_up:
            core.wait_flag(self.flag("FIX_MTE2"), site)
        self.bias_up = self.factors_up = False

    def close_unit(self, site: Site) -> None:
        """M waits for the copies that a unit flag has ordered."""
        if self.unit_up:
            self.core.set_flag(self.flag("FIX_M", "unit"), site)
            self.core.wait_flag(self.flag("FIX_M", "unit"), site)
            self.unit_up = False

    def forget(self, site: Site) -> None:
        """Other matrices follow: no block in L1 is wanted again."""
        assert self.layout is not None
        for slots in self.layout.slots:
            if slots is not None:
                slots.reset(site)

    # ------------------------------------------------------------------ order of the blocks

    def walk(self, product: Product, site: Site) -> Iterator[tuple[int, int]]:
        """Numbers (along M, along N) of the blocks of C, in the order in which they are computed."""
        layout = self.layout
        assert layout is not None
        cut, (a, b) = layout.cut, layout.slots
        rows, columns = -(-product.m // cut.base_m), -(-product.n // cut.base_n)
        m_first = cut.iterate_order == 0
        outer, inner = (columns, rows) if m_first else (rows, columns)
        group = cut.step_n if m_first else cut.step_m
        kept = layout.step[0 if m_first else 1].lines  # blocks along `inner` that one load brings
        mine, other = (a, b) if m_first else (b, a)
        for first in range(0, outer, group):
            for i in range(inner):
                for j in range(first, min(first + group, outer)):
                    yield (i, j) if m_first else (j, i)
                if mine is not None and ((i + 1) % kept == 0 or i + 1 == inner):
                    mine.reset(site)
            if other is not None:
                other.reset(site)

    # ------------------------------------------------------------------ one block

    def compute(
        self,
        product: Product,
        mi: int,
        ni: int,
        to: Place,
        buffer: int,
        add: bool,
        site: Site,
        part: int | None = None,
        unit: int = 0,
    ) -> None:
        """Compute block (mi, ni) of C into L0C, `add`ed to what stands there; or one step along K of it, a `part`.

        `unit`: the unit flag of the last multiply. Those between it and the first, ordered by neither, have none.
        """
        layout, core = self.layout, self.core
        assert layout is not None
        cut, pipe = layout.cut, core.pipes["M"]
        m, n = min(cut.base_m, product.m - mi * cut.base_m), min(cut.base_n, product.n - ni * cut.base_n)
        if buffer >= 0 and self.copies_up[buffer]:
            core.wait_flag(self.flag("FIX_M", buffer), site)
            self.copies_up[buffer] = False
        if not unit:
            self.close_unit(site)
        loaded, filled = self.flag("MTE2_MTE1"), self.flag("MTE1_M")
        barrier = (m // SIDE) * (n // SIDE) < 10  # so small a multiply ends before the next one adds to it
        steps = -(-product.k // cut.base_k)
        first, last = (0, steps - 1) if part is None else (part, part)
        for ki in range(first, last + 1):
            k = min(cut.base_k, product.k - ki * cut.base_k)
            from_a, block_a, new_a = self.fetch(product, 0, mi, ki, m, k, site)
            from_b, block_b, new_b = self.fetch(product, 1, ni, ki, n, k, site)
            biased = product.bias is not None and not add and ki == first
            if biased:
                self.fetch_bias(product, ni, n, site)
            if new_a or new_b or (biased and isinstance(product.bias, InGm)):
                core.set_flag(loaded, site)
                core.wait_flag(loaded, site)
            half = self.half
            self.half = (half + 1) % len(layout.l0)
            free = self.pipe.kept[half]
            core.wait_flag(free, site)
            left, right = layout.l0[half]
            self.load(left, from_a, block_a, site)
            self.load(right, from_b, block_b, site)
            if biased:
                self.load_bias(product, n, site)
            core.set_flag(filled, site)
            core.wait_flag(filled, site)
            start = Start(not add and ki == first, layout.table if biased else None)
            key = "mmad", to, half, m, n, k, start, core.state.get("hf32")
            plan = layout.plans.get(key)
            if plan is None:
                sparse = layout.kinds.sparse
                plan = layout.keep(key, moves.multiply(core, to, left, right, (m, n, k), start, sparse, site))
            if unit and (ki == last or (ki == first and not add)):
                unitflag.issue(core, plan, unit if ki == last else 2, site)
            else:
                core.issue(plan, site)
            core.set_flag(free, site)
            if biased:
                core.set_flag(self.pipe.kept[2], site)
            if barrier and ki < last:
                core.barrier(pipe, site)
        if barrier:
            core.barrier(pipe, site)

    def fetch(
        self, product: Product, which: int, row: int, ki: int, lines: int, k: int, site: Site
    ) -> tuple[Stored | Scalar, Block, bool]:
        """The block of A (0) or B (1) in L1, brought there if need be; what of it a load to L0 takes; True if new."""
        layout = self.layout
        assert layout is not None
        cut, slots = layout.cut, layout.slots[which]
        source = product.b if which else product.a
        across = product.b_across if which else product.a_across
        if isinstance(source, Scalar):
            return source, Block(lines, k, 0, 0, across), False
        if isinstance(source, InL1):
            base = cut.base_n if which else cut.base_m
            return source.stored, Block(lines, k, row * base, ki * cut.base_k, across), False
        assert slots is not None
        whole = product.n if which else product.m
        key = "piece", which, row, ki, whole, product.k
        piece = layout.plans.get(key)
        if piece is None:
            piece = layout.keep(key, layout.piece(which, (row, ki), (lines, k), (whole, product.k)))
        where, new = slots.find(piece.position, piece.number, self.flag("MTE1_MTE2", "stay"), site)
        stored = Stored(where, piece.pitch)
        if new:
            self.bring(source, stored, piece.corner, piece.rows, piece.columns, site)
            if which and product.sparse is not None:
                self.bring_index(product.sparse, stored, piece.corner, piece.columns, site)
        return stored, piece.block, new

    def bring(self, source: InGm, to: Stored, corner: tuple[int, int], rows: int, columns: int, site: Site) -> None:
        """Load rows x columns of a matrix, from element `corner` of it on, to L1."""
        layout, core = self.layout, self.core
        assert layout is not None
        size, pitch = to.place.dtype.size, source.pitch
        if not source.fractal and pitch > moves.PITCH_LIMIT and rows > 1:
            for row in range(rows):
                self.bring(source, moves.line(core, to, row), (corner[0] + row, corner[1]), 1, columns, site)
            return
        if source.fractal:
            c0 = c0_of(to.place.dtype)
            at = source.at + (corner[1] // c0 * pitch + corner[0]) * 32
            key: Any = "nz", to, rows, columns, pitch, at & 511
            make = lambda: moves.from_fractals(core, to, rows, columns, pitch, at, site)  # noqa: E731
        else:
            at = source.at + (corner[0] * pitch + corner[1]) * size
            key = "nd", to, rows, columns, pitch
            make = lambda: moves.from_rows(core, to, rows, columns, pitch, site)  # noqa: E731
        plan = layout.plans.get(key)
        if plan is None:
            plan = layout.keep(key, make())
        self.send(plan, source.tensor, at, site)

    def bring_index(self, source: InGm, of: Stored, corner: tuple[int, int], columns: int, site: Site) -> None:
        """Load the index of a piece of compressed B, behind it in L1."""
        layout, core = self.layout, self.core
        assert layout is not None
        to, at = layout.index_of(of), source.at + (corner[1] // 32 * source.pitch + corner[0]) * INDEX_ROW
        key = "index", to, columns, source.pitch, at & 511
        plan = layout.plans.get(key)
        if plan is None:
            plan = layout.keep(key, moves.index(core, to, columns, source.pitch, at, site))
        self.send(plan, source.tensor, at, site)

    def load(self, to: Place, source: Stored | Scalar, block: Block, site: Site) -> None:
        """Bring a block to L0."""
        layout, core = self.layout, self.core
        assert layout is not None
        key = "l0", to, source, block
        plans = layout.plans.get(key)
        if plans is None:
            if isinstance(source, Scalar):
                plans = [moves.fill(core, to, block, source.value, site)]
            elif layout.kinds.sparse and to.position is TPosition.B2:
                plans = moves.sparse_loads(core, to, source, layout.index_of(source), block, site)
            else:
                plans = moves.loads(core, to, source, block, not layout.kinds.sparse, site)
            layout.keep(key, plans)
        for plan in plans:
            core.issue(plan, site)

    def fetch_bias(self, product: Product, ni: int, n: int, site: Site) -> None:
        """Bring the bias of a block to L1."""
        layout, core, source = self.layout, self.core, product.bias
        assert layout is not None
        if not isinstance(source, InGm):
            return
        if self.bias_up:
            core.wait_flag(self.flag("MTE1_MTE2", "bias"), site)
            self.bias_up = False
        size = layout.bias.dtype.size
        plan = layout.plans.get(("bias", n))
        if plan is None:
            plan = layout.keep(("bias", n), moves.from_rows(core, Stored(layout.bias, 32), 1, n, n, site))
        self.send(plan, source.tensor, source.at + ni * layout.cut.base_n * size, site)

    def load_bias(self, product: Product, n: int, site: Site) -> None:
        """Bring the bias of a block to its table, once the multiply before has read what stands there."""
        layout, core = self.layout, self.core
        assert layout is not None
        core.wait_flag(self.pipe.kept[2], site)
        source = layout.bias if isinstance(product.bias, InGm) else product.bias
        plan = layout.plans.get(("table", source, n))
        if plan is None:
            plan = layout.keep(("table", source, n), moves.bias_table(core, layout.table, source, n, site))
        core.issue(plan, site)
        if source is layout.bias:
            core.set_flag(self.flag("MTE1_MTE2", "bias"), site)
            self.bias_up = True
