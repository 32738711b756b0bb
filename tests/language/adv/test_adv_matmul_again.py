"""What a Matmul has worked out is used again, in the next round and in the next launch; its findings are told again."""

from __future__ import annotations

import numpy as np
from matmul_machine import NZ, fractals, kind, tiling

import ascsim as asc


@asc.jit(matmul_cube_only=True)
def two_rounds(
    a: asc.GlobalAddress, b: asc.GlobalAddress, c: asc.GlobalAddress, tile: asc.adv.TCubeTiling, ws: asc.GlobalAddress
):
    """A lies in L1, in a tensor that holds only the first 16 of its 32 columns."""
    a_gm, b_gm, c_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    a_gm.set_global_buffer(a)
    b_gm.set_global_buffer(b)
    c_gm.set_global_buffer(c)
    pipe = asc.TPipe()
    in_l1, half, single = kind("float16", format=NZ, position=asc.TPosition.A1), kind("float16"), kind("float32")
    mm = asc.adv.Matmul(in_l1, half, single, single)
    asc.adv.register_matmul(pipe, ws, mm, tile)
    queue = asc.TQue(asc.TPosition.A1, 1)
    pipe.init_buffer(que=queue, num=1, len=2048)
    tensor = queue.alloc_tensor(asc.float16)
    asc.data_copy(tensor, a_gm, 1024)
    queue.enque(tensor)
    tensor = queue.deque(asc.float16)
    tensor.set_size(512)
    for _ in asc.range(2):
        mm.set_tensor_a(tensor)
        mm.set_tensor_b(b_gm)
        mm.iterate_all(c_gm)
        mm.end()
    queue.free_tensor(tensor)


def test_a_tensor_that_is_too_short_is_told_of_in_every_round_of_every_launch() -> None:
    a, b = np.eye(32, dtype=np.float16), np.arange(1024, dtype=np.float16).reshape(32, 32)
    for _ in range(3):
        c = np.zeros((32, 32), np.float32)
        tile = tiling(32, 32, 32, (32, 32, 16), is_bias=0)
        with asc.settings(checks=asc.Checks.collect()):
            report = two_rounds[1](fractals(a, 16), b, c, tile, np.zeros(1 << 16, np.uint8))
        np.testing.assert_array_equal(c, b)
        assert [(finding.code, finding.count) for finding in report.findings] == [("OOB_BUF", 2)]
