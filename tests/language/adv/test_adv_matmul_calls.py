"""Matmul block by block, with operands in other memories, in batches, with two masters: against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matmul_machine import NZ, How, fractals, kind, numbers, run, tiling

import ascsim as asc

RNG = np.random.default_rng(11)
VECIN, VECOUT = asc.TPosition.VECIN, asc.TPosition.VECOUT


def halves(m: int = 32, n: int = 32, k: int = 32) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, B, a bias, and what they make."""
    a, b, bias = numbers(RNG, (m, k), "float16"), numbers(RNG, (k, n), "float16"), numbers(RNG, n, "float32")
    return a, b, bias, a.astype(np.float32) @ b.astype(np.float32) + bias


def how(calls: Any, c: Any = None, config: Any = None, a: Any = None, b: Any = None, bias: Any = None) -> How:
    half, single = kind("float16"), kind("float32")
    return How(a or half, b or half, c or single, bias or single, calls, config)


def operands(mm: Any, a: Any, b: Any, bias: Any) -> None:
    mm.set_tensor_a(a)
    mm.set_tensor_b(b)
    mm.set_bias(bias)


def ub(elements: int, dtype: Any = None) -> Any:
    """A tensor of a TBuf."""
    buffer = asc.TBuf(asc.TPosition.VECCALC)
    asc.get_tpipe_ptr().init_buffer(buf=buffer, num=elements * (dtype or asc.float32).sizeof())
    return buffer.get(dtype or asc.float32)


def order(event: Any) -> None:
    number = asc.get_tpipe_ptr().fetch_event_id(event)
    asc.set_flag(event, number)
    asc.wait_flag(event, number)


def store(c: Any, tensor: Any, elements: int) -> None:
    order(asc.HardEvent.MTE2_MTE3)
    asc.data_copy(c, tensor, elements)


TO_UB = kind("float32", position=VECIN)


