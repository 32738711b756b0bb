"""What a Matmul costs on the simulator, against the same products as bare numpy.

    python benchmarks/matmul.py

The bare work is the tile products of the launch and no more: of float32 tiles, each copied in before its product, added
up, each block of C copied out once. A figure over its budget is marked and makes the exit code 1.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
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
    blocks_m, blocks_n = tiling.m.ceildiv(tiling.single_core_m), tiling.n.ceildiv(tiling.single_core_n)
    a_gm, b_gm, c_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    pipe = asc.TPipe()
    half = asc.adv.MatmulType(GM, ND, asc.float16)
    mm = asc.adv.Matmul(half, half, asc.adv.MatmulType(GM, ND, asc.float32))
    asc.adv.register_matmul(pipe, workspace, mm, tiling)
    for part in range(asc.get_block_idx(), blocks_m * blocks_n, tiling.used_core_num):
        row, column = part % blocks_m, part // blocks_m
        a_gm.set_global_buffer(a + row * tiling.single_core_m * tiling.k_a)
        b_gm.set_global_buffer(b + column * tiling.single_core_n)
        c_gm.set_global_buffer(c + row * tiling.single_core_m * tiling.n + column * tiling.single_core_n)
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


Size = tuple[int, int, int]


def launch(size: Size, part: tuple[int, int], cores: int, cube: bool, **settings: Any) -> Callable[[], None]:
    """A launch whose cores take turns at parts of C of this size; its result is checked once."""
    m, n, k = size
    a, b, c = matrices(m, n, k)
    base_m, base_n, base_k = BASE
    part_m, part_n = part
    tiling = asc.adv.TCubeTiling(
        used_core_num=cores, m=m, n=n, k_a=k, k_b=k, single_core_m=part_m, single_core_n=part_n, single_core_k=k,
        base_m=min(base_m, part_m), base_n=min(base_n, part_n), base_k=base_k, depth_a1=2, depth_b1=2,
        step_m=1, step_n=1, step_k_a=1, step_k_b=1, db_l0a=2, db_l0b=2, db_l0c=1,
    )  # fmt: skip
    workspace = np.zeros(16 << 20, np.uint8)

    def run() -> None:
        with asc.settings(**settings):
            (cube_matmul[cores] if cube else matmul[-(-cores // 2)])(a, b, c, tiling, workspace)

    run()
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()
    return run


def bare(m: int, n: int, k: int) -> Callable[[], None]:
    """Tile by tile in numpy: float32 all the way, no tile longer in use than for its product."""
    a, b, c = matrices(m, n, k)
    a, b = a.astype(np.float32), b.astype(np.float32)
    base_m, base_n, base_k = BASE
    left, right, product, block = (
        np.empty(shape, np.float32)
        for shape in ((base_m, base_k), (base_k, base_n), (base_m, base_n), (base_m, base_n))
    )

    def run() -> None:
        for i in range(0, m, base_m):
            for j in range(0, n, base_n):
                block[:] = 0
                for p in range(0, k, base_k):
                    left[:] = a[i : i + base_m, p : p + base_k]
                    right[:] = b[p : p + base_k, j : j + base_n]
                    np.matmul(left, right, out=product)
                    np.add(block, product, out=block)
                c[i : i + base_m, j : j + base_n] = block

    run()
    assert (c == a @ b).all()
    return run


def large() -> Iterator[Row]:
    """1024 cubed in 512 steps of 128 x 256 x 64: 32 blocks of C, of which 24 cube cores take one or two each."""
    size, part, cores = (1024, 1024, 1024), BASE[:2], 24
    work = launch(size, part, cores, True), launch(size, part, cores, True, checks=OFF), bare(*size)
    on, off, numpy = best(*work, rounds=9, now=process_time)  # of the one thread: others share the machine
    yield Row("1024 cubed, 24 cube cores", on / numpy, 3, "numpy loops")
    yield Row("1024 cubed, 24 cube cores, Checks.off()", off / numpy, 3, "numpy loops")


def tutorial() -> Iterator[Row]:
    """512 x 1024 x 512 in a mix kernel of 16 groups, a part of 64 x 256 for each vector core."""
    (seconds,) = best(launch((512, 1024, 512), (64, 256), 32, False), rounds=3)
    yield Row("512 x 1024 x 512, mix kernel", seconds, 1, "s")


if __name__ == "__main__":
    sys.exit(report((large, tutorial)))
