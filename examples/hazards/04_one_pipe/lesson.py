"""Two loads into one place.

    python examples/hazards/04_one_pipe/lesson.py

A pipe starts its instructions in order, but it does not finish one before it starts the next. Two loads whose bytes
overlap may therefore land in either order, and the last eight elements below are the first load's or the second's. No
flag helps, for both are MTE2's. The compiler's automatic synchronisation does not look at MTE2 either.

The cure is `pipe_barrier(PIPE_MTE2)`: what was given to the pipe before it ends before anything after it starts.
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

    asc.data_copy(x_ub, x_gm, N)
    asc.data_copy(x_ub[N - 8 :], x_gm, 8)  # the first elements once more, over the last ones
    asc.set_flag(asc.HardEvent.MTE2_MTE3, 0)
    asc.wait_flag(asc.HardEvent.MTE2_MTE3, 0)
    asc.data_copy(z_gm, x_ub, N)


@asc.jit
def cured(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, N)
    z_gm.set_global_buffer(z, N)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, N)

    asc.data_copy(x_ub, x_gm, N)
    asc.pipe_barrier(asc.PipeID.PIPE_MTE2)  # the cure
    asc.data_copy(x_ub[N - 8 :], x_gm, 8)
    asc.set_flag(asc.HardEvent.MTE2_MTE3, 0)
    asc.wait_flag(asc.HardEvent.MTE2_MTE3, 0)
    asc.data_copy(z_gm, x_ub, N)


def main():
    x = np.arange(N, dtype=np.float32)
    for kernel in (faulty, cured):
        z = np.zeros_like(x)
        hazards = find_hazards(kernel, 1, x, z)
        print(f"{kernel.__name__}: {len(hazards) or 'nothing'} found")
        for hazard in hazards:
            for line in filter(None, (str(hazard), hazard.witness)):
                print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent="    "))
    np.testing.assert_array_equal(z, np.concatenate([x[:-8], x[:8]]))
    print("the cured kernel ends in the first eight elements")


if __name__ == "__main__":
    main()
