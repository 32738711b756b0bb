"""Whether the verdicts on order can be trusted: random kernels, judged beside two machines that share no code.

    python benchmarks/soundness.py [KERNELS] [--seed FIRST]

Each kernel (`tests/hazards/generated.py`) runs on the simulated machine, on an explicit graph of happens-before and on
queues with random choices. A breach is a hazard that two legal orders show and nobody reports, a report without a
witness, a false alarm, or a difference in order or deadlock (`tests/hazards/judge.py`). It is printed with its kernel
and makes the exit code 1, and so does a mix in which less than three in ten are clean, or faulty. Ten thousand kernels
(the default) take about five minutes. A kernel is its seed: `soundness.py 1 --seed N` judges number N alone.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "hazards"))

from generated import kernel
from judge import Outcome, judge

KERNELS = 10_000
LEAST = 0.3  # share of clean, and of faulty kernels


def main() -> int:
    parser = argparse.ArgumentParser(description="Judge random kernels against machines that share no code.")
    parser.add_argument("kernels", type=int, nargs="?", default=KERNELS, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first kernel (default: %(default)s)")
    given = parser.parse_args()
    outcomes, breaches = [], 0
    for seed in range(given.seed, given.seed + given.kernels):
        random = Random(seed)
        text = kernel(random)
        outcome = judge(text, random)
        outcomes.append(outcome)
        if outcome.breaches:
            breaches += 1
            print(f"seed {seed}: {'; '.join(outcome.breaches)}\n{text}", flush=True)
    lopsided = show(outcomes) if len(outcomes) >= 100 else False  # a mix of fewer says nothing
    print(f"{breaches} breaches")
    return 1 if breaches or lopsided else 0


def show(outcomes: list[Outcome]) -> bool:
    """Print what was judged; whether there is too little of a kind."""
    total = len(outcomes)
    kinds = Counter(outcome.kind for outcome in outcomes)
    print(f"{total} kernels: " + ", ".join(f"{n} {kind} ({n / total:.0%})" for kind, n in sorted(kinds.items())))
    for what in ("instructions", "pipes", "cores"):
        sizes = sorted(getattr(outcome, what) for outcome in outcomes)
        print(f"  {what}: {sizes[0]} to {sizes[-1]}, median {sizes[total // 2]}")
    codes = Counter(code for outcome in outcomes for code in outcome.codes)
    print("  kernels with " + ", ".join(f"{code} {n}" for code, n in sorted(codes.items())))
    reports, changed, equal = (sum(getattr(o, name) for o in outcomes) for name in ("reports", "changed", "equal"))
    print(f"  {reports} reports, each with a legal order in which the two accesses are swapped: the bytes differ in")
    print(f"  {changed}; in {equal} they are equal though the order is free")
    return min(kinds["clean"], kinds["faulty"]) < LEAST * total


if __name__ == "__main__":
    sys.exit(main())
