"""Each rule of order is needed: with it taken out of the machine, the judge or a small clean kernel shows a breach.

The rules are those of happens-before: (1) an instruction starts after its issue, (2) a pipe starts in order, (3) the
scalar unit ends in order, (4) what a set captures, (5) what a wait holds, (6) barriers, (7) flags between cores, (8)
meetings of cores, (9) a polled word, (10) what hardware and compiler order by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from generated import cube, flat, loop, two_cores
from judge import judge
from pairs import AIC, Pair
from test_pairs import run

import ascsim as asc
from ascsim.hw import cache, cross, hazards, meetings, turns, unitflag
from ascsim.hw.core import Core
from ascsim.hw.pipe import Pipe
from ascsim.hw.variants import _Recorded

KERNELS = 12  # of each family, at most; the first breach ends the search

Patch = Callable[[pytest.MonkeyPatch], None]


def _nothing(*_: Any, **__: Any) -> None:
    """What a rule that is taken out does."""


def issue_orders_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Core, "join_scalar", lambda self, token: self._join(self.scalar, token))


def starts_in_any_order(patch: pytest.MonkeyPatch) -> None:
    whole = _Recorded.issue

    def issue(self: Any, plan: Any, site: Any = None, gm: Any = None, at: int = 0) -> Any:
        result = whole(self, plan, site, gm, at)
        plan.pipe.clock = plan.pipe.floor  # a wait has held the next instruction, and no other
        return result

    patch.setattr(_Recorded, "issue", issue)


def scalar_out_of_order(patch: pytest.MonkeyPatch) -> None:
    whole = Pipe.__init__

    def init(self: Any, name: str, slot: int, width: int, *, self_ordered: bool, latency: int = 0) -> None:
        whole(self, name, slot, width, self_ordered=self_ordered and name != "S", latency=latency)

    patch.setattr(Pipe, "__init__", init)


def _sets(token: Callable[[Pipe], list[int]]) -> Patch:
    def take_out(patch: pytest.MonkeyPatch) -> None:
        def set_flag(self: Any, flag: Any, site: Any = None) -> None:
            self.set_slowly(flag, site or ("k", 0))

        def fire(self: Any, flag: Any, site: Any) -> None:
            flag.tokens.append((token(flag.src), flag.src.known, flag.src.free))
            if flag.dst.parked is not None:
                self.wake(flag.dst)

        patch.setattr(Core, "set_flag", set_flag)
        patch.setattr(Core, "_fire", fire)

    return take_out


def _only_own(pipe: Pipe) -> list[int]:
    return [pipe.n if slot == pipe.slot else 0 for slot in range(len(pipe.clock))]


def waits_hold_nothing(patch: pytest.MonkeyPatch) -> None:
    def take(self: Any, flag: Any, site: Any) -> None:
        flag.tokens.popleft()
        if flag.src.parked is not None:
            self.wake(flag.src)

    def wait_flag(self: Any, flag: Any, site: Any = None) -> None:
        flag.outstanding -= 1
        self.wait_slowly(flag, site or ("k", 0))

    patch.setattr(Core, "_take", take)
    patch.setattr(Core, "wait_flag", wait_flag)


class _SilentMark(unitflag.Mark):
    """A mark that holds the calls back and carries no order."""

    __slots__ = ()
    token = property(lambda self: None, lambda self, token: None)  # type: ignore[assignment]


def without_chains(patch: pytest.MonkeyPatch) -> None:
    whole = hazards.settled

    def settled(core: Any, earlier: Any, me: Any, memory: str) -> bool:
        chained = earlier[3].chained and me[3].chained and earlier[1] == me[1]
        return not chained and whole(core, earlier, me, memory)

    patch.setattr(hazards, "settled", settled)


def _off(owner: Any, name: str) -> Patch:
    return lambda patch: patch.setattr(owner, name, _nothing)


def pairs_of(family: Callable[..., Any], auto_sync: bool = False) -> Callable[[Path], bool]:
    """Whether random kernels of a family are judged without breach."""

    def clean(_: Path) -> bool:
        for seed in range(KERNELS):
            head, body = family(Random(seed))
            head = [f"auto_sync: {'on' if auto_sync else 'off'}" if "auto_sync" in line else line for line in head]
            if judge("\n".join([*head, *body]) + "\n", Random(seed), orders=0, roves=0).breaches:
                return False
        return True

    return clean


def kernel(body: str, **more: Any) -> Callable[[Path], bool]:
    """Whether a kernel that keeps its order is found to be without fault."""
    row = Pair("", "nothing", "nothing", (), body, **more)

    def clean(folder: Path) -> bool:
        ((did, _),) = run(folder / "kernel/pair.py", row, False, asc.Checks.strict())
        return did in ("nothing", "note")

    return clean


SOFT = """
      me = asc.get_block_idx()
      t, u, work = (asc.LocalTensor(asc.int32, T.VECCALC, k, 64) for k in (4096, 8192, 12288))
      asc.duplicate(t, 1, 8)
      order(E.V_MTE3)
      asc.data_copy(a_gm[me * 8:], t, 8)
      asc.sync_all(b_gm, work)
      asc.data_copy(u, a_gm[(1 - me) * 8:], 8)
