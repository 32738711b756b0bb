"""The tiling of a product: which part each core gets, the blocks of a part, and what of them L1 holds.

A tiling is found wherever one exists: all rules about memories grow with the blocks, so the smallest blocks that are
allowed decide. Among those that fit, the cheapest by `tiling_cost` wins; of about equal ones that with the larger
blocks. The Norm template brings one block at a time to L1, whatever the steps along K.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm
from typing import NamedTuple

from ...hw.errors import ArgumentValueError
from ..fractals import SIDE, align_up
from .tiling_cost import Block, Loads, compute, one_pass, total
from .tiling_rules import ACCUMULATOR, Breach, Cut, Product, Room, breaches

AXES = ("m", "n", "k")
_INT32 = (1 << 31) - 1
_USUAL = (128, 256, 64)  # the blocks that the page recommends
_BLOCKS_TRIED = 3  # of the cheapest at first sight
_EQUAL = 1.05  # costs that differ by less count as equal


class Range(NamedTuple):
    """Least and most, in elements."""

    low: int = 1
    high: int = _INT32


FREE = (Range(), Range(), Range())


@dataclass(frozen=True)
class Problem:
    """What is to be cut. Triples are along M, N and K."""

    product: Product
    room: Room
    shape: tuple[int, int, int]
    whole: tuple[int, int, int, int]  # m, n, k_a, k_b of the matrices in global memory
    cores: int = 1
    is_bias: bool = False
    fixed: tuple[int, int, int] = (0, 0, 0)  # the part of a core, where it is given
    single: tuple[Range, Range, Range] = FREE
    align: tuple[int, int, int] = (1, 1, 1)
    base: tuple[Range, Range, Range] = FREE
    split_k: bool = False
    batch: int = 0  # products whose matrices are in L1 together
    order: int | None = None
    mdl: bool = True
    outer: bool = False  # two blocks of C at a time

    @property
    def units(self) -> tuple[int, int, int]:
        """What the blocks are multiples of; along K that may be `k_least`, where the range leaves nothing else."""
        (low, high), product = self.base[2], self.product
        k = product.k_whole if align_up(low, product.k_whole) <= high else product.k_least
        return product.m_least, product.n_least, k

    def lowest(self, axis: int) -> int:
        """The smallest block along an axis."""
        return align_up(self.base[axis].low, self.units[axis])


class Part(NamedTuple):
    """The part of a core, and the number of cores."""

    m: int
    n: int
    k: int
    cores: int


def search(operation: str, problem: Problem) -> Cut:
    """The cheapest tiling; an ArgumentValueError that names a rule where none satisfies them all."""
    for breach in _inputs(problem):
        raise _refusal(operation, breach)
    parts = _parts(operation, problem)
    reasons = [_reason(problem, part) for part in parts]
    fitting = [part for part, reason in zip(parts, reasons, strict=True) if reason is None]
    for part in sorted(fitting, key=lambda part: (_first_sight(problem, part), part.cores)):
        best = _best(problem, part)
        if best is not None:
            return best
    raise _refusal(operation, next(filter(None, reasons)))


def _refusal(operation: str, breach: Breach) -> ArgumentValueError:
    field, value, rule, nearest = breach
    return ArgumentValueError(operation, "no tiling", operand=field, value=value, rule=rule, nearest=nearest)


def _inputs(problem: Problem) -> Iterator[Breach]:
    """Rules that no tiling can satisfy if the shape or the ranges break them."""
    product = problem.product
    for axis, size in zip(AXES, problem.shape, strict=True):
        if size < 1:
            yield Breach(axis, size, "1 or more: set_shape or set_org_shape", 1)
    for axis, size, most in zip(AXES[:2], problem.shape, problem.whole, strict=False):
        if size > most:
            yield Breach(axis, size, f"at most {most}, the matrix of set_org_shape", most)
    m, n, k_a, k_b = problem.whole
    sides = [
        (product.a, "m", m, SIDE),
        (product.a, "k_a", k_a, product.a.c0),
        (product.b, "n", n, SIDE),
        (product.b, "k_b", k_b, product.b.c0),
    ]
    if product.c is not None:
        sides.append((product.c, "n", n, product.c.c0))
    for matrix, name, size, step in sides:
        if matrix.is_nz and size % step:
            yield Breach(name, size, f"a multiple of {step}, for the NZ layout", align_up(size, step))
    if problem.split_k and problem.is_bias:
        yield Breach("is_bias", 1, "no bias where cores share K", 0)
    for i, (name, given) in enumerate(zip(AXES, problem.base, strict=True)):
        if problem.lowest(i) > given.high:
            rule = f"a multiple of {problem.units[i]} from {given.low} to {given.high}"
            yield Breach(f"base_{name}", given.high, rule)


def _steps(problem: Problem) -> tuple[int, int, int]:
    """What a core's part is a multiple of, unless it is all there is."""
    a, b = problem.product.a, problem.product.b
    plain = (max(SIDE, a.c0) if a.is_trans else SIDE, SIDE if b.is_trans else max(SIDE, b.c0), problem.product.k_whole)
    plain = plain[0], max(plain[1], problem.product.n_least), plain[2]
    m, n, k = (lcm(step, wish) for step, wish in zip(plain, problem.align, strict=True))
    return m, n, k


