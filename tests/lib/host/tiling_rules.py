"""The documented rules of a Matmul tiling, written from the pages; nothing here comes from the package.

Pages: TCubeTiling structure (tables 1 to 3), SetFixSplit, SetSplitRange, SetSingleRange, SetAlignSplit, GetCoreNum,
EnableMultiCoreSplitK, SetBufferSpace. "Less than" of table 2 is read as "at most", as the recommended blocks need it.
"""

from __future__ import annotations

from dataclasses import dataclass

SIZE = {"float": 4, "half": 2, "int8": 1}
L0A = L0B = 65536
L0C, BT, L1 = 131072, 1024, 524288 - 256


@dataclass(frozen=True)
class Case:
    m: int
    n: int
    k: int
    dtype: str = "half"
    trans_a: bool = False
    trans_b: bool = False
    nz_a: bool = False
    nz_b: bool = False
    bias: bool = False
    cores: int = 1
    split_k: bool = False
    base: tuple[int, int, int] = (-1, -1, -1)
    l1: int = L1
    l0c: int = L0C
    mdl: bool = True

    @property
    def size(self) -> int:
        return SIZE[self.dtype]

    @property
    def c0(self) -> int:
        return 32 // self.size


def ceil(a: int, b: int) -> int:
    return -(-a // b)


def l1_bytes(case: Case, base_m: int, base_n: int, base_k: int, depth_a: int, depth_b: int) -> int:
    lines_m = ceil(base_m, case.c0) * case.c0 if case.trans_a else base_m
    lines_n = base_n if case.trans_b else ceil(base_n, case.c0) * case.c0
    used = lines_m * base_k * case.size * depth_a + lines_n * base_k * case.size * depth_b
    return used + (base_n * 4 if case.bias else 0)


def blocks_fit(case: Case, base_m: int, base_n: int, base_k: int) -> bool:
    """Whether one block of each matrix fits everywhere, with single buffers."""
    return (
        base_m * base_k * case.size <= L0A
        and base_n * base_k * case.size <= L0B
        and base_m * base_n * 4 <= case.l0c
        and (not case.bias or base_n * 4 <= BT)
        and l1_bytes(case, base_m, base_n, base_k, 1, 1) <= case.l1
    )


def broken(case: Case, t: dict[str, int]) -> list[str]:
    """The names of the rules that a tiling breaks."""
    faults = []

    def rule(name: str, holds: bool) -> None:
        if not holds:
            faults.append(name)

    positive = "used_core_num single_core_m single_core_n single_core_k base_m base_n base_k depth_a1 depth_b1 "
    positive += "step_m step_n step_k_a step_k_b"
    for name in positive.split():
        rule(f"{name} > 0", t[name] > 0)
    if faults:
        return faults
    rule("shape", (t["m"], t["n"], t["k_a"], t["k_b"]) == (case.m, case.n, case.k, case.k))
    rule("cores", t["used_core_num"] <= case.cores)
    parts = ceil(case.m, t["single_core_m"]) * ceil(case.n, t["single_core_n"]) * ceil(case.k, t["single_core_k"])
    rule("used cores are the parts", t["used_core_num"] == parts)
    rule("single_core_m <= m", t["single_core_m"] <= case.m)
    rule("single_core_n <= n", t["single_core_n"] <= case.n)
    rule("all of K", case.split_k or t["single_core_k"] == case.k)
    if case.nz_a:
        rule("nz a", t["single_core_m"] % 16 == 0 and t["single_core_k"] % case.c0 == 0)
    if case.nz_b:
        rule("nz b", t["single_core_n"] % 16 == 0 and t["single_core_k"] % case.c0 == 0)
    m, n, k = t["base_m"], t["base_n"], t["base_k"]
    straight = not case.trans_a and case.trans_b
    rule("base_m % 16", m % 16 == 0)
    rule("base_n % 16", n % 16 == 0)
    rule("base_k", k % (case.c0 if straight or case.base[2] != -1 else 16) == 0)
    rule("base_m <= part", m <= ceil(t["single_core_m"], 16) * 16)
    rule("base_n <= part", n <= ceil(t["single_core_n"], max(16, case.c0)) * max(16, case.c0))
    for name, fixed in zip(("base_m", "base_n", "base_k"), case.base, strict=True):
        rule(f"fixed {name}", fixed in (-1, t[name]))
    for name in ("db_l0a", "db_l0b", "db_l0c"):
        rule(name, t[name] in (1, 2))
    rule("L0A", m * k * case.size * t["db_l0a"] <= L0A)
    rule("L0B", n * k * case.size * t["db_l0b"] <= L0B)
    rule("L0C", m * n * 4 * t["db_l0c"] <= case.l0c)
    rule("bias table", not case.bias or n * 4 <= BT)
    rule("depth_a1", t["depth_a1"] in (t["step_m"] * t["step_k_a"], 2 * t["step_m"] * t["step_k_a"]))
    rule("depth_b1", t["depth_b1"] in (t["step_n"] * t["step_k_b"], 2 * t["step_n"] * t["step_k_b"]))
    rule("L1", l1_bytes(case, m, n, k, t["depth_a1"], t["depth_b1"]) <= case.l1)
    rule("is_bias", t["is_bias"] == int(case.bias))
    rule("iterate_order", t["iterate_order"] in (0, 1))
    if case.mdl:
        depth_k = t["single_core_k"]
        rule("step_m", t["step_m"] == 1 or t["step_k_a"] * k >= depth_k)
        rule("step_n", t["step_n"] == 1 or t["step_k_b"] * k >= depth_k)
        loads_a, loads_b = ceil(depth_k, k * t["step_k_a"]), ceil(depth_k, k * t["step_k_b"])
        rule("loads along K", loads_a % loads_b == 0 or loads_b % loads_a == 0)
    return faults


def exists(case: Case) -> bool:
    """Whether any tiling exists, by trying every block from one fractal up to 64 elements an axis, on one core."""
    straight = not case.trans_a and case.trans_b
    step = case.c0 if straight or case.base[2] != -1 else max(16, case.c0)
    choices = (range(16, 65, 16), range(16, 65, 16), range(step, 65, step))
    ranges = [[fixed] if fixed != -1 else list(own) for fixed, own in zip(case.base, choices, strict=True)]
    wide = max(16, case.c0)
    return any(
        m <= ceil(case.m, 16) * 16 and n <= ceil(case.n, wide) * wide and blocks_fit(case, m, n, k)
        for m in ranges[0]
        for n in ranges[1]
        for k in ranges[2]
    )
