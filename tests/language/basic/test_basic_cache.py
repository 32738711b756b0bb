"""Preloading of the caches: what the scalar unit sees afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from basic_machine import at, codes, launch, order, ub

from ascsim.hw.checks import Checks
from ascsim.hw.device import Device
from ascsim.hw.errors import ArgumentTypeError, ArgumentValueError, HazardError, MemoryFault, OperandError
from ascsim.hw.soc import soc
from ascsim.language.basic import (
    data_cache_clean_and_invalid,
    data_cache_preload,
    data_copy,
    duplicate,
    get_block_idx,
    get_icache_preload_status,
    icache_preload,
)
from ascsim.language.core import CacheLine, GlobalAddress, HardEvent
from ascsim.language.core import dtype as dt

WORDS = np.arange(32, dtype=np.uint64)  # 256 bytes, four lines


def overwrite(gm: Any) -> None:
    """Eight words from byte 64 on become 0x0505050505050505, and the scalar unit waits for it."""
    here = ub(dt.int16, 0, 32)
    duplicate(here, 0x0505, 32)
    order(HardEvent.V_MTE3)
    data_copy(gm[8:], here.reinterpret_cast(dt.uint64), 8)
    order(HardEvent.MTE3_S)


def test_a_preloaded_line_holds_what_memory_held() -> None:
    seen = []

    def body(a: GlobalAddress) -> None:
        gm = at(a)
        data_cache_preload(gm, 64)
        seen.append(gm.get_value(9).v)

    assert codes(launch(body, WORDS.copy())) == []
    assert seen == [9]


def test_finds_a_read_of_a_line_that_was_preloaded_before_a_store() -> None:
    """The pair of the next test without its cleaning."""

    def body(a: GlobalAddress) -> None:
        gm = at(a)
        data_cache_preload(gm[8:], 8)
        overwrite(gm)
        gm.get_value(9)

    with pytest.raises(HazardError, match=r"^CACHE_STALE: get_value, test_basic_cache.py:\d+ .S. on aiv 0 .* byte 72"):
        launch(body, WORDS.copy())


def test_no_hazard_in_a_read_of_another_line_or_of_one_that_was_dropped() -> None:
    seen = []

    def body(a: GlobalAddress) -> None:
        gm = at(a)
        data_cache_preload(gm, 0)
        data_cache_preload(gm, 64)
        overwrite(gm)
        data_cache_clean_and_invalid(CacheLine.SINGLE_CACHE_LINE, gm[8:])
        seen.extend([gm.get_value(7).v, gm.get_value(9).v])

    assert codes(launch(body, WORDS.copy())) == []
    assert seen == [7, 0x0505050505050505]


def test_finds_a_race_of_a_preloaded_word_but_none_of_its_neighbours() -> None:
    """Core 0 reads word 8 through a preloaded line, in which core 1 stores word 8, or words 12 to 15."""

    def found(first: int) -> list[str]:
        array = WORDS.copy()
        device = Device(soc("Ascend910B1"), 0, 2, checks=Checks.collect())
        address = GlobalAddress(device.argument("a", memoryview(array.view(np.uint8))), 0, dt.uint64)

        def body() -> None:
            gm = at(address)
            if get_block_idx() == 0:
                data_cache_preload(gm, 64)
                gm.get_value(8)
            else:
                here = ub(dt.int16, 0, 16)
                duplicate(here, 1, 16)
                order(HardEvent.V_MTE3)
                data_copy(gm[first:], here.reinterpret_cast(dt.uint64), 4)

        device.run(body)
        return codes(device)

    assert found(8) == ["GM_RACE_RW"]
    assert found(12) == []


def test_a_line_that_was_read_before_stays_as_it_is() -> None:
    def body(a: GlobalAddress) -> None:
        gm = at(a)
        gm.get_value(9)
        overwrite(gm)
        data_cache_preload(gm, 64)
        gm.get_value(9)

    with pytest.raises(HazardError, match=r"^CACHE_STALE"):
        launch(body, WORDS.copy())


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda gm: data_cache_preload(gm, 256), MemoryFault, "OOB_GM: data_cache_preload reads bytes [256:257) of"),
        (lambda gm: data_cache_preload(gm, -1), MemoryFault, "OOB_GM: data_cache_preload reads bytes [-1:0) of"),
        (lambda gm: data_cache_preload(3, 0), ArgumentTypeError, "data_cache_preload: src = 3: is no GlobalTensor"),
        (lambda gm: data_cache_preload(gm, 0.5), ArgumentTypeError, "data_cache_preload: cache_offset = 0.5"),
    ],
)
def test_bad_preloads(call: Callable[[Any], None], error: type[Exception], text: str) -> None:
    strict = Checks(warnings="raise")
    with pytest.raises(error) as caught:
        launch(lambda a: call(at(a)), WORDS.copy(), checks=strict)
    assert str(caught.value).startswith(text)


def test_the_type_of_a_preload_is_uint64() -> None:
    with pytest.raises(OperandError, match=r"^BAD_DTYPE: data_cache_preload: src has type int32; rule: uint64$"):
        launch(lambda a: data_cache_preload(at(a), 0), np.zeros(16, np.int32))


@pytest.mark.parametrize(("kind", "most"), [("aiv", 7), ("aic", 15)])
def test_lengths_of_code(kind: str, most: int) -> None:
    for length in (0, most):
        launch(lambda length=length: icache_preload(length), kind=kind)
    for length, nearest in ((-1, 0), (most + 1, most)):
        with pytest.raises(ArgumentValueError) as caught:
            launch(lambda length=length: icache_preload(length), kind=kind)
        assert str(caught.value) == (
            f"icache_preload: pre_fetch_len = {length}; rule: 0 to {most} on an {kind} core, in units of 2 KiB; "
            f"nearest legal value: {nearest}"
        )


def test_code_has_always_arrived() -> None:
    seen = []

    def body() -> None:
        icache_preload(2)
        status = get_icache_preload_status()
        seen.append((status.v, status.dtype))

    launch(body)
    assert seen == [(0, dt.int64)]
