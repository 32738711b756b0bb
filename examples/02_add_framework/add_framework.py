"""Lesson 2: z = x + y again, with queues in place of flags.

    python examples/02_add_framework/add_framework.py [-r Model|NPU] [-v PLATFORM]

Lesson 1 chose addresses in the unified buffer (UB) and set four pairs of flags. Here a TPipe hands out the addresses
and the flags. A TQue owns the buffers that pass from one pipe to the next, and each buffer goes round a ring of four
calls:

    alloc_tensor   take a free buffer; the filling pipe waits until the emptying pipe is done with it
    enque          it is filled: raise the flag of this queue
    deque          take the oldest filled buffer; the emptying pipe waits for that flag
    free_tensor    it is emptied: raise the flag that alloc_tensor waits for

Lesson 1's LOADED and ADDED are enque and deque, its INPUTS_FREE and OUTPUT_FREE are free_tensor and alloc_tensor.
"""

import argparse

import numpy as np

import ascsim as asc
import ascsim.runtime.config as config

BLOCKS = 8  # cores that share the work, an equal part each
TILES = 8  # tiles of a part
TILE = 2048  # float32 elements of a tile: 8 KiB
BUFFERS = 2  # of each queue: with two, one is filled while the other is emptied; with one, the pipes take turns


@asc.jit
def add_kernel(x: asc.GlobalAddress, y: asc.GlobalAddress, z: asc.GlobalAddress, tiles: int, tile: asc.ConstExpr[int]):
    part = tiles * tile
    first = asc.get_block_idx() * part
    x_gm = asc.GlobalTensor()
    y_gm = asc.GlobalTensor()
    z_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x + first, part)
    y_gm.set_global_buffer(y + first, part)
    z_gm.set_global_buffer(z + first, part)

    # The position says between which pipes a queue stands: VECIN is filled by MTE2 and emptied by V, VECOUT is filled
    # by V and emptied by MTE3. `init_buffer` gives the queue its buffers, sizes in bytes.
    pipe = asc.TPipe()
    x_queue = asc.TQue(asc.TPosition.VECIN, BUFFERS)
    y_queue = asc.TQue(asc.TPosition.VECIN, BUFFERS)
    z_queue = asc.TQue(asc.TPosition.VECOUT, BUFFERS)
    pipe.init_buffer(x_queue, BUFFERS, tile * x.dtype.sizeof())
    pipe.init_buffer(y_queue, BUFFERS, tile * y.dtype.sizeof())
    pipe.init_buffer(z_queue, BUFFERS, tile * z.dtype.sizeof())

    for i in range(tiles):
        at = i * tile

        # MTE2. With two buffers a queue, the first two turns find a free one at once; later ones wait for V.
        x_ub = x_queue.alloc_tensor(x.dtype)
        y_ub = y_queue.alloc_tensor(y.dtype)
        asc.data_copy(x_ub, x_gm[at:], tile)
        asc.data_copy(y_ub, y_gm[at:], tile)
        x_queue.enque(x_ub)  # from here on the tensor belongs to the queue: to touch it now would be a fault
        y_queue.enque(y_ub)

        # V. The order of the calls tells what waits for what: the add for both inputs and for a free output.
        x_ub = x_queue.deque(x.dtype)
        y_ub = y_queue.deque(y.dtype)
        z_ub = z_queue.alloc_tensor(z.dtype)
        asc.add(z_ub, x_ub, y_ub, tile)
        x_queue.free_tensor(x_ub)
        y_queue.free_tensor(y_ub)
        z_queue.enque(z_ub)

        # MTE3.
        z_ub = z_queue.deque(z.dtype)
        asc.data_copy(z_gm[at:], z_ub, tile)
        z_queue.free_tensor(z_ub)

    # Nothing to drain: the queues took care that every flag is down, and would say if a tensor had been left in them.


def main():
    options = argparse.ArgumentParser(description="Add two vectors, ordered by queues.")
    options.add_argument("-r", choices=[backend.value for backend in config.Backend], default="Model", help="backend")
    options.add_argument("-v", choices=[platform.value for platform in config.Platform], help="platform")
    given = options.parse_args()
    config.set_platform(config.Backend(given.r), given.v and config.Platform(given.v))

    random = np.random.default_rng(2)
    x = random.random(BLOCKS * TILES * TILE, np.float32)
    y = random.random(x.size, np.float32)
    z = np.zeros_like(x)
    report = add_kernel[BLOCKS](x, y, z, TILES, TILE)
    np.testing.assert_array_equal(z, x + y)
    print(report)
    print(f"\nadd_framework: {z.size} sums are equal to numpy's")


if __name__ == "__main__":
    main()
