"""A core that an earlier launch has left: quick to have, and like a new one in all that a kernel can see."""

from __future__ import annotations

import numpy as np
import pytest

import ascsim as asc
from ascsim.hw import current, spares

N = 64  # float32
CORES: list[object] = []
FILL = [True]
SPOIL = [False]


@asc.jit
def kernel(x, n: int):
    CORES.append(current.core.get())
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    local = asc.LocalTensor(asc.float32, asc.TPosition.VECOUT, 0, N)
    if FILL[0]:
        asc.duplicate(local, 2.0, N)
    if SPOIL[0]:
        raise KeyError("the kernel's own")
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(x_gm, local, n)


@pytest.fixture(autouse=True)
def _fresh():
    CORES.clear()
    FILL[0], SPOIL[0] = True, False
    kernel[1](np.zeros(N, np.float32), N)


def launch(n: int = N, **how: object) -> np.ndarray:
    x = np.zeros(N, np.float32)
    with asc.settings(**how):
        kernel[1](x, n)
    return x


def test_the_same_launch_uses_the_core_again():
    first = CORES.pop()
    assert (launch() == 2).all()
    assert CORES.pop() is first


@pytest.mark.parametrize(
    "how",
    [{"n": N // 2}, {"checks": asc.Checks.strict()}, {"platform": asc.runtime.config.Platform.Ascend910B4}],
    ids=["number", "checks", "platform"],
)
def test_another_one_does_not(how):
    first = CORES.pop()
    launch(**how)
    assert CORES.pop() is not first


def test_its_memory_is_undefined_again():
    FILL[0] = False
    with pytest.warns(asc.SimulatorWarning, match="UNINIT"):
        x = launch()
    assert x.tobytes() == b"\xff" * 4 * N


def test_a_launch_that_raised_leaves_no_core():
    first = CORES.pop()
    SPOIL[0] = True
    with pytest.raises(KeyError):
        launch()
    assert CORES.pop() is first
    SPOIL[0] = False
    assert (launch() == 2).all()
    assert CORES.pop() is not first


def test_a_core_that_has_learned_too_much_is_let_go(monkeypatch):
    monkeypatch.setattr(spares, "WORN", 1)
    first = CORES.pop()
    launch()
    assert CORES.pop() is first
    launch()
    assert CORES.pop() is not first


def test_its_findings_are_told_again():
    @asc.jit
    def race(x):
        x_gm = asc.GlobalTensor()
        x_gm.set_global_buffer(x)
        local = asc.LocalTensor(asc.float32, asc.TPosition.VECOUT, 0, N)
        CORES.append(current.core.get())
        asc.duplicate(local, 2.0, N)
        asc.data_copy(x_gm, local, N)

    reports = []
    for _ in range(3):
        with asc.settings(checks=asc.Checks.collect()):
            reports.append(race[2](np.zeros(N, np.float32)))
    texts = [[finding.text() for finding in report.findings] for report in reports]
    assert len(set(CORES[-2:]) | set(CORES[-6:-4])) < 4
    assert [finding.code for finding in reports[0].findings] == ["RAW", "GM_RACE_WW"]
    assert texts[1] == texts[0]
    assert texts[2] == texts[0]


def test_what_a_core_has_learned_changes_no_order_of_findings():
    """Bytes of `high` became cells of their own before those of `low`; a read of both still meets `low` first."""
    learns = [False]

    @asc.jit
    def two_loads(x):
        x_gm = asc.GlobalTensor()
        x_gm.set_global_buffer(x)
        low, high, both, out = (
            asc.LocalTensor(asc.float32, asc.TPosition.VECIN, start, count)
            for start, count in ((0, N), (256, N), (0, 2 * N), (1024, 2 * N))
        )
        CORES.append(current.core.get())
        if learns[0]:
            asc.duplicate(high, 1.0, N)
            return
        asc.data_copy(low, x_gm, N)
        asc.data_copy(high, x_gm, N)
        asc.abs(out, both, 2 * N)

    def found() -> list[tuple[str, str]]:
        with asc.settings(checks=asc.Checks.collect()):
            report = two_loads[1](np.zeros(N, np.float32))
        return [(finding.code, finding.message.partition(" (aiv 0)")[0]) for finding in report.findings]

    learns[0] = True
    assert found() == []
    learns[0] = False
    assert found() == [("RAW", "RAW on UB both[0:256)"), ("RAW", "RAW on UB both[256:512)")]
    assert CORES[-1] is CORES[-2]
