"""Kernel Python made runnable: the source rewrite of jit functions.

Two statements mean something else in a kernel than in Python, and are rewritten:

    with E as t: body          becomes   for p in passes(E): with p as t: body
    for i in range(...): body  becomes   for i in runtime_range(...): body

so that a `with` over a matmul iterator is a loop, and a loop counter is a run-time scalar. One expression costs less
made over: `t[i:]` becomes `tail(t, i)`, of the same value. Anything else stays the
author's own code: file, lines, columns, globals dictionary, closure cells and defaults. The names that the rewrite
brings in begin with a dot, which no author can write, and live in closure cells.

Not rewritten: a function whose source cannot be read (with a warning if that can matter); a `with` that a `break` or
`continue` inside would leave; comprehensions. A matmul iterator entered there raises, since its block would silently
run once.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import copy
import dis
import linecache
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any

from ascsim.hw.errors import SimulatorWarning
from ascsim.language.core.range import range as runtime_range
from ascsim.language.core.tail import tail

PASSES, RANGE, TAIL, PASS, OUTER = ".passes", ".range", ".tail", ".pass", ".outer"


def passes(manager: Any) -> Iterable[Any]:
    """The context managers that a `with` statement goes through: one a block for a matmul iterator, else itself.

    A matmul iterator is known by its method `_passes_`; each manager it yields gives the counter to `as`.
    """
    unroll = getattr(type(manager), "_passes_", None)
    return (manager,) if unroll is None else unroll(manager)


HELPERS = {PASSES: passes, RANGE: runtime_range, TAIL: tail}


def rewrite(fn: FunctionType) -> FunctionType:
    """`fn` with its loops and `with` statements made over, or `fn` itself where there are none."""
    found = definition(fn)
    if found is None:
        _warn_of_missing_source(fn)
        return fn
    transformer = _Transformer(_range_is_builtin(fn))
    node = copy.deepcopy(found.node)
    node.body = transformer.block(node.body)
    if not transformer.changed:
        return fn
    code = _compile(fn, node, found.owner)
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    cells.update((name, CellType(helper)) for name, helper in HELPERS.items())
    made = FunctionType(
        code, fn.__globals__, fn.__name__, fn.__defaults__, tuple(cells[name] for name in code.co_freevars)
    )
    made.__kwdefaults__, made.__annotations__ = fn.__kwdefaults__, fn.__annotations__
    made.__qualname__, made.__doc__, made.__module__ = fn.__qualname__, fn.__doc__, fn.__module__
    made.__dict__.update(fn.__dict__)
    return made


# --- finding the source ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Definition:
    """A `def` statement, and the name of the class around it (private names are mangled with it)."""

    node: ast.FunctionDef
    owner: str | None


def definition(fn: FunctionType) -> Definition | None:
    """The statement that defines `fn`, with the line numbers of its file; None where the source cannot be read."""
    code = fn.__code__
    text = "".join(linecache.getlines(code.co_filename, fn.__globals__))
    found = _definitions(text).get((code.co_name, code.co_firstlineno)) if text else None
    if found is None:
        return None
    spec = found.node.args
    names = [argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    same = len(names) == len(given) and all(map(str.endswith, given, names))  # `__x` is `_Owner__x` in code
    return found if same else None


@lru_cache(maxsize=64)
def _definitions(text: str) -> dict[tuple[str, int], Definition]:
    """Every `def` of a file under its name and first line (that of its first decorator, as code objects count)."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    found: dict[tuple[str, int], Definition] = {}
    pending: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while pending:
        node, owner = pending.pop()
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[node.name, first] = Definition(node, owner)
        inner = node.name if isinstance(node, ast.ClassDef) else owner
        pending.extend((child, inner) for child in ast.iter_child_nodes(node))
    return found


def _warn_of_missing_source(fn: FunctionType) -> None:
    """Say so where running unrewritten can make a difference. A lambda has no statements."""
    code = fn.__code__
    operations = {instruction.opname for inner in codes(code) for instruction in dis.get_instructions(inner)}
    loops = any("range" in inner.co_names for inner in codes(code)) and _range_is_builtin(fn)
    if code.co_name != "<lambda>" and (loops or operations & {"SETUP_WITH", "BEFORE_WITH"}):
        text = (
            f"{fn.__qualname__}: its source cannot be read, so it runs as plain Python: loops over `range` count in "
            "plain ints, and `with` over a matmul iterator raises"
        )
        warnings.warn_explicit(text, SimulatorWarning, code.co_filename, code.co_firstlineno)


