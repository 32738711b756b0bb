"""Matmul: the calls that compute and take results. Pages: IterateAll, Iterate, GetTensorC, WaitIterateAll ..."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

from ...hw.errors import ArgumentValueError, LaunchError, NotSimulatedError, SimulatorWarning
from ...hw.findings import Site, author, locate
from ..core import ir_value
from ..core.enums import TPosition
from ..core.global_tensor import GlobalTensor
from ..core.params import I32, Params
from ..core.place import L1_POSITIONS, VECTOR_POSITIONS, Place, index, report
from ..core.tensor import LocalTensor
from ..signatures import signatures
from .matmul_link import NO_L1
from .matmul_object import MatmulObject
from .matmul_operands import MatmulType, operand, placed
from .matmul_out import UPDATES

MASTERS_FLAG = 9  # cross-core flag by which vector cores let a second master go on


class ResultCalls:
    """The part of Matmul that computes."""

    state: MatmulObject

    def iterate_all(
        self,
        tensor: Any,
        en_atomic: Any = 0,
        sync: Any = True,
        en_sequential_write: Any = None,
        wait_iterate_all: Any = None,
        fake_msg: Any = None,
    ) -> None:
        """Compute the whole part and copy it to `tensor`, in global memory (or L1, on a cube core).

        en_atomic: 0 stores, 1 adds, 2 takes the greater, 3 the lesser. en_sequential_write: blocks one after the other,
        base_m by base_n elements each, instead of at their place in C. sync=False does not wait; with wait_iterate_all
        wait_iterate_all() does. fake_msg: nothing is computed. Page: IterateAll.
        """
        operation, site, state = "Matmul.iterate_all", author(1), self.state
        way = state.linked(operation)
        wait, later = flag(sync, operation, "sync"), flag(wait_iterate_all, operation, "wait_iterate_all")
        if later and wait:
            raise ArgumentValueError(operation, operand="wait_iterate_all", value=True, rule="with sync=False only")
        self._result(tensor, operation, site, {TPosition.GM, *L1_POSITIONS})
        atomic = self._atomic(en_atomic, operation)
        target = state.target(tensor, atomic, flag(en_sequential_write, operation, "en_sequential_write"), operation)
        if flag(fake_msg, operation, "fake_msg"):
            if not state.config.do_ib_share_norm:
                rule = "do_ib_share_norm of the MatmulConfig"
                raise ArgumentValueError(operation, operand="fake_msg", value=True, rule=rule, nearest=False)
            return
        if state.config.enable_mix_dual_master and way.core.device.mix:
            self._masters(target, wait, later, operation, site)
            return
        product = state.product(operation)
        cube = way.cube(operation, site)
        state.all(cube, product, target, operation, site)
        number = way.answer(cube)
        if wait:
            way.wait(number)
        elif later:
            way.promise(number, "wait_iterate_all", operation, site)
            state.answers.append(number)

    def wait_iterate_all(self) -> None:
        """Wait for an iterate_all(sync=False, wait_iterate_all=True). Page: WaitIterateAll."""
        self._wait("Matmul.wait_iterate_all", "iterate_all", author(1))

    def _masters(self, target: Any, wait: bool, later: bool, operation: str, site: Site) -> None:
        """Both kinds of core run the text: the vector cores let the cube core begin, and wait for it."""
        state = self.state
        core, number = state.linked(operation).core, state.linked(operation).number
        cross = core.device.cross
        product = state.product(operation)
        if core.kind == "aiv":
            state.fresh = False
            cross.set(core, MASTERS_FLAG, 2, core.pipes["MTE3"], site, author=False)
            if wait:
                cross.wait(core, number, site, author=False)
            return
        cross.wait(core, MASTERS_FLAG, site, author=False)
        cube = state.linked(operation).cube(operation, site)
        state.all(cube, product, target, operation, site)
        if wait or later:
            cross.set(core, number, 2, core.pipes["FIX"], site, author=False)
        state.finish(cube, site)

    # ------------------------------------------------------------------ block by block

    def iterate(self, en_partial_sum: Any = False, sync: Any = True, local_c_matrix: Any = None) -> MatmulIterator:
        """Compute the next block of C: a `with` over the result runs once for each block.

        en_partial_sum: add to the block that stands in L0C. sync=False computes all blocks at once, into the memory of
        set_workspace, for get_tensor_c(sync=False), which must take them all (XFLAG_LEFT_SET). local_c_matrix: where in
        L0C (C declared in CO1, on a cube core).
        The page's `while mm.iterate():` works too. Page: Iterate.
        """
        operation, site, state = "Matmul.iterate", author(1), self.state
        way = state.linked(operation)
        state.single_master(operation)
        add = flag(en_partial_sum, operation, "en_partial_sum")
        own = None
        if (state.c.position is TPosition.CO1) is not (local_c_matrix is not None):
            rule = "with C declared in CO1, and only then"
            raise ArgumentValueError(operation, operand="local_c_matrix", value=local_c_matrix, rule=rule)
        if local_c_matrix is not None:
            state.cube_only(operation)
            own = operand(way.core, _in_l0c(state.c), local_c_matrix, "local_c_matrix", operation, site).place.live
        iterator = MatmulIterator(self, add, own, flag(sync, operation, "sync"), site)
        iterator.start(operation)
        return iterator

    def get_tensor_c(
        self,
        tensor: Any = None,
        en_atomic: Any = 0,
        en_sequential_write: Any = False,
        sync: Any = True,
        optional_tensor: Any = None,
    ) -> Any:
        """Take a block of C.

            get_tensor_c(tensor, en_atomic=0, en_sequential_write=False, sync=True, optional_tensor=None)
            get_tensor_c(en_atomic=0, en_sequential_write=False, sync=False) -> GlobalTensor

        `tensor` in global memory or UB; both: optional_tensor in UB. In UB all of the tensor is filled, from memory of
        the library, and V waits for it. After iterate(sync=False) the second form gives the block where it lies.
        Page: GetTensorC.
        """
        operation, site, state = "Matmul.get_tensor_c", author(1), self.state
        state.single_master(operation)
        state.allowed(operation, "enable_get_tensor_c")
        if tensor is not None and not isinstance(tensor, (GlobalTensor, LocalTensor)):  # the second form, by position
            en_atomic, en_sequential_write, sync, tensor = tensor, en_atomic, en_sequential_write, None
        wait, atomic = flag(sync, operation, "sync"), self._atomic(en_atomic, operation)
        sequential = flag(en_sequential_write, operation, "en_sequential_write")
        if tensor is None and wait:
            raise ArgumentValueError(
                operation, operand="sync", value=True, rule="False where no tensor is given", nearest=False
            )
        if state.answers and not wait:
            return self._taken(tensor, operation, site)
        self._result(tensor, operation, site, {TPosition.GM, *VECTOR_POSITIONS})
        if optional_tensor is not None:
            self._result(optional_tensor, operation, site, VECTOR_POSITIONS, "optional_tensor")
        way = state.linked(operation)
        if isinstance(tensor, LocalTensor):
            if atomic:
                raise ArgumentValueError(operation, operand="en_atomic", value=atomic, rule="0 to UB", nearest=0)
            there = way.room(tensor.dtype, tensor.place.live.nbytes, operation)
            cube = way.cube(operation, site)
            state.take(cube, state.target(there, 0, sequential, operation, private=True), operation, site)
            way.wait(way.answer(cube))
            way.receive(tensor, there, site)
            return None
        cube = way.cube(operation, site)
        state.take(cube, state.target(tensor, atomic, sequential, operation), operation, site)
        number = way.answer(cube)
        if wait:
            way.wait(number)
        if optional_tensor is not None:
            way.receive(optional_tensor, tensor, site)
        return None

    def async_get_tensor_c(self, c: Any) -> None:
        """get_tensor_c(c, sync=False) without the wait of V, which wait_get_tensor_c is. Page: AsyncGetTensorC."""
        operation = "Matmul.async_get_tensor_c"
        self.state.single_master(operation)
        self._taken(c, operation, author(1), ordered=False)

    def wait_get_tensor_c(self) -> None:
        """V waits for the copies of get_tensor_c(sync=False) to UB. Page: WaitGetTensorC."""
        operation = "Matmul.wait_get_tensor_c"
        self.state.single_master(operation)
        way = self.state.linked(operation)
        if not way.remote:
            rule = "vector cores, whose results come to UB"
            raise ArgumentValueError(operation, "nothing to wait for on a cube core", rule=rule)
        way.order("MTE2_V", author(1))

    def get_offset_c(self) -> MatrixOffset:
        """Where the block that iterate has computed last lies in C. Page: GetOffsetC.

        Device: reserved, its fields are 0 there; a kernel that goes through the front end cannot read them.
        """
        operation, state = "Matmul.get_offset_c", self.state
        core = state.linked(operation).core
        if state.blocks is None or state.blocks.last is None:
            raise ArgumentValueError(operation, "no block of C has been computed", rule="iterate before it")
        (mi, ni), cut, sizes = state.blocks.last, state.cuts(core, operation), state.sizes
        row, column = mi * cut.base_m, ni * cut.base_n
        height, width = min(cut.base_m, sizes.m - row), min(cut.base_n, sizes.n - column)
        return MatrixOffset(row * (sizes.org_kc or sizes.org_n) + column, row, column, height, width)

    # ------------------------------------------------------------------ helpers

    def _atomic(self, given: Any, operation: str) -> int:
        atomic = index(given, operation, "en_atomic")
        if not 0 <= atomic < len(UPDATES):
            raise ArgumentValueError(
                operation, operand="en_atomic", value=atomic, rule="0 (store), 1 (add), 2 (max), 3 (min)"
            )
        return atomic

    def _result(self, tensor: Any, operation: str, site: Site, positions: Any, name: str = "tensor") -> None:
        """A tensor for results, of the type of C; `positions`: where it may lie."""
        way, dtype = self.state.linked(operation), self.state.c.dtype
        given = placed(way.core, tensor, name, operation, site)
        text = ""
        if given not in positions:
            text = ", ".join(p.name for p in sorted(positions))
        elif given in VECTOR_POSITIONS and not way.remote:
            text = "GM: L0C to UB has no path on this chip"
        if text:
            report(way.core, "BAD_POSITION", f"{name} lies in {given.name}; rule: {text}", site, operation)
        if given in L1_POSITIONS and way.remote:
            raise NotSimulatedError(operation, NO_L1)
        if tensor.dtype is not dtype:
            operand, rule = f"{name}.dtype", f"{dtype}, the type of C"
            raise ArgumentValueError(operation, operand=operand, value=tensor.dtype, rule=rule)

    def _taken(self, tensor: Any, operation: str, site: Site, ordered: bool = True) -> Any:
        """The next block of an iterate(sync=False), from the workspace."""
        state = self.state
        way = state.linked(operation)
        if not state.answers or state.workspace is None:
            rule = "iterate(sync=False) before it, one call a block"
            raise ArgumentValueError(operation, "no block waits to be taken", rule=rule)
        if state.unentered is not None:
            text = "iterate(sync=False) as a statement computes here, as its page says; pyasc drops it"
            warnings.warn_explicit(text, SimulatorWarning, *locate(state.unentered))
            state.unentered = None
        way.wait(state.answers.pop(0))
        cut = state.cuts(way.core, operation)
        block = cut.base_m * cut.base_n
        source = state.workspace[state.taken * block]
        state.taken += 1
        if tensor is None:
            out = GlobalTensor()
            out.set_global_buffer(source.get_phy_addr(), block)
            return out
        self._result(tensor, operation, site, VECTOR_POSITIONS)
        way.receive(tensor, source, site, ordered)
        return None

    def _wait(self, operation: str, of: str, site: Site) -> None:
        state = self.state
        way = state.linked(operation)
        if state.config.enable_mix_dual_master and way.core.device.mix:
            if way.remote:
                way.core.device.cross.wait(way.core, way.number, site, author=False)
            return
        if not state.answers:
            rule = f"{of}(..., sync=False) with its wait_ parameter before it"
            raise ArgumentValueError(operation, "nothing to wait for", rule=rule)
        way.wait(state.answers.pop(0))


ResultCalls.get_tensor_c.__overloads__ = signatures(  # type: ignore[attr-defined]
    "self, tensor, en_atomic=0, en_sequential_write=False, sync=True, optional_tensor=None",
    "self, en_atomic=0, en_sequential_write=False, sync=True",
)


class MatrixOffset(Params):
    """A block of C, in elements: `offset` of its first element from that of C, its row and column, its rows
    (`height`) and columns (`width`). All int32. Page: GetOffsetC.
    """

    offset: int = I32()
    row: int = I32()
    col: int = I32()
    height: int = I32()
    width: int = I32()


class MatmulIterator:
    """One or more blocks of C: what `iterate` gives. `with` over it is a loop; it is true while there was a block.

    `count`: the number of the block (int32).
    """

    def __init__(self, calls: ResultCalls, add: bool, own: Place | None, sync: bool, site: Site) -> None:
        self.calls, self.add, self.own, self.sync, self.site = calls, add, own, sync, site
        self.more = False
        self.count: Any = ir_value.int32(0)

    def start(self, operation: str) -> None:
        """Compute the block that the call asks for, or all of them."""
        if self.sync:
            self.more = self._next(operation)
            return
        state = self.calls.state
        way = state.linked(operation)
        if state.workspace is None:
            raise ArgumentValueError(
                operation, "no memory for results", rule="set_workspace before iterate(sync=False)"
            )
        if state.config.is_partial_output:
            rule = "True where is_partial_output is set"
            raise ArgumentValueError(operation, operand="sync", value=False, rule=rule, nearest=True)
        product = state.product(operation)
        target = state.target(state.workspace, 0, True, operation)
        cube = way.cube(operation, self.site)
        state.taken, state.unentered = 0, self.site
        state.all(cube, product, target, operation, self.site, way)
        self.more = True

    def _next(self, operation: str) -> bool:
        state = self.calls.state
        if not state.fresh and state.blocks is None:
            return False
        cube = state.linked(operation).cube(operation, self.site)
        return state.step(cube, self.add, self.own, operation, self.site)

    def __bool__(self) -> bool:
        self.calls.state.unentered = None
        return self.more

    def _passes_(self) -> Iterator[AbstractContextManager[Any]]:
        """What the rewritten `with` goes through: a pass for each block."""
        number, self.calls.state.unentered = 0, None
        many = 0 if self.sync else len(self.calls.state.answers)
        while self.more and (self.sync or number < many):
            self.count = ir_value.int32(number)
            yield nullcontext(self.count)
            number += 1
            if self.sync:
                self.more = self._next("Matmul.iterate")
        self.more = False

    def __iter__(self) -> NoReturn:
        rule = "with mm.iterate() as count: ..., which runs once for each block, or while mm.iterate(): ..."
        raise LaunchError("Matmul.iterate", "is no loop of Python's", operand="for", rule=rule)

    def __enter__(self) -> NoReturn:
        rule = "a function whose source can be read, and no break or continue out of the with"
        raise LaunchError("Matmul.iterate", "a with over its blocks would run once", rule=rule)

    def __exit__(self, *exception: object) -> None:
        raise AssertionError("never entered")


def _in_l0c(c: MatmulType) -> MatmulType:
    return MatmulType(TPosition.CO1, c.format, c.dtype)


def flag(x: Any, operation: str, name: str) -> bool:
    """A parameter that is on or off; None is off."""
    return x is not None and bool(index(x, operation, name))
