"""The report of a launch, from hand-made core records at 1000 cycles a microsecond."""

from types import SimpleNamespace

import pytest

from ascsim.hw.findings import Finding
from ascsim.report import Report


class FakeCost:
    """GM at 1000 bytes a microsecond; a launch costs 1 us, a mix launch 5."""

    def gm_time_us(self, read_bytes, written_bytes, allocated_bytes, cores):
        assert allocated_bytes == read_bytes + written_bytes
        return read_bytes / 1000

    def launch_overhead_us(self, cores, mix=False):
        return 5.0 if mix else 0.5 + cores / 4


def core(kind="aiv", index=0, block=0, end=0, busy=None, gm_read=0, gm_written=0, regions=()):
    return SimpleNamespace(
        kind=kind, index=index, block=block, end=end, busy=busy or {}, gm_read=gm_read, gm_written=gm_written,
        regions=list(regions),
    )  # fmt: skip


def device(*cores, blocks=2, findings=(), borrowed_from="", aic=2, aiv=4):
    chip = SimpleNamespace(name="Chip1", borrowed_from=borrowed_from, clock_mhz=1000, aic=aic, aiv=aiv)
    return SimpleNamespace(
        soc=chip,
        cost=FakeCost(),
        blocks=blocks,
        kernel_type=0,
        totals=lambda: list(cores),
        findings=list(findings),
        record=None,
    )


def test_a_vector_launch_prints_msprofs_columns():
    first = core(block=0, end=4000, busy={"S": 100, "V": 1000, "MTE2": 2000, "MTE3": 500})
    second = core(index=1, block=1, end=2000, busy={"S": 100, "V": 500, "MTE2": 1000, "MTE3": 250})
    report = Report.of(device(first, second), "vadd")
    assert str(report) == (
        "Op Name    vadd\n"
        "Platform   Chip1\n"
        "Block Dim  2\n"
        "\n"
        "simulated               us  ratio\n"
        "Task Duration(us)    5.000\n"
        "aiv_time(us)         3.000\n"
        "aiv_vec_time(us)     0.750  0.250\n"
        "aiv_scalar_time(us)  0.100  0.033\n"
        "aiv_mte2_time(us)    1.500  0.500\n"
        "aiv_mte3_time(us)    0.375  0.125\n"
        "\n"
        "Findings: none"
    )
    assert report.task_us == pytest.approx(4 + 1)
    assert report.totals == {"aiv": {"V": 0.75, "S": 0.1, "MTE2": 1.5, "MTE3": 0.375}}
    assert report.ok


def test_a_mix_launch_lists_both_kinds_of_core():
    cube = core("aic", end=8000, busy={"M": 4000, "MTE1": 2000, "MTE2": 6000, "FIX": 1000, "S": 80})
    vector = core("aiv", end=6000, busy={"V": 3000})
    report = Report.of(device(cube, vector, core("aiv", index=1, end=2000), blocks=1), "fused")
    assert list(report.columns.items()) == [
        ("Op Name", "fused"),
        ("Block Dim", 1),
        ("Task Duration(us)", 13.0),
        ("aicore_time(us)", 8.0),
        ("aic_mac_time(us)", 4.0),
        ("aic_mac_ratio", 0.5),
        ("aic_scalar_time(us)", 0.08),
        ("aic_scalar_ratio", 0.01),
        ("aic_mte1_time(us)", 2.0),
        ("aic_mte1_ratio", 0.25),
        ("aic_mte2_time(us)", 6.0),
        ("aic_mte2_ratio", 0.75),
        ("aic_fixpipe_time(us)", 1.0),
        ("aic_fixpipe_ratio", 0.125),
        ("aic_mte3_time(us)", 0.0),
        ("aic_mte3_ratio", 0.0),
        ("aiv_time(us)", 4.0),
        ("aiv_vec_time(us)", 1.5),
        ("aiv_vec_ratio", 0.375),
        ("aiv_scalar_time(us)", 0.0),
        ("aiv_scalar_ratio", 0.0),
        ("aiv_mte2_time(us)", 0.0),
        ("aiv_mte2_ratio", 0.0),
        ("aiv_mte3_time(us)", 0.0),
        ("aiv_mte3_ratio", 0.0),
    ]


