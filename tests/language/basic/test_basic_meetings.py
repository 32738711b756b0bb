"""sync_all, ib_set and ib_wait: values, order, faults and deadlock texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from basic_machine import at, codes, ub
from meeting_machine import AIC_ONLY, MIX_1_1, MIX_1_2, MIX_AIV, launch, pass_on, put, zeros

from ascsim.hw.checks import Checks
from ascsim.hw.current import core as current
from ascsim.hw.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DeadlockError,
    OperandError,
    SimulatorWarning,
    SyncError,
)
from ascsim.language.basic import (
    ascend_is_aic,
    cross_core_set_flag,
    data_copy,
    duplicate,
    get_block_idx,
    ib_set,
    ib_wait,
    sync_all,
)
from ascsim.language.core import GlobalAddress, PipeID
from ascsim.language.core import dtype as dt


def exchange(meet: Callable[[], None], work: GlobalAddress, out: GlobalAddress, cores: int) -> None:
    """Each core stores its number + 1, meets the others, and passes its neighbour's on."""
    me = get_block_idx()
    put(work, me, me + 1)
    meet()
    pass_on(work, (me + 1) % cores, out, me)


# ------------------------------------------------------------------ sync_all, hard form


def test_hard_form_orders_all_cores() -> None:
    out = zeros(3)
    machine = launch(lambda w, o: exchange(sync_all, w, o, 3), zeros(3), out, blocks=3, kind=MIX_AIV)
    assert codes(machine) == []
    assert out[::8].tolist() == [2, 3, 1]


def test_without_the_meeting_it_is_a_race() -> None:
    machine = launch(lambda w, o: exchange(lambda: None, w, o, 3), zeros(3), zeros(3), blocks=3, kind=MIX_AIV)
    assert set(codes(machine)) == {"GM_RACE_RW"}


def test_hard_form_needs_a_mix_kernel_type() -> None:
    with pytest.raises(SyncError, match=r"XFLAG_KERNEL_TYPE.*sync_all.*AIV_ONLY"):
        launch(sync_all, checks=Checks())


def test_hard_form_names_the_core_that_never_came() -> None:
    def body() -> None:
        if get_block_idx() != 2:
            sync_all()

    with pytest.raises(DeadlockError) as caught:
        launch(body, blocks=3, kind=MIX_AIV)
    text = str(caught.value)
    assert "DEADLOCK (cross_core)" in text
    assert re.search(r"aiv 0 waits for flag 14 \(test_basic_meetings.py:\d+\) \[round among all cores of one kin", text)
    assert "aiv 0, aiv 1 reported, aiv 2 did not" in text
    assert "ended before: aiv 2" in text


def test_hard_form_beside_its_own_flags() -> None:
    def body(number: int) -> None:
        cross_core_set_flag(number, 0, PipeID.PIPE_MTE3)
        sync_all()

    assert "XFLAG_RESERVED_ID" in codes(launch(lambda: body(12), kind=MIX_AIV))
    assert "XFLAG_RESERVED_ID" not in codes(launch(lambda: body(3), kind=MIX_AIV))


def mixed(w: GlobalAddress, o: GlobalAddress, meet: Callable[[], None]) -> None:
    """The vector cores store, all meet, and vector core 0 reads what core 3 stored."""
    me = get_block_idx()
    if not ascend_is_aic():
        put(w, me, me + 1)
    meet()
    if not ascend_is_aic() and me == 0:
        pass_on(w, 3, o, 0)


@pytest.mark.parametrize("meet", [lambda: sync_all(False), lambda: sync_all(is_aiv_only=False)])
def test_whole_form_in_a_mix_kernel(meet: Callable[[], None]) -> None:
    out = zeros(1)
    machine = launch(lambda w, o: mixed(w, o, meet), zeros(4), out, kind=MIX_1_2)
    assert codes(machine) == ["XFLAG_KERNEL_TYPE"]  # the warning that pyasc cannot emit it
    assert out[0] == 4
    assert machine.findings[0].severity == "warn"


def test_whole_form_warns_that_pyasc_cannot_emit_it() -> None:
    with pytest.raises(
        SimulatorWarning, match=r"XFLAG_KERNEL_TYPE.*sync_all: is_aiv_only=False .* pyasc 1.1 cannot emit the call"
    ):
        launch(lambda: sync_all(is_aiv_only=False), kind=MIX_1_2, checks=Checks())


def test_vector_only_form_does_not_hold_the_cube_cores() -> None:
    """The cube cores do not call it, which the whole form would not forgive."""

    def body(whole: bool) -> None:
        if not ascend_is_aic():
            sync_all(is_aiv_only=not whole)

    assert codes(launch(lambda: body(False), kind=MIX_1_2)) == []
    with pytest.raises(DeadlockError, match=r"aiv 0 waits for flag 13.*ended before: aic 0, aic 1"):
        launch(lambda: body(True), kind=MIX_1_2)


