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
        load(i, x_gm, x_queue, tile)
        load(i, y_gm, y_queue, tile)
        compute(x_queue, y_queue, z_queue, z.dtype, tile)
        store(i, z_gm, z_queue, tile)


# A jit function that is called from a kernel is a device function: it runs on the core that called it.
@asc.jit
def load(i: int, gm: asc.GlobalTensor, queue: asc.TQue, tile: asc.ConstExpr[int]):
    ub = queue.alloc_tensor(gm.dtype)
    asc.data_copy(ub, gm[i * tile :], tile)
    queue.enque(ub)  # from here on `ub` belongs to the queue; to touch it before it is taken out again is a fault


@asc.jit
def compute(x_queue: asc.TQue, y_queue: asc.TQue, z_queue: asc.TQue, dtype: asc.ConstExpr, tile: asc.ConstExpr[int]):
    x_ub = x_queue.deque(dtype)
    y_ub = y_queue.deque(dtype)
    z_ub = z_queue.alloc_tensor(dtype)
    asc.add(z_ub, x_ub, y_ub, tile)
    z_queue.enque(z_ub)
    x_queue.free_tensor(x_ub)
    y_queue.free_tensor(y_ub)


@asc.jit
def store(i: int, gm: asc.GlobalTensor, queue: asc.TQue, tile: asc.ConstExpr[int]):
    ub = queue.deque(gm.dtype)
    asc.data_copy(gm[i * tile :], ub, tile)
    queue.free_tensor(ub)


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
