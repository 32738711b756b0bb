"""Whole kernels that call the vector library as published ones do: tilings as arguments, scratch above the TPipe."""

from __future__ import annotations

import numpy as np
import pytest

import ascsim as asc
import ascsim.lib.runtime as rt

ROWS, WIDTH, TILES = 4, 64, 3


@asc.jit
def gated_norm(
    x: asc.GlobalAddress,
    gate: asc.GlobalAddress,
    gamma: asc.GlobalAddress,
    out: asc.GlobalAddress,
    tiling: asc.adv.RmsNormTiling,
    tile: asc.ConstExpr[int],
):
    """rmsnorm of a tile of rows, gated by swiglu."""
    pipe = asc.TPipe()
    inputs = asc.TQue(asc.TPosition.VECIN, 2)
    gates = asc.TQue(asc.TPosition.VECIN, 1)
    outputs = asc.TQue(asc.TPosition.VECOUT, 1)
    weights, middle = asc.TBuf(asc.TPosition.VECCALC), asc.TBuf(asc.TPosition.VECCALC)
    pipe.init_buffer(inputs, 2, tile * 4)
    pipe.init_buffer(gates, 1, tile * 4)
    pipe.init_buffer(outputs, 1, tile * 4)
    pipe.init_buffer(weights, tile * 4)
    pipe.init_buffer(middle, tile * 4)
    x_gm, gate_gm, gamma_gm, out_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    gate_gm.set_global_buffer(gate)
    gamma_gm.set_global_buffer(gamma)
    out_gm.set_global_buffer(out)
    weight, normed = weights.get(asc.float32), middle.get(asc.float32)
    asc.data_copy(weight, gamma_gm, count=tiling.h_length)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    for i in asc.range(TILES):
        row, up = inputs.alloc_tensor(asc.float32), gates.alloc_tensor(asc.float32)
        asc.data_copy(row, x_gm[i * tile :], count=tile)
        asc.data_copy(up, gate_gm[i * tile :], count=tile)
        inputs.enque(row)
        gates.enque(up)
        row, up = inputs.deque(asc.float32), gates.deque(asc.float32)
        result = outputs.alloc_tensor(asc.float32)
        asc.adv.rmsnorm(normed, row, weight, 1e-6, tiling)
        asc.adv.swiglu(result, normed, up, cal_count=tile)
        inputs.free_tensor(row)
        gates.free_tensor(up)
        outputs.enque(result)
        result = outputs.deque(asc.float32)
        asc.data_copy(out_gm[i * tile :], result, count=tile)
        outputs.free_tensor(result)


def test_rmsnorm_and_swiglu_in_a_pipeline() -> None:
    random = np.random.default_rng(1)
    x, gate = random.standard_normal((2, TILES * ROWS, WIDTH)).astype(np.float32)
    gamma, out = random.uniform(0.5, 2, WIDTH).astype(np.float32), np.zeros_like(x)
    tiling = asc.adv.RmsNormTiling(
        b_length=1, s_length=ROWS, h_length=WIDTH, original_h_length=WIDTH, reciprocal_of_h_length=1 / WIDTH,
        main_bsh_length=3 * WIDTH, main_bs_length=3, main_bs_length_align=8, loop_round=1,
        input_tail_pos=3 * WIDTH, tail_bsh_length=WIDTH, tail_bs_length=1,
    )  # fmt: skip
    gated_norm[1, rt.current_stream()](x, gate, gamma, out, tiling, ROWS * WIDTH)
    wide, g = x.astype(np.float64), gate.astype(np.float64)
    normed = wide / np.sqrt((wide * wide).mean(1, keepdims=True) + 1e-6) * gamma
    assert out == pytest.approx(normed * g / (1 + np.exp(-g)), rel=3e-6, abs=1e-6)


@asc.jit
def online(
    scores: asc.GlobalAddress,
    out: asc.GlobalAddress,
    sums: asc.GlobalAddress,
    rows: asc.ConstExpr[int],
    k: asc.ConstExpr[int],
):
    """Maxima and sums of rows that come in tiles; the exponentials of the last tile."""
    pipe = asc.TPipe()
    names = asc.TBuf(asc.TPosition.VECCALC)
    pipe.init_buffer(names, 16384)
    score = names.get(asc.float32)
    total, most, ratio, scratch = score[1024:], score[1152:], score[1280:], score[2048:].reinterpret_cast(asc.uint8)
    score_gm, out_gm, sum_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    score_gm.set_global_buffer(scores)
    out_gm.set_global_buffer(out)
    sum_gm.set_global_buffer(sums)
    shape = asc.adv.SoftMaxShapeInfo(rows, k, rows, k)
    tiling = asc.adv.SoftmaxTiling(src_m=rows, src_k=k, split_m=rows, range_m=1)
    config = asc.adv.SoftmaxConfig(False, rows, k)
    for i in asc.range(TILES):
        asc.data_copy(score, score_gm[i * rows * k :], count=rows * k)
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
        if i == 0:
            asc.adv.softmax_flash_v2(
                score, total, most, score, ratio, total, most, tiling, shape, shared_tmp_buffer=scratch, config=config
            )
        else:
            asc.adv.softmax_flash_v2(
                score, total, most, score, ratio, total, most, tiling, shape, shared_tmp_buffer=scratch,
                is_update=True, config=config,
            )  # fmt: skip
        asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    asc.data_copy(out_gm, score, count=rows * k)
    asc.data_copy(sum_gm, total, count=rows * 8)


def test_online_softmax_over_tiles() -> None:
    scores = (np.random.default_rng(4).standard_normal((TILES, 8, 64)) * 4).astype(np.float32)
    out, sums = np.zeros((8, 64), np.float32), np.zeros((8, 8), np.float32)
    online[1, rt.current_stream()](scores, out, sums, 8, 64)
    whole = np.concatenate([*scores], axis=1).astype(np.float64)
    power = np.exp(whole - whole.max(1, keepdims=True))
    assert sums == pytest.approx(np.repeat(power.sum(1, keepdims=True), 8, axis=1), rel=1e-6)
    assert out == pytest.approx(power[:, -64:], rel=1e-6, abs=1e-12)
