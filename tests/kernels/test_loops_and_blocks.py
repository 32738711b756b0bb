"""Whose access it was: blocks that share a simulated core do not share its history, and a turn ends with its loop."""

from __future__ import annotations

import numpy as np

import ascsim as asc


@asc.jit
def second_block_stores_what_it_loads(x: asc.GlobalAddress, other: asc.GlobalAddress):
    """Block 1's load of x[256:384] is what block 0's loop would have loaded next, by place and by number."""
    block = asc.get_block_idx()
    x_gm, other_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    other_gm.set_global_buffer(other)
    loaded = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, 128)
    unused = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 4096, 64)
    start, turns = 0, 2
    if block == 1:
        asc.data_copy(unused, other_gm, 64)
        asc.data_copy(unused, other_gm, 64)
        start, turns = 256, 1
    for i in range(turns):
        asc.data_copy(loaded, x_gm[start + i * 128 :], 128)
    if block == 1:
        ones = asc.LocalTensor(x.dtype, asc.TPosition.VECOUT, 8192, 128)
        asc.duplicate(ones, 1.0, 128)
        asc.set_flag(asc.HardEvent.V_MTE3, 0)
        asc.wait_flag(asc.HardEvent.V_MTE3, 0)
        asc.data_copy(x_gm[256:], ones, 128)


def test_a_block_does_not_go_on_where_the_one_before_it_on_this_core_ended():
    with asc.settings(checks=asc.Checks.collect()):
        report = second_block_stores_what_it_loads[2](np.ones(512, np.float32), np.zeros(256, np.float32))
    (finding,) = (finding for finding in report.findings if " on GM x" in finding.message)
    assert finding.code == "WAR"
    assert finding.cores == ["aiv 1"]


@asc.jit
def added_after_the_loop(x: asc.GlobalAddress):
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    parts = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, 256)
    total = asc.LocalTensor(x.dtype, asc.TPosition.VECOUT, 4096, 64)
    for i in range(4):
        asc.data_copy(parts[i * 64 :], x_gm[i * 64 :], 64)
    asc.add(total, parts, parts, 64)


@asc.jit
def added_in_another_loop(x: asc.GlobalAddress):
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    parts = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, 256)
    total = asc.LocalTensor(x.dtype, asc.TPosition.VECOUT, 4096, 64)
    for i in range(4):
        asc.data_copy(parts[i * 64 :], x_gm[i * 64 :], 64)
    for i in range(1):
        asc.add(total, parts[(i + 2) * 64 :], parts[(i + 3) * 64 :], 64)


@asc.jit
def loaded_over_what_the_turn_before_adds(x: asc.GlobalAddress):
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    part = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, 64)
    total = asc.LocalTensor(x.dtype, asc.TPosition.VECOUT, 4096, 64)
    for i in range(2):
        asc.data_copy(part, x_gm[i * 64 :], 64)
        asc.set_flag(asc.HardEvent.MTE2_V, 0)
        asc.wait_flag(asc.HardEvent.MTE2_V, 0)
        asc.add(total, part, part, 64)


def found(kernel) -> str:
    with asc.settings(checks=asc.Checks.collect()):
        report = kernel[1](np.ones(256, np.float32))
    return report.findings[0].text()


def test_only_a_later_turn_of_one_loop_is_called_loop_carried():
    assert found(added_after_the_loop).startswith("RAW")
    assert "Loop-carried" not in found(added_after_the_loop)
    assert "Loop-carried" not in found(added_in_another_loop)
    text = found(loaded_over_what_the_turn_before_adds)
    assert text.startswith("WAR")
    assert "Loop-carried: turn 0 against turn 1" in text