def _range_is_builtin(fn: FunctionType) -> bool:
    """Whether the name `range` in `fn` and its inner functions can only mean Python's own."""
    local = any("range" in (*c.co_varnames, *c.co_cellvars, *c.co_freevars) for c in codes(fn.__code__))
    return not local and fn.__globals__.get("range", builtins.range) is builtins.range


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of its inner functions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


# --- rewriting ---------------------------------------------------------------------------------------------------


class _Transformer(ast.NodeTransformer):
    def __init__(self, range_is_builtin: bool) -> None:
        self.range_is_builtin = range_is_builtin
        self.changed = False

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [self.visit(statement) for statement in statements]

    def visit_With(self, node: ast.With) -> ast.stmt:
        leaves = any(_leaves(statement) for statement in node.body)
        inner = self.block(node.body)
        if leaves:
            node.body = inner
            return node
        self.changed = True
        for item in reversed(node.items):  # `with a, b:` is `with a: with b:`, and each may be a loop
            entered = ast.With([ast.withitem(_name(PASS, item, ast.Load()), item.optional_vars)], inner)
            calls = ast.Call(_name(PASSES, item, ast.Load()), [item.context_expr], [])
            loop = ast.For(_name(PASS, item, ast.Store()), ast.copy_location(calls, item.context_expr), [entered], [])
            ast.copy_location(entered, node)
            inner = [ast.copy_location(loop, node)]
        return inner[0]

    def visit_For(self, node: ast.For) -> ast.stmt:
        call = node.iter
        function = call.func if isinstance(call, ast.Call) else None
        if self.range_is_builtin and isinstance(function, ast.Name) and function.id == "range":
            function.id = RANGE
            self.changed = True
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        key = node.slice
        if not isinstance(key, ast.Slice) or key.lower is None or key.upper or key.step:
            return node
        if not isinstance(node.ctx, ast.Load):
            return node
        self.changed = True
        function = ast.copy_location(ast.Name(TAIL, ast.Load()), node)
        return ast.copy_location(ast.Call(function, [node.value, key.lower], []), node)


def _name(name: str, where: ast.withitem, context: ast.expr_context) -> ast.Name:
    return ast.copy_location(ast.Name(name, context), where.context_expr)


def _leaves(node: ast.AST) -> bool:
    """Whether a `break` or `continue` in the statement is meant for a loop around it."""
    if isinstance(node, (ast.Break, ast.Continue)):
        return True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return False
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):  # its `else` is outside it
        return any(map(_leaves, node.orelse))
    return any(map(_leaves, ast.iter_child_nodes(node)))


def _compile(fn: FunctionType, node: ast.FunctionDef, owner: str | None) -> CodeType:
    """The code object of the made-over definition: compiled inside a function that has its free names."""
    spec = node.args
    for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg):
        if argument is not None:
            argument.annotation = None
    spec.defaults, spec.kw_defaults = [], [None] * len(spec.kwonlyargs)
    node.decorator_list, node.returns = [], None
    if sys.version_info >= (3, 12):
        node.type_params = []

    inner: ast.stmt = node
    if owner is not None:
        inner = ast.ClassDef(owner, [], [], [node], [])
        if sys.version_info >= (3, 12):
            inner.type_params = []
    free = fn.__code__.co_freevars
    bound = owner or node.name
    outer = ast.parse("def outer(): pass").body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.name = OUTER
    outer.args.args = [ast.arg(name) for name in (*free, *HELPERS)]
    outer.body = [inner] if bound in free else [ast.Global([bound]), inner]  # else it would hide a global of that name
    module = ast.fix_missing_locations(ast.Module([outer], []))

    flags = fn.__code__.co_flags & __future__.annotations.compiler_flag
    compiled = compile(module, fn.__code__.co_filename, "exec", flags=flags, dont_inherit=True)
    code = next(c for c in codes(compiled) if c.co_name == node.name and c.co_firstlineno == node.lineno)
    if sys.version_info >= (3, 11):
        code = code.replace(co_qualname=fn.__code__.co_qualname)
    return code
