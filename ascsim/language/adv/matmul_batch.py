"""Matmul: batches, several products in one call. Pages: IterateBatch, IterateNBatch, GetBatchTensorC, SetBatchNum.

Matrices of a batch are told apart by the layout of their MatmulType (`matmul_operands.Axes`). Where A and B have
different numbers of matrices the fewer serve several products each; where C has one matrix for a group (G = 1) whose
A or B have more, the products of the group are summed in L0C.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site, author
from ..core.enums import BatchMode, CubeFormat, LayoutMode, TPosition
from ..core.global_tensor import GlobalTensor
from ..core.place import VECTOR_POSITIONS, index
from ..core.tensor import LocalTensor
from ..fractals import SIDE, align_up, c0_of
from ..signatures import signatures
from .matmul_object import MatmulObject
from .matmul_operands import Axes, MatmulType
from .matmul_product import InGm, Product, Target
from .matmul_results import ResultCalls, flag


class Batch(NamedTuple):
    """Products of one call: matrices of A and B, and elements from matrix to matrix (0: by the layout)."""

    many_a: int
    many_b: int
    stride_a: int
    stride_b: int
    sequential: bool

    @property
    def many(self) -> int:
        """Products."""
        return max(self.many_a, self.many_b)


class BatchCalls(ResultCalls):
    """The part of Matmul that computes batches."""

    def set_batch_num(self, batch_a: Any, batch_b: Any) -> None:
        """Matrices of A and of B in a call of iterate_batch; cube cores alone. Page: SetBatchNum."""
        operation = "Matmul.set_batch_num"
        self.state.single_master(operation)
        self.state.cube_only(operation)
        self.state.batch = _many(batch_a, operation, "batch_a"), _many(batch_b, operation, "batch_b")

    def iterate_batch(
        self,
        tensor: Any,
        batch_a: Any = None,
        batch_b: Any = None,
        en_sequential_write: Any = None,
        matrix_stride_a: Any = 0,
        matrix_stride_b: Any = 0,
        matrix_stride_c: Any = 0,
        en_partial_sum: Any = None,
        en_atomic: Any = None,
        sync: Any = True,
        wait_iterate_batch: Any = None,
    ) -> None:
        """Compute several products.

            iterate_batch(tensor, batch_a, batch_b, en_sequential_write, matrix_stride_a=0, matrix_stride_b=0,
                          matrix_stride_c=0, en_partial_sum=False, en_atomic=0, sync=True, wait_iterate_batch=None)
            iterate_batch(tensor, en_partial_sum, en_atomic, en_sequential_write, matrix_stride_a=0, ...)

        The second form after set_batch_num, on a cube core. `batch_a`, `batch_b`: matrices, one number a multiple of
        the other. All layouts but NORMAL: in the ratio of the axes G, all matrices of a call fit L1 (NORMAL too under
        BATCH_LESS_THAN_L1); BSNGD: of one row of matrices. Strides: elements from matrix to matrix (0: by the layout),
        none for C. `tensor` in global memory, or in UB with en_sequential_write, rows of whole 32-byte blocks. Norm
        template, no quantisation. Page: IterateBatch.
        """
        operation, site, state = "Matmul.iterate_batch", author(1), self.state
        if en_sequential_write is None:
            raise ArgumentTypeError(operation, "is missing", operand="en_sequential_write", rule="True or False")
        way = state.linked(operation)
        state.single_master(operation)
        if state.batch is not None and not way.remote:  # the second form
            en_partial_sum = batch_a if en_partial_sum is None else en_partial_sum
            en_atomic = batch_b if en_atomic is None else en_atomic
            batch_a, batch_b = state.batch
        strides = matrix_stride_a, matrix_stride_b, matrix_stride_c
        batch = self._batch((batch_a, batch_b), strides, en_sequential_write, operation)
        wait, later = flag(sync, operation, "sync"), flag(wait_iterate_batch, operation, "wait_iterate_batch")
        if later and wait:
            raise ArgumentValueError(operation, operand="wait_iterate_batch", value=True, rule="with sync=False only")
        if flag(en_partial_sum, operation, "en_partial_sum"):
            rule = "False: no block of a batch stands in L0C before it"
            raise ArgumentValueError(operation, operand="en_partial_sum", value=True, rule=rule, nearest=False)
        atomic = self._atomic(0 if en_atomic is None else en_atomic, operation)
        self._result(tensor, operation, site, {TPosition.GM, *VECTOR_POSITIONS})
        local = isinstance(tensor, LocalTensor)
        if batch.sequential is not local:
            rule = "True for a tensor in UB, False for global memory"
            raise ArgumentValueError(operation, operand="en_sequential_write", value=batch.sequential, rule=rule)
        if local:
            self._blocks_in_ub(operation)
        if local and not wait:
            raise ArgumentValueError(operation, operand="sync", value=False, rule="True to UB", nearest=True)
        there = way.room(tensor.dtype, tensor.place.live.nbytes, operation) if local else tensor
        target = state.target(there, atomic, False, operation, private=local)
        product = state.product(operation)
        cube = way.cube(operation, site)
        compute(state, cube, product, target, batch, 0, operation, site)
        state.fresh = False
        number = way.answer(cube)
        if wait:
            way.wait(number)
        elif later:
            way.promise(number, "wait_iterate_batch", operation, site)
            state.answers.append(number)
        if local:
            way.receive(tensor, there, site)

    def wait_iterate_batch(self) -> None:
        """Wait for an iterate_batch(sync=False, wait_iterate_batch=True). Page: WaitIterateBatch."""
        self.state.single_master("Matmul.wait_iterate_batch")
        self._wait("Matmul.wait_iterate_batch", "iterate_batch", author(1))

    def iterate_n_batch(
        self,
        batch_loop: Any,
        batch_a: Any,
        batch_b: Any,
        en_sequential_write: Any,
        matrix_stride_a: Any = 0,
        matrix_stride_b: Any = 0,
        matrix_stride_c: Any = 0,
        sync: Any = True,
        wait_iterate_batch: Any = False,
    ) -> None:
        """`batch_loop` calls of iterate_batch, their results in the memory of set_workspace, laid out as C.

        is_n_batch of the MatmulConfig must be set. get_batch_tensor_c takes the results after sync=False.
        Page: IterateNBatch.
        """
        operation, site, state = "Matmul.iterate_n_batch", author(1), self.state
        way = state.linked(operation)
        state.single_master(operation)
        state.allowed(operation, "is_n_batch")
        if state.workspace is None:
            raise ArgumentValueError(operation, "no memory for results", rule="set_workspace before it")
        strides = matrix_stride_a, matrix_stride_b, matrix_stride_c
        batch = self._batch((batch_a, batch_b), strides, en_sequential_write, operation)
        wait, later = flag(sync, operation, "sync"), flag(wait_iterate_batch, operation, "wait_iterate_batch")
        target = state.target(state.workspace, 0, False, operation)
        product = state.product(operation)
        cube = way.cube(operation, site)
        state.taken = 0
        for turn in range(_many(batch_loop, operation, "batch_loop")):
            compute(state, cube, product, target, batch, turn, operation, site)
            if not (wait or later):
                number = way.answer(cube)
                way.promise(number, "get_batch_tensor_c", operation, site)
                state.answers.append(number)
        state.fresh = False
        if wait:
            way.wait(way.answer(cube))
        elif later:
            number = way.answer(cube)
            way.promise(number, "wait_iterate_batch", operation, site)
            state.answers.append(number)

    def get_batch_tensor_c(self, *given: Any, sync: Any = True, en_sequential_write: Any = False, **named: Any) -> Any:
        """Take the results of one call of an iterate_n_batch(sync=False).

            get_batch_tensor_c(batch_a, batch_b, en_sequential_write=False, sync=True) -> GlobalTensor
            get_batch_tensor_c(tensor, batch_a, batch_b, en_sequential_write=False, sync=True)

        sync must be False. The first form gives them where they lie, the second copies them to UB, which V waits for.
        Page: GetBatchTensorC.
        """
        operation, site, state = "Matmul.get_batch_tensor_c", author(1), self.state
        way = state.linked(operation)
        state.single_master(operation)
        tensor = named.pop("tensor", None)
        rest = list(given)
        if tensor is None and rest and isinstance(rest[0], LocalTensor):
            tensor = rest.pop(0)
        names = ["batch_a", "batch_b", "en_sequential_write", "sync"]
        for unknown in [*rest[len(names) :], *(name for name in named if name not in names)]:
            raise ArgumentTypeError(operation, "is no argument", value=unknown, rule=", ".join(names))
        values = {
            "en_sequential_write": en_sequential_write,
            "sync": sync,
            **named,
            **dict(zip(names, rest, strict=False)),
        }
        if flag(values["sync"], operation, "sync"):
            raise ArgumentValueError(operation, operand="sync", value=True, rule="False", nearest=False)
        many = max(_many(values.get(name), operation, name) for name in names[:2])
        if not state.answers or state.workspace is None:
            rule = "iterate_n_batch(sync=False) before it, one call a turn"
            raise ArgumentValueError(operation, "no results wait to be taken", rule=rule)
        way.wait(state.answers.pop(0))
        axes = axes_of(state, "c")
        groups = many // reduced(state)
        source = state.workspace[axes.offset(state.c.layout, state.taken * groups)]
        state.taken += 1
        if tensor is None:
            out = GlobalTensor()
            out.set_global_buffer(source.get_phy_addr(), groups * state.sizes.m * state.sizes.n)
            return out
        self._result(tensor, operation, site, VECTOR_POSITIONS)
        self._blocks_in_ub(operation)
        if state.c.layout in (LayoutMode.BSNGD, LayoutMode.SBNGD) and axes.pitch(state.c.layout) != groups * axes.d:
            rule = (
                "a layout of C in which the results of one turn follow each other (NORMAL, BNGS1S2), or the first form"
            )
            raise ArgumentValueError(operation, operand="c.layout", value=state.c.layout.name, rule=rule)
        way.receive(tensor, source, site)
        return None

    def _batch(self, many: Sequence[Any], strides: Sequence[Any], sequential: Any, operation: str) -> Batch:
        state = self.state
        state.tiled(operation)
        if state.a.layout is LayoutMode.NONE:
            rule = "a layout other than NONE in the MatmulTypes"
            raise ArgumentValueError(operation, operand="a.layout", value="NONE", rule=rule)
        if state.mdl:
            raise ArgumentValueError(operation, operand="matmul_config", value="MDL", rule="the Norm template")
        if state.factor is not None:
            raise ArgumentValueError(
                operation, "takes no factors", operand="quantisation", rule="no set_quant_* before it"
            )
        apart = [index(x, operation, f"matrix_stride_{which}") for x, which in zip(strides, "abc", strict=True)]
        batch = Batch(
            _many(many[0], operation, "batch_a"), _many(many[1], operation, "batch_b"), apart[0], apart[1],
            flag(sequential, operation, "en_sequential_write"),
        )  # fmt: skip
        if apart[2]:
            rule = "0: it is reserved"
            raise ArgumentValueError(operation, operand="matrix_stride_c", value=apart[2], rule=rule, nearest=0)
        self._legal(batch, operation)
        return batch

    def _blocks_in_ub(self, operation: str) -> None:
        """Rows of C in UB are whole 32-byte blocks."""
        state = self.state
        n, step = state.sizes.n, c0_of(state.c.dtype)
        if n % step and state.c.format is CubeFormat.ND:
            rule = f"a multiple of {step} in UB: rows of whole 32-byte blocks"
            raise ArgumentValueError(operation, operand="n", value=n, rule=rule, nearest=align_up(n, step))

    def _legal(self, batch: Batch, operation: str) -> None:
        """The rules of the page for the numbers of matrices: broadcast and sum along G, one row of matrices, L1."""
        state, normal = self.state, self.state.a.layout is LayoutMode.NORMAL
        many, sizes = (batch.many_a, batch.many_b), state.sizes
        a, b = axes_of(state, "a"), axes_of(state, "b")
        rules = [
            (not (batch.many % many[0] or batch.many % many[1]), f"one a multiple of the other, batch_b = {many[1]}")
        ]
        if not normal:
            good = a.g * many[1] == b.g * many[0]
            rules.append((good, f"batch_a / batch_b as the axes G of A and B, {a.g} / {b.g} (batch_b = {many[1]})"))
        if state.a.layout is LayoutMode.BSNGD:
            good = not (a.n * a.g % many[0] or b.n * b.g % many[1])
            rules.append(
                (good, f"parts of N * G, the matrices beside each other: {a.n * a.g} of A and {b.n * b.g} of B")
            )
        mode = state.config.batch_mode
        if mode is BatchMode.SINGLE_LARGE_THAN_L1 and state.bias is not None and not state.config.is_bias_batch:
            operand, rule = "matmul_config.is_bias_batch", f"True with {mode.name}: a row of bias for each product"
            raise ArgumentValueError(operation, operand=operand, value=False, rule=rule, nearest=True)
        if not normal or mode is BatchMode.BATCH_LESS_THAN_L1:
            room = state.linked(operation).core.device.soc.l1
            needed = sum(
                number * align_up(lines, SIDE) * align_up(sizes.k, c0_of(kind.dtype)) * kind.dtype.size
                for number, lines, kind in zip(many, (sizes.m, sizes.n), (state.a, state.b), strict=True)
            )
            rules.append((needed <= room, f"all matrices of a call in L1: they take {needed} bytes of {room}"))
        for good, rule in rules:
            if not good:
                raise ArgumentValueError(operation, operand="batch_a", value=many[0], rule=rule)
        for name, kind in (("a", state.a), ("b", state.b), ("c", state.c)):
            if kind.layout in (LayoutMode.BSNGD, LayoutMode.SBNGD) and kind.format is not CubeFormat.ND:
                rule = f"ND in the layout {kind.layout.name}"
                raise ArgumentValueError(operation, operand=f"{name}.format", value=kind.format.name, rule=rule)


def axes_of(state: MatmulObject, which: str) -> Axes:
    """The axes of a batched matrix; a NORMAL one, whose tiling names none, has those of the whole matrix."""
    kind: MatmulType = getattr(state, which)
    t, sizes = state.tiling._memory, state.sizes
    names = ("b", "s1", "n", "g", "s2") if which == "c" else ("b", "s", "n", "g", "d")
    axes = Axes(*(getattr(t, f"{which}_layout_info_{name}", 0) for name in names))
    if kind.layout is LayoutMode.NORMAL or not axes.d:
        operand = {"a": state.operands[0], "b": state.operands[1], "c": None}[which]
        rows, columns = {
            "a": (sizes.org_m, sizes.org_ka),
            "b": (sizes.org_kb, sizes.org_n),
            "c": (sizes.org_m, sizes.org_kc or sizes.org_n),
        }[which]
        if operand is not None and operand.transposed:
            rows, columns = columns, rows
        return Axes(1, rows, 1, 1, columns)
    return axes


def reduced(state: MatmulObject) -> int:
    """Products that are summed into one matrix of C."""
    a, b, c = (axes_of(state, which) for which in "abc")
    return max(a.g, b.g) if c.g == 1 and state.c.layout is not LayoutMode.NORMAL else 1


def compute(
    state: MatmulObject,
    cube: Any,
    product: Product,
    target: Target,
    batch: Batch,
    turn: int,
    operation: str,
    site: Site,
) -> None:
    """The products of one call, and their copies out."""
    summed = reduced(state)
    a, b, c = (axes_of(state, which) for which in "abc")
    share_a, share_b = batch.many // batch.many_a, batch.many // batch.many_b

    def at(source: Any, axes: Axes, kind: MatmulType, stride: int, number: int) -> Any:
        if not isinstance(source, InGm):
            raise ArgumentValueError(operation, operand="tensor", rule="A and B of a batch in global memory or UB")
        elements = number * stride if stride else axes.offset(kind.layout, number)
        pitch = source.pitch if source.fractal else axes.pitch(kind.layout)
        return source._replace(at=source.at + elements * kind.dtype.size, pitch=pitch)

    for first in range(0, batch.many, summed):
        out = (turn * batch.many + first) // summed
        parts = []
        for i in range(first, first + summed):
            number_a, number_b = turn * batch.many_a + i // share_a, turn * batch.many_b + i // share_b
            bias = product.bias if i == first else None
            if isinstance(bias, InGm) and state.config.is_bias_batch:
                bias = bias._replace(at=bias.at + out * product.n * bias.tensor.dtype.size)
            parts.append(
                product._replace(
                    a=at(product.a, a, state.a, batch.stride_a, number_a),
                    b=at(product.b, b, state.b, batch.stride_b, number_b),
                    bias=bias,
                )
            )
        here = target._replace(tensor=target.tensor[c.offset(state.c.layout, out)])
        if not here.fractal:
            here = here._replace(pitch=c.pitch(state.c.layout))
        state.sum(cube, parts, here, operation, site)


BatchCalls.iterate_batch.__overloads__ = signatures(  # type: ignore[attr-defined]
    "self, tensor, batch_a, batch_b, en_sequential_write, matrix_stride_a=0, matrix_stride_b=0, matrix_stride_c=0, "
    "en_partial_sum=False, en_atomic=0, sync=True, wait_iterate_batch=None",
    "self, tensor, en_partial_sum, en_atomic, en_sequential_write, matrix_stride_a=0, matrix_stride_b=0, "
    "matrix_stride_c=0, sync=True",
)
BatchCalls.get_batch_tensor_c.__overloads__ = signatures(  # type: ignore[attr-defined]
    "self, batch_a, batch_b, en_sequential_write=False, sync=True",
    "self, tensor, batch_a, batch_b, en_sequential_write=False, sync=True",
)


def _many(x: Any, operation: str, name: str) -> int:
    many = index(x, operation, name)
    if many < 1:
        raise ArgumentValueError(operation, operand=name, value=many, rule="1 or more matrices", nearest=1)
    return many
