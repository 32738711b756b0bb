"""Lesson 4: a Matmul object on the cube core itself, and what its template is worth.

    python examples/04_matmul_cube_only/matmul_cube_only.py [-r Model|NPU] [-v PLATFORM]

Where vector cores have nothing to do, as in lesson 3, they need not be there: with matmul_cube_only the kernel runs on
cube cores alone, the object lives where it works, and no message is sent. The launch counts cube cores.

The kernel computes C = A x B + bias. Its template says how blocks of A and B come into L1:

    Norm   single blocks: each is copied when it is needed, and stays while it comes again, if there is room
    MDL    several blocks with one copy ("multi data load"): fewer and longer copies

The tiling gives the numbers: depth_a1 blocks of A stand in L1 at a time, and step_k_a of them come with one copy. The
program launches both templates with the same tiling; compare aic_mte2_time, the time that the copies take.
"""

import argparse

import numpy as np

import ascsim as asc
import ascsim.lib.host as host
import ascsim.runtime.config as config

M, N, K = 200, 500, 1024  # the last parts are smaller
CORES = 4
GM = asc.TPosition.GM
ND = asc.CubeFormat.ND


@asc.jit(matmul_cube_only=True)
def matmul_kernel(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    bias: asc.GlobalAddress,
    c: asc.GlobalAddress,
    tiling: asc.adv.TCubeTiling,
    workspace: asc.GlobalAddress,
    multi_data_load: asc.ConstExpr[bool],
):
    # This core's part of C, as in lesson 3; here get_block_idx counts cube cores.
    rows_of_parts = tiling.m.ceildiv(tiling.single_core_m)
    row = asc.get_block_idx() % rows_of_parts
    column = asc.get_block_idx() // rows_of_parts
    top = row * tiling.single_core_m
    left = column * tiling.single_core_n
    height = tiling.m - top
    if height > tiling.single_core_m:
        height = tiling.single_core_m
    width = tiling.n - left
    if width > tiling.single_core_n:
        width = tiling.single_core_n

    a_gm = asc.GlobalTensor()
    b_gm = asc.GlobalTensor()
    bias_gm = asc.GlobalTensor()
    c_gm = asc.GlobalTensor()
    a_gm.set_global_buffer(a + top * tiling.k_a)
    b_gm.set_global_buffer(b + left)
    bias_gm.set_global_buffer(bias + left)
    c_gm.set_global_buffer(c + top * tiling.n + left)

    # Known when the kernel is compiled, so that the other branch is not even looked at.
    if multi_data_load:  # noqa: SIM108
        template = asc.adv.get_mdl_config()
    else:
        template = asc.adv.get_normal_config()

    pipe = asc.TPipe()
    mm = asc.adv.Matmul(
        a=asc.adv.MatmulType(GM, ND, a.dtype),
        b=asc.adv.MatmulType(GM, ND, b.dtype),
        c=asc.adv.MatmulType(GM, ND, c.dtype),
        bias=asc.adv.MatmulType(GM, ND, bias.dtype),
        matmul_config=template,
    )
    asc.adv.register_matmul(pipe, workspace, mm, tiling)
    if asc.get_block_idx() < tiling.used_core_num:
        mm.set_tensor_a(a_gm)
        mm.set_tensor_b(b_gm)
        mm.set_bias(bias_gm)  # added to every row: it goes to the bias table, and the first multiply adds it
        mm.set_tail(height, width)
        mm.iterate_all(c_gm)
        mm.end()


def make_tiling():
    maker = host.MultiCoreMatmulTiling(host.get_ascendc_platform())
    maker.set_a_type(host.TPosition.GM, host.CubeFormat.ND, host.DataType.DT_FLOAT16)
    maker.set_b_type(host.TPosition.GM, host.CubeFormat.ND, host.DataType.DT_FLOAT16)
    maker.set_c_type(host.TPosition.GM, host.CubeFormat.ND, host.DataType.DT_FLOAT)
    maker.set_bias_type(host.TPosition.GM, host.CubeFormat.ND, host.DataType.DT_FLOAT)
    maker.enable_bias(True)
    maker.set_dim(CORES)
    maker.set_org_shape(M, N, K)
    maker.set_shape(M, N, K)
    maker.set_buffer_space(-1, -1, -1)
    tiling = asc.adv.TCubeTiling()
    maker.get_tiling(tiling)
    return tiling


def main():
    options = argparse.ArgumentParser(description="Multiply two matrices and add a bias on cube cores alone.")
    options.add_argument("-r", choices=[backend.value for backend in config.Backend], default="Model", help="backend")
    options.add_argument("-v", choices=[platform.value for platform in config.Platform], help="platform")
    given = options.parse_args()
    config.set_platform(config.Backend(given.r), given.v and config.Platform(given.v))

    # Small whole numbers: their sums are exact, in whatever order they are added.
    random = np.random.default_rng(4)
    a = random.integers(-5, 6, (M, K)).astype(np.float16)
    b = random.integers(-5, 6, (K, N)).astype(np.float16)
    bias = random.integers(-5, 6, N).astype(np.float32)
    expected = a.astype(np.float32) @ b.astype(np.float32) + bias
    workspace = np.zeros(16 << 20, np.uint8)

    tiling = make_tiling()
    print(f"{tiling.used_core_num} cube cores, a part of {tiling.single_core_m} x {tiling.single_core_n} each,")
    print(f"in blocks of {tiling.base_m} x {tiling.base_n} x {tiling.base_k};")
    print(f"in L1 {tiling.depth_a1} of A and {tiling.depth_b1} of B, {tiling.step_k_a} and {tiling.step_k_b} a copy\n")
    for multi_data_load in (False, True):
        c = np.zeros((M, N), np.float32)
        report = matmul_kernel[CORES](a, b, bias, c, tiling, workspace, multi_data_load)
        np.testing.assert_array_equal(c, expected)
        print(f"{'MDL' if multi_data_load else 'Norm'}\n")
        print(report)
        print()
    print(f"matmul_cube_only: {expected.size} elements are equal to numpy's")


if __name__ == "__main__":
    main()
