"""Hazards as values, order-independence, strategies, on one kernel that copies, adds and stores in a loop."""

from __future__ import annotations

import importlib.util
import pickle
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

import ascsim as asc
from ascsim.testing import OrderDependenceError, assert_order_independent, find_hazards, strategies

LOADED, DONE, FREE, GONE = (getattr(asc.HardEvent, name) for name in ("MTE2_V", "V_MTE3", "V_MTE2", "MTE3_V"))
FILE = __file__


@asc.jit
def double(x, z, tiles, tile: asc.ConstExpr, loaded: asc.ConstExpr, done: asc.ConstExpr, back: asc.ConstExpr):
    """z = x + x, one buffer each way; each of the flags may be left out."""
    at = asc.get_block_idx() * tiles * tile
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + at, tiles * tile)
    z_gm.set_global_buffer(z + at, tiles * tile)
    x_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, tile)
    z_ub = asc.LocalTensor(x.dtype, asc.TPosition.VECOUT, 4096, tile)
    if back:
        asc.set_flag(FREE, 0)
        asc.set_flag(GONE, 0)
    for i in range(tiles):
        if back:
            asc.wait_flag(FREE, 0)
        asc.data_copy(x_ub, x_gm[i * tile :], tile)  # load
        if loaded:
            asc.set_flag(LOADED, 0)
            asc.wait_flag(LOADED, 0)
        if back:
            asc.wait_flag(GONE, 0)
        asc.add(z_ub, x_ub, x_ub, tile)  # add
        if back:
            asc.set_flag(FREE, 0)
        if done:
            asc.set_flag(DONE, 0)
            asc.wait_flag(DONE, 0)
        asc.data_copy(z_gm[i * tile :], z_ub, tile)  # store
        if back:
            asc.set_flag(GONE, 0)
    if back:
        asc.wait_flag(FREE, 0)
        asc.wait_flag(GONE, 0)


LINE = {text.rpartition("# ")[2].strip(): n for n, text in enumerate(Path(FILE).read_text().splitlines(), 1)}
LOAD, ADD, STORE = LINE["load"], LINE["add"], LINE["store"]
X = np.arange(48, dtype=np.float32)


def hazards(loaded=True, done=True, back=True, blocks=1):
    return find_hazards(double, blocks, X, np.zeros_like(X), 3 // blocks, 16, loaded, done, back)


def test_a_clean_kernel_has_none_and_gives_its_results():
    z = np.zeros_like(X)
    assert find_hazards(double, 3, X, z, 1, 16, True, True, True) == []
    np.testing.assert_array_equal(z, 2 * X)
    assert_order_independent(double, 3, X, z, 1, 16, True, True, True)


@pytest.mark.parametrize(
    ("gone", "code", "lines", "pipes", "where", "remedy"),
    [
        ("loaded", "RAW", (LOAD, ADD), ("MTE2", "V"), ("UB", 0, 64), "MTE2_V"),
        ("done", "RAW", (ADD, STORE), ("V", "MTE3"), ("UB", 4096, 4160), "V_MTE3"),
    ],
)
def test_a_hazard_names_sites_bytes_and_remedy(gone, code, lines, pipes, where, remedy):
    (found,) = hazards(**{gone: False})
    assert (found.code, found.severity, found.pipes, found.bytes) == (code, "fault", pipes, (where,))
    assert found.places == tuple((FILE, line) for line in lines)
    expected = f"set_flag(HardEvent.{remedy}, id) after line {lines[0]} and wait_flag before line {lines[1]}"
    assert found.remedy == expected
    assert found.count == 3
    assert found.cores == ("aiv 0",)
    assert "z[" in found.witness
    assert pickle.loads(pickle.dumps(found)) == found


def test_bytes_that_both_only_read_are_none_of_a_race():
    @asc.jit
    def two_loads(x):
        x_gm = asc.GlobalTensor()
        x_gm.set_global_buffer(x, 48)
        asc.data_copy(asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 0, 16), x_gm, 16)
        asc.data_copy(asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 32, 16), x_gm, 16)

    (found,) = find_hazards(two_loads, 1, X)
    assert (found.code, found.bytes) == ("NO_BARRIER_WAW", (("UB", 32, 64),))


def test_reverse_edges_are_found():
    found = hazards(back=False)
    assert [(hazard.code, [line for _, line in hazard.places]) for hazard in found] == [
        ("WAR", [ADD, LOAD]),
        ("WAR", [STORE, ADD]),
    ]


def test_a_fault_that_ends_the_launch_comes_last():
    @asc.jit
    def outside(x):
        x_gm = asc.GlobalTensor()
        x_gm.set_global_buffer(x, 8)
        asc.data_copy(asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 0, 8), x_gm[1 << 20 :], 8)

    (found,) = find_hazards(outside, 1, X)
    assert (found.code, found.pipes, found.bytes, found.witness) == ("OOB_GM", (), (), "")


