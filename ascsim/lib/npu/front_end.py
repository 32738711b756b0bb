"""The real pyasc: whether it is installed, and how it is reached while `asc` may mean ascsim.

pyasc keeps the kernel that it reads in variables of its modules, so one thread at a time may use it.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from ascsim import alias
from ascsim.hw.errors import BackendError

LAST_PYTHON = (3, 12)  # pyasc has no wheel for a later one
_INSTALL = "pip install 'ascsim[npu]'"
_lock = threading.RLock()


def pyasc_version() -> str | None:
    """The version of the installed pyasc; None where it is not installed. Nothing is imported."""
    metadata = importlib.import_module("importlib.metadata")  # takes longer than the rest of this package's imports
    try:
        return str(metadata.version("pyasc"))
    except metadata.PackageNotFoundError:
        return None


def missing() -> str:
    """What keeps the front end from being used, with its cure; empty if nothing does."""
    if pyasc_version() is None:
        python = ".".join(map(str, sys.version_info[:2]))
        last = ".".join(map(str, LAST_PYTHON))
        where = f"in an environment of Python 3.10 to {last} (this is {python}): " if python_is_too_new() else ""
        return f"pyasc is not installed: {where}{_INSTALL}"
    try:
        with _reached():
            return ""
    except Exception as error:  # whatever an extension module raises on its way in
        return f"pyasc {pyasc_version()} cannot be imported ({type(error).__name__}: {error}): {_INSTALL}"


def python_is_too_new() -> bool:
    """Whether there is no pyasc for this Python."""
    return sys.version_info[:2] > LAST_PYTHON


@contextmanager
def front_end(operation: str) -> Iterator[ModuleType]:
    """pyasc's module `asc`; inside the block that name, and all below it, mean pyasc for the whole process.

    Raises BackendError on behalf of `operation` where pyasc cannot be used.
    """
    lack = missing()
    if lack:
        raise BackendError(operation, lack, rule="the simulator, Backend.Model, needs none of it")
    with _reached() as asc:
        yield asc


@contextmanager
def _reached() -> Iterator[ModuleType]:
    with _lock, alias.suspended():
        asc = importlib.import_module("asc")
        importlib.import_module("asc.runtime.jit")
        yield asc
