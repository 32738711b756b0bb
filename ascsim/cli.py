"""The command line: `python -m ascsim run SCRIPT [ARGUMENTS]`, `python -m ascsim check SCRIPT [ARGUMENTS]`.

The parts that need more than the simulator (`emit`, `check --portable`, `run --compare`) are in `commands`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TextIO

from . import alias, commands
from .hw.checks import Checks
from .lib.settings import settings_of_all_threads
from .report import verdict
from .report.table import Report

RUN = """\
Run an untouched pyasc script as the main program. `import asc` and every module path below it mean ascsim, whether
or not pyasc is installed. The script sees its own arguments; its exit code becomes that of this command."""

CHECK = """\
Run a script as `run` does, gathering what its launches find instead of stopping at it. Then print, for each launch,
what was found and which bytes of the results it changes; the calls that would mend it, or those that it could do
without; and where it leans on the compiler. The exit code is 1 where there is a fault, 2 where the script cannot be
read, and otherwise the script's."""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="ascsim", description="Functional simulator and hazard checker for Ascend AI-core kernels in pyasc."
    )
    parser.add_argument("--version", action="version", version=f"ascsim {_version()}")
    parsers = parser.add_subparsers(title="commands", required=True)
    run = parsers.add_parser(
        "run",
        help="run a pyasc script on the simulator",
        description=RUN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_argument("script", metavar="SCRIPT", help="path of the script")
    run.add_argument("arguments", metavar="ARGUMENTS", nargs=argparse.REMAINDER, help="passed on to the script")
    run.add_argument("--compare", action="store_true", help="run each kernel on a device too, and compare")
    run.set_defaults(
        command=lambda given: (
            commands.compare_script(_runner(given)) if given.compare else run_script(given.script, given.arguments)
        )
    )
    check = parsers.add_parser(
        "check",
        help="find the faults of a script's kernels",
        description=CHECK,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("script", metavar="SCRIPT", help="path of the script")
    check.add_argument("arguments", metavar="ARGUMENTS", nargs=argparse.REMAINDER, help="passed on to the script")
    check.add_argument("--json", action="store_true", help="one JSON object on standard output, for tools")
    check.add_argument("--portable", action="store_true", help="name what pyasc's compiler refuses or gets wrong")
    check.set_defaults(
        command=lambda given: (
            commands.check_portable(_runner(given))
            if given.portable
            else check_script(given.script, given.arguments, given.json)
        )
    )
    commands.add_emit(parsers, _runner)
    words, passed = commands.behind_dashes(sys.argv[1:] if argv is None else argv)
    given = parser.parse_args(words)
    if passed:
        given.arguments = [*given.arguments, *passed]
    return int(given.command(given))


def _version() -> str:
    try:
        return version("ascsim")
    except PackageNotFoundError:
        return "(not installed)"


def _runner(given: argparse.Namespace) -> commands.Run:
    """The run of the script that the command line names, in a module of the caller's."""
    return lambda module: run_script(given.script, given.arguments, module)


def run_script(script: str, arguments: Sequence[str], module: ModuleType | None = None) -> int:
    """Run a script as `__main__`, with `asc` served; an exception is shown from the script's first line on.

    `module` is a new, empty one unless the caller wants to see what the script leaves behind.
    """
    path = os.path.abspath(script)  # as Python has it in `__file__` and tracebacks: a script may leave its folder
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        print(f"ascsim: cannot read {script!r}: {error.strerror}", file=sys.stderr)
        return 2
    module = module or ModuleType("__main__")
    module.__file__ = path
    before = sys.modules["__main__"], sys.argv, sys.path[:]
    sys.modules["__main__"] = module
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    alias.install()
    try:
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        shown = error.with_traceback(_of_script(error.__traceback__, path))
        sys.excepthook(type(shown), shown, shown.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    finally:
        alias.uninstall()
        sys.modules["__main__"], sys.argv, sys.path[:] = before
    return 0


def check_script(script: str, arguments: Sequence[str], as_json: bool = False) -> int:
    """Run a script with every launch collecting, and print what was found; 1 if a fault was.

    With `as_json` standard output is one JSON object, and what the script prints goes to standard error.
    """
    reports: list[Report] = []
    out = _output(alone=as_json)
    with (
        settings_of_all_threads(checks=Checks.collect(), record=True, reports=reports),
        contextlib.redirect_stdout(sys.stderr if as_json else sys.stdout),
    ):
        code = commands.finished(lambda module: run_script(script, arguments, module), ModuleType("__main__"))
    code = 1 if any(not report.ok for report in reports) else code
    if as_json:
        found = {"launches": [verdict.data(report) for report in reports], "summary": verdict.counts(reports)}
        _say(json.dumps({"script": script, "exit": code, **found}), out)
    else:
        _say("\n\n".join([*map(verdict.verdict, reports), verdict.summary(reports)]), out)
    return code


def _output(alone: bool) -> TextIO | None:
    """Standard output, for what a command says when the script has ended.

    That of the process is had as a stream of its own: a script may close `sys.stdout`, and its path may have letters
    that the encoding lacks. `alone`: all else that goes to the process's standard output from here on, from its
    children and exit handlers too, goes to standard error.
    """
    ours = sys.__stdout__
    if ours is None or sys.stdout is not ours:
        return sys.stdout
    ours.flush()
    own = open(os.dup(1), "w", encoding=ours.encoding, errors="backslashreplace")  # noqa: SIM115
    if alone:
        os.dup2(os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else 2, 1)
    return own


def _say(text: str, out: TextIO | None) -> None:
    """Print it behind what the script has printed. A reader that has left, as `head` does, is no error."""
    with contextlib.suppress(BrokenPipeError):
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
        print(text, file=out, flush=True)


def _of_script(traceback: TracebackType | None, path: str) -> TracebackType | None:
    """The part of a traceback that begins in the script; none for a script that does not compile."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename != path:
        traceback = traceback.tb_next
    return traceback
