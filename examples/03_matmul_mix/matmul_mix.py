"""Lesson 3: C = A x B with a Matmul object: vector cores ask, cube cores multiply.

    python examples/03_matmul_mix/matmul_mix.py [-r Model|NPU] [-v PLATFORM]

Lesson 6 sets every flag of a multiplication by hand. A Matmul object does all that, and it does it for another core:
in a mix kernel a group of cores is one cube core (AIC) and two vector cores (AIV), and all of them run the same text.
A cube core runs it as far as register_matmul; there it becomes the server of its group and never comes back. The
vector cores go on, and what they call on the object travels to the server as a message in global memory. So the text
below register_matmul is the vector cores' own, two a group, each with a part of C.

How C is cut is not decided here. A tiling says it, an object of plain numbers that the host works out of the sizes and
of what fits into the memories of the chip, before the launch:

    used_core_num                     vector cores that get a part
    single_core_m, n, k               that part, in elements
    base_m, base_n, base_k            the block of a single multiply: what L0A, L0B and L0C can hold
    depth_a1, depth_b1, step_k_a ...  how many such blocks stand in L1 at a time
"""

import argparse

import numpy as np

import ascsim as asc
import ascsim.lib.host as host
import ascsim.runtime.config as config

M, N, K = 300, 600, 256  # no multiples of a part: the last row and the last column of parts are smaller
CORES = 8  # vector cores, two a group
GM = asc.TPosition.GM
ND = asc.CubeFormat.ND


@asc.jit
def matmul_kernel(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    c: asc.GlobalAddress,
    tiling: asc.adv.TCubeTiling,
    workspace: asc.GlobalAddress,
):
    # The parts of C lie column by column. On a vector core get_block_idx counts vector cores: 0 and 1 are group 0.
    rows_of_parts = tiling.m.ceildiv(tiling.single_core_m)
    row = asc.get_block_idx() % rows_of_parts
    column = asc.get_block_idx() // rows_of_parts
    top = row * tiling.single_core_m
    left = column * tiling.single_core_n

    # What is left of the matrices from there on, at most a whole part.
    height = tiling.m - top
    if height > tiling.single_core_m:
        height = tiling.single_core_m
    width = tiling.n - left
    if width > tiling.single_core_n:
        width = tiling.single_core_n

    a_gm = asc.GlobalTensor()
    b_gm = asc.GlobalTensor()
    c_gm = asc.GlobalTensor()
    a_gm.set_global_buffer(a + top * tiling.k_a)
    b_gm.set_global_buffer(b + left)
    c_gm.set_global_buffer(c + top * tiling.n + left)

    # A Matmul is made for certain types of matrices in certain places. ND: row by row, as numpy has them.
    pipe = asc.TPipe()
    mm = asc.adv.Matmul(
        a=asc.adv.MatmulType(GM, ND, a.dtype),
        b=asc.adv.MatmulType(GM, ND, b.dtype),
        c=asc.adv.MatmulType(GM, ND, c.dtype),
    )

    # Cube cores stay here. The workspace is global memory for the messages.
    asc.adv.register_matmul(pipe, workspace, mm, tiling)

    # The tiling may have less parts than the launch has vector cores.
    if asc.get_block_idx() < tiling.used_core_num:
        mm.set_tensor_a(a_gm)
        mm.set_tensor_b(b_gm)
        mm.set_tail(height, width)
        # One message: all blocks of the part, to global memory. Behind it C may be read.
        mm.iterate_all(c_gm)
        mm.end()


def make_tiling():
    maker = host.MultiCoreMatmulTiling(host.get_ascendc_platform())
    maker.set_a_type(host.TPosition.GM, host.CubeFormat.ND, host.DataType.DT_FLOAT16)
    maker.set_b_type(host.TPosition.GM, host.CubeFormat.ND, host.DataType.DT_FLOAT16)
    maker.set_c_type(host.TPosition.GM, host.CubeFormat.ND, host.DataType.DT_FLOAT)
    maker.set_dim(CORES)
    maker.set_org_shape(M, N, K)
    maker.set_shape(M, N, K)
    maker.set_buffer_space(-1, -1, -1)  # all of L1, L0C and UB
    tiling = asc.adv.TCubeTiling()
    maker.get_tiling(tiling)
    return tiling


def main():
    options = argparse.ArgumentParser(description="Multiply two matrices with a Matmul object in a mix kernel.")
    options.add_argument("-r", choices=[backend.value for backend in config.Backend], default="Model", help="backend")
    options.add_argument("-v", choices=[platform.value for platform in config.Platform], help="platform")
    given = options.parse_args()
    config.set_platform(config.Backend(given.r), given.v and config.Platform(given.v))

    # Small whole numbers: their sums are exact, in whatever order they are added.
    random = np.random.default_rng(3)
    a = random.integers(-5, 6, (M, K)).astype(np.float16)
    b = random.integers(-5, 6, (K, N)).astype(np.float16)
    c = np.zeros((M, N), np.float32)
    workspace = np.zeros(16 << 20, np.uint8)

    tiling = make_tiling()
    print(f"{tiling.used_core_num} vector cores, a part of {tiling.single_core_m} x {tiling.single_core_n} each,")
    print(f"in blocks of {tiling.base_m} x {tiling.base_n} x {tiling.base_k}\n")

    # The launch counts groups.
    report = matmul_kernel[CORES // 2](a, b, c, tiling, workspace)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    print(report)
    print(f"\nmatmul_mix: {c.size} elements are equal to numpy's")


if __name__ == "__main__":
    main()
