"""How Matmul objects come to be known to the cube core, and how several of them share it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from matmul_machine import NZ, kind, tiling

import ascsim as asc

HALF, SINGLE = kind("float16"), kind("float32")
UB = kind("float32", position=asc.TPosition.VECIN)


def refused(error: type[BaseException], *words: str) -> Any:
    return pytest.raises(error, match=".*".join(map(re.escape, words)))


@asc.jit
def registers(x: asc.GlobalAddress, workspace: asc.GlobalAddress, how: asc.ConstExpr):
    how(x, workspace, asc.adv.register_matmul)  # the name tells that this is a mix kernel


def registered(how: Any, nbytes: int = 400 << 10, kernel: Any = registers) -> None:
    kernel[1](np.ones(2048, np.float16), np.zeros(nbytes, np.uint8), how)


def object_of(c: Any = SINGLE) -> Any:
    return asc.adv.Matmul(HALF, HALF, c)


def gm(x: Any, dtype: Any = None) -> Any:
    tensor = asc.GlobalTensor()
    tensor.set_global_buffer(asc.GlobalAddress(x.array, x.offset, dtype) if dtype else x)
    return tensor


TILE = tiling(16, 16, 16, (16, 16, 16))


def test_an_object_that_is_not_registered() -> None:
    with refused(asc.ArgumentValueError, "set_tensor_a", "not registered", "register_matmul before it"):
        registered(lambda x, workspace, register: object_of().set_tensor_a(gm(x)))


@pytest.mark.parametrize("call", ["set_tail", "iterate_all"])
def test_an_object_without_a_tiling(call: str) -> None:
    def how(x: Any, workspace: Any, register: Any) -> None:
        mm = object_of()
        register(asc.TPipe(), workspace, mm)
        mm.set_tensor_a(gm(x))
        mm.set_tensor_b(gm(x))
        getattr(mm, call)(16 if call == "set_tail" else gm(x, asc.float32))

    with refused(asc.ArgumentValueError, call, "no tiling yet", "init(tiling)"):
        registered(how)


@pytest.mark.parametrize("which", ["pipe", "workspace", "matmul", "tiling"])
def test_what_register_matmul_takes(which: str) -> None:
    def how(x: Any, workspace: Any, register: Any) -> None:
        given = {"pipe": asc.TPipe(), "workspace": workspace, "matmul": object_of(), "tiling": TILE, which: 3}
        register(**given)

    with refused(asc.ArgumentTypeError, "register_matmul", which):
        registered(how)


def test_a_fifth_object() -> None:
    def how(x: Any, workspace: Any, register: Any) -> None:
        pipe = asc.TPipe()
        for _ in range(5):
            register(pipe, workspace, object_of(), TILE)

    with refused(asc.ArgumentValueError, "at most 4 Matmul objects"):
        registered(how, kernel=asc.jit(matmul_cube_only=True)(registers.fn))


def test_one_of_two_objects_has_two_masters() -> None:
    def how(x: Any, workspace: Any, register: Any) -> None:
        pipe, config = asc.TPipe(), asc.adv.get_mdl_config(enable_mix_dual_master=True)
        register(pipe, workspace, asc.adv.Matmul(HALF, HALF, SINGLE, matmul_config=config), TILE)
        register(pipe, workspace, object_of(), TILE)

    with refused(asc.ArgumentValueError, "enable_mix_dual_master = False", "True, as for the objects before it"):
        registered(how)


def test_a_workspace_too_small_for_results_in_ub() -> None:
    def how(x: Any, workspace: Any, register: Any) -> None:
        mm = object_of(UB)
        register(asc.TPipe(), workspace, mm, TILE)
        mm.set_tensor_a(gm(x))
        mm.set_tensor_b(gm(x))
        mm.iterate()
        mm.get_tensor_c(asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 0, 256))

    with refused(asc.ArgumentValueError, "workspace = 512", "393216 bytes"):
        registered(how, 512)


def test_a_second_object_while_the_first_has_blocks() -> None:
    """After end() it may start; so it may after iterate_all."""

    def how(x: Any, workspace: Any, register: Any, end: bool = False) -> None:
        pipe, first, second = asc.TPipe(), object_of(), object_of()
        for mm in (first, second):
            register(pipe, workspace, mm, TILE)
            mm.set_tensor_a(gm(x))
            mm.set_tensor_b(gm(x))
        first.iterate()
        first.get_tensor_c(gm(workspace, asc.float32))
        if end:
            first.end()
        second.iterate_all(gm(workspace, asc.float32))

    cube = asc.jit(matmul_cube_only=True)(registers.fn)
    registered(lambda *given: how(*given, end=True), kernel=cube)
    with refused(asc.ArgumentValueError, "has not ended on aic 0", "end() of the object"):
        registered(how, kernel=cube)


@pytest.mark.parametrize("cube", [False, True])
def test_objects_of_other_tilings_take_turns_in_the_same_memory(cube: bool) -> None:
    """One in both halves of L0 and single blocks that stay in L1, one in all of L0 and whole steps of L1; twice."""
    rng, c = np.random.default_rng(3), np.zeros((4, 40, 48), np.float32)
    a, b = rng.integers(-5, 6, (40, 48)).astype(np.float16), rng.integers(-5, 6, (48, 48)).astype(np.float16)
    depths = dict.fromkeys(("depth_a1", "depth_b1", "step_k_a", "step_k_b"), 3)
    halves = tiling(40, 48, 48, (16, 16, 16), is_bias=0, db_l0a=2, db_l0b=2, **depths)
    steps = tiling(40, 48, 48, (48, 48, 48), is_bias=0)

    @asc.jit(matmul_cube_only=cube)
    def kernel(a: asc.GlobalAddress, b: asc.GlobalAddress, c: asc.GlobalAddress, workspace: asc.GlobalAddress):
        pipe = asc.TPipe()
        objects = []
        for tile, config in ((halves, None), (steps, asc.adv.get_mdl_config())):
            mm = asc.adv.Matmul(HALF, HALF, SINGLE, matmul_config=config)
            asc.adv.register_matmul(pipe, workspace, mm, tile)
            objects.append(mm)
        if asc.get_block_idx() == 0:
            for turn in range(4):
                mm = objects[turn % 2]
                mm.set_tensor_a(gm(a))
                mm.set_tensor_b(gm(b))
                mm.iterate_all(gm(c)[turn * 40 * 48])
                mm.end()

    with asc.settings(checks=asc.Checks.strict()):
        kernel[1](a, b, c, np.zeros(400 << 10, np.uint8))
    np.testing.assert_array_equal(c, [a.astype(np.float32) @ b.astype(np.float32)] * 4)


def test_blocks_of_the_author_in_l0c_are_not_those_of_another_object() -> None:
    """They wait there for a fixpipe while the other object computes."""
    rng, c = np.random.default_rng(4), np.zeros((2, 32, 32), np.float32)
    a, b = (rng.integers(-5, 6, (32, 32)).astype(np.float16) for _ in range(2))
    tile = tiling(32, 32, 32, (32, 32, 32), is_bias=0)

    @asc.jit(matmul_cube_only=True)
    def kernel(a: asc.GlobalAddress, b: asc.GlobalAddress, c: asc.GlobalAddress, workspace: asc.GlobalAddress):
        pipe = asc.TPipe()
        own = object_of(kind("float32", format=NZ, position=asc.TPosition.CO1))
        other = object_of()
        for mm in (own, other):
            asc.adv.register_matmul(pipe, workspace, mm, tile)
            mm.set_tensor_a(gm(a))
            mm.set_tensor_b(gm(b))
        queue = asc.TQue(asc.TPosition.CO1, 1)
        pipe.init_buffer(que=queue, num=1, len=4096)
        block = queue.alloc_tensor(asc.float32)
        own.iterate(local_c_matrix=block)
        own.end()
        queue.enque(block)
        block = queue.deque(asc.float32)
        other.set_tensor_a(gm(b))
        other.iterate_all(gm(c)[1024])
        asc.fixpipe(gm(c), block, asc.FixpipeParamsV220(32, 32, 32, 32))
        queue.free_tensor(block)

    with asc.settings(checks=asc.Checks.strict()):
        kernel[1](a, b, c, np.zeros(400 << 10, np.uint8))
    single_a, single_b = a.astype(np.float32), b.astype(np.float32)
    np.testing.assert_array_equal(c, [single_a @ single_b, single_b @ single_b])


@pytest.mark.parametrize(("position", "nbytes", "memory"), [("A1", 524288, "L1"), ("CO1", 131072, "L0C")])
def test_a_memory_that_the_author_has_filled(position: str, nbytes: int, memory: str) -> None:
    def how(x: Any, workspace: Any, register: Any) -> None:
        pipe, mm, whole = asc.TPipe(), object_of(), asc.TQue(asc.TPosition[position], 1)
        register(pipe, workspace, mm, TILE)
        pipe.init_buffer(que=whole, num=1, len=nbytes)
        mm.set_tensor_a(gm(x))
        mm.set_tensor_b(gm(x))
        mm.iterate_all(gm(workspace, asc.float32))

    with refused(asc.MemoryFault, f"Matmul asks for 1 x 1024 = 1024 bytes of {memory}, 0 of {nbytes}", "whole"):
        registered(how, kernel=asc.jit(matmul_cube_only=True)(registers.fn))


def test_a_kernel_without_cube_cores() -> None:
    """Where the name does not stand in the kernel the launch has vector cores alone; the error says what to do."""

    def how(x: Any, workspace: Any, register: Any) -> None:
        asc.adv.register_matmul(asc.TPipe(), workspace, object_of(), TILE)

    @asc.jit
    def unseen(x: asc.GlobalAddress, workspace: asc.GlobalAddress, how: asc.ConstExpr):
        how(x, workspace, None)

    with refused(asc.FoundError, "no cube core", "@jit(kernel_type=KernelType.MIX_AIC_1_2)") as caught:
        registered(how, kernel=unseen)
    assert caught.value.code == "WRONG_CORE"


def test_cube_cores_alone_without_matmul_cube_only() -> None:
    """Compiled so, the device's cube core waits for letters that no vector core sends."""
    kernel = asc.jit(kernel_type=asc.runtime.config.KernelType.AIC_ONLY)(registers.fn)

    def how(x: Any, workspace: Any, register: Any) -> None:
        register(asc.TPipe(), workspace, object_of(), TILE)

    with refused(asc.FoundError, "WRONG_CORE: register_matmul: AIC_ONLY without", "jit(matmul_cube_only=True)"):
        registered(how, kernel=kernel)


def test_flags_between_cores_that_belong_to_the_objects() -> None:
    """One object takes flags 0 and 1; the author's use before it counts too, flag 2 is free."""

    def uses(number: int, first: bool) -> Any:
        def how(x: Any, workspace: Any, register: Any) -> None:
            def flag() -> None:
                asc.cross_core_set_flag(number, 1, asc.PipeID.PIPE_MTE3)
                asc.cross_core_wait_flag(number)

            if first and asc.ascend_is_aiv():
                flag()
            register(asc.TPipe(), workspace, object_of(), TILE)
            if not first:
                flag()

        return how

    for first in (True, False):
        registered(uses(2, first))
        with refused(asc.SyncError, "flag 1", "belongs to register_matmul", "uses 0 to 1") as caught:
            registered(uses(1, first))
        assert caught.value.code == "XFLAG_RESERVED_ID"
