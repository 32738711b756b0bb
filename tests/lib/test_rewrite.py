"""The source rewrite: what loops and `with` become, and all that must stay the author's own."""

# ruff: noqa: RET503, B007, C416 - the bodies are the inputs of these tests
from __future__ import annotations

import functools
import linecache
import sys
import traceback
import warnings
from contextlib import contextmanager, suppress

import pytest

from ascsim.hw.errors import SimulatorWarning
from ascsim.language.core.ir_value import PlainValue
from ascsim.lib.rewrite import passes, rewrite

LOG: list[object] = []


class Blocks:
    """Stands for a matmul iterator of three blocks."""

    def __init__(self, many: int = 3) -> None:
        self.many = many
        self.left: list[object] = []

    def _passes_(self):
        for number in range(self.many):

            @contextmanager
            def manager(number=number):
                try:
                    yield number
                finally:
                    self.left.append(number)

            yield manager()


@contextmanager
def plain(log: list[object]):
    log.append("enter")
    try:
        yield "value"
    finally:
        log.append("exit")


def line_of(text: str) -> int:
    """Line of this file that holds a marker comment."""
    lines = linecache.getlines(__file__)
    return next(number for number, line in enumerate(lines, 1) if f"# {text}\n" in line)


# --- with ----------------------------------------------------------------------------------------------------------


def test_with_over_an_iterator_runs_the_body_once_a_block():
    def body(blocks):
        counts = []
        with blocks as count:
            counts.append(count)
        return counts

    blocks = Blocks()
    assert rewrite(body)(blocks) == [0, 1, 2]
    assert blocks.left == [0, 1, 2]


def test_with_without_as_is_a_loop_too():
    def body(blocks):
        turns = 0
        with blocks:
            turns += 1
        return turns

    assert rewrite(body)(Blocks()) == 3
    assert rewrite(body)(Blocks(0)) == 0


def test_two_items_are_nested_loops():
    def body(a, b):
        pairs = []
        with a as i, b as j:
            pairs.append((i, j))
        return pairs

    assert rewrite(body)(Blocks(2), Blocks(2)) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_later_item_may_use_an_earlier_one():
    def body():
        with Blocks(3) as i, Blocks(i) as j:
            LOG.append((i, j))

    LOG.clear()
    rewrite(body)()
    assert LOG == [(1, 0), (2, 0), (2, 1)]


def test_nested_with_statements_keep_their_own_managers():
    def body(outer, inner, log):
        with outer as i:
            with inner as j:
                log.append((i, j))
            log.append(i)

    log: list[object] = []
    outer, inner = Blocks(2), Blocks(1)
    rewrite(body)(outer, inner, log)
    assert log == [(0, 0), 0, (1, 0), 1]
    assert outer.left == [0, 1]
    assert inner.left == [0, 0]


def test_an_ordinary_context_manager_runs_once():
    def body(log):
        with plain(log) as value:
            log.append(value)

    log: list[object] = []
    rewrite(body)(log)
    assert log == ["enter", "value", "exit"]


def test_return_inside_with_leaves_it():
    def body(blocks):
        with blocks as count:
            if count == 1:
                return count
        return None

    blocks = Blocks()
    assert rewrite(body)(blocks) == 1
    assert blocks.left == [0, 1]


def test_an_exception_leaves_through_exit():
    def body(log):
        with plain(log):
            raise KeyError("mine")

    log: list[object] = []
    with pytest.raises(KeyError, match="mine"):
        rewrite(body)(log)
    assert log == ["enter", "exit"]


def test_suppression_keeps_its_meaning():
    def body():
        with suppress(KeyError):
            raise KeyError
        return "after"

    assert rewrite(body)() == "after"


def test_with_that_a_break_leaves_is_not_made_a_loop():
    def body(blocks):
        for _ in [1, 2]:
            with blocks:
                break

    with pytest.raises((AttributeError, TypeError)):  # Blocks is no context manager: it was really entered
        rewrite(body)(Blocks())


def test_with_that_a_break_leaves_still_breaks():
    def body(log):
        for turn in [1, 2, 3]:
            with plain(log):
                if turn == 2:
                    break
                continue
        return turn

    log: list[object] = []
    assert rewrite(body)(log) == 2
    assert log == ["enter", "exit", "enter", "exit"]


def test_break_of_a_loop_inside_with_is_no_reason_to_leave_it_alone():
    def body(blocks):
        turns = 0
        with blocks:
            for _ in [1, 2]:
                turns += 1
                break
        return turns

    assert rewrite(body)(Blocks()) == 3


def test_break_in_the_else_of_an_inner_loop_is_meant_for_the_outer():
    def body(log):
        for turn in [1, 2]:
            with plain(log):
                for _ in []:
                    pass
                else:
                    break
        return turn

    assert rewrite(body)([]) == 1