"""
MAILBOX = """
      t, u, work = (asc.LocalTensor(asc.int32, T.VECCALC, k, 64) for k in (4096, 8192, 12288))
      if asc.get_block_idx() == 0:
          asc.duplicate(t, 1, 8)
          order(E.V_MTE3)
          asc.data_copy(a_gm, t, 8)
          asc.ib_set(b_gm, work, 0, 0)
      else:
          asc.ib_wait(b_gm, work, 0, 0)
          asc.data_copy(u, a_gm, 8)
"""
TURNS = """
      t, work = (asc.LocalTensor(asc.int32, T.VECCALC, k, 64) for k in (4096, 12288))
      asc.duplicate(t, asc.get_block_idx(), 8)
      work.set_value(16, 1)
      asc.wait_pre_block(b_gm, work)
      asc.data_copy(a_gm, t, 8)
      asc.notify_next_block(b_gm, work)
"""
POLL = """
      if asc.get_block_idx() == 0:
          while b_gm.get_value(0) == 0:
              clean(b_gm)
          asc.data_copy(y, b_gm[64:], 8)
      else:
          asc.duplicate(x, 1.0, 8)
          order(E.V_MTE3)
          asc.data_copy(b_gm[64:], x, 8)
          order(E.MTE3_S)
          b_gm.set_value(0, 1.0)
          clean(b_gm)
"""
UNIT = """
      for _ in range(2):
          asc.mmad(c, l0a, l0b, unit)
          asc.fixpipe(b_gm, c, unit_out)
          asc.pipe_barrier(P.PIPE_FIX)
"""
CHAIN = """
      big = [asc.LocalTensor(asc.float16, p, 4096, 1024) for p in (T.A2, T.B2)]
      for part in big:
          asc.init_const_value(part, asc.InitConstValueParams(1, 4, 0, 1.0))
      order(E.MTE1_M)
      large = asc.LocalTensor(asc.float32, T.CO1, 0, 4096)
      asc.mmad(large, *big, asc.MmadParams(64, 64, 16))
      asc.mmad(large, *big, asc.MmadParams(64, 64, 16, cmatrix_init_val=False))
"""
BOTH = {"blocks": 2}
WORDS = {**BOTH, "dtype": "int32"}
RANDOM: dict[str, tuple[Patch, Callable[[Path], bool]]] = {
    "1 issue": (issue_orders_nothing, pairs_of(flat)),
    "2 starts": (starts_in_any_order, pairs_of(flat)),
    "3 scalar": (scalar_out_of_order, pairs_of(flat)),
    "4 set, ends": (_sets(lambda pipe: pipe.clock), pairs_of(loop)),
    "4 set, waits": (_sets(_only_own), pairs_of(cube)),
    "5 wait": (waits_hold_nothing, pairs_of(loop)),
    "6 barrier": (_off(Core, "barrier"), pairs_of(cube)),
    "6 barrier for all": (_off(Core, "barrier_all"), pairs_of(flat)),
    "7 cores": (_off(cross, "arrive"), pairs_of(two_cores)),
    "10 compiler": (_off(hazards, "settled"), pairs_of(flat, auto_sync=True)),
}
TARGETED: dict[str, tuple[Patch, Callable[[Path], bool]]] = {
    "8 soft sync_all": (_off(meetings, "arrive"), kernel(SOFT, **WORDS)),
    "8 mailbox": (_off(meetings, "arrive"), kernel(MAILBOX, **WORDS)),
    "8 ordered blocks": (_off(turns, "arrive"), kernel(TURNS, **WORDS)),
    "9 polling": (_off(cache, "_follow"), kernel(POLL, **BOTH)),
    "10 unit flag": (lambda patch: patch.setattr(unitflag, "Mark", _SilentMark), kernel(UNIT, **AIC)),
    "10 chained": (without_chains, kernel(CHAIN, **AIC)),
}


RULES = {**RANDOM, **TARGETED}


@pytest.mark.parametrize("name", RULES)
def test_a_machine_without_a_rule_is_caught(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take_out, clean = RULES[name]
    with monkeypatch.context() as patch:
        take_out(patch)
        assert not clean(tmp_path)


def test_the_whole_machine_is_not(tmp_path: Path) -> None:
    for name, (_, clean) in TARGETED.items():  # random kernels: in test_properties
        assert clean(tmp_path / name), name


def test_a_machine_that_orders_too_much_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other way round: instructions of one pipe that end in order, so that no barrier is ever missed."""
    whole = Pipe.__init__

    def init(self: Any, name: str, slot: int, width: int, *, self_ordered: bool, latency: int = 0) -> None:
        whole(self, name, slot, width, self_ordered=True, latency=latency)

    monkeypatch.setattr(Pipe, "__init__", init)
    assert not pairs_of(cube)(tmp_path)
