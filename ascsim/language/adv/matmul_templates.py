"""Matmul: what the templates and choices of a MatmulConfig ask of a tiling and a call. Page: MatmulConfig.

Choices that only save time on the device are no rules here: preloading, K in another order, shared buffers of L0.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...hw.errors import ArgumentValueError, NotSimulatedError
from ..core.dtype import DataType, int8
from ..core.enums import IterateMode, IterateOrder, ScheduleType
from .matmul_config import MatmulConfig
from .matmul_product import Product, Scalar
from .tiling_rules import Breach, Cut

# Choices that change what is computed in a way that is not simulated
_MISSING = {"intra_block_part_sum": (True, "no device of this family sums results of two vector cores in L0C")}
_MODES = {
    "iterate": IterateMode.ITERATE_MODE_NORMAL,
    "iterate_all": IterateMode.ITERATE_MODE_ALL,
    "iterate_batch": IterateMode.ITERATE_MODE_BATCH,
    "iterate_n_batch": IterateMode.ITERATE_MODE_N_BATCH,
}
_SHARED = 32 * 1024  # bytes of a block in L0A or L0B under is_a2b2_shared


def check_config(config: MatmulConfig) -> None:
    """Choices that no device of this family has, and those that exclude each other."""
    for field, (value, why) in _MISSING.items():
        if getattr(config, field) == value:
            raise NotSimulatedError("adv.Matmul", why, operand=f"matmul_config.{field}", value=value)
    if config.do_special_mdl and config.do_multi_data_load:
        operand, rule = "matmul_config.do_multi_data_load", "False with do_special_mdl"
        raise ArgumentValueError("adv.Matmul", operand=operand, value=True, rule=rule, nearest=False)


def check_templates(
    config: MatmulConfig, cut: Cut, product: Product, dtype: DataType, operation: str, remote: bool
) -> int:
    """Refuse what the configuration excludes; returns the parts along K in which each block comes, 0 if they are
    summed. `dtype` of A; `remote`: a vector core calls."""
    name, mdl = operation.removeprefix("Matmul."), bool(config.do_multi_data_load or config.do_special_mdl)
    for breach in (
        *_mode(config, name),
        *_basic(config, cut, product, dtype),
        *_shared(config, cut, dtype),
        *_outer(config, cut, product, name, mdl, remote),
        *_partial(config, product, name, mdl),
    ):
        field, value, rule, nearest = breach
        raise ArgumentValueError(operation, operand=f"matmul_config.{field}", value=value, rule=rule, nearest=nearest)
    return -(-product.k // cut.base_k) if config.is_partial_output else 0


def _mode(config: MatmulConfig, name: str) -> Iterator[Breach]:
    mode = _MODES[name]
    if not config.iterate_mode & mode:
        yield Breach("iterate_mode", config.iterate_mode, f"{mode.name} ({int(mode)}) in it for {name}", int(mode))


def _basic(config: MatmulConfig, cut: Cut, product: Product, dtype: DataType) -> Iterator[Breach]:
    """Blocks, and with SpecialBasicBlock the part, are constants of the program, which has no code for others."""
    if not (config.do_basic_block or config.do_special_basic_block):
        return
    field = "do_basic_block" if config.do_basic_block else "do_special_basic_block"
    wanted = {f"basic_{axis}": getattr(cut, f"base_{axis}") for axis in "mnk"}
    if config.do_special_basic_block:
        wanted |= {f"single_core_{axis}": getattr(product, axis) for axis in "mnk"}
        wanted |= {"step_m": cut.step_m, "step_n": cut.step_n}
    for name, given in wanted.items():
        if getattr(config, name) != given:
            yield Breach(name, getattr(config, name), f"that of the tiling, {given}", given)
    for axis in "mn":
        size, base = getattr(product, axis), getattr(cut, f"base_{axis}")
        if size % base:
            yield Breach(
                field, True, f"whole blocks: single_core_{axis} = {size} is no multiple of base_{axis} = {base}"
            )
    if dtype is int8 or isinstance(product.a, Scalar):
        yield Breach(field, True, f"a matrix A of float16, bfloat16 or float32; it is {dtype}, or a number")
    if config.schedule_type is ScheduleType.OUTER_PRODUCT:
        yield Breach("schedule_type", "OUTER_PRODUCT", "INNER_PRODUCT with the BasicBlock template")


def _shared(config: MatmulConfig, cut: Cut, dtype: DataType) -> Iterator[Breach]:
    largest = max(cut.base_m, cut.base_n) * cut.base_k * dtype.size
    if config.is_a2b2_shared and largest > _SHARED:
        yield Breach(
            "is_a2b2_shared", True, f"blocks of A and B up to {_SHARED} bytes: the tiling has {largest}", False
        )


def _outer(config: MatmulConfig, cut: Cut, product: Product, name: str, mdl: bool, remote: bool) -> Iterator[Breach]:
    if config.schedule_type is not ScheduleType.OUTER_PRODUCT:
        return
    along = "n" if config.iterate_order is IterateOrder.ORDER_M else "m"
    batch, pairs = name not in ("iterate_all", "iterate"), name == "iterate"
    for kept, rule in (
        (not (pairs and mdl), "iterate_all with the MDL template"),
        (not pairs or cut.db_l0c == 2, "db_l0c = 2 of the tiling: iterate computes two blocks of C"),
        (not (remote and not batch), "kernels of cube cores alone"),
        (batch or config.iterate_order is not IterateOrder.UNDEF, "matmul_config.iterate_order"),
        (batch or getattr(cut, f"step_{along}") > 1, f"step_{along} of the tiling above 1"),
        (not (batch or mdl) or product.k <= cut.base_k, "single_core_k up to base_k"),
    ):
        if not kept:
            yield Breach("schedule_type", "OUTER_PRODUCT", rule)


def _partial(config: MatmulConfig, product: Product, name: str, mdl: bool) -> Iterator[Breach]:
    if not config.is_partial_output:
        return
    for kept, rule in (
        (mdl, "get_mdl_config"),
        (name == "iterate", "iterate, a step along K each"),
        (product.bias is None, "no bias"),
    ):
        if not kept:
            yield Breach("is_partial_output", True, rule)
