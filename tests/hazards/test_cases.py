"""Every case of the two case files agrees with its verdict; and the runner tells a wrong verdict and a bad file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import cases
import pytest
from notation import Case, CaseError, read_cases

HERE = Path(__file__).parent
ALL = [case for name in ("cases.md", "more_cases.md") for case in read_cases(HERE / name)]

KERNEL = """### T1. a title

Verdict: **{verdict}**. Why.

```
cores: aiv 1
gm X 256
ub x @0 256
ub z @256 256
MTE2: x[0:256] <- X[0:256]
{line}
V: z[0:256] <- x[0:256]
```
"""


@pytest.mark.parametrize("case", ALL, ids=[case.name for case in ALL])
def test_verdict(case: Case) -> None:
    assert cases.show(cases.found(case)) == cases.show(case.expected)


def test_both_files_are_read_whole() -> None:
    assert [case.name for case in read_cases(HERE / "cases.md")] == [f"C{n:02}" for n in range(1, 26)]
    assert len(read_cases(HERE / "more_cases.md")) == (HERE / "more_cases.md").read_text().count("Verdict:")


def run(tmp_path: Path, text: str) -> int:
    file = tmp_path / "file.md"
    file.write_text(text)
    return cases.main([str(file)])


def test_a_right_verdict_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, KERNEL.format(verdict="RAW", line="barrier V")) == 0
    row, last = capsys.readouterr().out.splitlines()
    assert row.split() == ["T1", "expected", "RAW", "found", "RAW", "agree"]
    assert last == "1 of 1 verdicts agree"


@pytest.mark.parametrize(("verdict", "found"), [("clean", "RAW"), ("WAR", "RAW"), ("RAW, WAR", "RAW")])
def test_a_wrong_verdict_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str], verdict: str, found: str) -> None:
    right = KERNEL.format(verdict="RAW", line="barrier V").replace("T1", "T2")
    assert run(tmp_path, KERNEL.format(verdict=verdict, line="barrier V") + right) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.split() == ["T1", "expected", *verdict.split(), "found", found, "DIFFER"]
    assert second.endswith("agree")
    assert last == "1 of 2 verdicts agree"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("V: y[0:4] <- 0", "no buffer 'y'"),
        ("V: x[0,4] <- 0", "is no slice"),
        ("Q: x[0:4] <- 0", "no pipe 'Q'"),
        ("set MTE2_Q 0", "no pipe 'Q'"),
        ("set MTE2_V k", "'k' is not known"),
        ("set MTE2_V 0.5", "is no integer expression"),
        ("set MTE2_V int()", "is no integer expression"),
        ("barrier MTE9", "no pipe 'MTE9'"),
        ("for i in 0..2:", "an indented block is expected"),
        ("  V: x[0:4] <- 0", "the indentation fits no block"),
        ("else:", "without its `if`"),
        ("a = alloc q", "no queue 'q'"),
        ("gm Y 256", "declarations stand before"),
        ("frobnicate", "cannot read 'frobnicate'"),
        ("V: x[4:4] <- 0", "1 pieces of 0 bytes"),
        ("V: x[0:4/2/3] <- 0", "3 pieces of 4 bytes, 2 bytes apart"),
        ("set MTE2_V 1//0", "1//0"),
        ("set M_MTE3 0", "no event M_MTE3"),
        ("xset mode=3 pipe=V id=0", "no mode 3"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, problem: str) -> None:
    assert run(tmp_path, KERNEL.format(verdict="RAW", line=line)) == 2
    error = capsys.readouterr().err
    number = 12 if line.startswith("for") else 11  # the block is missed at the line after
    assert error.startswith(f"file.md:{number}: ")
    assert problem in error


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("# Nothing here\n", "file.md:1: no case"),
        ("### A. b\n\n```\ncores: aiv 1\n```\n", "file.md:1: case A has no verdict"),
        ("### A. b\n\nVerdict: **clean**\n", "file.md:1: case A has no block"),
        ("### A. b\n\nVerdict: **clean**\n\n```\ncores: aiv 1\n", "file.md:5: the fenced block is never closed"),
        ("### A. b\n\nVerdict: clean\n\n```\ncores: aiv 1\n```\n", "file.md:3: a verdict reads"),
        ("### A. b\n\nVerdict: **raw**\n\n```\ncores: aiv 1\n```\n", "file.md:3: 'raw' is no code"),
        ("### A. b\n\nVerdict: **clean**\n\n```\nub x @0 32\n```\n", "file.md:6: no `cores:` line"),
    ],
)
def test_a_malformed_file_is_named(tmp_path: Path, text: str, place: str) -> None:
    file = tmp_path / "file.md"
    file.write_text(text)
    with pytest.raises(CaseError, match="^" + place):
        read_cases(file)


@pytest.mark.parametrize("heading", ["## T2. t", "#### T2. t", "### T2 t", "### T2: t", "###T2. t", "**T2. t**"])
def test_a_case_under_another_heading_is_no_text(tmp_path: Path, heading: str) -> None:
    """Skipped in silence, it would be a case that nobody runs."""
    first, block = "### T1. t\n\nVerdict: **clean**\n\n```\ncores: aiv 1\n```\n", "```\n  cores: aiv 1\n```\n"
    file = tmp_path / "file.md"
    for text, line in ((f"\nVerdict: **clean**\n\n{block}", "file.md:10: 'Verdict"), (block, "file.md:10: 'cores")):
        file.write_text(f"{first}{heading}\n{text}")
        with pytest.raises(CaseError, match=f"^{line}.* under no heading `### NAME. title`"):
            read_cases(file)


def test_a_section_of_text_may_show_what_it_likes(tmp_path: Path) -> None:
    file = tmp_path / "file.md"
    file.write_text(KERNEL.format(verdict="RAW", line="") + "## About\n\n```\nV: x[0:4] <- 0\n```\n")
    assert [case.name for case in read_cases(file)] == ["T1"]


def test_no_such_file(tmp_path: Path) -> None:
    assert cases.main([str(tmp_path / "none.md")]) == 2


def test_control_flow_and_names() -> None:
    """Each core writes its own bytes only if idx, block, sub, aic and aiv are right."""
    text = """### T1. t

