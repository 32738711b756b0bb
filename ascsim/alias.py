"""Serves `import asc` from ascsim while installed, so that a pyasc script or test runs untouched.

Every module path `asc.x` is the module `ascsim.x` itself, not a copy: `sys.modules["asc.x"] is ascsim.x`. An `asc`
that is really installed is hidden meanwhile and comes back afterwards. A path that ascsim does not have is a
ModuleNotFoundError, never the hidden package's.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

ALIAS, TARGET = "asc", "ascsim"


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _served(fullname):
            return None
        real = TARGET + fullname[len(ALIAS) :]
        if importlib.util.find_spec(real) is None:
            raise ModuleNotFoundError(f"No module named {fullname!r} (ascsim has no {real!r})", name=fullname)
        return ModuleSpec(fullname, _Loader(real))


class _Loader(Loader):
    def __init__(self, real: str) -> None:
        self.real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.real)
        self.own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own  # the import system has put the alias's spec there


_finder = _Finder()
_hidden: dict[str, ModuleType] = {}


def _served(name: str) -> bool:
    return name == ALIAS or name.startswith(ALIAS + ".")


def install() -> None:
    """Start serving `asc`; once installed, installing again changes nothing."""
    if _finder in sys.meta_path:
        return
    _hidden.update(_taken_out())
    sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Stop serving `asc`, and bring back the modules of a real one that were loaded before."""
    if _finder not in sys.meta_path:
        return
    sys.meta_path.remove(_finder)
    _taken_out()
    sys.modules.update(_hidden)
    _hidden.clear()


def _taken_out() -> dict[str, ModuleType]:
    return {name: sys.modules.pop(name) for name in list(sys.modules) if _served(name)}


@contextmanager
def served() -> Iterator[None]:
    """`asc` is served inside the `with` block."""
    before = _finder in sys.meta_path
    install()
    try:
        yield
    finally:
        if not before:
            uninstall()


@contextmanager
def suspended() -> Iterator[None]:
    """`asc` means what is installed under that name inside the `with` block."""
    before = _finder in sys.meta_path
    modules = {name: module for name, module in sys.modules.items() if before and _served(name)}
    uninstall()
    try:
        yield
    finally:
        if before:
            install()
            sys.modules.update(modules)
