"""The order of the packages, read from every import; what no file may mention; how long a file may be."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ascsim"
FILES = sorted(PACKAGE.rglob("*.py"))

# A part may import from parts of a lower rank; two parts of one rank do not know each other.
RANK = {
    "alias": -1,  # knows the package by its name alone
    "hw": 0,
    "language": 1,
    "report": 1,
    "codegen": 1,  # pyasc's path of its exceptions
    "lib": 2,
    "runtime": 3,  # pyasc's paths: re-exports of lib
    "testing": 5,
    "commands": 5,
    "cli": 6,
    "__init__": 7,
    "__main__": 7,
}
OPTIONAL = {"torch", "asc"}  # packages that may be missing, and so may be imported inside a function
LIMIT = {"hw": 200}  # lines of a file
LIMIT_ELSEWHERE = 400
EXCUSED = {
    "hw/core.py",
    "hw/hazards.py",
}
# Paths of one machine, and of folders beside the checkout.
FOREIGN = re.compile(r"\bshared/|\.\./\.\.|(?<![\w.])/(tmp|work|home|root|Users|mnt)/|\b[A-Z]:\\\\")


def module(path: Path) -> str:
    """`ascsim.hw.core` for its file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(path) for path in FILES}


def part(name: str) -> str:
    """The part of the package that a module belongs to."""
    return name.split(".")[1] if "." in name else "__init__"


def imported(node: ast.stmt, path: Path) -> list[str]:
    """The full names of the modules that an import statement names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        package = path.relative_to(ROOT).parent.parts
        base = ".".join([*package[: len(package) - node.level + 1], *filter(None, [base])])
    return [inner if (inner := f"{base}.{alias.name}") in MODULES else base for alias in node.names]


def upward(source: str, path: Path) -> list[str]:
    """The imports of a file that point upward or sideways, as `line: module`."""
    here = part(module(path))
    found = []
    for node in ast.walk(ast.parse(source)):
        for name in imported(node, path):
            if name.split(".")[0] != "ascsim" or (there := part(name)) == here:
                continue
            if RANK[there] >= RANK[here]:
                found.append(f"{node.lineno}: {name}")
    return found


def hidden(source: str, path: Path) -> list[str]:
    """The imports inside functions, as `line: module`."""
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [
        f"{node.lineno}: {name}"
        for function in functions
        for node in ast.walk(function)
        for name in imported(node, path)
        if name.split(".")[0] not in OPTIONAL
    ]


def names(paths):
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.relative_to(PACKAGE).as_posix())


@names(FILES)
def test_no_import_points_upward(path):
    assert upward(path.read_text(), path) == []


@names(FILES)
def test_no_import_hides_in_a_function(path):
    assert hidden(path.read_text(), path) == []


@names(sorted(path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts))
def test_no_file_mentions_a_path_of_one_machine(path):
    assert FOREIGN.findall(path.read_text()) == []


@names(FILES)
def test_length(path):
    name = path.relative_to(PACKAGE).as_posix()
    limit = LIMIT.get(part(module(path)), LIMIT_ELSEWHERE)
    long = len(path.read_text().splitlines()) > limit
    if name in EXCUSED:
        assert long, f"{name} is short enough: it needs no excuse"
    else:
        assert not long, f"{name} is longer than {limit} lines"


# --- the rules find what they should ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "line", "found"),
    [
        ("hw/x.py", "from ..language.core import dtype", ["1: ascsim.language.core.dtype"]),
        ("hw/x.py", "from ..report.table import Report", ["1: ascsim.report.table"]),
        ("hw/x.py", "import ascsim", ["1: ascsim"]),
        ("hw/x.py", "from ascsim import Checks", ["1: ascsim"]),
        ("hw/x.py", "if TYPE_CHECKING:\n    from ascsim.lib import jit", ["2: ascsim.lib.jit"]),
        ("hw/x.py", "from . import core\nimport ascsim.hw.core, numpy", []),
        ("report/x.py", "from ..language import forms", ["1: ascsim.language.forms"]),
        ("language/core/x.py", "from ...hw.core import Core\nfrom ..forms import binary\nfrom . import dtype", []),
        ("lib/x.py", "from .runtime import current_stream", []),
        ("lib/x.py", "from ..runtime import config", ["1: ascsim.runtime.config"]),
        ("cli.py", "from . import alias\nfrom .lib import jit", []),
        ("alias.py", "from . import cli", ["1: ascsim.cli"]),
        ("__init__.py", "from . import cli, lib\nfrom .language import *", []),
    ],
)
def test_upward_imports_are_found(file, line, found):
    assert upward(line, PACKAGE / file) == found


def test_hidden_imports_are_found():
    source = "import os\ndef f():\n    import torch\n    def g():\n        from ..lib import jit\n"
    assert set(hidden(source, PACKAGE / "hw/x.py")) == {"5: ascsim.lib.jit"}


@pytest.mark.parametrize("text", ["see ../../x", "/tmp/x", "open('/home/me')", "in shared/design", r"C:\\Users"])
def test_foreign_paths_are_found(text):
    assert FOREIGN.search(text)


@pytest.mark.parametrize("text", ["a/tmp/b", "pages/work", "from ...hw import x", "2 * shared"])
def test_other_paths_are_not(text):
    assert not FOREIGN.search(text)
