"""The README's claims: its code runs, its outputs are what is printed, its set-up is what the CI script calls."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import ascsim as asc
from ascsim.runtime import config

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", README, re.M | re.S))


def blocks(section: str, language: str) -> list[str]:
    """The fenced blocks of a section in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[section], re.M | re.S)


(KERNEL,) = blocks("A first kernel", "python")
(TABLE,) = blocks("A first kernel", "text")
(HAZARD,) = blocks("What it finds", "text")


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path):
    """A folder with the first kernel in it, for ascsim and as a pyasc author would write it."""
    (tmp_path / "first.py").write_text(KERNEL)
    (tmp_path / "script.py").write_text(KERNEL.replace("import ascsim as asc", "import asc"))
    test = "def test_it():\n    import script\n    assert script.report.ok\n"
    (tmp_path / "test_kernels.py").write_text(test)
    return tmp_path


def test_the_first_kernel_prints_the_table(folder):
    done = python("-W", "error", "first.py", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == TABLE


def test_the_deleted_flag_is_found(folder):
    lines = [line for line in KERNEL.splitlines(keepends=True) if "flag(LOADED" not in line]
    assert len(lines) == len(KERNEL.splitlines()) - 2
    path = folder / "first.py"
    path.write_text("".join(lines))
    with pytest.raises(asc.HazardError) as caught:
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "first"})
    assert str(caught.value) == " ".join(HAZARD.split())
    at = re.search(r"raised at line (\d+) of the author's file", SECTIONS["What it finds"])
    assert traceback.extract_tb(caught.value.__traceback__)[-1].lineno == int(at[1])


def test_the_checks_block_runs(folder):
    (snippet,) = blocks("Checks", "python")
    (folder / "first.py").write_text(KERNEL + snippet)
    assert python("first.py", cwd=folder).returncode == 0


def test_the_pytest_block_passes_and_notices_a_deleted_flag(folder):
    (tests,) = blocks("In a pytest file", "python")
    assert "`python -m ascsim check script.py`" in " ".join(SECTIONS["In a pytest file"].split())

    def launched(kernel, name):
        path = folder / name
        path.write_text(kernel + "\n" + tests)
        space = {"__name__": path.stem}
        exec(compile(path.read_text(), str(path), "exec"), space)
        return [space[name] for name in re.findall(r"def (test_\w+)", tests)]

    with_flags = launched(KERNEL, "clean.py")
    assert len(with_flags) == 2
    for test in with_flags:
        test()
    head, body = KERNEL.split("x = np.arange", 1)
    flagless = "".join(line for line in head.splitlines(keepends=True) if "flag(LOADED" not in line)
    data = "x = np.arange" + body.partition("report =")[0]
    for test in launched(flagless + data, "faulty.py"):
        with pytest.raises(AssertionError):
            test()


def test_the_named_checks_exist():
    named = re.findall(r"^\| `asc\.(Checks\S*?)\(\)` \|", SECTIONS["Checks"], re.M)
    assert named == ["Checks", "Checks.strict", "Checks.collect", "Checks.off"]
    for name in named:
        assert isinstance(eval(f"asc.{name}()"), asc.Checks)
    with asc.settings(platform="Ascend910B1", blocks=[0]) as now:
        assert now.platform is config.Platform.Ascend910B1


@pytest.mark.parametrize("number", [0, 1])
def test_the_commands_for_pyasc_files_run(folder, number):
    (commands,) = blocks("Files that say `import asc`", "sh")
    words = commands.splitlines()[number].split()
    assert words[0] == "python"
    done = python(*words[1:], cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert TABLE in done.stdout if number == 0 else "1 passed" in done.stdout


def test_what_is_said_to_be_missing_is_missing():
    missing = re.findall(r"`(asc\.[\w.]+)`", re.sub(r"^.*?\n- ", "- ", SECTIONS["Not there yet"], count=1, flags=re.S))
    for name in missing:
        value: object = asc
        *path, last = name.split(".")[1:]
        for step in path:
            value = getattr(value, step)
        assert not hasattr(value, last), f"{name} is there: README, 'Not there yet'"


@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.npu)])
def test_the_commands_towards_a_device_run(folder, number):
    (commands,) = blocks("On to a device", "sh")
    done = python(*commands.splitlines()[number].split()[1:], cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    if number == 0:
        assert done.stdout.startswith("portability: 0 remarks, 1 kernel launched; ")
    else:
        assert "AscendC::Add(" in (folder / "text/add.cpp").read_text()


def test_set_up_is_two_commands_of_one_line():
    commands = blocks("Set-up", "sh")
    assert [command.count("\n") for command in commands] == [1, 1]
    assert "examples/01_add/add.py" in commands[0]
    assert "'.[test]'" in commands[1]
    assert "pytest" in commands[1]


def test_links_lead_somewhere():
    targets = re.findall(r"\]\(([^)]+)\)", re.sub(r"^```.*?^```$", "", README, flags=re.M | re.S))
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
