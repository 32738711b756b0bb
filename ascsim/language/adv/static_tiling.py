"""get_matmul_api_tiling: the tiling that a MatmulConfig settles at compile time. Page: GetMatmulApiTiling."""

from __future__ import annotations

from typing import Any

from ...hw import current
from ...hw.errors import ArgumentTypeError, ArgumentValueError
from ...hw.soc import Soc, soc
from ..core.place import index
from ..signatures import signatures
from .matmul_config import MatmulConfig
from .matmul_operands import MatmulType
from .tcube_tiling import MatmulApiStaticTiling
from .tiling_rules import Product, matrix, room, usage
from .tiling_search import Problem, Range, search

NAME = "adv.get_matmul_api_tiling"
_OUTSIDE = "Ascend910B1"  # outside a kernel: these memories are the same on every platform


def get_matmul_api_tiling(*args: Any, **kwargs: Any) -> MatmulApiStaticTiling:
    """The constant tiling of `mm_cfg`, whose `cfg` is that configuration.

    Arguments (mm_cfg, a_type, b_type, c_type, bias_type=None, l1_size=None) as MatmulConfig, MatmulTypes and bytes of
    L1; an int in the second place is `l1_size`, the types follow. With the sizes of the block and of a core's part set
    in `mm_cfg` (`basic_*`, `single_core_*`) every field is worked out, with m, n, k_a and k_b those of the part; with
    those of the block alone base_*, db_l0a, db_l0b and is_bias; what is not known is -1. is_bias is `enable_set_bias`.
    Faults: an ArgumentValueError names the rule that no tiling of these blocks satisfies. Page: GetMatmulApiTiling.
    """
    given = _arguments(args, kwargs)
    config = given["mm_cfg"]
    if not isinstance(config, MatmulConfig):
        raise ArgumentTypeError(NAME, "is no MatmulConfig", operand="mm_cfg", value=config)
    for name in ("a_type", "b_type", "c_type", "bias_type"):
        if not isinstance(given[name], MatmulType) and (given[name] is not None or name != "bias_type"):
            raise ArgumentTypeError(NAME, "is no MatmulType", operand=name, value=given[name])
    machine = _machine()
    space = room(machine)
    l1_size = given["l1_size"]
    l1 = space.l1 if l1_size is None else index(l1_size, NAME, "l1_size")
    if not 0 < l1 <= space.l1:
        rule = f"1 to {space.l1} bytes"
        raise ArgumentValueError(NAME, operand="l1_size", value=l1, rule=rule, nearest=space.l1)
    bias = given["bias_type"] or given["c_type"]
    product = Product(
        matrix(given["a_type"]),
        matrix(given["b_type"]),
        matrix(bias) if config.enable_set_bias else None,
        c=matrix(given["c_type"]),
    )
    tiling = MatmulApiStaticTiling()
    tiling.cfg = config
    base = config.basic_m, config.basic_n, config.basic_k
    part = config.single_core_m, config.single_core_n, config.single_core_k
    if not all(base):
        return tiling
    known: dict[str, int] = dict(zip(("base_m", "base_n", "base_k"), base, strict=True))
    if all(part):
        problem = Problem(
            product,
            space._replace(l1=l1),
            part,
            (*part, part[2]),
            is_bias=config.enable_set_bias,
            base=(Range(base[0], base[0]), Range(base[1], base[1]), Range(base[2], base[2])),
            mdl=config.do_multi_data_load or config.do_special_mdl,
        )
        cut = search(NAME, problem)
        known = cut._asdict() | usage(product, cut)
        known |= dict.fromkeys(("share_ub_size", "share_mode", "trans_length"), 0)
    else:
        known["db_l0a"] = 1 + (2 * base[0] * base[2] * product.a.dtype.size <= space.l0a)
        known["db_l0b"] = 1 + (2 * base[1] * base[2] * product.b.dtype.size <= space.l0b)
        known["is_bias"] = int(config.enable_set_bias)
    for name, number in known.items():
        setattr(tiling, name, number)
    return tiling


get_matmul_api_tiling.__overloads__ = signatures(  # type: ignore[attr-defined]
    "mm_cfg, l1_size, a_type, b_type, c_type, bias_type=None",
    "mm_cfg, a_type, b_type, c_type, bias_type=None, l1_size=None",
)


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name: the code and the declaration of the front end disagree on their order."""
    names = ["mm_cfg", "a_type", "b_type", "c_type", "bias_type", "l1_size"]
    if len(args) > 1 and not isinstance(args[1], MatmulType):
        names.insert(1, names.pop())
    if len(args) > len(names) or set(kwargs) - set(names[len(args) :]):
        rule = "(mm_cfg, a_type, b_type, c_type, bias_type=None, l1_size=None)"
        raise ArgumentTypeError(NAME, "are not the arguments", operand="arguments", value=[*kwargs], rule=rule)
    return dict.fromkeys(names) | dict(zip(names, args, strict=False)) | kwargs


def _machine() -> Soc:
    core = current.core.get()
    return soc(_OUTSIDE) if core is None else core.device.soc


__all__ = ["get_matmul_api_tiling"]