@pytest.mark.parametrize("mdl", [False, True])
def test_blocks_in_order_to_ub_and_to_global_memory(mdl: bool) -> None:
    """Three rows by two columns of blocks, the last row cut short: along M first. `with`, then `while`."""
    a, b, bias, expected = halves(40, 32, 48)
    config = asc.adv.get_mdl_config() if mdl else None

    @asc.jit
    def to_ub(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        operands(mm, a, b, bias)
        block = ub(256)
        with mm.iterate() as count:
            mm.get_tensor_c(block, en_sequential_write=True)
            store(c[count * 256 :], block, 256)
        mm.end()

    c = np.zeros((6, 16, 16), np.float32)
    tile = tiling(40, 32, 48, (16, 16, 16))
    with asc.settings(checks=asc.Checks.strict()):
        run(how(to_ub, TO_UB, config), tile, a, b, bias, c)
    for number, (row, column) in enumerate((r, s) for s in (0, 16) for r in (0, 16, 32)):
        part = expected[row : row + 16, column : column + 16]
        np.testing.assert_array_equal(c[number, : len(part)], part)

    def in_place(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        operands(mm, a, b, bias)
        while mm.iterate():
            mm.get_tensor_c(c)
        mm.end()

    c = np.zeros((40, 32), np.float32)
    run(how(in_place, config=config), tile, a, b, bias, c, cube=mdl)
    np.testing.assert_array_equal(c, expected)


def test_where_a_block_lies_in_c() -> None:
    seen = []

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        operands(mm, a, b, bias)
        while mm.iterate():
            place = mm.get_offset_c()
            seen.append((place.offset, place.row, place.col, place.height, place.width))
            mm.get_tensor_c(c)

    a, b, bias, expected = halves(40, 24, 16)
    c = np.zeros((40, 24), np.float32)
    run(how(calls), tiling(40, 24, 16, (32, 16, 16)), a, b, bias, c, cube=True)
    np.testing.assert_array_equal(c, expected)
    assert seen == [(0, 0, 0, 32, 16), (768, 32, 0, 8, 16), (16, 0, 16, 32, 8), (784, 32, 16, 8, 8)]


def test_a_block_to_global_memory_and_to_ub_at_once() -> None:
    a, b, bias, expected = halves(16, 16)

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        operands(mm, a, b, bias)
        block = ub(256)
        mm.iterate()
        mm.get_tensor_c(c, optional_tensor=block)
        asc.adds(block, block, 1.0, 256)
        order(asc.HardEvent.V_MTE3)
        asc.data_copy(c[256:], block, 256)
        mm.end()

    c = np.zeros((2, 16, 16), np.float32)
    run(how(calls, TO_UB), tiling(16, 16, 32, (16, 16, 32)), a, b, bias, c)
    np.testing.assert_array_equal(c, [expected, expected + 1])


@pytest.mark.parametrize("form", ["ub", "async", "gm"])
def test_all_blocks_at_once_and_taken_later(form: str) -> None:
    a, b, bias, expected = halves(32, 32)

    @asc.jit
    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        mm.set_workspace(c[1024:])
        operands(mm, a, b, bias)
        block = ub(256)
        with mm.iterate(sync=False) as count:
            if form == "gm":
                there = mm.get_tensor_c(sync=False)
                asc.data_copy(block, there, 256)
            elif form == "ub":
                mm.get_tensor_c(block, sync=False)
            else:
                mm.async_get_tensor_c(block)
                mm.wait_get_tensor_c()
            store(c[count * 256 :], block, 256)
            order(asc.HardEvent.MTE3_MTE2)
        mm.end()

    c = np.zeros((8, 16, 16), np.float32)
    run(how(calls, TO_UB), tiling(32, 32, 32, (16, 16, 32), iterate_order=1), a, b, bias, c)
    blocks = expected.reshape(2, 16, 2, 16).transpose(0, 2, 1, 3).reshape(4, 16, 16)
    np.testing.assert_array_equal(c, [*blocks, *blocks])


def test_started_by_a_statement_all_blocks_are_taken_in_order_with_a_warning() -> None:
    a, b, bias, expected = halves(32, 32)

    @asc.jit
    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        mm.set_workspace(c[1024:])
        operands(mm, a, b, bias)
        mm.iterate(sync=False)
        block = ub(256)
        for number in range(4):
            asc.data_copy(block, mm.get_tensor_c(sync=False), 256)
            store(c[number * 256 :], block, 256)
            order(asc.HardEvent.MTE3_MTE2)
        mm.end()

    c = np.zeros((8, 16, 16), np.float32)
    with pytest.warns(asc.SimulatorWarning, match=r"iterate\(sync=False\) as a statement .* pyasc drops it") as told:
        run(how(calls, TO_UB), tiling(32, 32, 32, (16, 16, 32), iterate_order=1), a, b, bias, c)
    blocks = expected.reshape(2, 16, 2, 16).transpose(0, 2, 1, 3).reshape(4, 16, 16)
    np.testing.assert_array_equal(c, [*blocks, *blocks])
    assert {warning.filename for warning in told} == {__file__}


def test_parts_of_k_are_added_in_l0c() -> None:
    a, b, bias, expected = halves(16, 16, 96)

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        for part in range(3):
            operands(mm, a[part * 32 :], b[part * 32 * 16 :], bias)
            mm.iterate(part > 0)
        mm.get_tensor_c(c)
        mm.end()

    c = np.zeros((16, 16), np.float32)
    run(how(calls), tiling(16, 16, 96, (16, 16, 32), single_core_k=32), a, b, bias, c)
    np.testing.assert_array_equal(c, expected)


def test_parts_of_k_one_by_one() -> None:
    """Three steps along K a block, each a result of its own: side by side as they come, or added in global memory."""
    a, b, *_ = halves(32, 16, 80)
    parts = [a[:, k : k + 32].astype(np.float32) @ b[k : k + 32].astype(np.float32) for k in (0, 32, 64)]

    @asc.jit
    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        mm.set_tensor_a(a)
        mm.set_tensor_b(b)
        with mm.iterate() as count:
            mm.get_tensor_c(c[count * 256 :], 0, True)
        mm.set_tensor_a(a)
        while mm.iterate():
            mm.get_tensor_c(c[6 * 256 :], 1)
        mm.end()

    c = np.zeros((8, 16, 16), np.float32)
    config = asc.adv.MatmulConfig(do_norm=False, do_multi_data_load=True, is_partial_output=True)
    tile = tiling(32, 16, 80, (16, 16, 32), step_k_a=2, step_k_b=3, depth_a1=4, depth_b1=3)
    run(how(calls, config=config), tile, a, b, np.zeros(16, np.float32), c)
    blocks = [part[row : row + 16] for row in (0, 16) for part in parts]
    np.testing.assert_array_equal(c[:6], blocks)
    np.testing.assert_array_equal(c[6:].reshape(32, 16), sum(parts))


@pytest.mark.parametrize("mdl", [False, True])
def test_outer_products(mdl: bool) -> None:
    a, b, bias, expected = halves(40, 64, 16)

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        operands(mm, a, b, bias)
        mm.iterate_all(c)
        mm.end()

    outer = {"schedule_type": asc.ScheduleType.OUTER_PRODUCT, "iterate_order": asc.IterateOrder.ORDER_M}
    config = asc.adv.MatmulConfig(do_norm=not mdl, do_multi_data_load=mdl, **outer)
    c = np.zeros((40, 64), np.float32)
    tile = tiling(40, 64, 16, (16, 16, 16), step_n=2, depth_b1=2)
    run(how(calls, config=config), tile, a, b, bias, c, cube=True)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("sequential", [False, True])
def test_outer_products_come_two_blocks_at_a_time(sequential: bool) -> None:
    """5 columns of blocks in steps of 3: two of them, one, then the last two."""
    a, b, bias, expected = halves(32, 80, 48)
    turns = []

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        operands(mm, a, b, bias)
        while mm.iterate():
            turns.append(1)
            mm.get_tensor_c(c[(len(turns) - 1) * 512] if sequential else c, en_sequential_write=sequential)
        mm.end()

    config = asc.adv.get_normal_config(
        schedule_type=asc.ScheduleType.OUTER_PRODUCT, iterate_order=asc.IterateOrder.ORDER_M
    )
    tile = tiling(32, 80, 48, (16, 16, 16), step_n=3, depth_b1=9, step_k_b=3, db_l0c=2)
    c = np.zeros((6, 2, 16, 16) if sequential else (32, 80), np.float32)
    run(how(calls, config=config), tile, a, b, bias, c, cube=True)
    assert len(turns) == 6
    if not sequential:
        np.testing.assert_array_equal(c, expected)
        return
    at = lambda row, column: expected[row * 16 :, column * 16 :][:16, :16]  # noqa: E731
    for turn, (row, columns) in enumerate([(0, (0, 1)), (0, (2,)), (1, (0, 1)), (1, (2,)), (0, (3, 4)), (1, (3, 4))]):
        for place, column in enumerate(columns):
            np.testing.assert_array_equal(c[turn, place], at(row, column))


def test_operands_in_ub() -> None:
    """All three go through the workspace, after the vector unit has made them."""
    a, b, bias, expected = halves(16, 32, 32)

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        left, right, row = ub(512, asc.float16), ub(1024, asc.float16), ub(32)
        asc.data_copy(left, a, 512)
        asc.data_copy(right, b, 1024)
        asc.data_copy(row, bias, 32)
        order(asc.HardEvent.MTE2_V)
        asc.adds(left, left, 1.0, 512)
        asc.adds(right, right, 1.0, 1024)
        asc.adds(row, row, 1.0, 32)
        operands(mm, left, right, row)
        mm.iterate_all(c)
        mm.end()

    c = np.zeros((16, 32), np.float32)
    half, single = kind("float16", position=VECOUT), kind("float32", position=VECOUT)
    with asc.settings(checks=asc.Checks.strict()):
        run(how(calls, a=half, b=half, bias=single), tiling(16, 32, 32, (16, 16, 16)), a - 1, b - 1, bias - 1, c)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("which", ["a", "b"])
def test_a_number_stands_for_a_row_of_k(which: str) -> None:
    a, b = numbers(RNG, (1 if which == "a" else 24, 40), "float16"), numbers(RNG, (40, 24), "float16")
    b = b if which == "a" else b[:, :1].copy()

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        mm.set_tensor_a(2.0 if which == "a" else a)
        mm.set_tensor_b(b if which == "a" else 2.0)
        mm.iterate_all(c)
        mm.end()

    c = np.zeros((len(a), b.shape[1]), np.float32)
    run(how(calls), tiling(*c.shape, 40, (16, 16, 32)), a, b, np.zeros(24, np.float32), c)
    ones = np.full((1, 40), 2.0) @ b if which == "a" else a @ np.full((40, 1), 2.0)
    np.testing.assert_array_equal(c, ones)


def test_operands_and_results_in_memories_of_the_cube_core() -> None:
    """A and B in L1, in fractals; results in L0C blocks of the author's, copied out by fixpipe."""
    a, b, bias, expected = halves(32, 32)
    expected -= bias

    def in_l1(source: Any, position: Any) -> Any:
        queue = asc.TQue(position, 1)
        asc.get_tpipe_ptr().init_buffer(que=queue, num=1, len=2048)
        tensor = queue.alloc_tensor(asc.float16)
        asc.data_copy(tensor, source, 1024)
        queue.enque(tensor)
        return queue.deque(asc.float16)

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        queue = asc.TQue(asc.TPosition.CO1, 1)
        asc.get_tpipe_ptr().init_buffer(que=queue, num=1, len=4096)
        block = queue.alloc_tensor(asc.float32)
        mm.set_tensor_a(in_l1(a, asc.TPosition.A1))
        mm.set_tensor_b(in_l1(b, asc.TPosition.B1))
        mm.iterate(local_c_matrix=block)
        queue.enque(block)
        block = queue.deque(asc.float32)
        asc.fixpipe(c, block, asc.FixpipeParamsV220(32, 32, 32, 32))
        queue.free_tensor(block)
        mm.end()

    c = np.zeros((32, 32), np.float32)
    local = How(
        kind("float16", format=NZ, position=asc.TPosition.A1), kind("float16", format=NZ, position=asc.TPosition.B1),
        kind("float32", format=NZ, position=asc.TPosition.CO1), kind("float32"), calls,
    )  # fmt: skip
    with pytest.warns(asc.SimulatorWarning, match="QUE_LEAK"):  # A and B are never given back
        run(local, tiling(32, 32, 32, (32, 32, 16)), fractals(a, 16), fractals(b, 16), bias, c, cube=True)
    np.testing.assert_array_equal(c, expected)


def test_the_rest_of_l1_goes_to_what_the_library_brings() -> None:
    """A in the author's L1, from byte 0; B, the bias, and after another tiling a wider B too, lie behind it."""
    a, b, bias, expected = halves(32, 64)

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        wide = tiling(32, 64, 32, (32, 64, 32))
        for part, tile in enumerate((tiling(32, 64, 32, (16, 16, 16)), wide)):
            queue = asc.TQue(asc.TPosition.A1, 1)
            asc.get_tpipe_ptr().init_buffer(que=queue, num=1, len=2048)
            tensor = queue.alloc_tensor(asc.float16)
            asc.data_copy(tensor, a, 1024)
            queue.enque(tensor)
            tensor = queue.deque(asc.float16)
            mm.init(tile)
            operands(mm, tensor, b, bias)
            mm.iterate_all(c[part * 2048 :])
            mm.end()
            queue.free_tensor(tensor)

    c = np.zeros((2, 32, 64), np.float32)
    in_l1 = kind("float16", format=NZ, position=asc.TPosition.A1)
    with asc.settings(checks=asc.Checks.strict()):
        run(how(calls, a=in_l1), tiling(32, 64, 32, (16, 16, 16)), fractals(a, 16), b, bias, c, cube=True)
    np.testing.assert_array_equal(c, [expected, expected])


NORMAL, BSNGD, SBNGD, BNGS1S2 = (getattr(asc.LayoutMode, name) for name in ("NORMAL", "BSNGD", "SBNGD", "BNGS1S2"))


def batched(x: np.ndarray, layout: Any) -> np.ndarray:
    """(matrices, rows, columns) as a layout has them, one row of matrices side by side."""
    return np.ascontiguousarray(x.transpose(1, 0, 2) if layout in (BSNGD, SBNGD) else x)


@pytest.mark.parametrize("layout", [NORMAL, BSNGD, SBNGD, BNGS1S2])
@pytest.mark.parametrize("many", [(4, 4), (4, 2), (1, 4)])
def test_batches(layout: Any, many: tuple[int, int]) -> None:
    """Where one side has fewer matrices each of them serves several products; each has a row of bias."""
    m, n, k = 20, 24, 32
    a, b, bias = (numbers(RNG, (count, *shape), t) for count, shape, t in
                  ((many[0], (m, k), "float16"), (many[1], (n, k), "float16"), (4, (n,), "float32")))  # fmt: skip

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        mm.set_tensor_a(a)
        mm.set_tensor_b(b, True)
        mm.set_bias(bias)
        mm.iterate_batch(c, many[0], many[1], False)

    made = How(
        kind("float16", layout=layout), kind("float16", True, layout=layout), kind("float32", layout=layout),
        kind("float32"), calls,
    )  # fmt: skip
    infos = {}
    if layout is not NORMAL:
        for which, (count, rows, columns) in {"a": (many[0], m, k), "b": (many[1], n, k), "c": (4, m, n)}.items():
            s, d = ("s1", "s2") if which == "c" else ("s", "d")
            fields = {"b": 1, "n": 1, "g": count, s: rows, d: columns}
            infos |= {f"{which}_layout_info_{name}": value for name, value in fields.items()}
    c = np.zeros((m, 4, n) if layout in (BSNGD, SBNGD) else (4, m, n), np.float32)
    run(made, tiling(m, n, k, (16, 16, 16), **infos), batched(a, layout), batched(b, layout), bias, c)
    expected = np.stack([
        a[i * many[0] // 4].astype(np.float32) @ b[i * many[1] // 4].T.astype(np.float32) + bias[i] for i in range(4)
    ])  # fmt: skip
    np.testing.assert_array_equal(c, batched(expected, layout))


def test_products_of_a_group_are_summed() -> None:
    """Two groups of two products, one matrix of C each: G is 2 for A and B, 1 for C."""
    m = n = k = 16
    a, b = numbers(RNG, (4, m, k), "float16"), numbers(RNG, (4, k, n), "float16")

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        mm.set_batch_num(4, 4)
        mm.set_tensor_a(a)
        mm.set_tensor_b(b)
        mm.iterate_batch(c, False, 0, False)
        mm.end()

    half = kind("float16", layout=BNGS1S2)
    infos = {
        f"{x}_layout_info_{name}": value for x in "ab" for name, value in zip("bnsgd", (1, 2, 16, 2, 16), strict=True)
    }
    infos |= {
        f"c_layout_info_{name}": value
        for name, value in zip(("b", "n", "s1", "g", "s2"), (1, 2, 16, 1, 16), strict=True)
    }
    c = np.zeros((2, m, n), np.float32)
    run(how(calls, kind("float32", layout=BNGS1S2), a=half, b=half), tiling(m, n, k, (16, 16, 16), **infos), a, b,
        np.zeros(n, np.float32), c, cube=True)  # fmt: skip
    sums = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(c, sums[::2] + sums[1::2])


def test_rounds_of_batches_are_taken_one_by_one() -> None:
    m = n = k = 16
    a, b = numbers(RNG, (4, m, k), "float16"), numbers(RNG, (4, k, n), "float16")

    def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any) -> None:
        mm.set_workspace(c[1024:])
        mm.set_tensor_a(a)
        mm.set_tensor_b(b)
        mm.iterate_n_batch(2, 2, 2, False, sync=False)
        block = ub(512)
        asc.data_copy(block, mm.get_batch_tensor_c(2, 2, sync=False), 512)
        store(c, block, 512)
        order(asc.HardEvent.MTE3_MTE2)
        mm.get_batch_tensor_c(block, 2, 2, sync=False)
        store(c[512:], block, 512)

    half, single = kind("float16", layout=NORMAL), kind("float32", position=VECIN, layout=NORMAL)
    c = np.zeros((8, m, n), np.float32)
    made = how(calls, single, asc.adv.get_normal_config(batch_loop=True), half, half)
    run(made, tiling(m, n, k, (16, 16, 16)), a, b, np.zeros(n, np.float32), c)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(c, np.concatenate([expected, expected]))


def test_two_masters() -> None:
    """Both kinds of core run the text; the cube core begins when both vector cores have come, and they wait for it."""
    a, b, bias, expected = halves(32, 16)
    tile = tiling(32, 16, 32, (16, 16, 32), used_core_num=2)
    for wait in (True, False):

        def calls(mm: Any, a: Any, b: Any, bias: Any, c: Any, tile: Any, wait: bool = wait) -> None:
            operands(mm, a, b, bias)
            mm.iterate_all(c, sync=wait, wait_iterate_all=not wait)
            if asc.ascend_is_aiv():
                if not wait:
                    mm.wait_iterate_all()
                block = ub(256)
                part = asc.get_sub_block_idx() * 256
                asc.data_copy(block, c[part:], 256)
                store(c[512 + part :], block, 256)

        c = np.zeros((64, 16), np.float32)
        config = asc.adv.get_mdl_config(enable_mix_dual_master=True)
        run(how(calls, config=config), tile, a, b, bias, c)
        np.testing.assert_array_equal(c, [*expected, *expected])
