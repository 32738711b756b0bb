"""The system workspace and the contexts of HCCL: pointers that a core keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from basic_machine import at, codes, launch, order, ub

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, LaunchError
from ascsim.hw.soc import soc
from ascsim.language.basic import (
    add,
    data_copy,
    duplicate,
    get_block_idx,
    get_hccl_context,
    get_sys_workspace,
    set_hccl_context,
    set_sys_workspace,
)
from ascsim.language.core import GlobalAddress, HardEvent
from ascsim.language.core import dtype as dt


def same(a: GlobalAddress, b: GlobalAddress) -> bool:
    return a.array is b.array and a.offset == b.offset


def test_the_workspace_given_first_comes_back_as_bytes() -> None:
    def body(a: GlobalAddress, b: GlobalAddress) -> None:
        set_sys_workspace(a + 2)
        set_sys_workspace(b)
        got = get_sys_workspace()
        assert (got.array.name, got.offset, got.dtype) == ("a0", 8, dt.uint8)

    launch(body, np.zeros(8, np.int32), np.zeros(8, np.int32))


def test_the_workspace_of_the_launch_is_shared_undefined_and_16_mib() -> None:
    seen: list[GlobalAddress] = []

    def body() -> None:
        workspace = get_sys_workspace()
        seen.append(workspace)
        assert same(workspace, get_sys_workspace())
        here = ub(dt.uint8, 0, 64)
        if get_block_idx() == 0:
            duplicate(here.reinterpret_cast(dt.int32), 7, 16)
            order(HardEvent.V_MTE3)
            data_copy(at(workspace), here, 32)
            order(HardEvent.MTE3_MTE2)
            data_copy(here, at(workspace), 64)  # half of it was never written
            order(HardEvent.MTE2_V)
            words = here.reinterpret_cast(dt.int32)
            add(words, words, words, 8)
            add(words[8:], words[8:], words[8:], 8)

    device = Device(soc("Ascend910B1"), 0, 2, checks=Checks.collect())
    device.run(body)
    device.write_back()
    assert len(seen) == 2
    assert same(*seen)
    assert (seen[0].array.nbytes, seen[0].array.name) == (16 * 1024 * 1024, "system workspace")
    (found,) = device.findings
    assert (found.code, found.operation) == ("UNINIT_READ", "add")
    assert "[32:64) of UB" in found.message


def test_contexts_of_the_two_domains() -> None:
    def body(a: GlobalAddress, b: GlobalAddress) -> None:
        set_hccl_context(0, a)
        set_hccl_context(1, b + 3)
        set_hccl_context(0, a + 1)
        first, second = get_hccl_context(0), get_hccl_context(1)
        assert (first.array.name, first.offset, first.dtype) == ("a0", 4, dt.uint8)
        assert (second.array.name, second.offset, second.dtype) == ("a1", 12, dt.uint8)

    assert codes(launch(body, np.zeros(8, np.int32), np.zeros(8, np.int32))) == []


def test_a_core_does_not_see_the_pointers_of_another() -> None:
    array = np.zeros(8, np.int32)
    device = Device(soc("Ascend910B1"), 0, 2, checks=Checks())
    address = GlobalAddress(device.argument("a", memoryview(array.view(np.uint8))), 0, dt.int32)

    def body() -> None:
        if get_block_idx() == 0:
            set_sys_workspace(address)
            set_hccl_context(1, address)
        else:
            assert get_sys_workspace().array.name == "system workspace"
            with pytest.raises(ArgumentValueError):
                get_hccl_context(1)

    device.run(body)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: set_sys_workspace(5), ArgumentTypeError, "set_sys_workspace: workspace = 5: is no GlobalAddress"),
        (lambda: set_hccl_context(0, None), ArgumentTypeError, "set_hccl_context: context: is no GlobalAddress"),
        (lambda: set_hccl_context(2, None), ArgumentValueError, "set_hccl_context: index = 2; rule: 0 or 1"),
        (lambda: get_hccl_context(-1), ArgumentValueError, "get_hccl_context: index = -1; rule: 0 or 1, there are two"),
        (lambda: get_hccl_context("0"), ArgumentTypeError, "get_hccl_context: index = '0'"),
        (lambda: get_hccl_context(1), ArgumentValueError, "get_hccl_context: index = 1: has no context yet"),
    ],
)
def test_bad_arguments(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        launch(call)
    assert str(caught.value).startswith(text)
    with pytest.raises(LaunchError):
        call()
