"""LocalTensor: places, views, sizes, types, tags, single elements, printing. Addresses are bytes, counts elements."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from basic_machine import at, launch, order, ub

from ascsim.hw.checks import Checks
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, QueueError
from ascsim.language.basic import add, data_copy, duplicate
from ascsim.language.core import HardEvent, LocalTensor, LocalTensorAuto, ShapeInfo, TPosition, number
from ascsim.language.core import dtype as dt
from ascsim.lib.jit import jit
from ascsim.lib.settings import settings


def inside(body):
    """What `body` returns in a kernel of one vector core."""
    out = []
    launch(lambda: out.append(body()), checks=Checks.collect())
    return out[0]


def typed(scalar):
    return scalar.v, scalar.dtype.name


def test_size_length_and_position_have_their_types():
    def body():
        tensor = LocalTensor(dt.float16, TPosition.VECIN, 64, 100)
        return [typed(x) for x in (tensor.get_size(), tensor.get_length(), tensor.get_position())]

    assert inside(body) == [(100, "int32"), (200, "uint32"), (int(TPosition.VECIN), "int32")]


def test_tile_size_0_reaches_to_the_end_of_the_memory():
    assert inside(lambda: typed(LocalTensor(dt.float32, TPosition.VECCALC, 196608 - 64).get_size())) == (16, "int32")


def test_the_form_without_position_has_an_address():
    def body():
        tensor = LocalTensor(dt.int16, 512)
        return tensor.get_phy_addr().v, tensor.get_position().v

    assert inside(body) == (512, int(TPosition.VECIN))


def test_views_start_later_and_end_where_the_tensor_ends():
    def body():
        tensor = ub(dt.float32, 256, 64)
        views = [tensor[8:], tensor[8], tensor(8), tensor[number(8, dt.int64)], tensor[4:][4:]]
        return [(view.get_phy_addr().v, view.get_size().v, view.shape) for view in views]

    assert inside(body) == [(288, 56, (56,))] * 5


def test_a_view_past_the_end_is_empty():
    def body():
        view = ub(dt.float32, 0, 8)[20:]
        return view.get_size().v, view.get_length().v, view.get_phy_addr().v

    assert inside(body) == (0, 0, 80)


def test_addresses_of_elements_are_unsigned_64_bit():
    assert inside(lambda: typed(ub(dt.float16, 96, 8).get_phy_addr(5))) == (106, "uint64")


def test_set_size_and_set_buffer_len_keep_the_address():
    def body():
        tensor = ub(dt.float32, 128, 64)
        tensor.set_size(10)
        first = tensor.get_size().v, tensor.get_length().v, tensor.get_phy_addr().v
        tensor.set_buffer_len(24)
        return first, (tensor.get_size().v, tensor.get_length().v, tensor.get_phy_addr().v)

    assert inside(body) == ((10, 40, 128), (6, 24, 128))


def test_set_addr_with_offset_keeps_the_own_type():
    def body():
        tensor, source = ub(dt.float16, 0, 8), ub(dt.float32, 256, 64)
        tensor.set_addr_with_offset(source, 8)
        return tensor.get_phy_addr().v, tensor.get_size().v, tensor.dtype.name

    assert inside(body) == (256 + 32, 112, "float16")  # 224 bytes are left of the source


def test_reinterpret_cast_shares_the_bytes():
    def body():
        tensor = ub(dt.float32, 64, 8)
        tensor.set_value(0, 1.0)
        other = tensor.reinterpret_cast(dt.uint16)
        return other.get_size().v, [other.get_value(i).v for i in (0, 1)], other.get_phy_addr().v

    assert inside(body) == (16, [0, 0x3F80], 64)


def test_elements_have_the_type_of_the_tensor_and_wrap():
    def body():
        tensor = ub(dt.int8, 0, 32)
        tensor.set_value(1, 200)
        tensor[2] = 7
        half = ub(dt.float16, 64, 16)
        half.set_value(0, 0.1)
        return typed(tensor.get_value(1)), typed(tensor.get_value(2)), typed(half.get_value(0))

    assert inside(body) == ((-56, "int8"), (7, "int8"), (0.0999755859375, "float16"))


def test_tags_and_shapes():
    def body():
        tensor = ub(dt.float32, 0, 8)
        before = typed(tensor.get_user_tag()), tensor.get_shape_info()
        tensor.set_user_tag(5)
        tensor.set_shape_info(ShapeInfo([2, 4]))
        return before, typed(tensor.get_user_tag()), [tensor.get_shape_info().shape(i).v for i in (0, 1)]

    assert inside(body) == (((0, "int32"), ShapeInfo()), (5, "int32"), [2, 4])


def test_print_shows_one_block_a_line(capsys):
    def body():
        tensor = ub(dt.int32, 0, 16)
        for i in range(10):
            tensor.set_value(i, i * i)
        tensor.print(10)

    inside(body)
    assert capsys.readouterr().out == "0000: 0 1 4 9 16 25 36 49\n0008: 64 81\n"


def test_to_file_writes_the_bytes(tmp_path):
    def body():
        tensor = ub(dt.int16, 0, 3)
        for i, value in enumerate((1, -1, 256)):
            tensor.set_value(i, value)
        tensor.to_file(tmp_path / "tensor.bin")

    inside(body)
    assert (tmp_path / "tensor.bin").read_bytes() == bytes([1, 0, 255, 255, 0, 1])


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: LocalTensor("float32"), ArgumentTypeError, "LocalTensor: dtype = 'float32': is no data type"),
        (lambda: LocalTensor(dt.void), ArgumentTypeError, "LocalTensor: dtype = void: has no elements"),
        (lambda: LocalTensor(dt.float32, TPosition.GM, 0), ArgumentValueError, "one of VECIN"),
        (lambda: LocalTensor(dt.float32, TPosition.VECIN, -4), ArgumentValueError, "addr = -4: negative"),
        (lambda: LocalTensor(dt.float32, TPosition.VECIN, 0, -1), ArgumentValueError, "tile_size = -1"),
        (lambda: ub(dt.float32).reinterpret_cast(None), ArgumentTypeError, "reinterpret_cast: dtype"),
        (lambda: ub(dt.float32).set_size(-1), ArgumentValueError, "set_size: size = -1: negative; rule: 0 or more"),
        (lambda: ub(dt.float32).set_shape_info([2, 4]), ArgumentTypeError, r"shape_info = \[2, 4\]: is no ShapeInfo"),
        (lambda: ub(dt.float32).set_addr_with_offset(3, 0), ArgumentTypeError, "src = 3: is no LocalTensor"),
        (lambda: ub(dt.float32, 0, 8).print(9), ArgumentValueError, "elements = 9.*at most 8; nearest legal value: 8"),
        (lambda: ub(dt.float32).to_file(3), ArgumentTypeError, "to_file: file_name = 3: is no path"),
        (lambda: LocalTensorAuto(float, 8), ArgumentTypeError, "LocalTensorAuto: dtype"),
        (lambda: LocalTensorAuto(dt.float32, (2, -1)), ArgumentValueError, "shape = -1: negative"),
    ],
)
def test_what_a_tensor_refuses(make, error, text):
    with pytest.raises(error, match=text):
        launch(make)


def test_a_declaration_past_the_memory_is_no_fault():
    assert inside(lambda: LocalTensor(dt.float32, TPosition.VECIN, 1 << 30, 64).get_size().v) == 64


def test_a_tensor_without_memory_may_be_asked_but_not_used():
    assert inside(lambda: LocalTensor(dt.float32).get_size().v) == 0
    with pytest.raises(QueueError, match=r"QUE_NOT_INIT: get_value: .*no memory"):
        launch(lambda: LocalTensor(dt.float32).get_value(0))


def test_an_element_counts_as_an_integer_where_it_is_one():
    def body():
        tensor = ub(dt.int32, 0, 8)
        tensor.set_value(0, 3)
        return operator.index(tensor.get_value(0))

    assert inside(body) == 3


# --- LocalTensorAuto ----------------------------------------------------------------------------------------------


def test_one_call_site_has_the_same_bytes_in_every_turn_and_two_sites_have_not():
    def make():
        return LocalTensorAuto(dt.float32, (2, 4))

    def body():
        turns = [make().get_phy_addr().v for _ in range(3)]
        other = LocalTensorAuto(dt.int8, 40)
        last = LocalTensorAuto(dt.float16, 1)
        return turns, other.get_phy_addr().v, last.get_phy_addr().v, other.get_size().v

    assert inside(body) == ([0, 0, 0], 32, 96, 40)  # 40 bytes take two blocks


def test_a_helper_called_from_two_lines_has_two_tensors():
    def make():
        return LocalTensorAuto(dt.float32, 8)

    def body():
        first = make()
        second = make()
        return first.get_phy_addr().v, second.get_phy_addr().v

    assert inside(body) == (0, 32)


def test_more_than_the_memory_is_an_overflow():
    with pytest.raises(Exception, match=r"MEM_OVERFLOW.*LocalTensorAuto\(float32, 50000\) asks for 200000 bytes of UB"):
        launch(lambda: LocalTensorAuto(dt.float32, 50000))


@jit
def doubled(source, target):
    x = LocalTensorAuto(dt.float32, 64)
    for turn in range(4):
        data_copy(x, at(source)[64 * turn :], 64)
        add(x, x, x, 64)
        data_copy(at(target)[64 * turn :], x, 64)


def test_its_use_inserts_the_order_that_the_author_left_out():
    source, target = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    with settings(checks=Checks.strict()):
        doubled[1](source, target)
    assert target.tolist() == [2.0 * i for i in range(256)]


def test_without_it_the_same_kernel_is_a_hazard():
    def body(a):
        x = ub(dt.float32, 0, 64)
        data_copy(x, at(a), 64)
        add(x, x, x, 64)

    with pytest.raises(Exception, match="RAW"):
        launch(body, np.ones(64, np.float32))


def test_a_filled_tensor_reaches_global_memory():
    out = np.zeros(16, np.float32)

    def body(a):
        tensor = ub(dt.float32, 32, 16)
        duplicate(tensor, 2.5, 16)
        order(HardEvent.V_MTE3)
        data_copy(at(a), tensor, 16)

    launch(body, out)
    assert out.tolist() == [2.5] * 16
