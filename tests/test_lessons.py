"""The lessons of examples/hazards: stored output, the fault that each is about, and a cure that is clean when strict.

All run in this process: a lesson takes no options.
"""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest

import ascsim as asc

COURSE = Path(__file__).resolve().parent.parent / "examples/hazards"
README = (COURSE / "README.md").read_text()
FOUND = {
    "01_missing_flag": ["RAW"],
    "02_reverse_flag": ["WAR", "WAR"],
    "03_set_too_early": ["RAW"],
    "04_one_pipe": ["NO_BARRIER_WAW"],
    "05_vector_after_vector": ["NO_BARRIER_RAW"],
    "06_scalar_read": ["RAW"],
    "07_flag_left_up": ["FLAG_LEFT_SET"],
    "08_deadlock": ["DEADLOCK"],
    "09_queue_position": ["RAW", "WAR"],
    "10_use_after_free": ["USE_AFTER_FREE", "WAR"],
    "11_tail_of_a_share": ["GM_RACE_WW"],
}
# Kernels whose race changes a byte in another legal order, as the lesson's text says.
SHOWS = {*FOUND} - {"07_flag_left_up", "08_deadlock"}


def test_every_lesson_is_here_and_in_the_table():
    assert [path.parent.name for path in sorted(COURSE.glob("*/lesson.py"))] == list(FOUND)
    rows = re.findall(r"^\| \[(\w+)\]\((\w+)/lesson\.py\) \| .*? \| (.*?) \|$", README, re.M)
    assert rows == [(name, name, ", ".join(dict.fromkeys(codes))) for name, codes in FOUND.items()]


@pytest.mark.parametrize("name", FOUND)
def test_a_lesson(name, capsys):
    path = COURSE / name / "lesson.py"
    source = path.read_text()
    assert f"python examples/hazards/{name}/lesson.py" in ast.get_docstring(ast.parse(source))
    runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr().out
    assert said == (path.parent / "expected_output.txt").read_text()
    faulty, cured = said.split("cured: ")
    assert re.findall(r"^  fault: (\w+)", faulty, re.M) == FOUND[name]
    assert bool(re.search(r" is( [0-9a-f]{2})+ or [0-9a-f]{2}", " ".join(faulty.split()))) == (name in SHOWS)
    assert cured.startswith("nothing found\n")


@pytest.mark.parametrize("name", FOUND)
def test_the_cure_is_clean_under_strict_checks_and_has_no_flag_too_many(name, monkeypatch):
    module = runpy.run_path(str(COURSE / name / "lesson.py"))
    launches = []

    def find(kernel, blocks, *args):
        if kernel.__name__ == "cured":
            with asc.settings(checks=asc.Checks.strict(), record=True):
                launches.append(kernel[blocks](*args))
        return []

    monkeypatch.setitem(module["main"].__globals__, "find_hazards", find)
    module["main"]()
    (report,) = launches
    assert report.findings == []
    assert str(report.recording.advice()) == "Advice: none needed"
