"""Two cores that meet in one 32-byte block.

    python examples/hazards/11_tail_of_a_share/lesson.py

Each core adds its number to ten elements, 40 bytes. `data_copy` counts in blocks of 32 bytes, so sixteen elements are
stored, and the last six belong to the next core. Which core stores last decides what stands there: on a device the
results change with the number of cores and their speed. The fault is called GM_RACE_WW. Two cores cannot be ordered by
flags of one core, and need not be: they have nothing to say to each other.

The cure is to store no more than the share: `data_copy_pad` counts in bytes.
"""

import textwrap

import numpy as np

import ascsim as asc
from ascsim.testing import find_hazards

CORES, SHARE, TILE = 4, 10, 16
WORD = 4  # bytes of an element


@asc.jit
def faulty(x: asc.GlobalAddress, z: asc.GlobalAddress):
    core = asc.get_block_idx()
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + core * SHARE, TILE)
    z_gm.set_global_buffer(z + core * SHARE, TILE)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, TILE)
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 64, TILE)
    asc.data_copy(x_ub, x_gm, TILE)  # reads on into the next share, which does no harm
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.adds(z_ub, x_ub, core, TILE)
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(z_gm, z_ub, TILE)  # stores on into the next share


@asc.jit
def cured(x: asc.GlobalAddress, z: asc.GlobalAddress):
    core = asc.get_block_idx()
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + core * SHARE, TILE)
    z_gm.set_global_buffer(z + core * SHARE, TILE)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, TILE)
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 64, TILE)
    asc.data_copy(x_ub, x_gm, TILE)  # reads on into the next share, which does no harm
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.adds(z_ub, x_ub, core, TILE)
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy_pad(z_gm, z_ub, asc.DataCopyExtParams(1, SHARE * WORD, 0, 0, 0))  # the cure: 40 bytes


def main():
    x = np.arange(CORES * SHARE + 6, dtype=np.float32)
    for kernel in (faulty, cured):
        z = np.zeros_like(x)
        hazards = find_hazards(kernel, CORES, x, z)
        print(f"{kernel.__name__}: {len(hazards) or 'nothing'} found")
        for hazard in hazards:
            for line in filter(None, (str(hazard), hazard.witness)):
                print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent="    "))
    np.testing.assert_array_equal(z, np.append(x[:-6] + np.repeat(np.arange(CORES), SHARE), np.zeros(6)))
    print("the cured kernel adds its core's number to every element, and stores nothing behind them")


if __name__ == "__main__":
    main()
