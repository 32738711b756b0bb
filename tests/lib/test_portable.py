"""Rules of portability: each construct that pyasc refuses is named at its line; what is portable is left alone."""

from __future__ import annotations

import linecache
import re

import portable_kernels as kernels
import pytest

import ascsim as asc
from ascsim.lib.arguments import arranged
from ascsim.lib.portable import Verdict, remarks, remarks_of_all, seen_of
from ascsim.lib.reach import reached


def line_of(fn) -> int:
    """The line of a function that ends in `# here`."""
    first = fn.__code__.co_firstlineno
    lines = linecache.getlines(fn.__code__.co_filename)
    return next(n for n in range(first, len(lines) + 1) if lines[n - 1].endswith("# here\n"))


def named(kernel):
    """The remarks on a launch."""
    given = kernels.ARGUMENTS.get(kernel.fn.__name__, (5,))
    arguments = arranged(kernel.fn, kernel.signature, given, {}).arguments
    return remarks_of_all(kernel, given=seen_of(kernel, arguments))


@pytest.mark.parametrize("name", kernels.EXPECTED)
def test_a_construct_is_named_at_its_line(name):
    kernel = getattr(kernels, name)
    (remark,) = named(kernel)
    expected = re.escape(kernels.EXPECTED[name]).replace(re.escape("{}"), r"\d+")
    assert re.fullmatch(expected, remark.construct)
    assert (remark.file, remark.line) == (kernels.__file__, line_of(kernel.fn))
    groups = {
        Verdict.DIFFERS: kernels.DIFFERS,
        Verdict.STALE: kernels.STALE,
        Verdict.ENDS: kernels.ENDS,
        Verdict.ALONE: kernels.ALONE,
    }
    assert remark.verdict is next((verdict for verdict, names in groups.items() if name in names), Verdict.REFUSED)
    assert remark.remedy
    assert "{" not in str(remark)


def test_a_member_that_a_parameter_has_made_a_number_is_named_where_it_is_used():
    (remark,) = named(kernels.passes_members)
    assert remark.construct == "HardEvent from a parameter of a device function"
    assert (remark.line, remark.verdict) == (line_of(kernels.ordered.fn), Verdict.REFUSED)


def test_what_is_portable_is_left_alone():
    assert named(kernels.portable) == []
    assert remarks(kernels.portable) == []
    assert [known.fn.__name__ for known in reached(kernels.portable)] == ["portable", "helper"]
    assert remarks(kernels.helper, kernel=False) == []


def test_a_default_value_counts_for_kernels_alone():
    assert remarks(kernels.with_default, kernel=False) == []


def test_the_kernels_run_here():
    """What the rules name is portability alone: the simulator runs it (barring those that take more than a number)."""
    for name in kernels.EXPECTED:
        if name not in ("variadic", "newer"):
            with asc.settings(checks=asc.Checks.collect()):
                getattr(kernels, name)[1](*kernels.ARGUMENTS.get(name, (5,)))
    with asc.settings(checks=asc.Checks.collect()):
        kernels.portable[1](5)


def test_a_function_without_a_file():
    space = {"asc": asc}
    exec("def lost(n):\n    break_ = n\n", space)
    (remark,) = remarks(asc.jit(space["lost"]))
    assert remark.construct == "function without a source file"
