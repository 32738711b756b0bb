"""The state of a Matmul object and what a call makes of it: the product to compute, the target of its results.

The calls themselves stand in `matmul`; the cube's part in `matmul_cube`. Not here: the state of L1 and L0, which all
objects of a cube core share.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...hw.core import Core
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.findings import Site
from ..core.dtype import float32
from ..core.enums import CubeFormat, IterateOrder, MatmulPolicy, ScheduleType, TPosition
from ..core.global_tensor import GlobalTensor
from ..core.place import L1_POSITIONS, Place, index
from ..core.tensor import LocalTensor
from ..fractals import SIDE, align_up, c0_of
from . import tiling_rules
from .matmul_buffers import Kinds, first_of_two
from .matmul_config import MatmulConfig
from .matmul_cube import Cube
from .matmul_link import Link
from .matmul_operands import MatmulType, Operand, Sizes, check_rows, check_types, compressed, mode_of, source_of
from .matmul_product import InGm, InL1, Product, Scalar, Target
from .matmul_templates import check_config, check_templates
from .tiling_rules import Cut, check_tiling

_UPPER, _LOWER = MatmulPolicy.TrianUpperMatmulPolicy, MatmulPolicy.TrianLowerMatmulPolicy


class Blocks:
    """The blocks of C of one round of `iterate`: those still to come, and those that stand in L0C.

    `parts`: steps along K, each of which is a block of its own; 0: they are added up.
    """

    def __init__(self, product: Product, walk: Iterator[tuple[int, int]], parts: int = 0) -> None:
        self.product, self.walk, self.parts = product, walk, parts
        self.number = -1  # of the block computed last
        self.last: tuple[int, int] | None = None  # that block, along M and N
        self.ahead = self.steps()
        # Not yet copied out: along M, along N, number, buffer, whether the next one is copied with it
        self.open: list[tuple[int, int, int, int, bool]] = []

    def steps(self) -> Iterator[tuple[int, int, int | None]]:
        """The blocks to compute, with the part of each."""
        for mi, ni in self.walk:
            for part in range(self.parts) if self.parts else (None,):
                yield mi, ni, part


class MatmulObject:
    """Types, sizes, operands and results of one object."""

    def __init__(self, a: Any, b: Any, c: Any, bias: Any, config: Any, policy: Any) -> None:
        for name, value in (("a", a), ("b", b), ("c", c), ("bias", bias)):
            if not isinstance(value, MatmulType) and (value is not None or name != "bias"):
                raise ArgumentTypeError("adv.Matmul", operand=name, value=value, rule="a MatmulType")
        config = MatmulConfig() if config is None else config
        if not isinstance(config, MatmulConfig):
            raise ArgumentTypeError("adv.Matmul", operand="matmul_config", value=config, rule="a MatmulConfig")
        check_types(a, b, c, bias)
        check_config(config)
        self.a, self.b, self.c, self.bias_type, self.config = a, b, c, bias, config
        number = index(policy or 0, "adv.Matmul", "matmul_policy")
        if number not in list(MatmulPolicy):
            rule = ", ".join(f"{member.name} ({int(member)})" for member in MatmulPolicy)
            raise ArgumentValueError("adv.Matmul", operand="matmul_policy", value=number, rule=rule)
        self.policy = MatmulPolicy(number)
        self.mdl = bool(config.do_multi_data_load or config.do_special_mdl)
        self.link: Link | None = None
        self.tiling: Any = None
        self.cut: Cut | None = None
        self.sizes: Sizes
        self.operands: list[Operand | None] = [None, None]
        self.bias: Any = None  # a tensor
        self.factor: Any = None  # a number, or a tensor of one a column
        self.index: GlobalTensor | None = None  # of a B that is 4:2 compressed
        self.fresh = False  # set_tensor_a or set_tensor_b since the last round
        self.blocks: Blocks | None = None
        self.answers: list[int] = []  # of calls that did not wait
        self.workspace: GlobalTensor | None = None
        self.taken = 0  # blocks taken from it
        self.unentered: Site | None = None  # where an iterate(sync=False) stands that no `with` has entered yet
        self.batch: tuple[int, int] | None = None  # of set_batch_num

    # ------------------------------------------------------------------ refusals

    def linked(self, operation: str) -> Link:
        """The way to the cube core."""
        if self.link is None:
            raise ArgumentValueError(operation, "this object is not registered", rule="register_matmul before it")
        return self.link

    def allowed(self, operation: str, field: str) -> None:
        """A call that the object's configuration has switched off."""
        if not getattr(self.config, field):
            raise ArgumentValueError(operation, "is switched off", operand=f"matmul_config.{field}", value=False)

    def single_master(self, operation: str) -> None:
        """A call that `enable_mix_dual_master` excludes."""
        if self.config.enable_mix_dual_master:
            rule = "enable_mix_dual_master = False: two masters have iterate_all alone for results, and no callbacks"
            raise ArgumentValueError(operation, "is excluded", rule=rule)

    def cube_only(self, operation: str) -> None:
        """A call that only a kernel without vector cores can make."""
        if self.linked(operation).remote:
            rule = "kernels of cube cores alone (matmul_cube_only)"
            raise ArgumentValueError(operation, "has no effect from a vector core", rule=rule)

    # ------------------------------------------------------------------ tiling and sizes

    def tile(self, tiling: Any, operation: str) -> None:
        """Take a tiling; its rules are checked with the first call that computes, when all is known."""
        if not isinstance(tiling, (tiling_rules.TCubeTiling, tiling_rules.MatmulApiStaticTiling)):
            raise ArgumentTypeError(operation, "is no TCubeTiling", operand="tiling", value=tiling)
        self.tiling, self.cut = tiling, None
        t = tiling._memory
        self.sizes = Sizes(t.m, t.n, t.k_a, t.k_b, 0, t.single_core_m, t.single_core_n, t.single_core_k)

    def tiled(self, operation: str) -> None:
        if self.tiling is None:
            raise ArgumentValueError(operation, "no tiling yet", rule="register_matmul(..., tiling) or init(tiling)")

    def cuts(self, core: Core, operation: str) -> Cut:
        """The checked numbers of the tiling."""
        if self.cut is None:
            transposed = [operand is not None and operand.transposed for operand in self.operands]
            a, b = (
                tiling_rules.Matrix(kind.dtype, kind.is_trans or turned, False, kind.position in L1_POSITIONS)
                for kind, turned in zip((self.a, self.b), transposed, strict=True)
            )
            bias = None if self.bias_type is None else tiling_rules.matrix(self.bias_type)
            quant, sparse = isinstance(self.factor, GlobalTensor), self.index is not None
            product = tiling_rules.Product(a, b, bias, quant, sparse, tiling_rules.matrix(self.c))
            cut = check_tiling(operation, self.tiling, product, core.device.soc, self.mdl, self.config.do_special_mdl)
            if self.config.iterate_order is not IterateOrder.UNDEF:
                cut = cut._replace(iterate_order=int(self.config.iterate_order))
            for kind, across, field in ((self.a, transposed[0], "m"), (self.b, not transposed[1], "n")):
                base, c0 = getattr(cut, f"base_{field}"), c0_of(kind.dtype)
                together = kind.format == CubeFormat.NZ or (self.mdl and getattr(cut, f"step_{field}") > 1)
                if across and together and base % c0:
                    operand, rule = f"tiling.base_{field}", f"a multiple of {c0}: whole columns of fractals as stored"
                    raise ArgumentValueError(
                        operation, operand=operand, value=base, rule=rule, nearest=align_up(base, c0)
                    )
            self.cut = cut
        return self.cut

    # ------------------------------------------------------------------ what a call computes and where it puts it

    def product(self, operation: str) -> Product:
        """The product of the operands in force."""
        self.tiled(operation)
        if not self.fresh:
            raise ArgumentValueError(
                operation, "no new operands", rule="set_tensor_a or set_tensor_b before each round"
            )
        a, b = self.operands
        if a is None or b is None:
            name = "set_tensor_a" if a is None else "set_tensor_b"
            raise ArgumentValueError(operation, "an operand is missing", rule=f"{name} before it")
        sizes, sources = self.sizes, []
        for which, (kind, operand) in enumerate(((self.a, a), (self.b, b))):
            if isinstance(operand.given, (GlobalTensor, LocalTensor)):
                sources.append(source_of(kind, operand, sizes, bool(which)))
            else:
                many = sizes.n if which else sizes.m
                if many != 1:
                    rule = f"single_{'n' if which else 'm'} = 1: a number stands for a single row of K elements"
                    raise ArgumentValueError(operation, operand="scalar", value=operand.given, rule=rule)
                sources.append(Scalar(operand.given))
        bias = self.bias
        if isinstance(bias, GlobalTensor):
            bias = InGm(bias, bias.start, 0, False)
        elif bias is not None:
            bias = bias.place.live
        product = Product(
            sources[0], sources[1], a.transposed, not b.transposed, bias, sizes.m, sizes.n, sizes.k
        )  # fmt: skip
        return product if self.index is None else compressed(product, self.index, sizes, operation)

    def kinds(self, product: Product) -> Kinds:
        """What the layout of the cube's memory depends on."""
        bias = None if product.bias is None else (self.bias_type or self.c).dtype
        return Kinds(
            self.a.dtype, self.b.dtype, bias, product.a_across, product.b_across, isinstance(product.a, InL1),
            isinstance(product.b, InL1), isinstance(self.factor, GlobalTensor), self.mdl,
            self.c.position is TPosition.CO1, product.sparse is not None,
        )  # fmt: skip

    def target(self, tensor: Any, atomic: int, sequential: bool, operation: str, private: bool = False) -> Target:
        """Where results go: a tensor in global memory, or one of L1."""
        self.tiled(operation)
        if self.c.position is TPosition.CO1:
            rule = "GM or VECIN; what iterate(local_c_matrix=...) puts in CO1, fixpipe takes"
            raise ArgumentValueError(operation, operand="c.position", value="CO1", rule=rule)
        mode = mode_of(self.a.dtype, self.c.dtype, self.factor, operation)
        factor = self.factor
        if isinstance(factor, GlobalTensor):
            factor = InGm(factor, factor.start, 0, False)
        split, nz = bool(self.config.is_enable_channel_split), self.c.format == CubeFormat.NZ
        if split and not (nz and self.c.dtype is float32):
            raise ArgumentValueError(operation, operand="is_enable_channel_split", value=True, rule="C in NZ, float32")
        if isinstance(tensor, LocalTensor):
            nz = True
        sizes = self.sizes
        if nz:
            pitch = align_up(sizes.org_m, SIDE)
            wide = 8 if split else max(SIDE, c0_of(self.c.dtype))
            if sizes.n % wide:
                rule = f"a multiple of {wide} where C lies in fractals"
                raise ArgumentValueError(
                    operation, operand="n", value=sizes.n, rule=rule, nearest=align_up(sizes.n, wide)
                )
        else:
            pitch = sizes.org_kc or sizes.org_n
        return Target(tensor, pitch, nz, split, sequential, atomic, mode, factor, private)

    def wanted(self, mi: int, ni: int) -> bool:
        """Whether the policy computes a block of C; the others of a triangular one are left alone."""
        return not ((self.policy is _UPPER and mi > ni) or (self.policy is _LOWER and mi < ni))

    # ------------------------------------------------------------------ rounds

    def begin(self, cube: Cube, product: Product, operation: str, site: Site) -> Blocks:
        """Start a round; another object must not be in the middle of one."""
        cut = self.cuts(cube.core, operation)
        owner = cube.owner
        if owner is not None and owner is not self:
            rule = "end() of the object in use before it: they share the memory of the cube core"
            text = f"another Matmul object has not ended on {cube.core.name}"
            raise ArgumentValueError(operation, text, rule=rule)
        if not self.config.intrinsics_check:
            check_rows(product, operation)
        remote = self.linked(operation).remote
        parts = check_templates(self.config, cut, product, self.a.dtype, operation, remote)
        cube.owner = self
        self.fresh = False
        cube.use(cut, self.kinds(product), site)
        cube.forget(site)
        return Blocks(product, cube.walk(product, site), parts)

    def unit(self, target: Target) -> int:
        """The unit flag of blocks that are computed and copied in one go: 3, or 0 where there is none."""
        return 3 if self.config.en_unit_flag and not target.split and self.c.position is not TPosition.CO1 else 0

    def all(
        self, cube: Cube, product: Product, target: Target, operation: str, site: Site, way: Link | None = None
    ) -> None:
        """Compute every block and copy it out; with `way`, an answer for each is kept."""
        blocks = self.begin(cube, product, operation, site)
        self.blocks = None
        layout = cube.layout
        assert layout is not None
        unit = self.unit(target)
        for number, (mi, ni) in enumerate(blocks.walk):
            if self.wanted(mi, ni):
                buffer = number % len(layout.l0c)
                place = layout.l0c[buffer]
                cube.compute(product, mi, ni, place, buffer, False, site, unit=unit)
                cube.copy(product, mi, ni, number, place, buffer, target, site, unit)
            if way is not None:
                answer = way.answer(cube)
                way.promise(answer, "get_tensor_c(sync=False)", operation, site)
                self.answers.append(answer)
        if self.link is not None and self.link.remote:  # the server ends the object itself
            self.finish(cube, site)

    def sum(self, cube: Cube, products: list[Product], target: Target, operation: str, site: Site) -> None:
        """Compute the sum of products of one shape, block by block, and copy it out."""
        rounds = [self.begin(cube, product, operation, site) for product in products]
        layout = cube.layout
        assert layout is not None
        unit = self.unit(target)
        for number, (mi, ni) in enumerate(rounds[0].walk):
            buffer = number % len(layout.l0c)
            for i, product in enumerate(products):
                cube.forget(site)
                last = product is products[-1]
                cube.compute(
                    product, mi, ni, layout.l0c[buffer], buffer, i > 0, site, unit=unit if last else unit and 2
                )
            cube.copy(products[0], mi, ni, number, layout.l0c[buffer], buffer, target, site, unit)
        self.finish(cube, site)

    def finish(self, cube: Cube, site: Site) -> None:
        """The cube's memory is free for another object."""
        if cube.owner is self:
            cube.drain(site)
            cube.owner = None

    def step(self, cube: Cube, add: bool, own: Place | None, operation: str, site: Site) -> bool:
        """Compute the next block; False if there is none."""
        if self.fresh or self.blocks is None:
            product = self.product(operation)
            waiting = self.blocks.open if add and self.blocks is not None else []
            self.blocks = self.begin(cube, product, operation, site)
            self.blocks.open = waiting
        blocks, found = self.blocks, next(self.blocks.ahead, None)
        if found is None:
            return False
        while self._block(cube, blocks, found, add, own, operation, site):
            found = next(blocks.ahead)
        return True

    def _block(
        self,
        cube: Cube,
        blocks: Blocks,
        found: tuple[int, int, int | None],
        add: bool,
        own: Place | None,
        operation: str,
        site: Site,
    ) -> bool:
        """Compute a block; whether another one belongs to the same call, where they come in pairs."""
        layout, (mi, ni, part) = cube.layout, found
        assert layout is not None
        blocks.number += 1
        blocks.last, cut = (mi, ni), layout.cut
        if add and (part is not None or blocks.product.m > cut.base_m or blocks.product.n > cut.base_n):
            rule = "single_core_m = base_m and single_core_n = base_n: one block of C"
            raise ArgumentValueError(operation, operand="en_partial_sum", value=True, rule=rule)
        buffer = -1
        place = own
        if place is None:
            if len(blocks.open) - add >= len(layout.l0c):
                rule = f"get_tensor_c before it: L0C holds {len(layout.l0c)} blocks (tiling.db_l0c)"
                raise ArgumentValueError(operation, "the results have not been taken", rule=rule)
            buffer = blocks.open[-1][3] if add and blocks.open else (blocks.number % len(layout.l0c))
            place = layout.l0c[buffer]
        if add and blocks.open:
            blocks.open.pop()
        if self.wanted(mi, ni):
            cube.compute(blocks.product, mi, ni, place, buffer, add, site, part)
        more = self.config.schedule_type is ScheduleType.OUTER_PRODUCT and first_of_two(cut, blocks.product, mi, ni)
        if own is None:
            blocks.open.append((mi, ni, blocks.number, buffer, more))
        return more

    def take(self, cube: Cube, target: Target, operation: str, site: Site) -> None:
        """Copy the oldest block, or pair of them, out of L0C."""
        blocks, layout = self.blocks, cube.layout
        if blocks is None or not blocks.open:
            raise ArgumentValueError(operation, "no block of C stands in L0C", rule="iterate before it")
        assert layout is not None
        more, count = True, 0
        while more:
            mi, ni, number, buffer, more = blocks.open.pop(0)
            if self.wanted(mi, ni):
                first = count if target.sequential else number
                cube.copy(blocks.product, mi, ni, first, layout.l0c[buffer], buffer, target, site)
            count += 1


__all__ = ["MatmulObject"]
