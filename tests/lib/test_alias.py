"""`import asc` served from ascsim, and everything as before afterwards."""

from __future__ import annotations

import importlib
import sys

import pytest

from ascsim import alias

# every module path of the pyasc API that ascsim's lib and runtime packages own
PATHS = (
    "asc",
    "asc.codegen.errors",
    "asc.language",
    "asc.language.core",
    "asc.language.core.dtype",
    "asc.language.core.struct",
    "asc.lib",
    "asc.lib.runtime",
    "asc.lib.runtime.support",
    "asc.runtime",
    "asc.runtime.config",
    "asc.runtime.jit",
)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_the_same_module(path):
    real = importlib.import_module("ascsim" + path[3:])
    with alias.served():
        assert importlib.import_module(path) is real
        assert sys.modules[path] is real
    assert real.__name__ == "ascsim" + path[3:]
    assert real.__spec__.name == real.__name__


def test_the_forms_that_scripts_use():
    with alias.served():
        space: dict[str, object] = {}
        exec(
            "import asc\n"
            "import asc.runtime.config as config\n"
            "import asc.lib.runtime as rt\n"
            "from asc.runtime import config as again\n"
            "from asc.runtime.jit import MockTensor\n"
            "from asc.language.core.dtype import KnownTypes as KT\n",
            space,
        )
    from ascsim.runtime import config

    assert space["config"] is space["again"] is config
    assert space["asc"] is sys.modules["ascsim"]


def test_it_is_gone_afterwards():
    with alias.served():
        importlib.import_module("asc.lib.runtime")
    assert not [name for name in sys.modules if name == "asc" or name.startswith("asc.")]


def test_a_path_that_does_not_exist_is_not_found_anywhere_else():
    with alias.served():
        with pytest.raises(ModuleNotFoundError, match=r"'asc.nowhere' \(ascsim has no 'ascsim.nowhere'\)"):
            importlib.import_module("asc.nowhere")
        importlib.import_module("asc")
        with pytest.raises(ImportError):
            importlib.import_module("asc.lib.nowhere")


def test_a_real_asc_is_hidden_meanwhile_and_comes_back(tmp_path, monkeypatch):
    package = tmp_path / "asc"
    package.mkdir()
    (package / "__init__.py").write_text("name = 'real'\n")
    (package / "only_there.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    real = importlib.import_module("asc")
    try:
        with alias.served():
            assert importlib.import_module("asc").__name__ == "ascsim"
            with pytest.raises(ModuleNotFoundError):
                importlib.import_module("asc.only_there")
        assert sys.modules["asc"] is real
        assert importlib.import_module("asc.only_there").__file__ == str(package / "only_there.py")
    finally:
        for name in ("asc", "asc.only_there"):
            sys.modules.pop(name, None)


def test_installing_twice_is_installing_once():
    alias.install()
    try:
        with alias.served():
            alias.install()
        assert importlib.import_module("asc").__name__ == "ascsim"  # the inner block has not ended it
    finally:
        alias.uninstall()
    alias.uninstall()
    assert not any(type(finder).__module__ == "ascsim.alias" for finder in sys.meta_path)


def test_other_names_that_begin_alike_are_left_to_python(tmp_path, monkeypatch):
    (tmp_path / "ascfoo.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    with alias.served():
        assert importlib.import_module("ascfoo").value == 1
    del sys.modules["ascfoo"]
