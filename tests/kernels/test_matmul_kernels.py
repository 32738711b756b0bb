"""Kernels of cube and vector cores around a Matmul: who runs what, what is ordered by its calls, and what is not.

Vector cores of group g are aiv 2 g and 2 g + 1. Sizes: A and B of 32 x 32 halves, C of 32 x 32 float32 in one block.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ascsim as asc
import ascsim.runtime.config as config

SIZE, AREA = 32, 1024
TILE = asc.adv.TCubeTiling(
    used_core_num=1, m=SIZE, n=SIZE, k_a=SIZE, k_b=SIZE, single_core_m=SIZE, single_core_n=SIZE, single_core_k=SIZE,
    base_m=SIZE, base_n=SIZE, base_k=SIZE, depth_a1=1, depth_b1=1, step_m=1, step_n=1, step_k_a=1, step_k_b=1,
    db_l0a=1, db_l0b=1, db_l0c=1,
)  # fmt: skip
BOTH = 2  # flag between the two vector cores of a group


def gm(address: Any) -> Any:
    tensor = asc.GlobalTensor()
    tensor.set_global_buffer(address)
    return tensor


def registered(workspace: Any, c_position: Any = asc.TPosition.GM) -> Any:
    """A Matmul of halves, A and B at the addresses given."""
    half = asc.adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.float16)
    mm = asc.adv.Matmul(half, half, asc.adv.MatmulType(c_position, asc.CubeFormat.ND, asc.float32))
    asc.adv.register_matmul(asc.TPipe(), workspace, mm, TILE)
    return mm


def multiply(mm: Any, a: Any, b: Any, c: Any, **how: Any) -> None:
    mm.set_tensor_a(a)
    mm.set_tensor_b(b)
    mm.iterate_all(c, **how)


def room(dtype: Any, number: int) -> Any:
    """A part of UB: 4 KiB each."""
    return asc.LocalTensor(dtype, asc.TPosition.VECCALC, number * 4096, AREA)


def after(event: Any) -> None:
    number = asc.get_tpipe_ptr().fetch_event_id(event)
    asc.set_flag(event, number)
    asc.wait_flag(event, number)


def plus_one(target: Any, source: Any) -> None:
    """All of `source` plus 1, by way of UB."""
    here = room(source.dtype, 0)
    asc.data_copy(here, source, AREA)
    after(asc.HardEvent.MTE2_V)
    asc.adds(here, here, 1.0, AREA)
    after(asc.HardEvent.V_MTE3)
    asc.data_copy(target, here, AREA)


def matrices(blocks: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, B, room for another A, and for C."""
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, (blocks, SIZE, SIZE)).astype(np.float16) for _ in range(2))
    return a, b, np.zeros_like(a), np.zeros((2 * blocks, SIZE, SIZE), np.float32)


def product(a: np.ndarray, b: np.ndarray) -> Any:
    return a.astype(np.float32) @ b.astype(np.float32)


def workspace(blocks: int = 1) -> np.ndarray:
    return np.zeros(blocks * 2 * 192 * 1024, np.uint8)


def codes(report: asc.Report) -> set[str]:
    return {finding.code for finding in report.findings}


# --- who runs what ---------------------------------------------------------------------------------------------------


@asc.jit
def everyone(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    c: asc.GlobalAddress,
    space: asc.GlobalAddress,
    seen: asc.ConstExpr,
):
    kind = "aiv" if asc.ascend_is_aiv() else "aic"
    seen.append((kind, "before"))
    mm = registered(space)  # register_matmul
    seen.append((kind, "after"))
    group, first = asc.get_block_idx(), 0
    if asc.ascend_is_aiv():
        group, first = asc.get_block_idx() // 2, asc.get_block_idx() % 2
    a_gm, b_gm, c_gm = gm(a + group * AREA), gm(b + group * AREA), gm(c + asc.get_block_idx() * AREA)
    multiply(mm, b_gm if first else a_gm, a_gm if first else b_gm, c_gm)
    mm.end()


def test_a_cube_core_serves_both_vector_cores_of_its_group() -> None:
    """Its text ends at register_matmul. The first vector core asks for A B, the second for B A."""
    a, b, _, c = matrices(3)
    seen: list[tuple[str, str]] = []
    kernel = asc.jit(kernel_type=config.KernelType.MIX_AIC_1_2)(everyone.fn)
    with asc.settings(checks=asc.Checks.strict()):
        report = kernel[3](a, b, c, workspace(3), seen)
    expected = [part for i in range(3) for part in (product(a[i], b[i]), product(b[i], a[i]))]
    np.testing.assert_array_equal(c, expected)
    assert {pair: seen.count(pair) for pair in seen} == {
        ("aic", "before"): 3, ("aiv", "before"): 6, ("aiv", "after"): 6,
    }  # fmt: skip
    assert report.findings == []


