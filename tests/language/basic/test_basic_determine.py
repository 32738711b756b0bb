"""wait_pre_block and notify_next_block: values, order, faults and deadlock texts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from basic_machine import at, codes, ub
from meeting_machine import MIX_1_2, launch, put, zeros

from ascsim.hw.checks import Checks
from ascsim.hw.errors import DeadlockError, SyncError
from ascsim.language.basic import (
    data_copy,
    duplicate,
    get_block_idx,
    notify_next_block,
    pipe_barrier,
    wait_pre_block,
)
from ascsim.language.core import GlobalAddress, PipeID
from ascsim.language.core import dtype as dt


def turns(o: GlobalAddress, space: GlobalAddress, rounds: int = 2, first: int = 1, silent: int = -1) -> None:
    """Each block, in turn, doubles the sum and adds its number + 1: the result tells the order."""
    blocks = 3
    room = ub(dt.int32, 1024, (blocks + 1) * 8)
    room.set_value(blocks * 8, first)
    me = get_block_idx()
    for _ in range(rounds):
        wait_pre_block(at(space), room)
        tensor = ub(dt.int32, 0, 8)
        data_copy(tensor, at(o), 8)
        pipe_barrier(PipeID.PIPE_ALL)
        before = tensor.get_value(0)
        duplicate(tensor, before * 2 + me + 1, 8)
        pipe_barrier(PipeID.PIPE_ALL)
        data_copy(at(o), tensor, 8)
        if me != silent:
            notify_next_block(at(space), room)


def test_blocks_in_order() -> None:
    out, space = zeros(1), zeros(3)
    machine = launch(lambda o, s: turns(o, s), out, space, blocks=3)
    assert codes(machine) == []
    # 0 -> 1 -> 4 -> 11, then 11 -> 23 -> 48 -> 99
    assert out[0] == 99
    assert space.tolist() == [0] * 24  # the last block clears the slots


def test_blocks_without_turns_race() -> None:
    def body(o: GlobalAddress) -> None:
        put(o, 0, get_block_idx() + 1)

    assert set(codes(launch(body, zeros(1), blocks=3))) == {"GM_RACE_WW"}


def test_a_block_that_does_not_pass_the_turn_on() -> None:
    with pytest.raises(DeadlockError) as caught:
        launch(lambda o, s: turns(o, s, rounds=1, silent=1), zeros(1), zeros(3), blocks=3)
    text = str(caught.value)
    assert "aiv 2 waits in wait_pre_block" in text
    assert "for 1 in the slots before its own and 0 in the others; they hold [1, 0, 0]" in text
    assert "ended before: aiv 0, aiv 1" in text


def test_rounds_that_differ_between_blocks() -> None:
    """The round stands in the scratch of each block; where one block counts otherwise, the others wait for ever."""

    def body(o: GlobalAddress, s: GlobalAddress, other: int) -> None:
        turns(o, s, 1, other if get_block_idx() == 0 else 1)

    assert codes(launch(lambda o, s: body(o, s, 1), zeros(1), zeros(3), blocks=3)) == []
    with pytest.raises(DeadlockError, match=re.escape("they hold [2, 0, 0]")):
        launch(lambda o, s: body(o, s, 2), zeros(1), zeros(3), blocks=3)


def test_turns_need_a_workspace() -> None:
    room = 1024
    with pytest.raises(SyncError, match=r"SYNC_WORKSPACE.*ub_workspace has 96 bytes; rule: at least 128"):
        launch(lambda s: wait_pre_block(at(s), ub(dt.int32, room, 24)), zeros(3), blocks=3, checks=Checks())
    dirty = np.array([*[0] * 8, 4, *[0] * 15], np.int32)
    with pytest.raises(SyncError, match=r"the slots hold \[0, 4, 0\] before the first call; rule: zero"):
        launch(lambda o, s: turns(o, s), zeros(1), dirty, blocks=3, checks=Checks())
    with pytest.raises(SyncError, match=r"aiv 2 has no slot, there are 2; rule: one vector core a block"):
        launch(lambda s: wait_pre_block(at(s), _begun(room)), zeros(2), kind=MIX_1_2, checks=Checks(), only=[1])


def _begun(start: int) -> Any:
    room = ub(dt.int32, start, 32)
    room.set_value(16, 1)
    return room


def test_some_blocks_of_a_launch_take_their_turns_alone() -> None:
    out = zeros(1)
    machine = launch(lambda o, s: turns(o, s, 1), out, zeros(3), blocks=3, only=[0, 2])
    assert codes(machine) == []
    assert out[0] == 5  # 0 -> 1 -> 2 + 3