def test_blocks_beyond_the_cores_wait_for_their_turn():
    # two vector cores: blocks 0 and 1 start, 2 follows on the core of block 1, 3 on that of block 0
    cores = [core(block=b, end=end) for b, end in enumerate((3000, 1000, 4000, 1000))]
    report = Report.of(device(*cores, blocks=4, aiv=2), "waves")
    assert report.task_us == pytest.approx(5 + 1.0)  # the overhead is that of two cores


def test_mix_blocks_need_a_whole_core_group():
    # one AIC and two AIV a block; the chip has one such group
    cores = [core(kind, block=b, end=1000) for b in range(3) for kind in ("aic", "aiv", "aiv")]
    assert Report.of(device(*cores, blocks=3, aic=1, aiv=2), "groups").task_us == pytest.approx(3 + 5)


def test_global_memory_traffic_can_be_the_longer_time():
    report = Report.of(device(core(end=1000, gm_read=7000, gm_written=100), blocks=1), "copy")
    assert report.task_us == pytest.approx(7 + 0.75)


def test_findings_name_their_cores():
    race = Finding("RAW", "add reads ub[0:256] before the copy has ended", count=30, severity="fault")
    race.cores = [f"aiv {n}" for n in range(10)]
    unread = Finding("UNINIT_READ", "abs reads ub[0:32], never written", core="aiv 3")
    report = Report.of(device(core(), findings=[race, unread]), "bad")
    assert str(report).endswith(
        "\n\nFindings\n"
        "  fault: RAW: add reads ub[0:256] before the copy has ended [30 times, on 10 cores]\n"
        "    on aiv 0, aiv 1, aiv 2, aiv 3, aiv 4, aiv 5, aiv 6, aiv 7 and 2 more\n"
        "  warn: UNINIT_READ: abs reads ub[0:32], never written\n"
        "    on aiv 3"
    )
    assert report.findings == [race, unread]
    assert not report.ok


def test_warnings_leave_a_report_ok():
    assert Report.of(device(core(), findings=[Finding("UNINIT_READ", "x", core="aiv 0")]), "k").ok


def test_marked_regions_are_folded_by_name():
    first = core(regions=[("load", 0, 1000), ("load", 2000, 5000), ("rest", 0, 500)])
    report = Report.of(device(first, core(index=1, block=1, regions=[("load", 0, 2000)])), "k")
    assert str(report).endswith(
        "\n\nFindings: none\n"
        "\n"
        "Region  times  mean(us)  min(us)  max(us)\n"
        "load        3     2.000    1.000    3.000\n"
        "rest        1     0.500    0.500    0.500"
    )
    assert report.regions == [("load", 1.0), ("load", 3.0), ("rest", 0.5), ("load", 2.0)]


def test_picked_blocks_and_borrowed_numbers_are_said():
    text = str(Report.of(device(core(block=3), blocks=8, borrowed_from="Chip0"), "k"))
    assert "Block Dim  8 (1 simulated)\n" in text
    assert "Platform   Chip1 (numbers of Chip0)\n" in text


def test_a_launch_without_blocks_is_only_overhead():
    report = Report.of(device(blocks=0), "none")
    assert report.task_us == 0.5
    assert report.totals == {}
    assert "Task Duration(us)  0.500" in str(report)


def test_a_listed_finding_has_its_line():
    """A message about one call leaves the line to the traceback, which a list has not; none has it twice."""
    finding = Finding("ZERO_LENGTH", "duplicate: count = 0", "aiv 0", "duplicate", (("/home/kernel.py", 7),))
    assert finding.text() == "ZERO_LENGTH: duplicate: count = 0"
    assert finding.listed() == "ZERO_LENGTH: duplicate: count = 0 (kernel.py:7)"
    told = Finding("UNINIT_READ", "add, kernel.py:7 (V) uses undefined bytes", sites=(("/home/kernel.py", 7),))
    assert told.listed() == told.text()
