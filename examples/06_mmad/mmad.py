"""Lesson 6: C = A x B by hand, on the cube of the core: loads, multiplies and the way out, with every flag set by hand.

    python examples/06_mmad/mmad.py [-r Model|NPU] [-v PLATFORM]

A cube core has pipes of its own. MTE2 copies from global memory into L1 and lays the elements out in fractals on the
way, MTE1 copies fractals from L1 into L0A and L0B, M multiplies what lies there and adds into L0C, FIX carries the sums
out of L0C and converts them. Between each two of them lies a buffer, and a buffer of two halves lets both of its pipes
work at once: one fills a half while the other empties the other half. The kernel below takes the number of halves as a
parameter; the program launches it with one and with two, and the two tables show what the second half is worth.
"""

import argparse

import numpy as np

import ascsim as asc
import ascsim.runtime.config as config

ROWS, COLUMNS = 2, 2  # cores that share C, a tile each
M, N, K = 128, 128, 512  # a tile of C is M x N; its rows of A and columns of B have K elements
STEP = 64  # elements of K that a multiply takes
SIDE = 16  # a fractal of half has 16 x 16 elements (512 bytes), one of float32 sums in L0C too (1024 bytes)
FRACTAL = SIDE * SIDE

# Forward: what the next pipe needs has come ...
IN_L1 = asc.HardEvent.MTE2_MTE1
IN_L0 = asc.HardEvent.MTE1_M
SUMMED = asc.HardEvent.M_FIX
# ... and back: a half has been read, and may be filled again.
L1_FREE = asc.HardEvent.MTE1_MTE2
L0_FREE = asc.HardEvent.M_MTE1


@asc.jit(kernel_type=config.KernelType.AIC_ONLY)
def mmad_kernel(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    c: asc.GlobalAddress,
    columns: asc.ConstExpr[int],  # tiles of C beside each other
    m: asc.ConstExpr[int],
    n: asc.ConstExpr[int],
    k: asc.ConstExpr[int],
    step: asc.ConstExpr[int],
    halves: asc.ConstExpr[int],
):
    # This core's tile: rows of A, columns of B.
    block = asc.get_block_idx()
    row = block // columns
    column = block % columns
    a_gm = asc.GlobalTensor()
    b_gm = asc.GlobalTensor()
    c_gm = asc.GlobalTensor()
    a_gm.set_global_buffer(a + row * m * k)
    b_gm.set_global_buffer(b + column * n)
    c_gm.set_global_buffer(c + row * m * columns * n + column * n)

    # Room for `halves` parts of A and of B in L1, in L0A and in L0B; one tile of sums in L0C.
    a_size = m * step
    b_size = step * n
    a1 = asc.LocalTensor(asc.float16, asc.TPosition.A1, 0, halves * a_size)
    b1 = asc.LocalTensor(asc.float16, asc.TPosition.B1, 2 * halves * a_size, halves * b_size)
    a2 = asc.LocalTensor(asc.float16, asc.TPosition.A2, 0, halves * a_size)
    b2 = asc.LocalTensor(asc.float16, asc.TPosition.B2, 0, halves * b_size)
    c0 = asc.LocalTensor(asc.float32, asc.TPosition.CO1, 0, m * n)

    for half in range(halves):
        asc.set_flag(L1_FREE, half)
        asc.set_flag(L0_FREE, half)

    for i in range(k // step):
        half = i % halves
        a1_half = a1[half * a_size :]
        b1_half = b1[half * b_size :]
        a2_half = a2[half * a_size :]
        b2_half = b2[half * b_size :]

        # MTE2: row-major in global memory, columns of fractals in L1 (NZ).
        asc.wait_flag(L1_FREE, half)
        asc.data_copy(a1_half, a_gm[i * step :], asc.Nd2NzParams(1, m, step, 0, k, m, 1, 0))
        asc.data_copy(b1_half, b_gm[i * step * columns * n :], asc.Nd2NzParams(1, step, n, 0, columns * n, step, 1, 0))
        asc.set_flag(IN_L1, half)

        # MTE1: L0A wants rows of fractals, L0B rows of transposed ones. Each load gathers a row of them.
        asc.wait_flag(IN_L1, half)
        asc.wait_flag(L0_FREE, half)
        for r in range(m // SIDE):
            rows = asc.LoadData2DParams(0, step // SIDE, m // SIDE, 0, 0, False, 0)
            asc.load_data(a2_half[r * step * SIDE :], a1_half[r * FRACTAL :], rows)
        for r in range(step // SIDE):
            turned = asc.LoadData2DParams(0, n // SIDE, step // SIDE, 0, 0, True, 0)
            asc.load_data(b2_half[r * n * SIDE :], b1_half[r * FRACTAL :], turned)
        asc.set_flag(L1_FREE, half)
        asc.set_flag(IN_L0, half)

        # M: the first part starts from 0, the others add to what stands in L0C. Nothing else is needed between two
        # multiplies into one place, as long as they are large: from (m // 16) * (n // 16) = 10 on the cube keeps them
        # in order. Smaller ones need a barrier on M, and ascsim reports it when it is missing.
        asc.wait_flag(IN_L0, half)
        first = i == 0
        multiply = asc.MmadParams(m=m, n=n, k=step, unit_flag=0, cmatrix_source=False, cmatrix_init_val=first)
        asc.mmad(c0, a2_half, b2_half, multiply)
        asc.set_flag(L0_FREE, half)

    # FIX: the sums as half, row by row.
    asc.set_flag(SUMMED, 0)
    asc.wait_flag(SUMMED, 0)
    asc.fixpipe(c_gm, c0, asc.FixpipeParamsV220(n, m, m, columns * n, quant_pre=asc.QuantModes.F322F16))

    for half in range(halves):
        asc.wait_flag(L1_FREE, half)
        asc.wait_flag(L0_FREE, half)


def main():
    options = argparse.ArgumentParser(description="Multiply two matrices on the cube, flags set by hand.")
    options.add_argument("-r", choices=[backend.value for backend in config.Backend], default="Model", help="backend")
    options.add_argument("-v", choices=[platform.value for platform in config.Platform], help="platform")
    given = options.parse_args()
    config.set_platform(config.Backend(given.r), given.v and config.Platform(given.v))

    # Small whole numbers: their sums are exact, in whatever order they are added.
    random = np.random.default_rng(6)
    a = random.integers(-2, 3, (ROWS * M, K)).astype(np.float16)
    b = random.integers(-2, 3, (K, COLUMNS * N)).astype(np.float16)
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    for halves in (1, 2):
        c = np.zeros_like(expected)
        report = mmad_kernel[ROWS * COLUMNS](a, b, c, COLUMNS, M, N, K, STEP, halves)
        np.testing.assert_array_equal(c, expected)
        print(f"{'One half' if halves == 1 else 'Two halves'} in each buffer\n")
        print(report)
        print()
    print(f"mmad: {expected.size} elements are equal to numpy's")


if __name__ == "__main__":
    main()
