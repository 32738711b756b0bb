"""What the compiler does, when it is let.

    python examples/hazards/05_vector_after_vector/lesson.py

Two vector instructions, the second on the result of the first, need a barrier: V is a pipe like any other, and starts
an instruction before the one in front of it has ended. Most kernels never notice, for the device compiler puts the
barrier in (`auto_sync`, on unless it is turned off). Here it is off, as it must be where it gets in the way.

The cure is `pipe_barrier(PIPE_V)`. To see where a kernel leans on the compiler without turning it off, run
`python -m ascsim check SCRIPT`: each such place is a note.
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

    asc.data_copy(x_ub, x_gm, N)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.adds(z_ub, x_ub, 1, N)
    asc.adds(z_ub, z_ub, 1, N)  # is the first sum there?
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

    asc.data_copy(x_ub, x_gm, N)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.adds(z_ub, x_ub, 1, N)
    asc.pipe_barrier(asc.PipeID.PIPE_V)  # the cure
    asc.adds(z_ub, z_ub, 1, N)
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
    np.testing.assert_array_equal(z, x + 2)
    print("the cured kernel adds one twice")


if __name__ == "__main__":
    main()
