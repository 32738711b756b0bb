"""A flag that is raised before the work it stands for.

    python examples/hazards/03_set_too_early/lesson.py

All the flags are there and every set has its wait, yet V may read old bytes. `set_flag` captures what its pipe was
given *before* it. Here it stands above the load, so it is raised at once and says nothing.

The cure is to move one line. A set belongs right behind the last instruction whose end it announces.
"""

import textwrap

import numpy as np

import ascsim as asc
from ascsim.testing import find_hazards

N = 64


@asc.jit
def faulty(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, N)
    z_gm.set_global_buffer(z, N)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, N)
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 4 * N, N)

    asc.set_flag(asc.HardEvent.MTE2_V, 0)  # MTE2 has no work yet
    asc.data_copy(x_ub, x_gm, N)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.add(z_ub, x_ub, x_ub, N)
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(z_gm, z_ub, N)


@asc.jit
def cured(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, N)
    z_gm.set_global_buffer(z, N)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, N)
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 4 * N, N)

    asc.data_copy(x_ub, x_gm, N)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)  # the cure: behind the load
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.add(z_ub, x_ub, x_ub, N)
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
    np.testing.assert_array_equal(z, 2 * x)
    print("the cured kernel doubles every element")


if __name__ == "__main__":
    main()
