"""Lesson 5: cube and vector cores at work together: C = leaky_relu(A x B + bias), block by block.

    python examples/05_matmul_leakyrelu/matmul_leakyrelu.py [-r Model|NPU] [-v PLATFORM]

In lesson 3 the vector cores only ask. Here each of them takes the blocks of its part of C one by one, bends what is
below zero, and stores the block:

    with mm.iterate() as count:         the body runs once for each block; the server has put it into L0C
        mm.get_tensor_c(block, ...)     out of L0C and, since no path leads from there into UB, through the workspace

A block in UB needs no flag of ours. V follows get_tensor_c by itself. And the copy into UB cannot overtake the store of
the block that was there before: the message that asks for a block is itself a store, and MTE3 sends it behind all
others. C is declared in VECCALC, a position in UB: that is where this Matmul delivers.
"""

import argparse

import numpy as np

import ascsim as asc
import ascsim.lib.host as host
import ascsim.runtime.config as config

M, N, K = 512, 512, 128
CORES = 4  # vector cores, two a group
BASE_M, BASE_N = 64, 128  # a block of C: 32 KiB in UB
SLOPE = 0.125  # of leaky_relu below zero
GM = asc.TPosition.GM
UB = asc.TPosition.VECCALC
ND = asc.CubeFormat.ND


@asc.jit
def leakyrelu_kernel(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    bias: asc.GlobalAddress,
    c: asc.GlobalAddress,
    slope: float,
    tiling: asc.adv.TCubeTiling,
    workspace: asc.GlobalAddress,
):
    # This vector core's part of C, as in lesson 3; all parts are whole here.
    rows_of_parts = tiling.m.ceildiv(tiling.single_core_m)
    row = asc.get_block_idx() % rows_of_parts
    column = asc.get_block_idx() // rows_of_parts
    top = row * tiling.single_core_m
    left = column * tiling.single_core_n
    a_gm = asc.GlobalTensor()
    b_gm = asc.GlobalTensor()
    bias_gm = asc.GlobalTensor()
    c_gm = asc.GlobalTensor()
    a_gm.set_global_buffer(a + top * tiling.k_a)
    b_gm.set_global_buffer(b + left)
    bias_gm.set_global_buffer(bias + left)
    c_gm.set_global_buffer(c + top * tiling.n + left)

    pipe = asc.TPipe()
    mm = asc.adv.Matmul(
        a=asc.adv.MatmulType(GM, ND, a.dtype),
        b=asc.adv.MatmulType(GM, ND, b.dtype),
        c=asc.adv.MatmulType(UB, ND, c.dtype),
        bias=asc.adv.MatmulType(GM, ND, bias.dtype),
    )
    asc.adv.register_matmul(pipe, workspace, mm, tiling)

    # Vector cores only, from here on.
    elements = tiling.base_m * tiling.base_n
    blocks = asc.TQue(asc.TPosition.VECOUT, 1)
    pipe.init_buffer(que=blocks, num=2, len=elements * c.dtype.sizeof())
    rows_of_blocks = tiling.single_core_m // tiling.base_m
    bytes_of_row = tiling.base_n * c.dtype.sizeof()
    pitch = tiling.n * c.dtype.sizeof()

    mm.set_tensor_a(a_gm)
    mm.set_tensor_b(b_gm)
    mm.set_bias(bias_gm)
    with mm.iterate() as count:
        block = blocks.alloc_tensor(c.dtype)
        # Sequential: the rows of a block follow each other. Otherwise they would be a row of C apart.
        mm.get_tensor_c(block, en_sequential_write=True)
        asc.leaky_relu(block, block, slope, count=elements)
        blocks.enque(block)

        # Blocks come down the columns, as the tiling was asked to. Lengths and gaps of a copy count 32 bytes.
        block = blocks.deque(c.dtype)
        at = count % rows_of_blocks * tiling.base_m * tiling.n + count // rows_of_blocks * tiling.base_n
        rows = asc.DataCopyParams(
            block_count=tiling.base_m,
            block_len=bytes_of_row // 32,
            src_stride=0,
            dst_stride=(pitch - bytes_of_row) // 32,
        )
        asc.data_copy(c_gm[at:], block, repeat_params=rows)
        blocks.free_tensor(block)
    mm.end()


def make_tiling():
    maker = host.MultiCoreMatmulTiling(host.get_ascendc_platform())
    maker.set_a_type(host.TPosition.GM, host.CubeFormat.ND, host.DataType.DT_FLOAT16)
    maker.set_b_type(host.TPosition.GM, host.CubeFormat.ND, host.DataType.DT_FLOAT16)
    maker.set_c_type(host.TPosition.VECCALC, host.CubeFormat.ND, host.DataType.DT_FLOAT)
    maker.set_bias_type(host.TPosition.GM, host.CubeFormat.ND, host.DataType.DT_FLOAT)
    maker.enable_bias(True)
    maker.set_dim(CORES)
    maker.set_org_shape(M, N, K)
    maker.set_shape(M, N, K)
    maker.set_fix_split(BASE_M, BASE_N, -1)
    maker.set_traverse(host.MatrixTraverse.FIRSTM)
    maker.set_buffer_space(-1, -1, -1)  # all of L1, L0C and UB
    tiling = asc.adv.TCubeTiling()
    maker.get_tiling(tiling)
    return tiling


def main():
    options = argparse.ArgumentParser(description="Multiply, add a bias and apply leaky_relu, block by block.")
    options.add_argument("-r", choices=[backend.value for backend in config.Backend], default="Model", help="backend")
    options.add_argument("-v", choices=[platform.value for platform in config.Platform], help="platform")
    given = options.parse_args()
    config.set_platform(config.Backend(given.r), given.v and config.Platform(given.v))

    # Small whole numbers and a slope of 1/8: everything is exact.
    random = np.random.default_rng(5)
    a = random.integers(-5, 6, (M, K)).astype(np.float16)
    b = random.integers(-5, 6, (K, N)).astype(np.float16)
    bias = random.integers(-5, 6, N).astype(np.float32)
    c = np.zeros((M, N), np.float32)
    workspace = np.zeros(16 << 20, np.uint8)

    tiling = make_tiling()
    print(f"{tiling.used_core_num} vector cores, a part of {tiling.single_core_m} x {tiling.single_core_n} each,")
    print(f"in blocks of {tiling.base_m} x {tiling.base_n} x {tiling.base_k}\n")
    report = leakyrelu_kernel[CORES // 2](a, b, bias, c, SLOPE, tiling, workspace)
    sums = a.astype(np.float32) @ b.astype(np.float32) + bias
    np.testing.assert_array_equal(c, np.where(sums >= 0, sums, sums * np.float32(SLOPE)))
    print(report)
    print(f"\nmatmul_leakyrelu: {c.size} elements are equal to numpy's")


if __name__ == "__main__":
    main()