Verdict: **clean**

```
cores: mix 2
gm Z 128
ub z @0 32
if aiv:
  V: z[0:32] <- 0
  set V_MTE3 0
  wait V_MTE3 0
  if idx == 2 * block + sub and not aic:
    MTE3: Z[idx*32:+32] <- z[0:32]
  else:
    MTE3: Z[0:32] <- z[0:32]
```
"""
    case = _case(text)
    device = cases.launch(case)
    assert device.findings == []
    blocks = bytes(device.arena.arrays[0].data[:128])
    assert len({blocks[k : k + 32] for k in range(0, 128, 32)}) == 4  # four cores, four values


def test_values_depend_on_every_byte_read() -> None:
    """The store of a racing kernel differs from that of the ordered one: a stale read shows."""
    early = _stored("V: z[0:256] <- x[0:256]", "MTE2: x[0:256] <- X[0:256]")
    late = _stored("MTE2: x[0:256] <- X[0:256]", "V: z[0:256] <- x[0:256]")
    assert early != late


def _case(text: str) -> Case:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file.md"
        file.write_text(text)
        return read_cases(file)[0]


def _stored(*lines: str) -> bytes:
    head = "cores: aiv 1\ngm X 256\ngm Z 256\nub x @0 256\nub z @256 256\n"
    body = head + "\n".join(lines) + "\nbarrier ALL\nMTE3: Z[0:256] <- z[0:256]"
    device = cases.launch(_case(f"### T1. t\n\nVerdict: **clean**\n\n```\n{body}\n```\n"))
    return bytes(device.arena.arrays[1].data[:256])
