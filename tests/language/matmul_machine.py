"""A kernel that multiplies with a Matmul object as it is told, and the tilings and matrices for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import ascsim as asc

ND, NZ = asc.CubeFormat.ND, asc.CubeFormat.NZ
GM = asc.TPosition.GM
RING = 192 * 1024  # bytes of workspace of a vector core
TYPES = {
    "float16": asc.float16,
    "float32": asc.float32,
    "int8": asc.int8,
    "int32": asc.int32,
    "bfloat16": asc.bfloat16,
}


@dataclass(eq=False)
class How:
    """MatmulTypes, configuration, and `calls(mm, a, b, bias, c, tiling)`, which makes the calls."""

    a: Any
    b: Any
    c: Any
    bias: Any
    calls: Callable[..., Any]
    config: Any = None
    policy: int = 0


@asc.jit
def product(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    bias: asc.GlobalAddress,
    c: asc.GlobalAddress,
    tiling: asc.adv.TCubeTiling,
    workspace: asc.GlobalAddress,
    how: asc.ConstExpr,
):
    a_gm, b_gm, bias_gm, c_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    a_gm.set_global_buffer(a)
    b_gm.set_global_buffer(b)
    bias_gm.set_global_buffer(bias)
    c_gm.set_global_buffer(c)
    pipe = asc.TPipe()
    mm = asc.adv.Matmul(how.a, how.b, how.c, how.bias, how.config, how.policy)
    asc.adv.register_matmul(pipe, workspace, mm, tiling)
    if asc.get_block_idx() < tiling.used_core_num:
        how.calls(mm, a_gm, b_gm, bias_gm, c_gm, tiling)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


cube_product = asc.jit(matmul_cube_only=True)(product.fn)


def tiling(m: int, n: int, k: int, base: tuple[int, int, int], **more: Any) -> Any:
    """A tiling of one core, one block of each in L1, a bias allowed."""
    base_m, base_n, base_k = base
    fields = {
        "used_core_num": 1, "m": m, "n": n, "k_a": k, "k_b": k, "single_core_m": m, "single_core_n": n,
        "single_core_k": k, "base_m": base_m, "base_n": base_n, "base_k": base_k, "depth_a1": 1, "depth_b1": 1,
        "step_m": 1, "step_n": 1, "step_k_a": 1, "step_k_b": 1, "is_bias": 1, "db_l0a": 1, "db_l0b": 1, "db_l0c": 1,
    }  # fmt: skip
    return asc.adv.TCubeTiling(**{**fields, **more})


def run(
    how: How,
    tile: Any,
    a: np.ndarray,
    b: np.ndarray,
    bias: np.ndarray,
    c: np.ndarray,
    cube: bool = False,
    blocks: int = 1,
) -> Any:
    """Launch on `blocks` groups; results arrive in `c`. Returns the report."""
    kernel = cube_product if cube else product
    return kernel[blocks](a, b, bias, c, tile, np.zeros(2 * blocks * RING, np.uint8), how)


def kind(dtype: str, transposed: bool = False, format: Any = ND, position: Any = GM, layout: Any = None) -> Any:
    """A MatmulType."""
    return asc.adv.MatmulType(position, format, TYPES[dtype], transposed, layout or asc.LayoutMode.NONE)


def whole(rows: int, step: int) -> int:
    return -(-rows // step) * step


def fractals(x: np.ndarray, c0: int) -> np.ndarray:
    """A matrix in columns of fractals: (columns / c0, rows, c0), padded with zeros to whole fractals."""
    rows, columns = x.shape
    out = np.zeros((whole(rows, 16), whole(columns, c0)), x.dtype)
    out[:rows, :columns] = x
    return np.ascontiguousarray(out.reshape(out.shape[0], -1, c0).transpose(1, 0, 2))


def unfractals(x: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The matrix behind columns of fractals."""
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)[:rows, :columns]


def numbers(rng: np.random.Generator, shape: Any, dtype: str) -> np.ndarray:
    """Small integers, so that every sum is exact."""
    return rng.integers(-5, 6, shape).astype(TYPES[dtype].np)