def test_as_may_be_a_tuple_or_attribute():
    def body(owner):
        with passes_pair() as (owner.first, second):
            pass
        return second

    class Owner:
        first = None

    owner = Owner()
    assert rewrite(body)(owner) == 2
    assert owner.first == 1


@contextmanager
def passes_pair():
    yield 1, 2


def test_passes_of_anything_else_is_itself():
    manager = plain([])
    assert list(passes(manager)) == [manager]


# --- for -----------------------------------------------------------------------------------------------------------


def test_range_counts_in_runtime_scalars():
    def body():
        return [type(i).__name__ for i in range(2)], loop()  # a comprehension is not a statement

    def loop():
        found = []
        for i in range(1, 7, 2):
            found.append(i)
        return found

    counted = rewrite(loop)()
    assert all(isinstance(i, PlainValue) for i in counted)
    assert [i.v for i in counted] == [1, 3, 5]
    assert rewrite(body)()[0] == ["int", "int"]


def test_range_of_the_author_stays():
    def as_parameter(range):
        return [i for i in loop_over(range)]

    def loop_over(range):
        found = []
        for i in range(2):
            found.append(i)
        return found

    def as_local():
        range = lambda n: "ab"  # noqa: E731
        found = ""
        for i in range(2):
            found += i
        return found

    assert rewrite(loop_over)(lambda n: [7]) == [7]
    assert rewrite(as_local)() == "ab"
    assert as_parameter(lambda n: [7]) == [7]


def test_range_of_an_enclosing_function_stays():
    range = lambda n: ["mine"]  # noqa: E731

    def body():
        for i in range(2):
            return i

    assert rewrite(body)() == "mine"


def test_range_of_the_module_stays():
    space: dict[str, object] = {}
    name = "<module with a range>"
    text = "range = lambda n: ['global']\ndef body():\n    for i in range(2):\n        return i\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), space)
    assert rewrite(space["body"])() == "global"


def test_for_else_and_continue_are_pythons():
    def body():
        found = []
        for i in range(3):
            if i == 1:
                continue
            found.append(i.v)
        else:
            found.append("else")
        return found

    assert rewrite(body)() == [0, 2, "else"]


def test_a_tail_slice_is_what_python_makes_of_it():
    def body(log):
        def note(value):
            log.append(value)
            return value

        class Echo:
            def __getitem__(self, key):
                return key

        numbers = [1, 2, 3]
        numbers[2:] = [4, 5]
        del numbers[3:]
        inner = [text[1:] for text in ("ab", "cd")]
        slices = Echo()[1:], Echo()[None:], Echo()[:2], Echo()[1:2], Echo()[1::3], Echo()[1:, 2:]
        return note(numbers)[note(1) :], inner, slices

    log: list[object] = []
    assert rewrite(body)(log) == (
        [2, 4],
        ["b", "d"],
        (slice(1, None), slice(None), slice(None, 2), slice(1, 2), slice(1, None, 3), (slice(1, None), slice(2, None))),
    )
    assert log == [[1, 2, 4], 1]


def test_loops_of_inner_functions_are_rewritten():
    def body():
        def inner():
            for i in range(1):
                return i

        return inner()

    assert isinstance(rewrite(body)(), PlainValue)


# --- what stays the author's ----------------------------------------------------------------------------------------


def test_a_function_without_loops_is_untouched():
    def body(x):
        return x + 1

    def over_a_list(xs):
        for x in xs:
            return x

    assert rewrite(body) is body
    assert rewrite(over_a_list) is over_a_list


@pytest.mark.parametrize("body", ["for i in range(2):\n        return i", "with thing: pass"])
def test_a_function_without_source_is_untouched_with_a_warning(body):
    space: dict[str, object] = {}
    exec(f"def body():\n    {body}\n", space)
    with pytest.warns(SimulatorWarning, match="body: its source cannot be read, so it runs as plain Python"):
        assert rewrite(space["body"]) is space["body"]


def test_a_function_without_source_to_which_it_makes_no_difference():
    space: dict[str, object] = {}
    exec("def body(x):\n    return [i for i in x]\n", space)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rewrite(space["body"]) is space["body"]
        function = lambda: [i for i in range(2)]  # noqa: E731
        assert rewrite(function) is function


def test_globals_are_the_same_dictionary_and_hold_nothing_new():
    def body():
        for i in range(1):
            LOG.append(i)

    before = set(globals())
    made = rewrite(body)
    made()
    assert made.__globals__ is globals()
    assert set(globals()) == before


def test_closure_cells_are_shared():
    seen = 1

    def body():
        nonlocal seen
        for _ in range(1):
            seen += 1
        return seen

    made = rewrite(body)
    assert made() == 2
    assert seen == 2
    seen = 10
    assert made() == 11


