"""Reads a folder of published vectors and runs its cases on the simulator.

A folder holds `cases.json` ({"cases": [...]}) and one npz a case with arrays `in_<name>` and `out_<name>`. A case has
`id`, `kernel` and `host` (lines of source: the kernel, and a function `run_<id>(d)` that launches it and returns the
outputs by name), `tolerance`, and optionally `data` (name of the npz; default `<id>.npz`) and `traps` (sentences).
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ascsim import Checks, HazardError, SimulatorWarning, SyncError, settings
from ascsim.hw.findings import ERROR

HEADER = """\
import struct

import numpy as np

import ascsim as asc
import ascsim.lib.runtime as rt
from ascsim.runtime import config


"""
# Accesses of two cores count whatever the bytes. What is no matter of order (a load of padding, say) is let pass.
CHECKS = Checks(gm_races="always")
ORDERING = tuple(code for code, error in ERROR.items() if issubclass(error, (HazardError, SyncError)))


class Difference(AssertionError):
    """The outputs of a case are not those published, or the kernel is out of order; the text says how."""


def read_cases(folder: Path) -> list[dict[str, Any]]:
    """The cases of a folder, in its order."""
    cases: list[dict[str, Any]] = json.loads((folder / "cases.json").read_text())["cases"]
    return cases


def run_case(folder: Path, case: dict[str, Any]) -> None:
    """Run a case and compare; raises what the kernel raised, or Difference."""
    with np.load(folder / case.get("data", case["id"] + ".npz")) as data:
        inputs = {name[3:]: data[name] for name in data.files if name.startswith("in_")}
        golden = {name[4:]: data[name] for name in data.files if name.startswith("out_")}
    with module_of(case) as module, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SimulatorWarning)
        with settings(checks=CHECKS):
            results = getattr(module, f"run_{case['id']}")(inputs)
    allowed = [code for code in ORDERING if any(code in trap for trap in case.get("traps", ()))]
    for warning in caught:
        text = str(warning.message)
        code = text.partition(":")[0].split(" ")[0]
        if issubclass(warning.category, SimulatorWarning) and code in ORDERING and code not in allowed:
            raise Difference(text)
    if set(results) != set(golden):
        raise Difference(f"outputs {sorted(results)}, published are {sorted(golden)}")
    for name, expected in golden.items():
        compare(name, np.asarray(results[name]), expected, case["tolerance"])


@contextmanager
def module_of(case: dict[str, Any]) -> Iterator[ModuleType]:
    """The kernel and its host function as a module in a file: the simulator reads the source of a kernel."""
    name = f"published_{case['id']}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.py"
        file.write_text(HEADER + "\n".join([*case["kernel"], "", "", *case["host"], ""]))
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
            yield module
        finally:
            del sys.modules[name]


def compare(name: str, result: np.ndarray, golden: np.ndarray, tolerance: dict[str, Any]) -> None:
    """Raise Difference if more elements are off than the tolerance lets pass. Shapes are the host function's affair."""
    if result.dtype != golden.dtype or result.size != golden.size:
        raise Difference(f"{name}: {result.size} of {result.dtype}, published are {golden.size} of {golden.dtype}")
    result, golden = np.ascontiguousarray(result).ravel(), np.ascontiguousarray(golden).ravel()
    off = wrong(result, golden, tolerance)
    count = int(np.count_nonzero(off))
    if count > tolerance.get("max_bad_fraction", 0) * golden.size:
        k = int(np.flatnonzero(off)[0])
        raise Difference(f"{name}: {count} of {golden.size} off, first [{k}] = {result[k]!r}, published {golden[k]!r}")


def wrong(result: np.ndarray, golden: np.ndarray, tolerance: dict[str, Any]) -> np.ndarray:
    """Which elements are off. Under a tolerance NaN equals NaN, and an infinity the same infinity."""
    if tolerance["rule"] == "exact":
        word = f"u{golden.itemsize}"
        off: np.ndarray = result.view(word) != golden.view(word)
        return off
    x, g = result.astype(np.float64), golden.astype(np.float64)
    with np.errstate(invalid="ignore"):
        error, relative = np.abs(x - g), tolerance["rtol"] * np.abs(g)
        if tolerance["rule"] == "isclose":
            close = error <= tolerance["atol"] + relative
        elif tolerance["rule"] == "abs_or_rel":
            close = (error <= tolerance["atol"]) | (error <= relative)
        else:
            raise ValueError(f"no rule {tolerance['rule']!r}")
    same = (x == g) | (np.isnan(x) & np.isnan(g))
    return ~same & ~(close & np.isfinite(g))
