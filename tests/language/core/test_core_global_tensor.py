"""GlobalTensor, GlobalAddress and LocalMemAllocator: windows on arguments, pointers, consecutive buffers."""

from __future__ import annotations

import numpy as np
import pytest
from basic_machine import at, codes, launch, order

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, MemoryFault, OperandError
from ascsim.language.basic import data_copy, duplicate
from ascsim.language.core import (
    CacheMode,
    CacheRwMode,
    GlobalTensor,
    HardEvent,
    Hardware,
    LocalMemAllocator,
    ShapeInfo,
    TPosition,
    number,
)
from ascsim.language.core import dtype as dt


def inside(body, *arrays, kind="aiv"):
    """What `body(addresses)` returns in a kernel of one core."""
    out = []
    launch(lambda *given: out.append(body(*given)), *arrays, kind=kind, checks=Checks.collect())
    return out[0]


def typed(scalar):
    return scalar.v, scalar.dtype.name


ARRAY = np.arange(10, 42, dtype=np.float32)


def test_an_address_moves_by_elements():
    def body(a):
        moved = a + 3
        return (
            moved.offset,
            moved.dtype.name,
            (2 + a).offset,
            (a + number(1, dt.int32)).offset,
            at(moved).get_value(0).v,
        )

    assert inside(body, ARRAY) == (12, "float32", 8, 4, 13.0)


def test_an_address_knows_no_minus_and_no_fraction():
    with pytest.raises(ArgumentTypeError, match=r"GlobalAddress -.*moved by \+"):
        launch(lambda a: a - 1, ARRAY)
    with pytest.raises(ArgumentTypeError, match=r"GlobalAddress \+: elements = 1.5"):
        launch(lambda a: a + 1.5, ARRAY)


def test_size_is_what_set_global_buffer_was_told():
    def body(a):
        told, untold = GlobalTensor(), GlobalTensor()
        told.set_global_buffer(a, 20)
        untold.set_global_buffer(a + 2)
        return typed(told.get_size()), typed(untold.get_size()), told.shape, untold.shape

    assert inside(body, ARRAY) == ((20, "uint64"), (0, "uint64"), (20,), (30,))


def test_views_and_elements():
    def body(a):
        gm = at(a)
        views = [gm[5:], gm[5], gm(5), gm[number(5, dt.int64)], gm[2:][3:]]
        return [typed(view.get_value(1)) for view in views], gm[5:].get_phy_addr(2).offset

    assert inside(body, ARRAY) == ([(16.0, "float32")] * 5, 28)


def test_a_tensor_may_be_pointed_elsewhere():
    def body(a, b):
        gm = at(a)
        first = typed(gm.get_value(0))
        gm.set_global_buffer(b)
        return first, typed(gm.get_value(0)), gm.dtype.name

    assert inside(body, ARRAY, np.array([7], np.int16)) == ((10.0, "float32"), (7, "int16"), "int16")


def test_set_value_is_seen_by_the_own_core():
    def body(a):
        gm = at(a)
        gm.set_value(2, 5)
        gm[3] = 6
        return gm.get_value(2).v, gm.get_value(3).v

    assert inside(body, ARRAY.copy()) == (5.0, 6.0)


def test_shape_and_cache_hint():
    def body(a):
        gm = at(a)
        before = gm.get_shape_info()
        gm.set_shape_info(ShapeInfo([4, 8]))
        gm.set_l2_cache_hint(CacheMode.CACHE_MODE_DISABLE, CacheRwMode.READ)
        return before, gm[8:].get_shape_info().shape(1).v

    assert inside(body, ARRAY) == (ShapeInfo(), 8)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: GlobalTensor().dtype, ArgumentValueError, "GlobalTensor.dtype.*call set_global_buffer"),
        (lambda a: GlobalTensor().get_size(), ArgumentValueError, "GlobalTensor.get_size.*no buffer yet"),
        (lambda a: GlobalTensor().set_global_buffer(3), ArgumentTypeError, "buffer = 3: is no GlobalAddress"),
        (lambda a: GlobalTensor().set_global_buffer(a, -1), ArgumentValueError, "buffer_size = -1: negative"),
        (lambda a: at(a).set_l2_cache_hint(99), ArgumentValueError, "mode = 99.*CacheMode.CACHE_MODE"),
        (lambda a: at(a).set_l2_cache_hint("x"), ArgumentTypeError, "mode = .x.: a str.*rule: one of CacheMode"),
        (lambda a: at(a).set_shape_info(None), ArgumentTypeError, "is no ShapeInfo"),
        (lambda a: at(a).get_value("x"), ArgumentTypeError, "get_value: offset = 'x'"),
        (lambda a: at(a).set_value(0, "x"), ArgumentTypeError, "a str is no number"),
        (lambda a: at(a).set_value(-1, 1), MemoryFault, "OOB_GM: set_value writes.*4 bytes before its start"),
        (lambda a: at(a).set_value(9999, 1), MemoryFault, "OOB_GM: set_value writes.*past its end"),
    ],
)
def test_what_a_global_tensor_refuses(call, error, text):
    with pytest.raises(error, match=text):
        launch(call, ARRAY.copy())


