"""pytest plugin, loaded by its entry point, or with `-p ascsim.testing.plugin`.

--ascsim-checks=default|strict|off   the checks of every launch in the tests (a test's own `asc.settings` still rule).
--ascsim-alias            test files and conftest files may `import asc`: it means ascsim.
--ascsim-backend=Model    the backend is set before any test, and stands in for the NPU: a test that is parametrised
                          with Backend.NPU (or with the text "NPU" under the name `backend`) gets Backend.Model, and
                          so takes CPU tensors. The identifier of the test keeps saying NPU.

The fixture `ascsim_reports` is the list of the reports of the test's launches, in order. Faults of failed tests are
listed in the terminal summary with the source lines concerned; warnings are Python's, which pytest lists itself.
"""

from __future__ import annotations

import linecache
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from ascsim import alias
from ascsim.hw.checks import Checks
from ascsim.hw.errors import SimulatorWarning
from ascsim.hw.findings import locate
from ascsim.lib.platform import Backend
from ascsim.lib.settings import set_platform, settings_of_all_threads
from ascsim.report.edits import short
from ascsim.report.table import Report

REPORTS = pytest.StashKey["list[Any]"]()
CHECKS = ("default", "strict", "off")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ascsim", "kernels on the simulator")
    group.addoption("--ascsim-checks", choices=CHECKS, help="checks of every launch in the tests")
    group.addoption("--ascsim-alias", action="store_true", help="serve `import asc` from ascsim")
    group.addoption("--ascsim-backend", choices=["Model"], help="backend of every test, in place of the NPU too")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """The conftest files named on the command line are imported before `pytest_configure`."""
    if early_config.known_args_namespace.ascsim_alias:
        _serve(early_config)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("ascsim_alias"):
        _serve(config)
    if config.getoption("ascsim_backend"):
        set_platform(Backend.Model)


def _serve(config: pytest.Config) -> None:
    """Serve `asc` to the end of this run; it may be one inside another, which serves it too."""
    served = ExitStack()
    served.enter_context(alias.served())
    config.add_cleanup(served.close)


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    if not config.getoption("ascsim_backend"):
        return
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        for name, value in parameters.items():
            if value is Backend.NPU or (name == "backend" and value == Backend.NPU.value):
                parameters[name] = type(value)(Backend.Model.value)


# ------------------------------------------------------------------ launches of a test


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A list for the reports of the test's launches, and the checks that the command line names.

    The list goes with the test: what is recorded of launches is large, and tests live as long as the run.
    """
    item.stash[REPORTS] = []
    chosen = item.config.getoption("ascsim_checks")
    changes: dict[str, Any] = {"reports": item.stash[REPORTS]}
    if chosen is not None:
        changes["checks"] = Checks() if chosen == "default" else getattr(Checks, chosen)()
    with settings_of_all_threads(**changes):
        yield
    del item.stash[REPORTS]


@pytest.fixture
def ascsim_reports(request: pytest.FixtureRequest) -> list[Report]:
    """The reports of this test's launches, in order; that of a launch which raised tells how far it came."""
    reports: list[Report] = request.node.stash[REPORTS]
    return reports


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, None]:
    """Hand the faults of a failed test to the summary, as plain values that another process can send."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        report.ascsim_faults = _faults(item.stash[REPORTS], None if call.excinfo is None else call.excinfo.value)


def _faults(reports: list[Report], raised: BaseException | None) -> list[Any]:
    """The faults of some launches and what ended the last, as text and places; one that launches share is one."""
    every = [finding for report in reports for finding in report.findings]
    warned = str(raised) if isinstance(raised, SimulatorWarning) else None  # a warning that a filter makes an error
    found = {finding.key: finding for finding in every if finding.severity == "fault" or finding.text() == warned}
    ended = getattr(raised, "finding", None)
    if ended is not None:
        found.setdefault(ended.key, ended)
    return [
        [finding.text(), [list(locate(site)) for site in finding.sites if site is not None]]
        for finding in found.values()
    ]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The faults of the failed tests, with their source lines."""
    failed: dict[str, dict[str, Any]] = {}  # a test may fail in its call and after it
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if getattr(report, "ascsim_faults", None):
            failed.setdefault(report.nodeid, {}).update(report.ascsim_faults)
    if failed:
        terminalreporter.section("kernel faults")
    for node, faults in failed.items():
        terminalreporter.write_line(node)
        for text, places in faults.items():
            terminalreporter.write_line(f"  {text}")
            for file, line in dict.fromkeys(map(tuple, places)):
                terminalreporter.write_line(f"    {short(file)}:{line}  {linecache.getline(file, line).strip()}")