def test_what_was_found_before_a_fault_that_ends_the_launch_is_not_lost(ascsim_reports):
    @asc.jit
    def crossed(x, z):
        x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
        x_gm.set_global_buffer(x, 48)
        z_gm.set_global_buffer(z, 48)
        x_ub = asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 0, 48)
        z_ub = asc.LocalTensor(asc.float32, asc.TPosition.VECOUT, 4096, 48)
        asc.data_copy(x_ub, x_gm, 48)
        asc.set_flag(LOADED, 0)
        asc.wait_flag(asc.HardEvent.MTE2_MTE3, 0)  # meant to be LOADED
        asc.add(z_ub, x_ub, x_ub, 48)
        asc.set_flag(DONE, 0)
        asc.wait_flag(DONE, 0)
        asc.data_copy(z_gm, z_ub, 48)

    found = find_hazards(crossed, 1, X, np.zeros_like(X))
    assert [hazard.code for hazard in found] == ["RAW", "DEADLOCK"]
    assert found[0].pipes == ("MTE2", "V")
    assert [len(report.findings) for report in ascsim_reports] == [2]


def test_the_reports_of_launches_are_handed_on_and_may_be_sent_elsewhere():
    z = np.zeros_like(X)
    with asc.settings(reports=[], record=True) as now:
        report = double[1](X, z, 3, 16, True, True, True)
        with pytest.raises(asc.HazardError):
            double[3](X, z, 1, 16, False, True, True)
        with asc.settings(reports=None):
            double[1](X, z, 3, 16, True, True, True)
    assert now.reports[0] is report
    assert [[finding.code for finding in report.findings] for report in now.reports] == [[], ["RAW"]]
    sent = pickle.loads(pickle.dumps(report))
    assert sent == report
    assert sent.recording is None
    with pytest.raises(asc.SimulatorError, match=r"reports = 'all'; rule: a list"):
        asc.settings(reports="all")


def test_an_order_that_shows_is_told_as_a_story():
    with pytest.raises(OrderDependenceError) as caught:
        assert_order_independent(double, 1, X, np.zeros_like(X), 3, 16, False, True, True)
    error = caught.value
    assert {"late", "slow MTE2"} <= set(error.orders)
    text = str(error).splitlines()
    assert text[0].startswith("double: z[")
    rows = [line for line in text if line.startswith("  aiv 0 ")]
    assert [row.split("|")[0].split()[-1] for row in rows] == ["MTE3", "MTE2", "V"]
    assert f"*data_copy:{LOAD}" in rows[1]
    assert f"*add:{ADD}" in rows[2]
    assert rows[2].index("*add") > rows[1].index("*data_copy")
    assert [" ".join(line.split()) for line in text if line.startswith("missing")] == [
        f"missing: after test_launches.py:{LOAD} asc.set_flag(asc.HardEvent.MTE2_V, 0)",
        f"missing: before test_launches.py:{ADD} asc.wait_flag(asc.HardEvent.MTE2_V, 0)",
    ]
    assert pickle.loads(pickle.dumps(error)).orders == error.orders


def test_a_mailbox_is_the_same_in_any_order():
    """Whoever takes a letter empties a slot that has been filled, and whoever fills it again finds it emptied."""

    @asc.jit
    def letters(work, z, turns: asc.ConstExpr):
        work_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
        work_gm.set_global_buffer(work, 32)
        z_gm.set_global_buffer(z, 8)
        part, scratch = (asc.LocalTensor(asc.int32, asc.TPosition.VECCALC, at, 8) for at in (0, 32))
        for turn in range(turns):
            if asc.get_block_idx() == 0:
                asc.duplicate(part, turn, 8)
                asc.set_flag(DONE, 0)
                asc.wait_flag(DONE, 0)
                asc.data_copy(z_gm, part, 8)
                asc.ib_set(work_gm, scratch, 0, 0)
                asc.ib_wait(work_gm, scratch, 1, 0)
            else:
                asc.ib_wait(work_gm, scratch, 0, 0)
                asc.data_copy(part, z_gm, 8)
                asc.ib_set(work_gm, scratch, 1, 0)

    words = np.zeros(32, np.int32)
    assert find_hazards(letters, 2, words, words[:8].copy(), 2) == []
    assert_order_independent(letters, 2, words, words[:8].copy(), 2)


def test_ordered_blocks_are_the_same_in_any_order():
    @asc.jit
    def turns(work, z):
        work_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
        work_gm.set_global_buffer(work, 16)
        z_gm.set_global_buffer(z, 8)
        part, scratch = (asc.LocalTensor(asc.int32, asc.TPosition.VECCALC, at, 24) for at in (0, 128))
        scratch.set_value(16, 1)
        for _ in range(2):
            asc.wait_pre_block(work_gm, scratch)
            asc.data_copy(part, z_gm, 8)
            asc.set_flag(LOADED, 0)
            asc.wait_flag(LOADED, 0)
            asc.adds(part, part, 1, 8)
            asc.set_flag(DONE, 0)
            asc.wait_flag(DONE, 0)
            asc.data_copy(z_gm, part, 8)
            asc.notify_next_block(work_gm, scratch)

    z = np.zeros(8, np.int32)
    assert_order_independent(turns, 2, np.zeros(16, np.int32), z)
    assert z.tolist() == [4] * 8


