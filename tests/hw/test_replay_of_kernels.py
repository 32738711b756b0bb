"""Record and replay of whole kernels: the examples give the same bytes in every order that their flags allow.

The order is legal by the rules of the record; that it is another one, and that a kernel with a flag taken away does
give other bytes, is checked too.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import ascsim as asc
from ascsim.hw.device import Device
from ascsim.hw.record import Chooser, Entry, before, newest, oldest, order, replay

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = [EXAMPLES / "01_add/add.py", EXAMPLES / "02_add_framework/add_framework.py"]
TILES, TILE = 5, 64  # of a block; float32 elements of a tile


@pytest.fixture
def recorded(monkeypatch):
    """Launches a kernel script and gives back its device, which a launch otherwise lets go, and z."""
    devices: list[Device] = []
    of = asc.Report.of
    monkeypatch.setattr(asc.Report, "of", lambda device, name: devices.append(device) or of(device, name))

    def launch(script: Path, blocks: int, checks: asc.Checks) -> tuple[Device, np.ndarray, asc.Report]:
        x = np.arange(blocks * TILES * TILE, dtype=np.float32)
        z = np.full_like(x, -1)
        with asc.settings(checks=checks, record=True):
            report = runpy.run_path(str(script))["add_kernel"][blocks](x, 3 * x, z, TILES, TILE)
        return devices.pop(), z, report

    return launch


def middle(ready: list[Entry]) -> Entry:
    """Neither the oldest nor the newest, where there are three."""
    return sorted(ready, key=lambda entry: entry.number)[len(ready) // 2]


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
def test_an_example_gives_its_bytes_in_every_order(recorded, script, blocks):
    device, z, report = recorded(script, blocks, asc.Checks.strict())
    assert report.findings == []
    sums = (4 * np.arange(blocks * TILES * TILE, dtype=np.float32)).tobytes()  # x + 3x, whole numbers below 2 ** 24
    assert z.tobytes() == sums
    entries = device.record.entries()
    assert len(entries) == blocks * TILES * 4  # two loads, an add and a store
    for choose in (oldest, newest, middle):
        assert replay(device, choose) == {"z": sums}
    assert z.tobytes() == sums


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
def test_the_orders_differ_and_each_keeps_what_the_clocks_order(recorded, script):
    device, _, _ = recorded(script, 3, asc.Checks.strict())
    entries = device.record.entries()

    def places(choose: Chooser) -> list[int]:
        return [entry.number for entry in order(entries, choose)]

    canonical = list(range(len(entries)))
    assert places(oldest) == canonical
    for choose in (newest, middle):
        ran = places(choose)
        assert ran != canonical
        assert sorted(ran) == canonical
        place = {number: at for at, number in enumerate(ran)}
        pairs = [(a, b) for a in entries for b in entries if a is not b and before(a, b)]
        assert len(pairs) > len(entries)
        assert all(place[a.number] < place[b.number] for a, b in pairs)


def test_without_its_reverse_flags_an_example_gives_other_bytes(recorded, tmp_path):
    """V may then add after the next tile has come: the collected finding says so, and so do the bytes."""
    lines = SCRIPTS[0].read_text().splitlines(keepends=True)
    script = tmp_path / "kernel.py"
    script.write_text("".join(line for line in lines if "(INPUTS_FREE, half)" not in line))
    device, z, report = recorded(script, 1, asc.Checks.collect())
    assert {finding.code for finding in report.findings} == {"WAR"}
    sums = (4 * np.arange(TILES * TILE, dtype=np.float32)).tobytes()
    assert z.tobytes() == sums
    assert replay(device, oldest) == {"z": sums}
    assert replay(device, newest) != {"z": sums}


@asc.jit
def grow(x: asc.GlobalAddress, by: asc.GlobalAddress, z: asc.GlobalAddress) -> None:
    arrays = [asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()]
    arrays[0].set_global_buffer(x)
    arrays[1].set_global_buffer(by)
    arrays[2].set_global_buffer(z)
    a = asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 0, TILE)
    b = asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 4 * TILE, TILE)
    asc.data_copy(a, arrays[0], TILE)
    asc.data_copy(b, arrays[1], TILE)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.add(a, a, b, TILE)
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(arrays[2], a, TILE)


@pytest.fixture
def device_of(monkeypatch):
    """The device of the recorded launch of `grow` on some arrays."""
    devices: list[Device] = []
    of = asc.Report.of
    monkeypatch.setattr(asc.Report, "of", lambda device, name: devices.append(device) or of(device, name))

    def launch(*arrays: np.ndarray) -> Device:
        with asc.settings(record=True):
            grow[1](*arrays)
        return devices.pop()

    return launch


def test_a_launch_in_place_is_replayed_from_what_its_array_held_before(device_of):
    x, by = np.full(TILE, 2, np.float32), np.ones(TILE, np.float32)
    device = device_of(x, by, x)
    threes = np.full(TILE, 3, np.float32)
    assert x.tobytes() == threes.tobytes()
    assert replay(device, newest) == {"z": threes.tobytes()}
    x[:] = 7  # no longer the launch's
    assert replay(device, oldest) == {"z": threes.tobytes()}
    assert (x == 7).all()


def test_a_replay_is_refused_where_an_argument_has_changed_since(device_of):
    x, by, z = (np.full(TILE, value, np.float32) for value in (2, 1, 0))
    device = device_of(x, by, z)
    by[5] = 4
    with pytest.raises(asc.LaunchError, match=r"replay: by: has changed since the launch; rule: a replay starts from"):
        replay(device, newest)
    by[5] = 1
    assert replay(device, newest) == {"z": z.tobytes()}
    assert (z == 3).all()
