"""A tensor that is given back too early.

    python examples/hazards/10_use_after_free/lesson.py

`free_tensor` raises the flag that the next `alloc_tensor` of the same buffer waits for. Whatever is done with a tensor
after it is given back is not covered: MTE2 may already be loading the next tile into it. The report names the use
after the free, and the race that it leads to.

The cure is to free a tensor behind its last use.
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

    xs, zs = asc.TQue(asc.TPosition.VECIN, 1), asc.TQue(asc.TPosition.VECOUT, 1)
    pipe.init_buffer(xs, 1, TILE * 4)
    pipe.init_buffer(zs, 1, TILE * 4)
    for i in range(TILES):
        tile = xs.alloc_tensor(x.dtype)
        asc.data_copy(tile, x_gm[i * TILE :], TILE)
        xs.enque(tile)
        tile = xs.deque(x.dtype)
        result = zs.alloc_tensor(x.dtype)
        xs.free_tensor(tile)
        asc.add(result, tile, tile, TILE)  # tile has been given back
        zs.enque(result)
        result = zs.deque(x.dtype)
        asc.data_copy(z_gm[i * TILE :], result, TILE)
        zs.free_tensor(result)


@asc.jit
def cured(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x, TILES * TILE)
    z_gm.set_global_buffer(z, TILES * TILE)
    pipe = asc.TPipe()

    xs, zs = asc.TQue(asc.TPosition.VECIN, 1), asc.TQue(asc.TPosition.VECOUT, 1)
    pipe.init_buffer(xs, 1, TILE * 4)
    pipe.init_buffer(zs, 1, TILE * 4)
    for i in range(TILES):
        tile = xs.alloc_tensor(x.dtype)
        asc.data_copy(tile, x_gm[i * TILE :], TILE)
        xs.enque(tile)
        tile = xs.deque(x.dtype)
        result = zs.alloc_tensor(x.dtype)
        asc.add(result, tile, tile, TILE)
        xs.free_tensor(tile)  # the cure
        zs.enque(result)
        result = zs.deque(x.dtype)
        asc.data_copy(z_gm[i * TILE :], result, TILE)
        zs.free_tensor(result)


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
