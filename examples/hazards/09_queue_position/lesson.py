"""A queue for another pipe.

    python examples/hazards/09_queue_position/lesson.py

A queue sets the flags of its position. VECIN means that MTE2 fills a buffer and V reads it: `deque` makes V wait, and
`free_tensor` tells MTE2 that V is done. This kernel copies, and the reader is MTE3, of which the queue knows nothing.

The cure is a queue whose positions name the pipes that use it: VECIN to VECOUT, from MTE2 straight to MTE3.
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
    pipe = asc.TPipe()

    queue = asc.TQue(asc.TPosition.VECIN, 1)  # MTE2 to V
    pipe.init_buffer(queue, 1, TILE * 4)
    for i in range(TILES):
        tile = queue.alloc_tensor(x.dtype)
        asc.data_copy(tile, x_gm[i * TILE :], TILE)
        queue.enque(tile)
        tile = queue.deque(x.dtype)
        asc.data_copy(z_gm[i * TILE :], tile, TILE)  # MTE3, not V
        queue.free_tensor(tile)


@asc.jit
def cured(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, TILES * TILE)
    z_gm.set_global_buffer(z, TILES * TILE)
    pipe = asc.TPipe()

    queue = asc.TQueBind(asc.TPosition.VECIN, asc.TPosition.VECOUT, 1)  # the cure: MTE2 to MTE3
    pipe.init_buffer(queue, 1, TILE * 4)
    for i in range(TILES):
        tile = queue.alloc_tensor(x.dtype)
        asc.data_copy(tile, x_gm[i * TILE :], TILE)
        queue.enque(tile)
        tile = queue.deque(x.dtype)
        asc.data_copy(z_gm[i * TILE :], tile, TILE)
        queue.free_tensor(tile)


def main():
    x = np.arange(TILES * TILE, dtype=np.float32)
    for kernel in (faulty, cured):
        z = np.zeros_like(x)
        hazards = find_hazards(kernel, 1, x, z)
        print(f"{kernel.__name__}: {len(hazards) or 'nothing'} found")
        for hazard in hazards:
            for line in filter(None, (str(hazard), hazard.witness)):
                print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent="    "))
    np.testing.assert_array_equal(z, x)
    print("the cured kernel copies every element")


if __name__ == "__main__":
    main()
