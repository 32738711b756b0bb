"""ListTensorDesc and TensorDesc over lists as a host lays them out: the vendor's example, edges, refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from basic_machine import launch

from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, LaunchError
from ascsim.language.basic import ListTensorDesc, TensorDesc
from ascsim.language.core import GlobalAddress
from ascsim.language.core import dtype as dt


def listed(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The list of arrays of one rank, in words."""
    words: list[int] = []
    for i, array in enumerate(arrays):
        words += [i << 32 | array.ndim, *array.shape]
    return np.array([8 * (1 + len(words)), *words, *(array.ctypes.data for array in arrays)], np.uint64)


X = np.arange(6, dtype=np.int32).reshape(1, 2, 3)
Y = (np.arange(8, dtype=np.int32) + 100).reshape(2, 4, 1)


def on_list(call: Callable[..., Any], words: np.ndarray, *arrays: np.ndarray) -> Any:
    """What `call(address of the list)` gives inside a kernel that has the arrays as arguments."""
    out: list[Any] = []
    launch(lambda address, *others: out.append(call(address)), words, *arrays)
    return out[0]


def test_the_vendor_s_example() -> None:
    def call(address: GlobalAddress) -> list[Any]:
        tensors = ListTensorDesc(address)
        desc = TensorDesc(dt.int32)
        desc.set_shape_addr(0)
        found: list[Any] = [tensors.get_size()]
        for i in range(2):
            tensors.get_desc(desc, i)
            data = desc.get_data_obj()
            found.append(
                [
                    desc.get_dim(),
                    desc.get_index(),
                    *(desc.get_shape(k) for k in range(3)),
                    data.get_size(),
                    data.get_value(5),
                ]
            )
        return found

    assert on_list(call, listed([X, Y]), X, Y) == [2, [3, 0, 1, 2, 3, 6, 5], [3, 1, 2, 4, 1, 8, 105]]


def test_pointers_carry_their_type_and_may_point_inside() -> None:
    words = listed([X, Y])
    words[-1] = Y.ctypes.data + 8

    def call(address: GlobalAddress) -> Any:
        tensors = ListTensorDesc()
        tensors.init(address, 8 * words.size, 2)
        pointer = tensors.get_data_ptr(1, dt.int16)
        return pointer.array.name, pointer.offset, pointer.dtype

    assert on_list(call, words, X, Y) == ("a2", 8, dt.int16)


def test_a_list_without_shapes() -> None:
    words = np.array([24, 2 << 32, 0xFFFFFFFF, Y.ctypes.data, X.ctypes.data], np.uint64)

    def call(address: GlobalAddress) -> Any:
        tensors = ListTensorDesc(data=address, length=40, shape_size=2)
        desc = TensorDesc()
        desc.set_shape_addr(0)
        with pytest.raises(ArgumentValueError, match="the list holds no shapes"):
            tensors.get_desc(desc, 0)
        return [tensors.get_size(), *(tensors.get_data_ptr(i, dt.int32).array.name for i in range(2))]

    assert on_list(call, words, X, Y) == [2, "a2", "a1"]


def test_the_first_entry_may_hold_the_number_of_tensors() -> None:
    words = listed([X, Y])
    words[1], words[5] = 2 << 32 | 3, 3  # and the last entry no index
    assert on_list(lambda address: ListTensorDesc(address).get_size(), words, X, Y) == 2


def test_types_of_results() -> None:
    def call(address: GlobalAddress) -> Any:
        tensors, desc = ListTensorDesc(address), TensorDesc(dt.int32)
        desc.set_shape_addr(0)
        tensors.get_desc(desc, 0)
        return [x.dtype for x in (tensors.get_size(), desc.get_dim(), desc.get_index(), desc.get_shape(0))]

    assert on_list(call, listed([X, Y]), X, Y) == [dt.uint32, dt.uint64, dt.uint64, dt.int64]


def described(address: GlobalAddress, index: int = 0, room: bool = True) -> TensorDesc:
    desc = TensorDesc(dt.int32)
    if room:
        desc.set_shape_addr(0)
    ListTensorDesc(address).get_desc(desc, index)
    return desc


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda a: described(a, 2), r"get_desc: index = 2.*0 to 1; nearest legal value: 1"),
        (lambda a: described(a, room=False), r"desc: has no room for the shape.*set_shape_addr first"),
        (lambda a: described(a).get_shape(3), r"get_shape: offset = 3.*nearest legal value: 2"),
        (lambda a: ListTensorDesc(a, 80, 3), r"shape_size = 3: is not the list's.*nearest legal value: 2"),
        (lambda a: ListTensorDesc(a, 80, 2), r"length = 80: is not the list's.*nearest legal value: 88"),
        (lambda a: ListTensorDesc().get_size(), r"get_size: has no list yet"),
        (lambda a: TensorDesc().get_data_obj(), r"describes nothing yet"),
    ],
)
def test_refusals(call: Callable[[GlobalAddress], Any], text: str) -> None:
    with pytest.raises(ArgumentValueError, match=text):
        on_list(call, listed([X, Y]), X, Y)


def test_a_list_that_does_not_fit_itself_is_refused() -> None:
    words = listed([X, Y])
    words[0] += 8
    with pytest.raises(ArgumentValueError, match=r"distance to the pointers = 80: does not fit its entries"):
        on_list(ListTensorDesc, words, X, Y)


def test_pointers_outside_the_arguments_are_refused() -> None:
    with pytest.raises(ArgumentValueError, match=r"pointer 1 = '0x[0-9a-f]+': points nowhere; rule: .* an argument"):
        on_list(lambda address: described(address, 1), listed([X, Y]), X)


def test_wrong_kinds_are_refused() -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"data = 5: .*rule: a kernel's array argument|data.*is no GlobalAddress"
    ):
        launch(lambda: ListTensorDesc(5))
    with pytest.raises(ArgumentTypeError, match=r"desc = 3: is none; rule: a TensorDesc"):
        on_list(lambda address: ListTensorDesc(address).get_desc(3, 0), listed([X, Y]), X, Y)
    with pytest.raises(LaunchError, match="TensorDesc"):
        TensorDesc()
