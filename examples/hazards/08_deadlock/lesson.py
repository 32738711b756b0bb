"""Two pipes that wait for each other.

    python examples/hazards/08_deadlock/lesson.py

The reverse flag of lesson 02 without the set before the loop. MTE2 waits until V has read the buffer, V waits until
MTE2 has filled it, and neither is ever going to. On a device the launch ends in a timeout that names no line; here the
report names the ring.

The cure: what may be used at the start is said to be free at the start.
"""

import textwrap

import numpy as np

import ascsim as asc
from ascsim.testing import find_hazards

TILES, TILE = 4, 64


@asc.jit
def faulty(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, TILES * TILE)
    z_gm.set_global_buffer(z, TILES * TILE)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, TILE)
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 4 * TILE, TILES * TILE)

    for i in range(TILES):
        asc.wait_flag(asc.HardEvent.V_MTE2, 0)  # who has set it?
        asc.data_copy(x_ub, x_gm[i * TILE :], TILE)
        asc.set_flag(asc.HardEvent.MTE2_V, 0)
        asc.wait_flag(asc.HardEvent.MTE2_V, 0)
        asc.add(z_ub[i * TILE :], x_ub, x_ub, TILE)
        asc.set_flag(asc.HardEvent.V_MTE2, 0)
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(z_gm, z_ub, TILES * TILE)


@asc.jit
def cured(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, TILES * TILE)
    z_gm.set_global_buffer(z, TILES * TILE)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, TILE)
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 4 * TILE, TILES * TILE)

    asc.set_flag(asc.HardEvent.V_MTE2, 0)  # the cure: the buffer is free
    for i in range(TILES):
        asc.wait_flag(asc.HardEvent.V_MTE2, 0)
        asc.data_copy(x_ub, x_gm[i * TILE :], TILE)
        asc.set_flag(asc.HardEvent.MTE2_V, 0)
        asc.wait_flag(asc.HardEvent.MTE2_V, 0)
        asc.add(z_ub[i * TILE :], x_ub, x_ub, TILE)
        asc.set_flag(asc.HardEvent.V_MTE2, 0)
    asc.wait_flag(asc.HardEvent.V_MTE2, 0)  # and it is taken down in the end
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(z_gm, z_ub, TILES * TILE)


def main():
    x = np.arange(TILES * TILE, dtype=np.float32)
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
