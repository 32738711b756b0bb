"""A buffer that is filled again too early.

    python examples/hazards/02_reverse_flag/lesson.py

Every turn of this loop is in order: load, add, store, a flag between each two. But the next turn's load goes into the
same buffer, and nothing says that V has read the old tile by then. Forward flags speak of one turn; a loop needs
flags that go back. The fault is called WAR, a write that should come after a read.

The cure is a flag from V to MTE2 and one from MTE3 to V. They are raised once before the loop, for the buffers start
out free, and taken down once after it, for a flag that is up when a kernel ends is up when the next one starts.
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
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 4 * TILE, TILE)

    for i in range(TILES):
        asc.data_copy(x_ub, x_gm[i * TILE :], TILE)  # is V done with the tile before?
        asc.set_flag(asc.HardEvent.MTE2_V, 0)
        asc.wait_flag(asc.HardEvent.MTE2_V, 0)
        asc.add(z_ub, x_ub, x_ub, TILE)  # is MTE3 done with the sum before?
        asc.set_flag(asc.HardEvent.V_MTE3, 0)
        asc.wait_flag(asc.HardEvent.V_MTE3, 0)
        asc.data_copy(z_gm[i * TILE :], z_ub, TILE)


@asc.jit
def cured(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, TILES * TILE)
    z_gm.set_global_buffer(z, TILES * TILE)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, TILE)
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 4 * TILE, TILE)

    asc.set_flag(asc.HardEvent.V_MTE2, 0)  # the buffers are free
    asc.set_flag(asc.HardEvent.MTE3_V, 0)
    for i in range(TILES):
        asc.wait_flag(asc.HardEvent.V_MTE2, 0)
        asc.data_copy(x_ub, x_gm[i * TILE :], TILE)
        asc.set_flag(asc.HardEvent.MTE2_V, 0)
        asc.wait_flag(asc.HardEvent.MTE2_V, 0)
        asc.wait_flag(asc.HardEvent.MTE3_V, 0)
        asc.add(z_ub, x_ub, x_ub, TILE)
        asc.set_flag(asc.HardEvent.V_MTE2, 0)
        asc.set_flag(asc.HardEvent.V_MTE3, 0)
        asc.wait_flag(asc.HardEvent.V_MTE3, 0)
        asc.data_copy(z_gm[i * TILE :], z_ub, TILE)
        asc.set_flag(asc.HardEvent.MTE3_V, 0)
    asc.wait_flag(asc.HardEvent.V_MTE2, 0)
    asc.wait_flag(asc.HardEvent.MTE3_V, 0)


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
