"""pytest plugin of test_npu_kernels: every launch of the tests that run is emitted first, and its fate written down."""

from __future__ import annotations

import os
from pathlib import Path

from ascsim.hw.errors import BackendError, SimulatorError
from ascsim.lib.npu.emission import emission_of
from ascsim.lib.settings import change

fates: dict[tuple[str, str], str] = {}


def observe(request, run):
    code = request.function.fn.__code__
    key = Path(code.co_filename).name, request.name
    if key not in fates:
        try:
            emission_of(request)
            fates[key] = "accepted"
        except BackendError as error:
            fates[key] = error.problem
        except SimulatorError as error:  # wrong arguments, which the test is about
            fates[key] = f"arguments: {error}"
    return run()


def pytest_configure():
    change(observer=observe)


def pytest_unconfigure():
    lines = [f"{file} {name}\t{' '.join(fate.split())}\n" for (file, name), fate in sorted(fates.items())]
    Path(os.environ["ASCSIM_FATES"]).write_text("".join(lines))
