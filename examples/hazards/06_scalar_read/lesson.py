"""The scalar unit reads what V has not written.

    python examples/hazards/06_scalar_read/lesson.py

`get_value` is work of the scalar unit, S, at the moment it comes to that line. V may not even have begun. S is a pipe
too, with flags of its own: V_S says that V is done, S_V that S is. With `auto_sync` the compiler sets them on vector
cores; here it is off.

The cure is V_S before the read. The number itself needs no flag: an instruction takes its scalars along when it is
handed out.
"""

import textwrap

import numpy as np

import ascsim as asc
from ascsim.testing import find_hazards

N = 64


@asc.jit(auto_sync=False)
def faulty(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, N)
    z_gm.set_global_buffer(z, N)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, N)
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 4 * N, N)
    sum_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECCALC, 8 * N, N)

    asc.data_copy(x_ub, x_gm, N)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.adds(sum_ub, x_ub, 1, N)
    first = sum_ub.get_value(0)  # has V written it?
    asc.adds(z_ub, x_ub, first, N)
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(z_gm, z_ub, N)


@asc.jit(auto_sync=False)
def cured(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, N)
    z_gm.set_global_buffer(z, N)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, N)
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 4 * N, N)
    sum_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECCALC, 8 * N, N)

    asc.data_copy(x_ub, x_gm, N)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.adds(sum_ub, x_ub, 1, N)
    asc.set_flag(asc.HardEvent.V_S, 0)
    asc.wait_flag(asc.HardEvent.V_S, 0)  # the cure
    first = sum_ub.get_value(0)
    asc.adds(z_ub, x_ub, first, N)
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(z_gm, z_ub, N)


def main():
    x = np.arange(N, dtype=np.float32)
    for kernel in (faulty, cured):
        z = np.zeros_like(x)
        hazards = find_hazards(kernel, 1, x, z)
        print(f"{kernel.__name__}: {len(hazards) or 'nothing'} found")
        for hazard in hazards:
            for line in filter(None, (str(hazard), hazard.witness)):
                print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent="    "))
    np.testing.assert_array_equal(z, x + x[0] + 1)
    print("the cured kernel adds the first sum to every element")


if __name__ == "__main__":
    main()