def test_sums_that_depend_on_the_order_are_told_though_they_are_no_race():
    @asc.jit
    def sums(z):
        z_gm = asc.GlobalTensor()
        z_gm.set_global_buffer(z, 8)
        parts = [asc.LocalTensor(asc.float32, asc.TPosition.VECOUT, 32 * k, 8) for k in range(3)]
        for part, value in zip(parts, (0.1, 1e8, -1e8), strict=True):
            asc.duplicate(part, value, 8)
        asc.set_flag(DONE, 0)
        asc.wait_flag(DONE, 0)
        asc.set_atomic_add(asc.float32)
        for part in parts:
            asc.data_copy(z_gm, part, 8)
        asc.set_atomic_none()

    assert find_hazards(sums, 1, np.zeros(8, np.float32)) == []
    with pytest.raises(OrderDependenceError, match=r"orders differ\nATOMIC_ORDER: .*the last bits of the sum"):
        assert_order_independent(sums, 1, np.zeros(8, np.float32))


@pytest.mark.parametrize("seeds", [3, [-1], "ab", [0.5]])
def test_seeds_are_integers_from_0_on(seeds):
    with pytest.raises(asc.SimulatorError, match=r"seeds = .*; rule: integers from 0 on, such as range\(3\)"):
        assert_order_independent(double, 1, X, np.zeros_like(X), 3, 16, True, True, True, seeds=seeds)


def test_seeds_may_be_drawn_once():
    seeds = (seed for seed in np.arange(1))
    with pytest.raises(OrderDependenceError, match=" of 10 orders differ"):
        assert_order_independent(double, 1, X, np.zeros_like(X), 3, 16, False, True, True, seeds=seeds)


@settings(max_examples=12)
@given(
    stand=strategies.flag_placements(["loaded", "done", "back"]),
    cut=strategies.tilings(asc.float32, most_blocks=2, most_tiles=3, most_bytes=256),
    order=strategies.legal_orders(),
    data=st.data(),
)
def test_no_report_means_one_result(stand, cut, order, data):
    x = data.draw(strategies.tensors([asc.float32], elements=cut.elements)).reshape(-1)
    z = np.zeros_like(x)
    with asc.settings(checks=asc.Checks.collect(), record=True):
        report = double[cut.blocks](x, z, cut.tiles, cut.tile, *stand.values())
    assert report.ok == (all(stand.values()) or (cut.tiles == 1 and stand["loaded"] and stand["done"]))
    assert set(report.recording.replay("canonical")) == {"z"}
    if report.ok:
        assert report.recording.replay(order) == {"z": z.tobytes()}


def simplest(strategy):
    return find(strategy, lambda _: True, settings=settings(max_examples=2, phases=[Phase.generate, Phase.shrink]))


# --- strategies ------------------------------------------------------------------------------------------------------


def test_strategies_shrink_to_what_is_easy_to_read():
    asked = (
        strategies.flag_placements("ab"),
        strategies.legal_orders(),
        strategies.geometries(),
        strategies.tilings(asc.float16),
        strategies.tensors(),
    )
    flags, order, launch, tiling, array = simplest(st.tuples(*asked))
    assert flags == {"a": True, "b": True}
    assert (order, launch.blocks, tiling) == ("canonical", 1, strategies.Tiling(1, 1, 16))
    assert (array.dtype, array.shape, array.tolist()) == (np.float32, (8,), [0.0] * 8)


def test_special_values():
    assert strategies.special_values(asc.int8).tolist() == [0, -1, 1, 126, 127, -128]
    half = strategies.special_values(asc.bfloat16)
    assert half.dtype == ml_dtypes.bfloat16
    patterns = {0x0000, 0x8000, 0x3F80, 0xBF80, 0x3F00, 0x7F80, 0xFF80, 0x7FC0, 0x0001, 0x8001, 0x7F7F, 0xFF7F}
    assert set(half.view(np.uint16).tolist()) == patterns


@settings(max_examples=15)
@given(strategies.tensors(most=64))
def test_tensors_are_what_a_launch_takes(array):
    assert array.flags.c_contiguous
    assert array.nbytes % 32 == 0
    assert 0 < array.size <= 64


def test_strided_tensors_are_refused():
    array = simplest(strategies.tensors([asc.float32], elements=48, strided=True))
    with pytest.raises(asc.SimulatorError, match="not C-contiguous"):
        find_hazards(double, 1, array, np.zeros(48, np.float32), 3, 16, True, True, True)


def test_without_hypothesis_only_a_strategy_complains(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    spec = importlib.util.spec_from_file_location("strategies_alone", strategies.__file__)
    alone = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "strategies_alone", alone)
    spec.loader.exec_module(alone)
    with pytest.raises(ImportError, match=r"hypothesis is not installed; nearest legal value: ascsim\[test\]"):
        alone.legal_orders()
