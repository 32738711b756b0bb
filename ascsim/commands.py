"""The commands that look beyond the simulator: `emit`, `check --portable`, `run --compare`.

Each runs a script as `run` does, with an observer of its launches. The script's own output goes to standard error
where the command has an output of its own on standard output.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from .hw.checks import Checks
from .hw.errors import BackendError
from .lib.npu import availability, files, front_end
from .lib.npu.comparison import Comparing
from .lib.npu.emission import Emitting
from .lib.npu.portability import Portability
from .lib.settings import settings

Run = Callable[[ModuleType], int]  # runs the script in a module, and gives its exit code

EMIT = """\
Run a script as `run` does and write the Ascend C text that pyasc makes of every kernel it launches: into a folder, one
file a kernel, or to standard output. The launches are simulated beside, so that a script which checks its results goes
on. Needs pyasc (extra `npu`), and neither toolkit nor device. Nothing is written unless all kernels are accepted."""


def finished(run: Run, module: ModuleType) -> int:
    """The exit code of a script, one that ends by `sys.exit` too."""
    try:
        return run(module)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return int(end.code or 0)
        print(end.code, file=sys.stderr)
        return 1


def emit_script(run: Run, folder: str | None, intermediate: bool) -> int:
    """The command `emit`."""
    lack = front_end.missing()
    if lack:
        print(f"ascsim: emit: {lack}", file=sys.stderr)
        return 2
    emitting = Emitting()
    with settings(observer=emitting), contextlib.redirect_stdout(sys.stderr):
        code = finished(run, ModuleType("__main__"))
    if not code:  # otherwise the error that ended the script is told already
        for error in emitting.refused:
            print(f"ascsim: emit: {error}", file=sys.stderr)
    if code or emitting.refused or not emitting.emissions:
        why = "" if code or emitting.refused else "the script launches no kernel; "
        print(f"ascsim: emit: {why}nothing is written", file=sys.stderr)
        return code or 1
    for emission in emitting.emissions:
        for remark in emission.remarks:
            print(f"ascsim: emit: {remark}", file=sys.stderr)
    texts = files.written(emitting.emissions, intermediate)
    if folder is None:
        print("\n".join(texts.values()), end="")
        return 0
    try:
        files.write(Path(folder), texts)
    except OSError as error:
        print(f"ascsim: emit: cannot write to {folder!r}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


def check_portable(run: Run) -> int:
    """The command `check --portable`; 1 if anything was found."""
    found, module = Portability(), ModuleType("__main__")
    with settings(observer=found, checks=Checks.collect()), contextlib.redirect_stdout(sys.stderr):
        code = finished(run, module)
    found.look_at_the_rest(vars(module).values())
    print(found)
    return code if found.ok else 1


def compare_script(run: Run) -> int:
    """The command `run --compare`; 1 if a result differs."""
    try:
        availability.require("run --compare")
    except BackendError as error:
        print(f"ascsim: {error}", file=sys.stderr)
        return 2
    comparing = Comparing()
    with settings(observer=comparing):
        code = finished(run, ModuleType("__main__"))
    for comparison in comparing.comparisons:
        print(comparison)
    return code if all(comparison.ok for comparison in comparing.comparisons) else 1


def add_emit(commands: Any, runner: Callable[[Any], Run]) -> None:
    """The subparser of `emit`; `runner` makes the script's run of its arguments."""
    emit = commands.add_parser("emit", help="write the Ascend C text of a script's kernels", description=EMIT)
    emit.add_argument("-o", "--output", metavar="DIR", help="folder for the files (default: standard output)")
    emit.add_argument("--intermediate", action="store_true", help="the compiler's intermediate form (MLIR) too")
    add_script(emit)
    emit.set_defaults(command=lambda given: emit_script(runner(given), given.output, given.intermediate))


def behind_dashes(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a command line of `emit`, and those behind `--`, which argparse loses after an option."""
    if list(words[:1]) != ["emit"] or "--" not in words:
        return list(words), []
    cut = list(words).index("--")
    return list(words[:cut]), list(words[cut + 1 :])


def add_script(parser: Any) -> None:
    """The script and what is passed on to it; options of the command stand before it, or right behind it."""
    parser.add_argument("script", metavar="SCRIPT", help="path of the script")
    parser.add_argument("arguments", metavar="ARGUMENTS", nargs="*", help="passed on to the script, after `--`")