def test_whole_form_in_a_vector_only_kernel_never_returns() -> None:
    with pytest.raises(DeadlockError, match="aiv 0 waits for flag 13"):
        launch(lambda: sync_all(False), kind=MIX_AIV)


# ------------------------------------------------------------------ sync_all, soft form


def soft(workspace: GlobalAddress, used: int = 0, scratch: int = 256) -> None:
    sync_all(at(workspace), ub(dt.int32, 1024, scratch), used)


def test_soft_form_orders_and_counts() -> None:
    workspace, out = zeros(3), zeros(3)

    def body(w: GlobalAddress, o: GlobalAddress, space: GlobalAddress) -> None:
        exchange(lambda: soft(space), w, o, 3)
        soft(space)

    machine = launch(body, zeros(3), out, workspace, blocks=3)
    assert codes(machine) == []
    assert out[::8].tolist() == [2, 3, 1]
    assert workspace[::8].tolist() == [2, 2, 2]  # one for each call


def test_soft_form_of_some_cores() -> None:
    out = zeros(2)

    def body(w: GlobalAddress, o: GlobalAddress, space: GlobalAddress) -> None:
        if get_block_idx() < 2:
            exchange(lambda: soft(space, 2), w, o, 2)

    machine = launch(body, zeros(2), out, zeros(3), blocks=3)
    assert codes(machine) == []
    assert out[::8].tolist() == [2, 1]
    assert codes(launch(lambda space: soft(space, 2), zeros(3), blocks=3)) == ["SYNC_WORKSPACE"]  # core 2 calls too


def test_soft_form_with_a_core_that_never_comes() -> None:
    def body(space: GlobalAddress) -> None:
        if get_block_idx() != 1:
            soft(space)

    with pytest.raises(DeadlockError) as caught:
        launch(body, zeros(3), blocks=3)
    text = str(caught.value)
    assert "DEADLOCK (rendezvous)" in text
    assert "aiv 0 waits in sync_all" in text
    assert "aiv 2 waits in sync_all" in text
    assert "ended before: aiv 1" in text


@pytest.mark.parametrize(
    ("words", "scratch", "filled", "text"),
    [
        (16, 24, 0, r"gm_workspace has 64 bytes; rule: at least 96, 32 for each core"),
        (24, 16, 0, r"ub_workspace has 64 bytes; rule: at least 96"),
        (24, 24, 5, r"the slot of aiv 0 holds 5 before its call number 1; rule: 0"),
    ],
)
def test_soft_workspace(words: int, scratch: int, filled: int, text: str) -> None:
    space = np.full(words, filled, np.int32)
    with pytest.raises(SyncError, match=rf"SYNC_WORKSPACE.*sync_all: {text}"):
        launch(lambda s: soft(s, 0, scratch), space, blocks=3, checks=Checks())
    assert codes(launch(lambda s: soft(s, 0, 24), zeros(3), blocks=3)) == []


def test_soft_workspace_used_for_something_else() -> None:
    def body(space: GlobalAddress, block: int) -> None:
        soft(space)
        if get_block_idx() == 0:
            put(space, block, 9)
        soft(space)

    assert codes(launch(lambda s: body(s, 2), zeros(3))) == []  # behind the slots
    assert "SYNC_WORKSPACE" in codes(launch(lambda s: body(s, 0), zeros(3)))


def test_soft_form_refuses() -> None:
    with pytest.raises(ArgumentValueError, match=r"used_cores = 3; rule: 0 \(all\) to 2.*nearest legal value: 2"):
        launch(lambda s: soft(s, 3), zeros(2))
    with pytest.raises(ArgumentTypeError, match=r"ub_workspace: the soft form takes two workspaces"):
        launch(lambda s: sync_all(at(s)), zeros(2))
    with pytest.raises(ArgumentTypeError, match=r"gm_workspace = 3: is no GlobalTensor"):
        launch(lambda: sync_all(3, ub(dt.int32, 0, 64)))
    with pytest.raises(OperandError, match=r"BAD_DTYPE.*ub_workspace has type float32; rule: int32"):
        launch(lambda s: sync_all(at(s), ub(dt.float32, 0, 64)), zeros(2))
    assert codes(launch(lambda s: soft(s), zeros(2), kind=MIX_1_1)) == []
    assert codes(launch(lambda s: soft(s), zeros(4), kind=MIX_1_2)) == ["XFLAG_KERNEL_TYPE"]  # groups share a slot
    with pytest.raises(OperandError, match="WRONG_CORE"):
        launch(lambda s: soft(s), zeros(2), kind=AIC_ONLY)


def test_soft_scratch_is_written() -> None:
    """What lay in the scratch is gone: the slots of both cores lie there."""
    out = zeros(4)

    def body(space: GlobalAddress, o: GlobalAddress) -> None:
        tensor = ub(dt.int32, 1024, 16)
        duplicate(tensor, 7, 16)
        sync_all(at(space), tensor)
        if get_block_idx() == 0:
            data_copy(at(o), tensor, 16)

    assert codes(launch(body, zeros(2), out)) == []
    assert out.tolist() == [1, *[0] * 7, 1, *[0] * 7, *[0] * 16]


