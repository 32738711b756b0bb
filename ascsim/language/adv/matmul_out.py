"""The way of a Matmul's results out of L0C: one fixpipe a block, factors of quantisation brought to L1 before it."""

from __future__ import annotations

from typing import Any

from ...hw import unitflag
from ...hw.core import PLAIN_STORE, Core
from ...hw.findings import Site
from ...hw.global_memory import GlobalArray
from ...hw.instruction import Plan
from ..core.dtype import uint32, uint64
from ..core.enums import TPosition
from ..core.global_tensor import GlobalTensor
from ..core.place import Place, place
from ..core.tensor import LocalTensor
from ..fractals import BLOCK, SIDE, align_up, c0_of
from ..l0c import Move, Steps, steps_of
from ..paths import past_buffer
from . import matmul_moves as moves
from .matmul_buffers import Layout
from .matmul_moves import Stored
from .matmul_product import InGm, Product, Target
from .tiling_rules import Cut

UPDATES = ("", "add", "max", "min")  # by en_atomic


class CopyOut:
    """The part of the cube's program that copies results out."""

    core: Core
    layout: Layout | None
    copies_up: list[bool]
    factors_up: bool
    unit_up: bool

    def flag(self, event: str, number: Any = 0) -> Any:
        """A flag of the library's own."""
        raise NotImplementedError

    def send(self, plan: Plan, tensor: GlobalTensor, at: int, site: Site, unit: int = 0) -> None:
        """Issue an instruction on global memory."""
        window = tensor.window
        array: GlobalArray | None = window.array
        assert array is not None
        past_buffer(self.core, window, at + plan.span, plan.name, "Matmul", site)
        if unit:
            unitflag.issue(self.core, plan, unit, site, array, at)
        else:
            self.core.issue(plan, site, array, at)

    def copy(
        self,
        product: Product,
        mi: int,
        ni: int,
        number: int,
        source: Place,
        buffer: int,
        to: Target,
        site: Site,
        unit: int = 0,
    ) -> None:
        """Copy block (mi, ni), the `number`-th, out of L0C; ordered by flags, or by a unit flag."""
        layout, core = self.layout, self.core
        assert layout is not None
        cut = layout.cut
        m, n = min(cut.base_m, product.m - mi * cut.base_m), min(cut.base_n, product.n - ni * cut.base_n)
        vector = self.factors(to.factor, ni, n, site) if isinstance(to.factor, InGm) else None
        if not unit:
            done = self.flag("M_FIX")
            core.set_flag(done, site)
            core.wait_flag(done, site)
        before = core.atomic
        dtype = to.tensor.dtype
        if to.atomic:
            core.atomic = (UPDATES[to.atomic], dtype.name)
        offset, stride = _spot(cut, to, mi, ni, number, m, n)
        tensor = to.tensor[offset:] if offset else to.tensor
        factor = to.factor if isinstance(to.factor, int) else 0
        where = None if isinstance(tensor, GlobalTensor) else tensor.place
        form = stride, to.fractal, to.split, to.mode, core.atomic, to.private, dtype
        key = "fixpipe", source, m, n, form, factor, where
        steps: Steps | None = layout.plans.get(key)
        if steps is None:
            wide = 8 if to.split else SIDE
            move = Move(
                "fixpipe", align_up(n, wide) if to.fractal else n, m, align_up(m, SIDE), stride, to.mode,
                factor, False, to.split, not to.fractal,
            )  # fmt: skip
            steps = steps_of(core, move, tensor, LocalTensor._at(core, TPosition.CO1, source.dtype, source.start,
                             source.nbytes), vector, site)  # fmt: skip
            assert steps is not None
            for plan, _ in steps.plans:
                plan.private = plan.private or to.private
            layout.keep(key, steps)
        core.barrier(core.pipes["FIX"], site)
        for plan, at in steps.plans:
            if isinstance(tensor, GlobalTensor):
                self.send(plan, tensor, tensor.start + at, site, unit)
            elif unit:
                unitflag.issue(core, plan, unit, site)
            else:
                core.issue(plan, site)
        core.atomic = PLAIN_STORE if to.atomic else before
        if vector is not None:
            core.set_flag(self.flag("FIX_MTE2"), site)
            self.factors_up = True
        self.unit_up = self.unit_up or bool(unit)
        if buffer >= 0 and not unit:
            core.set_flag(self.flag("FIX_M", buffer), site)
            self.copies_up[buffer] = True

    def factors(self, source: InGm, ni: int, n: int, site: Site) -> LocalTensor:
        """Bring the factors of a block's columns to L1, where FIX reads them."""
        layout, core = self.layout, self.core
        assert layout is not None
        if self.factors_up:
            core.wait_flag(self.flag("FIX_MTE2"), site)
            self.factors_up = False
        at = source.at + ni * layout.cut.base_n * 8
        nbytes = align_up(n * 8, BLOCK)
        there = place(core, TPosition.A1, uint64, layout.factors, nbytes)
        plan = layout.plans.get(("factors", n, at & 511))
        if plan is None:
            if n % SIDE:  # words of 32 bits as a row of a matrix: its last block is filled up
                words = Stored(place(core, TPosition.A1, uint32, layout.factors, nbytes), BLOCK)
                plan = moves.from_rows(core, words, 1, 2 * n, 2 * n, site)
            else:
                plan = moves.contiguous(core, there, nbytes, at, site)
            layout.keep(("factors", n, at & 511), plan)
        self.send(plan, source.tensor, at, site)
        flag = self.flag("MTE2_FIX")
        core.set_flag(flag, site)
        core.wait_flag(flag, site)
        return LocalTensor._at(core, there.position, uint64, there.start, there.nbytes)


def _spot(cut: Cut, to: Target, mi: int, ni: int, number: int, m: int, n: int) -> tuple[int, int]:
    """Where a block goes: elements from the target's start, and the stride that a fixpipe takes."""
    size = to.tensor.dtype.size
    if not to.fractal:
        if to.sequential:
            return number * cut.base_m * cut.base_n, n
        return mi * cut.base_m * to.pitch + ni * cut.base_n, to.pitch
    wide = 8 if to.split else max(SIDE, c0_of(to.tensor.dtype))
    if to.sequential:
        return number * cut.base_m * cut.base_n, align_up(m, SIDE) * wide * size // 32
    return ni * cut.base_n * to.pitch + mi * cut.base_m * wide, to.pitch * wide * size // 32
