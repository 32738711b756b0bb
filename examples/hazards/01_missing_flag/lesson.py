"""A consumer that does not wait.

    python examples/hazards/01_missing_flag/lesson.py

The scalar unit hands `data_copy` to MTE2 and, without looking back, `add` to V. Both now run at the same time. Nothing
tells V that its input must have come first, so it may read what stood in the buffer before: on a device the kernel is
right whenever the copy happens to be quick. The fault is called RAW, a read that should come after a write.

The cure is one flag from the producer's pipe to the consumer's. `set_flag(MTE2_V, 0)` goes into MTE2's queue and
raises the flag when everything before it there is done; `wait_flag(MTE2_V, 0)` goes into V's queue and holds V.
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

    asc.data_copy(x_ub, x_gm, N)  # MTE2
    asc.add(z_ub, x_ub, x_ub, N)  # V: has x come?
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(z_gm, z_ub, N)  # MTE3


@asc.jit
def cured(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, N)
    z_gm.set_global_buffer(z, N)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, N)
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 4 * N, N)

    asc.data_copy(x_ub, x_gm, N)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)  # the cure
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