def _sizes(problem: Problem, axis: int) -> list[int]:
    """Sizes that a core's part may have along an axis: the smallest for each number of cores, and the largest."""
    shape, fixed = problem.shape[axis], problem.fixed[axis]
    if fixed:
        return [fixed] if fixed <= problem.whole[axis] else []
    low, high = problem.single[axis]
    if axis < 2:
        widest = max(SIDE, problem.product.b.c0) if axis else SIDE
        low = max(low, problem.lowest(axis) - widest + 1)  # a block is no larger than the part, rounded up
    if axis == 2 and not problem.split_k:
        return [shape] if low <= shape <= high else []
    step = _steps(problem)[axis]
    sizes = {shape, min(high, shape) // step * step}
    sizes |= {
        min(shape, max(align_up(-(-shape // count), step), align_up(low, step)))
        for count in range(1, problem.cores + 1)
    }
    return sorted(size for size in sizes if size >= max(low, 1) and size <= high)


def _parts(operation: str, problem: Problem) -> list[Part]:
    """Every way to share the product between the cores."""
    sizes = [_sizes(problem, axis) for axis in range(3)]
    for name, axis in zip(AXES, range(3), strict=True):
        if not sizes[axis]:
            low, high = problem.single[axis]
            rule = f"{low} to {high}, at most {name} = {problem.shape[axis]}"
            if axis < 2 and problem.lowest(axis) > SIDE:
                rule += f", and not below base_{name} = {problem.lowest(axis)}"
            raise _refusal(operation, Breach(f"single_core_{name}", problem.fixed[axis] or problem.shape[axis], rule))
    found, fewest = [], 0
    for m in sizes[0]:
        for n in sizes[1]:
            for k in sizes[2]:
                counts = [-(-whole // part) for whole, part in zip(problem.shape, (m, n, k), strict=True)]
                cores = counts[0] * counts[1] * counts[2]
                fewest = min(fewest or cores, cores)
                if cores <= problem.cores or any(problem.fixed):
                    found.append(Part(m, n, k, min(cores, problem.cores)))
    if not found:
        rule = f"{problem.cores} cores: m / single_core_m * n / single_core_n, with the largest parts allowed"
        raise _refusal(operation, Breach("used_core_num", fewest, rule))
    needed = [(_batch_bytes(problem, part), part) for part in found]
    fitting = [part for size, part in needed if size <= problem.room.l1]
    if not fitting:
        size = min(size for size, _ in needed)
        rule = f"the matrices of all products of a core take {size} bytes, L1 has {problem.room.l1}"
        raise _refusal(operation, Breach("batch_num", problem.batch, rule))
    return fitting


def _batch_bytes(problem: Problem, part: Part) -> int:
    """Bytes of L1 that the products of a batch need together."""
    a, b = problem.product.a, problem.product.b
    k = align_up(part.k, a.c0)
    once = align_up(part.m, SIDE) * k * a.dtype.size + align_up(part.n, SIDE) * k * b.dtype.size
    return problem.batch * (once + part.n * a.dtype.size * problem.is_bias)


def _first_sight(problem: Problem, part: Part) -> float:
    """Cycles of a part with the usual blocks."""
    m, n, k = (
        max(problem.lowest(axis), min(usual, align_up(part[axis], problem.units[axis]), problem.base[axis].high))
        for axis, usual in enumerate(_USUAL)
    )
    block = Block(m, n, k, -(-part.m // m), -(-part.n // n), -(-part.k // k), 2, 2, 2)
    return max(compute(problem.product, part[:3], block), _one_by_one(problem, part, block))


def _one_by_one(problem: Problem, part: Part, block: Block) -> float:
    """Cycles to bring to L1 what each block needs, in as few loads along K as the template makes."""
    a, b = problem.product.a, problem.product.b
    along_k = 1 if problem.mdl else block.count_k
    loads_a = one_pass(a, part.m, part.k, block.count_m, along_k, a.is_trans)
    loads_b = one_pass(b, part.n, part.k, block.count_n, along_k, not b.is_trans)
    return loads_a * block.count_n + loads_b * block.count_m


def _even(size: int, step: int, low: int, high: int) -> list[int]:
    """Multiples of `step` from low to high that cut `size` evenly, and powers of two."""
    ends = {low, high // step * step, min(align_up(size, step), high // step * step)}
    even = {align_up(-(-size // count), step) for count in range(1, max(size // step, 1) + 1)}
    powers = {step << shift for shift in range(8)}
    return sorted(each for each in ends | even | powers if low <= each <= high)


def _blocks(problem: Problem, part: Part) -> Iterator[Block]:
    """Blocks that fit L0 and, one of A and one of B, L1."""
    product, space, units = problem.product, problem.room, problem.units
    size_a, size_b = product.a.dtype.size, product.b.dtype.size
    widest = max(SIDE, product.b.c0)
    most_m = min(problem.base[0].high, align_up(part.m, SIDE))
    most_n = min(problem.base[1].high, align_up(part.n, widest), space.bt // ACCUMULATOR if problem.is_bias else _INT32)
    low_k = problem.lowest(2)
    if problem.outer and (problem.mdl or problem.batch):
        low_k = max(low_k, align_up(part.k, units[2]))
    top_k = min(problem.base[2].high, max(align_up(part.k, units[2]), low_k))
    least_c = ACCUMULATOR * (2 if problem.outer else 1)
    for m in _even(part.m, units[0], problem.lowest(0), min(most_m, space.l0a // (low_k * size_a))):
        columns = min(most_n, space.l0c // (m * least_c), space.l0b // (low_k * size_b))
        for n in _even(part.n, units[1], problem.lowest(1), columns):
            count_m, count_n = -(-part.m // m), -(-part.n // n)
            bytes_c = m * n * ACCUMULATOR
            db_l0c = 2 if 2 * bytes_c <= space.l0c and (count_m * count_n > 1 or problem.outer) else 1
            deep = min(space.l0a // (2 * m * size_a), space.l0b // (2 * n * size_b), top_k) // units[2] * units[2]
            depths = {low_k}
            if deep > low_k:  # all of K, or a power of two: rows that global memory reads in whole pieces
                depths.add(deep if deep >= part.k else 1 << deep.bit_length() - 1)
            for k in depths:
                if k % units[2] or not low_k <= k <= max(deep, low_k):
                    continue
                if product.a1(m, k) + product.b1(n, k) + product.row1(n) > space.l1:
                    continue
                db_l0a = 1 + (2 * m * k * size_a <= space.l0a)
                db_l0b = 1 + (2 * n * k * size_b <= space.l0b)
                yield Block(m, n, k, count_m, count_n, -(-part.k // k), db_l0a, db_l0b, db_l0c)


def _best(problem: Problem, part: Part) -> Cut | None:
    """The cheapest tiling of a part; None where no block fits."""
    rated = []
    for block in _blocks(problem, part):
        inner = compute(problem.product, part[:3], block)
        cycles = max(inner, _one_by_one(problem, part, block))
        rated.append((cycles, -block.m * block.n, -block.n, -block.k, inner, block))
    rated.sort()
    ways = []
    for *_, inner, block in rated[:_BLOCKS_TRIED]:
        way = _into_l1(problem, part, block, inner)
        if way is not None:
            ways.append((way[0], block, way[1:]))
    if not ways:
        return None
    most = min(cycles for cycles, *_ in ways) * _EQUAL
    _, block, loads_of = max((way for way in ways if way[0] <= most), key=lambda way: (way[1].k, -way[0]))
    return _cut(problem, part, block, *loads_of)


def _into_l1(problem: Problem, part: Part, block: Block, inner: float) -> tuple[float, Loads, Loads, int] | None:
    """The cheapest loads of a block's matrices that L1 holds together: cycles, those of A and B, order."""
    best = None
    orders = (0, 1) if problem.order is None else (problem.order,)
    space = problem.room.l1
    for order in orders[:1] if problem.outer else orders:
        sides_a = _loads(problem, part, block, True, 2 if problem.outer and order == 1 else 1)
        sides_b = _loads(problem, part, block, False, 2 if problem.outer and order == 0 else 1)
        for a in sides_a:
            for b in sides_b:
                if a.room + b.room + problem.product.row1(block.n) * b.step > space:
                    continue
                if problem.order is not None and not problem.outer and (a if order else b).step > 1:
                    continue  # blocks of one load follow each other: not the order that was asked for
                if problem.mdl and a.along_k % b.along_k and b.along_k % a.along_k:
                    continue
                cycles = total(inner, a, b, order)
                rank = (cycles, -a.db - b.db, -a.step_k * a.step - b.step_k * b.step)
                if best is None or rank < best[0]:
                    best = rank, a, b, order
    return None if best is None else (best[0][0], *best[1:])


def _loads(problem: Problem, part: Part, block: Block, of_a: bool, least: int) -> list[Loads]:
    """Ways to bring one matrix to L1, those that would fill it alone left out; `least` blocks along M or N."""
    product = problem.product
    matrix, lines = (product.a, part.m) if of_a else (product.b, part.n)
    count, turned = (block.count_m, matrix.is_trans) if of_a else (block.count_n, not matrix.is_trans)
    one = product.a1(block.m, block.k) if of_a else product.b1(block.n, block.k)
    found = []
    # MDL brings whole columns of a matrix that is stored across: blocks that end inside one come one by one
    alone = problem.mdl and turned and (block.m if of_a else block.n) % matrix.c0 != 0
    for step_k in _quotients(block.count_k):
        whole_k = step_k == block.count_k
        steps = {max(least, step) for step in (_quotients(count) if whole_k and not alone else (1,))}
        for step in steps:
            groups, along_k = -(-count // step), -(-block.count_k // step_k)
            cycles = one_pass(matrix, lines, part.k, groups, along_k if problem.mdl else block.count_k, turned)
            resident = whole_k and groups == 1
            smallest = step_k == 1 and step == least
            for db in (1,) if resident or matrix.in_l1 else (1, 2) if smallest else (2,):
                room = one * step * step_k * db
                if room <= problem.room.l1:
                    found.append(Loads(step, step_k, db, room, cycles, groups, along_k, whole_k, resident))
    return found


def _quotients(count: int) -> list[int]:
    """Steps that cut `count` blocks into few equal loads, and one block at a time."""
    loads = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, count}
    return sorted({-(-count // each) for each in loads if each <= count})


def _cut(problem: Problem, part: Part, block: Block, a: Loads, b: Loads, order: int) -> Cut:
    return Cut(
        part.cores,
        *problem.whole,
        *part[:3],
        block.m,
        block.n,
        block.k,
        a.step * a.step_k * a.db,
        b.step * b.step_k * b.db,
        a.step,
        b.step,
        a.step_k,
        b.step_k,
        int(problem.is_bias),
        order,
        block.db_l0a,
        block.db_l0b,
        block.db_l0c,
    )


def _reason(problem: Problem, part: Part) -> Breach | None:
    """The rule that the smallest blocks break, if they do."""
    m, n, k = (problem.lowest(axis) for axis in range(3))
    for axis, widest in ((0, SIDE), (1, max(SIDE, problem.product.b.c0))):
        most = align_up(part[axis], widest)
        if problem.lowest(axis) > most:
            rule = f"at most {most}, single_core_{AXES[axis]} rounded up"
            return Breach(f"base_{AXES[axis]}", problem.lowest(axis), rule, most)
    doubled = 2 if problem.outer else 1
    if problem.outer and (problem.mdl or problem.batch) and k < part.k:
        k = align_up(part.k, problem.units[2])
    order = problem.order or 0
    step_m, step_n = (doubled if order == 1 else 1), (doubled if order == 0 else 1)
    whole, bias = problem.whole, int(problem.is_bias)
    steps = (step_m, step_n, step_m, step_n, 1, 1)  # depths, then steps
    cut = Cut(part.cores, *whole, *part[:3], m, n, k, *steps, bias, order, 1, 1, doubled)
    return next(breaches(cut, problem.product, problem.room, _INT32, problem.mdl), None)