def test_a_group_of_one_vector_core() -> None:
    a, b, _, c = matrices(2)
    kernel = asc.jit(kernel_type=config.KernelType.MIX_AIC_1_1)(everyone.fn)
    seen: list[tuple[str, str]] = []
    kernel[1](a, b, c, workspace(), seen)
    assert seen.count(("aiv", "after")) == 1
    np.testing.assert_array_equal(c[0], product(a[0], b[0]))


def test_alone_a_cube_core_runs_all_of_the_text() -> None:
    a, b, _, c = matrices(2)
    seen: list[tuple[str, str]] = []
    asc.jit(matmul_cube_only=True)(everyone.fn)[2](a, b, c, workspace(), seen)
    np.testing.assert_array_equal(c[:2], product(a, b))
    assert seen == [("aic", "before"), ("aic", "after")] * 2


@asc.jit(kernel_type=config.KernelType.MIX_AIC_1_2)
def stuck(a: asc.GlobalAddress, c: asc.GlobalAddress, space: asc.GlobalAddress, serves: asc.ConstExpr[bool]):
    """The cube core does not come to register_matmul, or is expected to come back from it."""
    if serves:
        registered(space)
        if asc.ascend_is_aic():
            asc.cross_core_set_flag(4, 2, asc.PipeID.PIPE_FIX)
        if asc.ascend_is_aiv():
            asc.cross_core_wait_flag(4)
    elif asc.ascend_is_aiv():
        multiply(registered(space), gm(a), gm(a), gm(c))


def test_a_cube_core_that_does_not_serve_or_does_nothing_else() -> None:
    a, _, _, c = matrices()
    with pytest.raises(asc.DeadlockError, match=r"aiv 0 sends a message to aic 0 .*, which does not serve"):
        stuck[1](a, c, workspace(), False)
    with pytest.raises(
        asc.DeadlockError, match=r"aiv 0 waits for flag 4 .* ended before: aic 0 \(its text: it serves\)"
    ):
        stuck[1](a, c, workspace(), True)


# --- what is ordered -------------------------------------------------------------------------------------------------


@asc.jit
def ordered(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    made: asc.GlobalAddress,
    c: asc.GlobalAddress,
    space: asc.GlobalAddress,
    body: asc.ConstExpr,
):
    body(registered(space), gm(a), gm(b), gm(made), gm(c))


mix = asc.jit(kernel_type=config.KernelType.MIX_AIC_1_2)(ordered.fn)


def launch(body: Any, checks: asc.Checks | None = None) -> tuple[set[str], np.ndarray, np.ndarray]:
    """What was found; C; and A + 1 times B."""
    a, b, made, c = matrices()
    with asc.settings(checks=checks or asc.Checks.collect()):
        report = mix[1](a, b, made, c, workspace(), body)
    return codes(report), c, product(a[0] + 1, b[0])


def first() -> Any:
    return asc.get_sub_block_idx() == 0


def meet() -> None:
    """The vector cores of the group wait for each other's stores."""
    asc.cross_core_set_flag(BOTH, 1, asc.PipeID.PIPE_MTE3)
    asc.cross_core_wait_flag(BOTH)


def test_a_request_follows_the_stores_of_its_vector_core() -> None:
    """No flag: a request is a store of MTE3 itself, after a barrier."""

    def body(mm: Any, a: Any, b: Any, made: Any, c: Any) -> None:
        if first():
            plus_one(made, a)
            multiply(mm, made, b, c)

    found, c, expected = launch(body, asc.Checks.strict())
    assert found == set()
    np.testing.assert_array_equal(c[0], expected)


@pytest.mark.parametrize("met", [True, False])
def test_a_request_does_not_follow_the_stores_of_the_other(met: bool) -> None:
    def body(mm: Any, a: Any, b: Any, made: Any, c: Any) -> None:
        if not first():
            plus_one(made, a)
        if met:
            meet()
        if first():
            multiply(mm, made, b, c)

    found, c, expected = launch(body)
    assert found == (set() if met else {"GM_RACE_RW"})
    if met:
        np.testing.assert_array_equal(c[0], expected)


@pytest.mark.parametrize("wait", ["in the call", "later", "never"])
def test_a_result_is_there_after_the_wait(wait: str) -> None:
    def body(mm: Any, a: Any, b: Any, made: Any, c: Any) -> None:
        if first():
            multiply(mm, a, b, c, sync=wait == "in the call", wait_iterate_all=wait == "later")
            if wait == "later":
                mm.wait_iterate_all()
            plus_one(c[AREA:], c)

    found, c, _ = launch(body)
    assert found == ({"GM_RACE_RW"} if wait == "never" else set())
    np.testing.assert_array_equal(c[1], c[0] + 1)


@pytest.mark.parametrize("met", [True, False])
def test_a_result_is_not_there_for_the_other(met: bool) -> None:
    def body(mm: Any, a: Any, b: Any, made: Any, c: Any) -> None:
        if first():
            multiply(mm, a, b, c)
        if met:
            meet()
        if not first():
            plus_one(c[AREA:], c)

    found, c, _ = launch(body)
    assert found == (set() if met else {"GM_RACE_RW"})
    if met:
        np.testing.assert_array_equal(c[1], c[0] + 1)


