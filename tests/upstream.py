"""Runs pyasc's own test files and tutorials, untouched, on ascsim.

    python tests/upstream.py [--silent] PYASC_CHECKOUT [FILE ...]

A file is given relative to the checkout, or to its folder `python`. A file named test_*.py is run by pytest through
the plugin, any other as a script by `python -m ascsim run`. One row a file, then `N of M pass`; the exit code is 0
only if all do. Warnings of ascsim fail nothing, or with --silent the file that gives them.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KNOWN = (
    "tutorials/01_add/add.py",
    "tutorials/02_add_framework/add_framework.py",
    "tutorials/03_matmul_mix/matmul_mix.py",
    "tutorials/04_matmul_cube_only/matmul_cube_only.py",
    "tutorials/05_matmul_leakyrelu/matmul_leakyrelu.py",
    "test/kernels/insert_sync/test_matmul.py",
    "test/kernels/insert_sync/test_quant.py",
    "test/kernels/insert_sync/test_quant_dynamic.py",
    "test/kernels/insert_sync/test_softmax.py",
    "test/kernels/insert_sync/test_vadd.py",
    "test/kernels/insert_sync/test_vadd_scalar.py",
    "test/kernels/test_bilinear_interpolation.py",
    "test/kernels/test_matmul.py",
    "test/kernels/test_matmul_torch.py",
    "test/kernels/test_vadd.py",
    "test/generalization/basic/test_aipp.py",
    "test/generalization/basic/test_axpy.py",
    "test/generalization/basic/test_copy.py",
    "test/generalization/basic/test_duplicate.py",
    "test/generalization/basic/test_trans_5hd_addr_tensor.py",
    "test/generalization/basic/test_trans_5hd_tensor_list.py",
    "test/generalization/basic/test_transpose.py",
    "test/generalization/basic/test_transpose_ext.py",
    "test/generalization/basic/test_vadd.py",
    "test/generalization/basic/test_vadd_bits.py",
    "test/generalization/basic/test_vadd_l0.py",
    "test/generalization/basic/test_vadd_sw.py",
    "test/generalization/basic/test_vadd_tiling.py",
    "test/generalization/basic/test_vadds.py",
    "test/generalization/basic/test_vsqrt.py",
    "test/generalization/adv/test_matmul.py",
    "test/generalization/adv/test_matmul_iterate_all.py",
    "test/generalization/adv/test_matmul_iterate_batch.py",
    "test/generalization/adv/test_matmul_quant.py",
    "test/generalization/adv/test_quant.py",
)
SUMMARY = re.compile(r"^(?:=+ )?((?:\d+ [\w ]+, )*\d+ [\w ]+) in \d.*$", re.M)  # `1 failed, 2 passed in 0.03s`
COUNTED = re.compile(r"(\d+) (passed|failed|error|errors|skipped)\b")
UNCACHED = ("-p", "no:cacheprovider")
RUN_ALL = ("-p", "no:skipping")  # tests that pyasc marks as skipped, for what their device lacks, are run too
LAST_LINES = 15  # of the output of a file that fails


def find(checkout: Path, name: str) -> Path:
    """The file that a name given on the command line means."""
    for base in (checkout / "python", checkout):
        if (base / name).is_file():
            return (base / name).resolve()
    sys.exit(f"upstream: no file {name!r} in {checkout} or {checkout / 'python'}")


def run(file: Path) -> tuple[bool, str, str]:
    """Whether a file passes, its counts, and its output."""
    tests = file.name.startswith("test_")
    if tests:
        plugin = ["-p", "ascsim.testing.plugin", "--ascsim-alias", "--ascsim-backend=Model"]
        command = ["-m", "pytest", "--color=no", *UNCACHED, *RUN_ALL, "-W", "default", *plugin, str(file)]
    else:
        command = ["-m", "ascsim", "run", str(file)]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *command], env=environment, cwd=file.parent, capture_output=True, text=True, check=False
    )
    ended = done.returncode == 0
    output = done.stdout + done.stderr
    if not tests:
        return ended, "script", output
    counted = counts(done.stdout)
    # A file whose tests are all skipped proves nothing.
    return ended and "passed" in counted, ", ".join(f"{n} {what}" for what, n in counted.items()) or "no tests", output


def counts(stdout: str) -> dict[str, str]:
    """What the last summary line of pytest counts."""
    summaries = SUMMARY.findall(stdout)
    return {what: n for n, what in COUNTED.findall(summaries[-1])} if summaries else {}


def warnings_of(output: str) -> list[str]:
    """The warnings of ascsim that a file has given."""
    return [line for line in output.splitlines() if "SimulatorWarning" in line]


def main() -> int:
    parser = argparse.ArgumentParser(description="Run pyasc's own tests and tutorials on ascsim.")
    parser.add_argument("checkout", type=Path, help="a checkout of pyasc")
    parser.add_argument("files", nargs="*", default=list(KNOWN), help="files to run (default: all that are known)")
    parser.add_argument("--silent", action="store_true", help="a warning of ascsim fails its file")
    given = parser.parse_args()
    files = [find(given.checkout, name) for name in given.files]
    passed = 0
    for file in files:
        ok, counted, output = run(file)
        if given.silent and (warned := warnings_of(output)):
            ok, counted = False, f"{counted}, {len(warned)} warnings"
        passed += ok
        print(f"{'pass' if ok else 'FAIL'}  {file.relative_to(given.checkout.resolve())}  ({counted})", flush=True)
        if not ok:
            print("".join(f"    {line}\n" for line in output.splitlines()[-LAST_LINES:]), end="", flush=True)
    print(f"{passed} of {len(files)} pass")
    return 0 if passed == len(files) else 1


if __name__ == "__main__":
    sys.exit(main())