def test_a_variable_of_the_enclosing_function_may_be_assigned_later():
    def body():
        for _ in range(1):
            return late

    made = rewrite(body)
    late = "now"
    assert made() == "now"


def test_defaults_keywords_annotations_and_names_are_carried_over():
    def body(a, /, b: int = 2, *rest, c: str = "c", **more) -> int:
        """What it does."""
        for _ in range(1):
            pass
        return a, b, rest, c, more

    body.mark = "kept"
    made = rewrite(body)
    assert made is not body
    assert made(1) == (1, 2, (), "c", {})
    assert made(1, 3, 4, c=5, d=6) == (1, 3, (4,), 5, {"d": 6})
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__", "__defaults__", "mark"):
        assert getattr(made, name) == getattr(body, name)
    assert made.__kwdefaults__ == {"c": "c"}


def default():
    LOG.append("default evaluated")
    return 1


def test_defaults_and_decorators_are_not_evaluated_again():
    LOG.clear()
    undecorated = []

    def note(fn):
        LOG.append("decorated")
        undecorated.append(fn)
        return fn

    @note
    def body(x=default()):  # noqa: B008
        for _ in range(1):
            pass
        return x

    assert rewrite(body)() == 1
    assert LOG == ["default evaluated", "decorated"]


def test_a_wrapper_is_not_taken_for_what_it_wraps():
    def note(fn):
        @functools.wraps(fn)
        def wrapper(*args):
            for i in range(1):
                return "wrapper", fn(*args), i

        return wrapper

    @note
    def body():
        return "body"

    made = rewrite(body)()
    assert made[:2] == ("wrapper", "body")
    assert isinstance(made[2], PlainValue)


def test_decorators_over_several_lines():
    def marked(**options):
        return lambda fn: fn

    @marked(
        a=1,
        b=2,
    )
    @marked()
    def body():
        for i in range(1):
            return i

    assert isinstance(rewrite(body)(), PlainValue)


def again(n):
    for _ in range(1):
        return n if n == 0 else again(n - 1)


def test_a_function_of_a_module_that_calls_itself():
    assert rewrite(again)(3) == 0


class Base:
    def name(self):
        return "base"


class Owner(Base):
    __private = "private"

    def name(self):
        for _ in range(1):
            return super().name(), self.__private, __class__, Owner

    def mangled(self, __value):
        for _ in range(1):
            return __value


def test_methods_keep_super_private_names_and_their_class():
    assert rewrite(Owner.name)(Owner()) == ("base", "private", Owner, Owner)
    assert rewrite(Owner.mangled)(Owner(), 5) == 5


def test_a_method_of_a_local_class():
    class Local(Base):
        def name(self):
            for i in range(1):
                return super().name(), Local, i

    made = rewrite(Local.name)(Local())
    assert made[:2] == ("base", Local)
    assert isinstance(made[2], PlainValue)


def fails(log):
    local = 5
    for i in range(3):
        with plain(log):
            if i == 1:
                raise ValueError(local)  # the line that fails


def test_a_traceback_ends_at_the_authors_line_with_the_authors_names():
    with pytest.raises(ValueError, match="5") as caught:
        rewrite(fails)([])
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert frame.filename == __file__
    assert frame.lineno == line_of("the line that fails")
    assert frame.name == "fails"
    last = caught.tb
    while last.tb_next is not None:
        last = last.tb_next
    names = last.tb_frame.f_locals
    assert names["local"] == 5
    assert {name for name in names if not name.startswith(".")} == {"log", "local", "i"}


def test_every_line_of_the_body_keeps_its_number():
    def lines(code):
        return {line for *_, line in code.co_lines() if line is not None}

    def inside(code):
        return lines(code) - {code.co_firstlineno}

    assert inside(rewrite(fails).__code__) >= inside(fails.__code__)
    assert rewrite(fails).__code__.co_filename == fails.__code__.co_filename


@pytest.mark.skipif(sys.version_info < (3, 11), reason="columns are recorded since 3.11")
def test_columns_of_an_indented_function_are_kept():
    def body(x):
        for _ in range(1):
            return x.missing + 1

    with pytest.raises(AttributeError) as caught:
        rewrite(body)(1)
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert frame.line[frame.colno - 12 : frame.end_colno - 12] == "x.missing"


def test_annotations_are_not_evaluated_again():
    def body(x: "nowhere.at.all" = 1) -> "nor.this":  # noqa: F821, UP037
        for _ in range(1):
            return x

    assert rewrite(body)() == 1


def test_breakpoint_stops_in_the_authors_function(monkeypatch):
    def body():
        for i in range(1):
            breakpoint()
        return i

    seen = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: seen.append(sys._getframe(1)))
    rewrite(body)()
    assert seen[0].f_code.co_name == "body"
    assert seen[0].f_code.co_filename == __file__