def test_the_cure_of_a_race_with_a_server_is_one_for_vector_cores() -> None:
    def early(mm: Any, a: Any, b: Any, made: Any, c: Any) -> None:
        if first():
            multiply(mm, a, b, c, sync=False)
            plus_one(c[AREA:], c)

    def other(mm: Any, a: Any, b: Any, made: Any, c: Any) -> None:
        if first():
            plus_one(made, a)
        else:
            multiply(mm, made, b, c)

    def own(mm: Any, a: Any, b: Any, made: Any, c: Any) -> None:
        if first():
            asc.data_copy(room(asc.float32, 0), c, AREA)
            multiply(mm, a, b, c)

    for body, cure in (
        (early, r"Needs a wait for the end of the call of line \d+ .* before line \d+"),
        (other, r"set_flag on pipe MTE3 after line \d+ on aiv 0 .* on the vector core that makes that call$"),
        (own, r"pipe MTE2 after .* on aiv 0 .*; on that core itself set_flag\(HardEvent.MTE2_MTE3, id\) and its wait"),
    ):
        with pytest.raises(asc.FoundError, match=cure):
            launch(body, asc.Checks())


@asc.jit
def everywhere(a: asc.GlobalAddress, b: asc.GlobalAddress, c: asc.GlobalAddress, space: asc.GlobalAddress):
    mm = registered(space)
    multiply(mm, gm(a), gm(b), gm(c))
    mm.end()


def test_servers_that_store_one_place_from_one_line_need_places_of_their_own() -> None:
    a, b, _, c = matrices()
    with pytest.warns(asc.SimulatorWarning, match=r"GM_RACE_WW .* Needs bytes of its own for each core at line \d+$"):
        everywhere[2](a, b, c, workspace(2))


@pytest.mark.parametrize("sync", [True, False])
def test_operands_must_not_be_overwritten_before_they_are_read(sync: bool) -> None:
    def body(mm: Any, a: Any, b: Any, made: Any, c: Any) -> None:
        if first():
            multiply(mm, a, b, c, sync=sync)
            plus_one(a, b)

    assert launch(body)[0] == (set() if sync else {"GM_RACE_RW"})


def test_two_requests_in_a_row_are_worked_on_in_order() -> None:
    """Both store to C, the last one stays."""

    def body(mm: Any, a: Any, b: Any, made: Any, c: Any) -> None:
        if first():
            multiply(mm, b, b, c, sync=False)
            plus_one(made, a)
            multiply(mm, made, b, c)

    found, c, expected = launch(body)
    assert found == set()
    np.testing.assert_array_equal(c[0], expected)


@pytest.mark.parametrize("order", [True, False])
def test_a_block_in_ub_is_there_for_v_alone(order: bool) -> None:
    def body(mm: Any, a: Any, b: Any, made: Any, c: Any) -> None:
        if first():
            mm.set_tensor_a(a)
            mm.set_tensor_b(b)
            mm.iterate()
            block = room(asc.float32, 0)
            mm.get_tensor_c(block)
            if order:
                asc.adds(block, block, 1.0, AREA)
                after(asc.HardEvent.V_MTE3)
            asc.data_copy(c, block, AREA)

    assert launch(body)[0] == (set() if order else {"RAW"})


# --- several objects -------------------------------------------------------------------------------------------------


@asc.jit
def chain(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    made: asc.GlobalAddress,
    c: asc.GlobalAddress,
    space: asc.GlobalAddress,
    ends: asc.ConstExpr[bool],
):
    """c = (a b) b by two objects: the first one's C is the second one's A."""
    a_gm, b_gm, made_gm, c_gm = gm(a), gm(b), gm(made), gm(c)
    pipe = asc.TPipe()
    half = asc.adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.float16)
    single = asc.adv.MatmulType(asc.TPosition.GM, asc.CubeFormat.ND, asc.float32)
    to_half = asc.adv.Matmul(half, half, half)
    to_single = asc.adv.Matmul(half, half, single)
    asc.adv.register_matmul(pipe, space, to_half, TILE)
    asc.adv.register_matmul(pipe, space, to_single, TILE)
    if asc.get_block_idx() == 0:
        to_half.set_tensor_a(a_gm)
        to_half.set_tensor_b(b_gm)
        to_half.iterate()
        to_half.get_tensor_c(made_gm)
        if ends:
            to_half.end()
        to_single.set_tensor_a(made_gm)
        to_single.set_tensor_b(b_gm)
        to_single.iterate_all(c_gm)
        to_single.end()


def test_a_second_object_starts_after_the_first_has_ended() -> None:
    a, b, made, c = matrices()
    with asc.settings(checks=asc.Checks.strict()):
        report = chain[1](a, b, made, c, workspace(), True)
    np.testing.assert_array_equal(made[0], product(a[0], b[0]))
    np.testing.assert_array_equal(c[0], product(made[0], b[0]))
    assert report.findings == []
    with pytest.raises(asc.ArgumentValueError, match="another Matmul object has not ended"):
        chain[1](a, b, made, c, workspace(), False)