def test_elements_outside_the_declared_tensor_are_a_warning():
    def body(a):
        gm = GlobalTensor()
        gm.set_global_buffer(a, 8)
        assert gm.get_value(8).v == 18.0

    device = launch(body, ARRAY, checks=Checks.collect())
    assert codes(device) == ["OOB_BUF"]
    assert "get_value: offset = 8; rule: 0 to 7" in device.findings[0].message


def test_an_element_in_the_padding_is_a_warning_and_reaches_nobody():
    array = ARRAY.copy()
    device = launch(lambda a: at(a).set_value(40, 1), array, checks=Checks.collect())
    assert codes(device) == ["OOB_GM"]
    assert (array == ARRAY).all()


# --- LocalMemAllocator --------------------------------------------------------------------------------------------


def test_buffers_follow_each_other_at_multiples_of_32_bytes():
    def body():
        allocator = LocalMemAllocator()
        tensors = [
            allocator.alloc(TPosition.VECIN, dt.float32, 9),
            allocator.alloc(TPosition.VECCALC, dt.int8, 1),
            allocator.alloc(TPosition.VECOUT, dt.float16, 16),
        ]
        places = [(t.get_phy_addr().v, t.get_size().v, t.get_position().v) for t in tensors]
        return places, typed(allocator.get_cur_addr())

    positions = [int(p) for p in (TPosition.VECIN, TPosition.VECCALC, TPosition.VECOUT)]
    starts = zip((0, 64, 96), (9, 1, 16), positions, strict=True)
    assert inside(body) == (list(starts), (128, "uint32"))


def test_each_allocator_has_a_pointer_of_its_own():
    def body():
        first, second = LocalMemAllocator(Hardware.UB), LocalMemAllocator(Hardware.UB)
        first.alloc(TPosition.VECIN, dt.float32, 8)
        return first.get_cur_addr().v, second.get_cur_addr().v

    assert inside(body) == (32, 0)


def test_memories_of_the_cube_core():
    def body():
        allocator = LocalMemAllocator(Hardware.L1)
        return allocator.alloc(TPosition.A1, dt.float16, 64).get_phy_addr().v, allocator.get_cur_addr().v

    assert inside(body, kind="aic") == (0, 128)


def test_what_is_allocated_is_used_like_any_tensor():
    out = np.zeros(8, np.int32)

    def body(a):
        tensor = LocalMemAllocator().alloc(TPosition.VECOUT, dt.int32, number(8, dt.int32))
        duplicate(tensor, 4, 8)
        order(HardEvent.V_MTE3)
        data_copy(at(a), tensor, 8)

    launch(body, out)
    assert out.tolist() == [4] * 8


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: LocalMemAllocator("UB"), ArgumentTypeError, "LocalMemAllocator: hard = 'UB'"),
        (lambda: LocalMemAllocator(Hardware.GM), ArgumentValueError, "is no local memory; rule: one of Hardware.UB"),
        (
            lambda: LocalMemAllocator().alloc(TPosition.A1, dt.float32, 8),
            OperandError,
            "BAD_POSITION: LocalMemAllocator.alloc: pos = A1 lies in L1, this allocator hands out UB",
        ),
        (lambda: LocalMemAllocator().alloc(TPosition.VECIN, dt.float32, -8), ArgumentValueError, "tile_size = -8"),
        (lambda: LocalMemAllocator().alloc(TPosition.VECIN, "float32", 8), ArgumentTypeError, "data_type = 'float32'"),
        (lambda: LocalMemAllocator().alloc(TPosition.GM, dt.float32, 8), ArgumentValueError, "pos = .*GM"),
        (
            lambda: LocalMemAllocator().alloc(TPosition.VECIN, dt.float32, 49153),
            MemoryFault,
            r"MEM_OVERFLOW: alloc\(VECIN, float32, 49153\).* asks for 196640 bytes of UB, 196608 of 196608",
        ),
    ],
)
def test_what_an_allocator_refuses(call, error, text):
    with pytest.raises(error, match=text):
        launch(call)


def test_a_copy_past_the_end_of_an_allocated_tensor_names_its_size():
    def body(a):
        tensor = LocalMemAllocator().alloc(TPosition.VECIN, dt.float32, 8)
        data_copy(tensor, at(a), 16)

    (found,) = launch(body, ARRAY, checks=Checks.collect()).findings
    assert found.code == "OOB_BUF"
    assert (
        "touches bytes [0:64), 32 bytes past its tensor (8 elements of float32, bytes [0:32) of UB, made at test_core_"
        in found.message
    )
