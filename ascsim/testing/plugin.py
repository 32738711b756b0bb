"""pytest plugin: `pytest -p ascsim.testing.plugin --ascsim-alias --ascsim-backend=Model`.

--ascsim-alias            test files and conftest files may `import asc`: it means ascsim.
--ascsim-backend=Model    the backend is set before any test, and stands in for the NPU: a test that is parametrised
                          with Backend.NPU (or with the text "NPU" under the name `backend`) gets Backend.Model, and
                          so takes CPU tensors. The identifier of the test keeps saying NPU.
"""

from __future__ import annotations

from typing import Any

import pytest

from ascsim import alias
from ascsim.lib.platform import Backend
from ascsim.lib.settings import set_platform


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ascsim", "kernels on the simulator")
    group.addoption("--ascsim-alias", action="store_true", help="serve `import asc` from ascsim")
    group.addoption("--ascsim-backend", choices=["Model"], help="backend of every test, in place of the NPU too")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """The conftest files named on the command line are imported before `pytest_configure`."""
    if early_config.known_args_namespace.ascsim_alias:
        alias.install()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("ascsim_alias"):
        alias.install()
    if config.getoption("ascsim_backend"):
        set_platform(Backend.Model)


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.getoption("ascsim_alias"):
        alias.uninstall()


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    if not config.getoption("ascsim_backend"):
        return
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        for name, value in parameters.items():
            if value is Backend.NPU or (name == "backend" and value == Backend.NPU.value):
                parameters[name] = type(value)(Backend.Model.value)
