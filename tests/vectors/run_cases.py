"""Runs every case of a folder of published vectors.

    python tests/vectors/run_cases.py DIR [ID ...]

One row a case, then `N of M pass`; the exit code is 0 only if all do. `published.py` tells what DIR holds; a case
fails if its outputs are off, if it raises, or if it gives an ordering report that its traps do not name.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from published import read_cases, run_case  # noqa: E402


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run published vectors on ascsim.")
    parser.add_argument("folder", type=Path, help="a folder with cases.json and the npz files")
    parser.add_argument("ids", nargs="*", help="cases to run (default: all)")
    given = parser.parse_args(arguments)
    cases = read_cases(given.folder)
    unknown = set(given.ids) - {case["id"] for case in cases}
    if unknown:
        parser.error(f"no case {', '.join(sorted(unknown))} in {given.folder}")
    cases = [case for case in cases if not given.ids or case["id"] in given.ids]
    passed = 0
    for case in cases:
        try:
            run_case(given.folder, case)
        except Exception as error:
            lines = str(error).splitlines() or [""]
            print(f"FAIL  {case['id']}: {type(error).__name__}: {lines[0]}", flush=True)
        else:
            passed += 1
            print(f"pass  {case['id']}", flush=True)
    print(f"{passed} of {len(cases)} pass")
    return 0 if cases and passed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
