"""Matmul: whole products against numpy, over sizes with tails, types, transpositions, layouts, templates and cores."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matmul_machine import (
    ND,
    NZ,
    How,
    fractals,
    kind,
    numbers,
    run,
    tiling,
    unfractals,
    whole,
)

import ascsim as asc

RNG = np.random.default_rng(7)


def all_of_it(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
    mm.set_tensor_a(a, mm.state.a.is_trans)
    mm.set_tensor_b(b, mm.state.b.is_trans)
    mm.set_bias(bias)
    mm.iterate_all(c)
    mm.end()


@st.composite
def cases(draw: Any) -> dict[str, Any]:
    dtype = draw(st.sampled_from(["float16", "float32", "int8", "bfloat16"]))
    c0 = {"float16": 16, "bfloat16": 16, "float32": 8, "int8": 32}[dtype]
    nz = draw(st.booleans())
    m, n, k = draw(st.tuples(st.integers(1, 70), st.integers(1, 70), st.integers(1, 100)))
    if nz:
        m, n, k = whole(m, 32), whole(n, 32), whole(k, 32)
    deep, side = draw(st.sampled_from([1, 2, 3])), 32 if nz else draw(st.sampled_from([16, 32]))
    return {
        "dtype": dtype, "c0": c0, "nz": nz, "size": (m, n, k), "turned": draw(st.tuples(st.booleans(), st.booleans())),
        "base": (side, 48 - side if not nz else 32, 32),
        "mdl": draw(st.booleans()), "deep": deep, "double": draw(st.booleans()), "order": draw(st.sampled_from([0, 1])),
        "cube": draw(st.booleans()), "step": draw(st.sampled_from([1, 2])),
    }  # fmt: skip


@settings(max_examples=20)
@given(cases())
def test_products(case: dict[str, Any]) -> None:
    dtype, (m, n, k), (turned_a, turned_b) = case["dtype"], case["size"], case["turned"]
    sums = "int32" if dtype == "int8" else "float32"
    a, b, bias = numbers(RNG, (m, k), dtype), numbers(RNG, (k, n), dtype), numbers(RNG, n, sums)
    stored = [x.T if turned else x for x, turned in ((a, turned_a), (b, turned_b))]
    stored = [fractals(x, case["c0"]) if case["nz"] else np.ascontiguousarray(x) for x in stored]
    form = NZ if case["nz"] else ND
    rows = whole(m, 16)
    c = np.full((n // 16, rows, 16) if case["nz"] else (m, n), 9, sums)
    depth = case["deep"] * (1 + case["double"])
    wide = case["step"] if not case["mdl"] and case["order"] == 0 else 1
    tile = tiling(
        m, n, k, case["base"], depth_a1=depth, depth_b1=depth * wide, step_n=wide, step_k_a=case["deep"],
        step_k_b=case["deep"], iterate_order=case["order"], db_l0a=2, db_l0b=2, db_l0c=1 + case["double"],
    )  # fmt: skip
    config = asc.adv.get_mdl_config() if case["mdl"] else None
    how = How(
        kind(dtype, turned_a, form), kind(dtype, turned_b, form), kind(sums, False, form), kind(sums), all_of_it, config
    )
    run(how, tile, *stored, bias, c, cube=case["cube"])
    expected = a.astype(sums) @ b.astype(sums) + bias
    np.testing.assert_array_equal(unfractals(c, m, n) if case["nz"] else c, expected)


def test_blocks_one_after_the_other_and_updates_of_what_stands_there() -> None:
    """en_sequential_write: base_m x base_n elements a block; 1 adds, 2 keeps the greater, 3 the lesser."""
    a, b = np.eye(32, dtype=np.float16), np.arange(32 * 32, dtype=np.float16).reshape(32, 32)
    bias = np.zeros(32, np.float32)
    made = []
    for atomic, sequential, before in ((0, True, 0), (1, False, 100), (2, False, 500), (3, False, 500)):
        c = np.full((32, 32), before, np.float32)

        def calls(mm: Any, *tensors: Any, how: Any = (atomic, sequential)) -> None:
            mm.set_tensor_a(tensors[0])
            mm.set_tensor_b(tensors[1])
            mm.iterate_all(tensors[3], how[0], en_sequential_write=how[1])
            mm.end()

        how = How(kind("float16"), kind("float16"), kind("float32"), kind("float32"), calls)
        run(how, tiling(32, 32, 32, (16, 16, 32)), a, b, bias, c)
        made.append(c)
    blocks = [made[0].reshape(-1)[i * 256 : i * 256 + 256].reshape(16, 16) for i in range(4)]
    values = np.arange(1024.0).reshape(32, 32)  # blocks come along M first
    for block, rows, columns in zip(blocks, (0, 16, 0, 16), (0, 0, 16, 16), strict=True):
        np.testing.assert_array_equal(block, values[rows : rows + 16, columns : columns + 16])
    np.testing.assert_array_equal(made[1], values + 100)
    np.testing.assert_array_equal(made[2], np.maximum(values, 500))
    np.testing.assert_array_equal(made[3], np.minimum(values, 500))


@pytest.mark.parametrize("cube", [False, True])
def test_cores_that_share_the_work(cube: bool) -> None:
    """Four parts of 40 x 24 and what is left of them; along K the cores add up."""
    m, n, k = 70, 40, 50
    a, b = numbers(RNG, (m, k), "float16"), numbers(RNG, (k, n), "float16")
    c = np.zeros((m, n), np.float32)

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        part = asc.get_block_idx()
        row, column, deep = part % 2 * 40, part // 2 % 2 * 24, part // 4 * 32
        mm.set_single_shape(40, 24, 32)
        mm.set_tail(min(40, 70 - row), min(24, 40 - column), min(32, 50 - deep))
        mm.set_tensor_a(a[row * k + deep :])
        mm.set_tensor_b(b[deep * n + column :])
        mm.iterate_all(c[row * n + column :], 1)
        mm.end()

    how = How(kind("float16"), kind("float16"), kind("float32"), kind("float32"), calls)
    tile = tiling(m, n, k, (32, 16, 16), used_core_num=8, single_core_m=40, single_core_n=24, single_core_k=32)
    run(how, tile, a, b, np.zeros(n, np.float32), c, cube=cube, blocks=8 if cube else 4)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


# Factors: 0.5 as it stands; 0.25, signed, with an offset of 3 added: bits 46 and 37.
HALF, SIGNED = 0x3F000000, 0x3E800000 | 1 << 46 | 3 << 37


@pytest.mark.parametrize(
    ("dtype", "to", "word"),
    [("int8", "float16", HALF), ("int8", "int8", SIGNED), ("float16", "int8", SIGNED), ("float16", "float16", None),
     ("float32", "bfloat16", None)],
)  # fmt: skip
def test_results_of_other_types(dtype: str, to: str, word: int | None) -> None:
    """By one factor, and by one a column, whose columns are cut into blocks, the last of 7."""
    m, n, k = 20, 39, 32
    a, b = numbers(RNG, (m, k), dtype), numbers(RNG, (k, n), dtype)
    sums = a.astype(np.float64) @ b.astype(np.float64)
    words = np.full(n, 0 if word is None else word, np.uint64)
    words[7] += np.uint64(1 << 23) * np.uint64(word is not None)  # the exponent: twice the factor
    for vector in (False, True):
        c = np.zeros((m, n), {"float16": np.float16, "int8": np.int8, "bfloat16": ml_dtypes.bfloat16}[to])

        def calls(mm: Any, a: Any, b: Any, factors: Any, c: Any, tile: Any, vector: bool = vector) -> None:
            if vector:
                mm.set_quant_vector(factors)
            elif word is not None:
                mm.set_quant_scalar(word)
            mm.set_tensor_a(a)
            mm.set_tensor_b(b)
            mm.iterate_all(c)
            mm.end()

        how = How(kind(dtype), kind(dtype), kind(to), kind("int32" if dtype == "int8" else "float32"), calls)
        run(how, tiling(m, n, k, (16, 16, 32)), a, b, words, c)
        expected = sums
        if word is not None:
            expected = sums * (0.5 if word == HALF else 0.25)
            if vector:
                expected[:, 7] *= 2
            if word == SIGNED:
                expected = np.clip(np.rint(np.clip(expected, -256, 255)) + 3, -128, 127)
        np.testing.assert_array_equal(c.astype(np.float64), expected.astype(c.dtype).astype(np.float64))
        if word is None:
            break


def test_rows_that_lie_further_apart_than_one_load_takes() -> None:
    """70,000 columns of B, 66,000 rows of which A is stored across: with intrinsics_limit a load a row."""
    a, b = np.zeros((8, 66000), np.float16), np.zeros((8, 70000), np.float16)
    a[:, :20], b[:, :36] = numbers(RNG, (8, 20), "float16"), numbers(RNG, (8, 36), "float16")

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        mm.set_org_shape(66000, 70000, 8, 8, 36)
        mm.set_tensor_a(a, True)
        mm.set_tensor_b(b)
        mm.iterate_all(c)
        mm.end()

    c, tile = np.zeros((20, 36), np.float32), tiling(20, 36, 8, (16, 32, 16), step_n=2, depth_b1=2)
    for template in (asc.adv.get_normal_config, asc.adv.get_mdl_config):
        c[:] = 0
        how = How(kind("float16", True), kind("float16"), kind("float32"), kind("float32"), calls, template(True))
        run(how, tile, a, b, np.zeros(36, np.float32), c, cube=True)
        np.testing.assert_array_equal(c, a[:, :20].T.astype(np.float32) @ b[:, :36].astype(np.float32))
        how.config = template(False)
        with pytest.raises(asc.ArgumentValueError, match=r"intrinsics_check = False; rule: True .* rows of A .* 66000"):
            run(how, tile, a, b, np.zeros(36, np.float32), c, cube=True)


@pytest.mark.parametrize(("policy", "kept"), [(1, np.triu), (2, np.tril)])
def test_blocks_on_one_side_of_the_diagonal(policy: int, kept: Any) -> None:
    a, b = numbers(RNG, (48, 32), "float16"), numbers(RNG, (32, 48), "float16")
    c = np.full((48, 48), 9, np.float32)
    how = How(kind("float16"), kind("float16"), kind("float32"), kind("float32"), all_of_it, None, policy)
    run(how, tiling(48, 48, 32, (16, 16, 32)), a, b, np.zeros(48, np.float32), c, cube=True)
    inside = np.kron(kept(np.ones((3, 3))), np.ones((16, 16))) > 0
    np.testing.assert_array_equal(c, np.where(inside, a.astype(np.float32) @ b.astype(np.float32), 9))


def test_hf32_rounds_operands() -> None:
    """1 + 3 * 2**-12 is one and a half steps of HF32 above 1: to even it becomes 1 + 2**-10, toward zero 1 + 2**-11.

    The two registers are those of mmad, so that the rounding may be set afterwards.
    """
    a, b = np.full((16, 16), 1 + 3 * 2.0**-12, np.float32), np.eye(16, dtype=np.float32)
    seen = []
    for on, later in ((False, False), (True, False), (True, True)):
        c = np.zeros((16, 16), np.float32)

        def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any, on: bool = on, later: bool = later) -> None:
            mm.set_tensor_a(a)
            mm.set_tensor_b(b)
            mm.set_hf32(on)
            if later:
                asc.set_hf32_trans_mode(True)
            mm.iterate_all(c)
            mm.end()

        how = How(kind("float32"), kind("float32"), kind("float32"), kind("float32"), calls)
        run(how, tiling(16, 16, 16, (16, 16, 16)), a, b, np.zeros(16, np.float32), c, cube=True)
        seen.append(c[0, 0])
    assert seen == [1 + 3 * 2.0**-12, 1 + 2.0**-10, 1 + 2.0**-11]


def test_norm_with_one_buffer_is_serial_and_mdl_overlaps() -> None:
    """128 x 256 x 64 halves. A step of Norm costs its loads to L1, whose pipe stood idle, and those to L0 one after the
    other; two buffers hide all but the longest. Cycles by the published rates: 40 + 128 rows * 3.4 and
    40 + 64 rows of 512 bytes / 85 to L1, 215 ns if it stood idle, 16384 / 256 + 23 and 32768 / 128 + 23 to L0."""
    m, n = 128, 256
    to_l1, to_l0 = 40 + 128 * 3.4 + 40 + 64 * 512 / 85, 16384 / 256 + 32768 / 128 + 46
    periods = {}
    for name, config, depth in (("norm", None, 1), ("mdl", asc.adv.get_mdl_config(), 2)):
        ends = []
        for k in (256, 512):
            a, b, c = np.zeros((m, k), np.float16), np.zeros((k, n), np.float16), np.zeros((m, n), np.float32)
            how = How(kind("float16"), kind("float16"), kind("float32"), kind("float32"), all_of_it, config)
            tile = tiling(m, n, k, (128, 256, 64), depth_a1=depth, depth_b1=depth, db_l0a=2, db_l0b=2)
            ends.append(run(how, tile, a, b, np.zeros(n, np.float32), c, cube=True).core_us["aic"] * 1850)
        periods[name] = (ends[1] - ends[0]) / 4
    assert periods["norm"] == pytest.approx(to_l1 + 215 * 1.85 + to_l0, rel=0.03)
    assert periods["mdl"] == pytest.approx(to_l1, rel=0.03)


def test_a_unit_flag_runs_the_copy_out_along_with_the_last_multiply() -> None:
    """One block of 128 x 256, K = 64: 60 + 128 * 256 * 4 / 70 cycles of fixpipe after 512 + 62 of the multiply, or
    along with them. Two blocks: the second multiply need not wait for all of the first copy either."""
    copy, multiply = 60 + 128 * 256 * 4 / 70, 8 * 16 * 4 + 62
    saved = []
    for m in (128, 256):
        ends = []
        for on in (False, True):
            config = asc.adv.get_normal_config(en_unit_flag=on)
            a, b, c = np.ones((m, 64), np.float16), np.ones((64, 256), np.float16), np.zeros((m, 256), np.float32)
            how = How(kind("float16"), kind("float16"), kind("float32"), kind("float32"), all_of_it, config)
            report = run(how, tiling(m, 256, 64, (128, 256, 64)), a, b, np.zeros(256, np.float32), c, cube=True)
            assert report.findings == []
            assert (c == 64).all()
            ends.append(report.core_us["aic"] * 1850)
        saved.append(ends[0] - ends[1])
    assert saved[0] == pytest.approx(min(copy, multiply), rel=0.05)
    assert saved[1] == pytest.approx(2 * min(copy, multiply), rel=0.15)
