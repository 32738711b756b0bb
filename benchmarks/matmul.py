"""What a Matmul costs on the simulator, against the same products as bare numpy.

    python benchmarks/matmul.py

The bare work is the loop that any simulator of this machine has to do: one product a block and step along K, of halves
brought to float32, added up, each block of C stored once. A figure over its budget is marked and makes the exit code 1.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# One thread for the products: threads that wait for one another measure what else the machine does.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from overhead import OFF, Row, best, report  # noqa: E402

import ascsim as asc  # noqa: E402  (the checkout's own)

GM, ND = asc.TPosition.GM, asc.CubeFormat.ND
BASE = (128, 256, 64)


@asc.jit
def matmul(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    c: asc.GlobalAddress,
    tiling: asc.adv.TCubeTiling,
    workspace: asc.GlobalAddress,
):
    blocks_m = tiling.m.ceildiv(tiling.single_core_m)
    row, column = asc.get_block_idx() % blocks_m, asc.get_block_idx() // blocks_m
    a_gm, b_gm, c_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    a_gm.set_global_buffer(a + row * tiling.single_core_m * tiling.k_a)
    b_gm.set_global_buffer(b + column * tiling.single_core_n)
    c_gm.set_global_buffer(c + row * tiling.single_core_m * tiling.n + column * tiling.single_core_n)
    pipe = asc.TPipe()
    half = asc.adv.MatmulType(GM, ND, asc.float16)
    mm = asc.adv.Matmul(half, half, asc.adv.MatmulType(GM, ND, asc.float32))
    asc.adv.register_matmul(pipe, workspace, mm, tiling)
    if asc.get_block_idx() < tiling.used_core_num:
        mm.set_tensor_a(a_gm)
        mm.set_tensor_b(b_gm)
        mm.iterate_all(c_gm)
        mm.end()
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


cube_matmul = asc.jit(matmul_cube_only=True)(matmul.fn)


def matrices(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-5, 6, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    return a, b, np.zeros((m, n), np.float32)


def launch(m: int, n: int, k: int, cores: tuple[int, int], cube: bool, **settings: Any) -> Callable[[], None]:
    """A launch on cores[0] by cores[1] parts; its result is checked once."""
    a, b, c = matrices(m, n, k)
    base_m, base_n, base_k = BASE
    part_m, part_n = m // cores[0], n // cores[1]
    tiling = asc.adv.TCubeTiling(
        used_core_num=cores[0] * cores[1], m=m, n=n, k_a=k, k_b=k, single_core_m=part_m, single_core_n=part_n,
        single_core_k=k, base_m=min(base_m, part_m), base_n=min(base_n, part_n), base_k=base_k, depth_a1=2, depth_b1=2,
        step_m=1, step_n=1, step_k_a=1, step_k_b=1, db_l0a=2, db_l0b=2, db_l0c=1,
    )  # fmt: skip
    workspace = np.zeros(16 << 20, np.uint8)
    parts = cores[0] * cores[1]

    def run() -> None:
        with asc.settings(**settings):
            (cube_matmul[parts] if cube else matmul[-(-parts // 2)])(a, b, c, tiling, workspace)

    run()
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()
    return run


def bare(m: int, n: int, k: int) -> Callable[[], None]:
    """Block by block and step by step in numpy."""
    a, b, c = matrices(m, n, k)
    base_m, base_n, base_k = BASE

    def run() -> None:
        for i in range(0, m, base_m):
            for j in range(0, n, base_n):
                block = np.zeros((base_m, base_n), np.float32)
                for p in range(0, k, base_k):
                    left = a[i : i + base_m, p : p + base_k].astype(np.float32)
                    block += left @ b[p : p + base_k, j : j + base_n].astype(np.float32)
                c[i : i + base_m, j : j + base_n] = block

    return run


def large() -> Iterator[Row]:
    """1024 cubed in 512 steps of 128 x 256 x 64 on 16 cube cores, 2 blocks of C each."""
    size = (1024, 1024, 1024)
    work = launch(*size, (8, 2), True), launch(*size, (8, 2), True, checks=OFF), bare(*size)
    on, off, numpy = best(*work, rounds=5)
    yield Row("1024 cubed, cube cores", on / numpy, 3, "numpy loops")
    yield Row("1024 cubed, cube cores, Checks.off()", off / numpy, 3, "numpy loops")


def tutorial() -> Iterator[Row]:
    """512 x 1024 x 512 in a mix kernel of 16 groups, a part of 64 x 256 for each vector core."""
    (seconds,) = best(launch(512, 1024, 512, (8, 4), False), rounds=3)
    yield Row("512 x 1024 x 512, mix kernel", seconds, 1, "s")


if __name__ == "__main__":
    sys.exit(report((large, tutorial)))
