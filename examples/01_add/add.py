"""Lesson 1: z = x + y, with every flag set by hand.

    python examples/01_add/add.py [-r Model|NPU] [-v PLATFORM]

An AI core is several machines that run side by side, each with a queue of its own: MTE2 copies from global memory
into the core's unified buffer (UB), V computes on vectors there, MTE3 copies from UB back to global memory, and the
scalar unit S walks through the kernel and hands out the work. Nothing makes one of them wait for another unless the
kernel says so, with a flag: `set_flag` raises it when all that its first pipe was given so far is done, `wait_flag`
holds its second pipe until it is up, and takes it down. The name of an event names both: MTE2_V is set by MTE2 and
waited for by V.
"""

import argparse

import numpy as np

import ascsim as asc
import ascsim.runtime.config as config

BLOCKS = 8  # cores that share the work, an equal part each
TILES = 8  # tiles of a part
TILE = 2048  # float32 elements of a tile: 8 KiB

# A tile passes through three pipes, so two flags carry it forward ...
LOADED = asc.HardEvent.MTE2_V  # both inputs are in UB: V may add them
ADDED = asc.HardEvent.V_MTE3  # the sum is in UB: MTE3 may store it
# ... and two carry the buffers back to the pipe that fills them. These are the flags that are easy to forget: without
# them the kernel is right as long as the slower pipe happens to keep ahead.
INPUTS_FREE = asc.HardEvent.V_MTE2  # V has read the inputs: MTE2 may load the next ones over them
OUTPUT_FREE = asc.HardEvent.MTE3_V  # MTE3 has read the sum: V may write the next one over it


@asc.jit
def add_kernel(x: asc.GlobalAddress, y: asc.GlobalAddress, z: asc.GlobalAddress, tiles: int, tile: asc.ConstExpr[int]):
    # Every core runs this text; its number picks its part of the arrays.
    part = tiles * tile
    first = asc.get_block_idx() * part
    x_gm = asc.GlobalTensor()
    y_gm = asc.GlobalTensor()
    z_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x + first, part)
    y_gm.set_global_buffer(y + first, part)
    z_gm.set_global_buffer(z + first, part)

    # Each of x, y and z gets two tiles of UB, one behind the other, at byte addresses chosen here. While V works on
    # one half, MTE2 fills the other and MTE3 empties the other.
    pair = 2 * tile
    size = pair * x.dtype.sizeof()
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, pair)
    y_ub = asc.LocalTensor(y.dtype, asc.TPosition.VECIN, size, pair)
    z_ub = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, size + size, pair)

    # Flags are down when a kernel starts, but both halves are free: say so once for each, before the loop.
    for half in range(2):
        asc.set_flag(INPUTS_FREE, half)
        asc.set_flag(OUTPUT_FREE, half)

    for i in range(tiles):
        at = i * tile
        half = i % 2  # also the number of the flags: the halves never wait for each other
        start = half * tile
        x_tile = x_ub[start:]
        y_tile = y_ub[start:]
        z_tile = z_ub[start:]

        # MTE2. It must not overwrite what V still reads; V was given this half two tiles ago, so that MTE2 finds
        # the flag up, or nearly so, and loads tile i + 1 while V adds tile i.
        asc.wait_flag(INPUTS_FREE, half)
        asc.data_copy(x_tile, x_gm[at:], tile)
        asc.data_copy(y_tile, y_gm[at:], tile)
        asc.set_flag(LOADED, half)

        # V. Two waits, because two pipes must have got out of the way: the inputs must have come, and the sum of
        # two tiles ago must have gone. The second wait stands here and no earlier: this is the line it protects.
        asc.wait_flag(LOADED, half)
        asc.wait_flag(OUTPUT_FREE, half)
        asc.add(z_tile, x_tile, y_tile, tile)
        asc.set_flag(INPUTS_FREE, half)
        asc.set_flag(ADDED, half)

        # MTE3.
        asc.wait_flag(ADDED, half)
        asc.data_copy(z_gm[at:], z_tile, tile)
        asc.set_flag(OUTPUT_FREE, half)

    # The last tiles have left these flags up. A flag that is up when a kernel ends is up when the next one starts.
    for half in range(2):
        asc.wait_flag(INPUTS_FREE, half)
        asc.wait_flag(OUTPUT_FREE, half)


def main():
    options = argparse.ArgumentParser(description="Add two vectors, flags set by hand.")
    options.add_argument("-r", choices=[backend.value for backend in config.Backend], default="Model", help="backend")
    options.add_argument("-v", choices=[platform.value for platform in config.Platform], help="platform")
    given = options.parse_args()
    config.set_platform(config.Backend(given.r), given.v and config.Platform(given.v))

    random = np.random.default_rng(1)
    x = random.random(BLOCKS * TILES * TILE, np.float32)
    y = random.random(x.size, np.float32)
    z = np.zeros_like(x)
    report = add_kernel[BLOCKS](x, y, z, TILES, TILE)
    np.testing.assert_array_equal(z, x + y)
    print(report)
    print(f"\nadd: {z.size} sums are equal to numpy's")


if __name__ == "__main__":
    main()