# ------------------------------------------------------------------ ib_set, ib_wait


def relay(
    w: GlobalAddress, o: GlobalAddress, space: GlobalAddress, *, wait: bool = True, event: int = 0, turns: int = 1
) -> None:
    """Core 0 stores and tells; core 1 waits and passes on."""
    tell, hear = ub(dt.int32, 1024, 8), ub(dt.int32, 2048, 8)
    for turn in range(turns):
        if get_block_idx() == 0:
            put(w, turn, turn + 5)
            ib_set(at(space), tell, 0, 0)
        else:
            if wait:
                ib_wait(at(space), hear, 0, event)
            pass_on(w, turn, o, turn)


def test_a_letter_orders_two_cores() -> None:
    space, out = zeros(2), zeros(3)
    machine = launch(lambda w, o, s: relay(w, o, s, turns=3), zeros(3), out, space)
    assert codes(machine) == []
    assert out[::8].tolist() == [5, 6, 7]
    assert space.tolist() == [0] * 16  # all taken


def test_a_letter_that_nobody_takes() -> None:
    found = codes(launch(lambda w, o, s: relay(w, o, s, wait=False), zeros(1), zeros(1), zeros(2)))
    assert sorted(set(found)) == ["GM_RACE_RW", "XFLAG_LEFT_SET"]


def test_a_letter_that_never_comes() -> None:
    with pytest.raises(DeadlockError) as caught:
        launch(lambda w, o, s: relay(w, o, s, event=1), zeros(1), zeros(1), zeros(4))
    text = str(caught.value)
    assert re.search(r"aiv 1 waits in ib_wait, slot 2 of a2 \(test_basic_meetings.py:\d+\); ended before: aiv 0", text)


def _to_itself(space: GlobalAddress, room: int) -> None:
    ib_set(at(space), ub(dt.int32, room, 8), 1, 1, False)
    ib_wait(at(space), ub(dt.int32, room, 8), 1, 1, False)


def test_two_letters_wait_for_each_other() -> None:
    """Each core sets before it waits: fine. Each waits before it sets: neither goes on."""

    def body(space: GlobalAddress, first: Any, then: Any) -> None:
        me = get_block_idx()
        room = ub(dt.int32, 0, 8)
        first(at(space), room, me if first is ib_set else 1 - me, 0)
        then(at(space), room, me if then is ib_set else 1 - me, 0)

    assert codes(launch(lambda s: body(s, ib_set, ib_wait), zeros(2))) == []
    with pytest.raises(DeadlockError, match=r"aiv 0 waits in ib_wait.*aiv 1 waits in ib_wait"):
        launch(lambda s: body(s, ib_wait, ib_set), zeros(2))


def test_letters_need_a_workspace() -> None:
    room = 1024
    with pytest.raises(SyncError, match=r"SYNC_WORKSPACE.*ib_set: gm_workspace has 64 bytes; rule: at least 96"):
        launch(lambda s: ib_set(at(s), ub(dt.int32, room, 8), 0, 1), zeros(2), checks=Checks())
    with pytest.raises(SyncError, match=r"SYNC_WORKSPACE.*ib_wait: slot 0 holds 1 before its first use"):
        launch(lambda s: ib_wait(at(s), ub(dt.int32, room, 8), 0, 0), np.ones(16, np.int32), checks=Checks())
    # Two cores a block: event 1 begins at slot 4.
    with pytest.raises(SyncError, match=r"has 64 bytes; rule: at least 160"):
        launch(lambda s: ib_set(at(s), ub(dt.int32, room, 8), 0, 1, False), zeros(2), checks=Checks())
    # The same two cores, one of which sets the slot and takes it again.
    found = codes(launch(lambda s: _to_itself(s, room), zeros(6), blocks=1))
    assert found == ["XFLAG_KERNEL_TYPE", "XFLAG_KERNEL_TYPE"]  # both calls, only warned of
    with pytest.raises(ArgumentValueError, match=r"ib_set: block_idx = 2; rule: 0 to 1.*nearest legal value: 1"):
        launch(lambda s: ib_set(at(s), ub(dt.int32, room, 8), 2, 0), zeros(2))
    with pytest.raises(ArgumentValueError, match=r"ib_wait: event_id = -1; rule: 0 or more; nearest legal value: 0"):
        launch(lambda s: ib_wait(at(s), ub(dt.int32, room, 8), 0, -1), zeros(2))


def test_stores_to_slots_are_no_atomic_updates() -> None:
    def body(space: GlobalAddress, atomic: str) -> None:
        current.get().atomic = (atomic, "int32" if atomic else "")
        sync_all(at(space), ub(dt.int32, 1024, 16))

    assert codes(launch(lambda s: body(s, ""), zeros(2))) == []
    machine = launch(lambda s: body(s, "add"), zeros(2))
    assert codes(machine) == ["SYNC_WORKSPACE"]
    assert "under atomic add" in machine.findings[0].text()
