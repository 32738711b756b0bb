"""Settings of the whole test suite: repeatable generated examples, and the tests that need the real pyasc."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version

import pytest
from hypothesis import settings

# One thread for the products of numpy in each worker of xdist: threads of several workers wait for one another.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# The same examples in every run and on every machine. To search for new ones: pytest --hypothesis-profile=default
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci")


def _pyasc() -> bool:
    """Whether pyasc is installed; `import asc` alone would not tell, because ascsim can serve that name."""
    try:
        version("pyasc")
    except PackageNotFoundError:
        return False
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if _pyasc():
        return
    for item in items:
        if item.get_closest_marker("npu"):
            item.add_marker(pytest.mark.skip(reason="pyasc is not installed (extra 'npu')"))
