"""Portability of kernels: constructs that run here but that pyasc's compiler refuses, or compiles to something else.

    for remark in remarks(kernel):
        print(remark.text)

From rules of our own, so that pyasc need not be installed. The rules go by the text of a function and by what its
global names mean now; what depends on the type of a run-time value (`**` of a run-time number, an `assert` on one) is
left to pyasc, which is the better judge. The tables of rules are in `portable_rules`.
"""

from __future__ import annotations

import ast
import builtins
import linecache
from collections import Counter
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

from ascsim.language.core.constexpr import ConstExpr
from ascsim.language.core.range import range as runtime_range
from ascsim.language.core.range import static_range

from .arguments import constants
from .function import Function
from .portable_rules import ACCEPTED_BUILTINS, API, NEWER, SYNTAX, Remark, Rule, Verdict
from .reach import UNKNOWN, bindings, dotted, meaning
from .rewrite import definition

__all__ = ["Remark", "Verdict", "remarks"]


def remarks(function: Function, kernel: bool = True) -> list[Remark]:
    """What keeps one jit function from being portable, in the order of its lines; `kernel`: whether it is launched."""
    found = definition(function.fn)
    if found is None:
        code = function.fn.__code__
        return [Remark(code.co_filename, code.co_firstlineno, *SYNTAX["no source"])]
    reader = _Reader(function, found.node, kernel)
    reader.whole()
    return sorted(reader.found)


@lru_cache(maxsize=64)
def assigned_again(text: str) -> frozenset[str]:
    """The global names of a module that it assigns more than once, or in a loop, or from inside a function."""
    times: Counter[str] = Counter()
    pending: list[tuple[ast.AST, int]] = [(ast.parse(text), 1)]
    while pending:
        node, weight = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            inside = (inner.names for inner in ast.walk(node) if isinstance(inner, ast.Global))
            times.update({name: 2 for names in inside for name in names})
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            times[node.id] += weight
        inner_weight = 2 if isinstance(node, (ast.For, ast.While)) else weight
        pending.extend((child, inner_weight) for child in ast.iter_child_nodes(node))
    return frozenset(name for name, number in times.items() if number > 1)


class _Reader(ast.NodeVisitor):
    """Reads one function as pyasc does: statement by statement, knowing which names are visible and which are plain.

    A plain name is bound to a Python number; pyasc keeps such a number at compile time and cannot carry it through a
    loop of the device.
    """

    def __init__(self, function: Function, node: ast.FunctionDef, kernel: bool) -> None:
        self.fn, self.node, self.kernel = function.fn, node, kernel
        self.globals = function.fn.__globals__
        self.constants = set(constants(function.fn))
        self.own = bindings(node)
        self.found: set[Remark] = set()
        self.plain: dict[str, bool] = {}  # visible local names
        self.gone: dict[str, int] = {}  # name: line of the block that it was first assigned in
        self.at_loop: dict[str, bool] = {}  # what was visible where the innermost device loop begins
        self.depth = 0  # blocks around the statement, in which `return` is refused

    def say(self, node: ast.AST, rule: str | Rule, **facts: Any) -> None:
        construct, problem, remedy, verdict = SYNTAX[rule] if isinstance(rule, str) else rule
        line = getattr(node, "lineno", self.node.lineno)
        construct, problem, remedy = (part.format(**facts) for part in (construct, problem, remedy))
        self.found.add(Remark(self.fn.__code__.co_filename, line, construct, problem, remedy, verdict))

    def whole(self) -> None:
        """Read the function."""
        spec = self.node.args
        for argument in (spec.vararg, spec.kwarg):
            if argument is not None:
                self.say(argument, "variadic", name=argument.arg)
        if self.kernel and (spec.defaults or any(spec.kw_defaults)):
            self.say(self.node, "default")
        for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            annotation = self.fn.__annotations__.get(argument.arg)
            if isinstance(annotation, str):
                self.say(argument, "text annotation", name=argument.arg)
            self.plain[argument.arg] = argument.arg in self.constants
        self.block(self.node.body)

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.visit(statement)

    # --- statements --------------------------------------------------------------------------------------------------

    def generic_visit(self, node: ast.AST) -> None:
        rule = type(node).__name__
        if rule in SYNTAX:
            self.say(node, rule)
        else:
            super().generic_visit(node)

    def inner(self, node: ast.stmt, statements: list[ast.stmt], loop: bool) -> None:
        """A block whose new names end with it."""
        before, at_loop = dict(self.plain), self.at_loop
        if loop:
            self.at_loop = {name: plain for name, plain in before.items() if name not in self.targets(node)}
        self.nested(statements)
        self.gone.update((name, node.lineno) for name in self.plain if name not in before)
        self.plain = {name: plain and self.plain[name] for name, plain in before.items()}
        self.at_loop = at_loop

    def nested(self, statements: list[ast.stmt]) -> None:
        self.depth += 1
        self.block(statements)
        self.depth -= 1

    @staticmethod
    def targets(node: ast.AST) -> set[str]:
        target = getattr(node, "target", None)
        return {target.id} if isinstance(target, ast.Name) else set()

    def visit_For(self, node: ast.For) -> None:
        call = node.iter
        path = dotted(call.func) if isinstance(call, ast.Call) else None
        kind = self.value(path) if path else UNKNOWN
        self.visit(call)
        if node.orelse:
            self.say(node.orelse[0], "loop else")
        if not isinstance(node.target, ast.Name):
            self.say(node.target, "loop target")
            return
        if kind is static_range:
            self.plain[node.target.id] = True
            self.nested(node.body)
            return
        if kind not in (builtins.range, runtime_range):
            self.say(node, "iterable")
        hidden = self.plain.pop(node.target.id, None)
        self.plain[node.target.id] = False
        self.inner(node, node.body, loop=True)
        if hidden is None:
            del self.plain[node.target.id]
            self.gone[node.target.id] = node.lineno

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        if node.orelse:
            self.say(node.orelse[0], "loop else")
        self.inner(node, node.body, loop=True)

    def visit_With(self, node: ast.With) -> None:
        if len(node.items) != 1:
            self.say(node, "with items")
        for item in node.items:
            self.visit(item.context_expr)
            if isinstance(item.optional_vars, ast.Name):
                self.plain[item.optional_vars.id] = False
        self.inner(node, node.body, loop=False)

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        if self.is_settled(node.test):  # pyasc reads the branch that is taken, as if it stood alone
            self.nested(node.body)
            self.nested(node.orelse)
            return
        before, at_loop = dict(self.plain), self.at_loop
        both = [set().union(*map(bindings, branch)) for branch in (node.body, node.orelse)]
        once = both[0] ^ both[1]  # the other branch has to hand on the old value
        self.at_loop = {**at_loop, **{name: plain for name, plain in before.items() if name in once}}
        for branch in (node.body, node.orelse):
            self.plain = dict(before)
            self.nested(branch)
        assigned = both[0] | both[1]
        self.gone.update((name, node.lineno) for name in assigned if name not in before)
        self.plain = {name: plain and name not in assigned for name, plain in before.items()}
        self.at_loop = at_loop

    def visit_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            self.say(node, "several targets")
        self.visit(node.value)
        for target in node.targets:
            self.assign(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.assign(node.target, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Attribute):
            self.say(node, "attribute target")
        elif isinstance(node.target, ast.Name):
            self.read(node.target, node.target.id)
            self.assign(node.target, ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value))

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            self.visit(target.value)
        elif isinstance(target, ast.Name):
            if self.at_loop.get(target.id):
                self.say(target, "carried number", name=target.id)
            self.plain[target.id] = self.is_plain(value)
        elif isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts):
            parts = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
            for part, given in zip(target.elts, parts, strict=False):
                self.assign(part, given)
        else:
            self.say(target, "target")

    def visit_Return(self, node: ast.Return) -> None:
        if self.depth:
            self.say(node, "return in a block")
        if node.value is not None:
            self.visit(node.value)
            if self.kernel and not (isinstance(node.value, ast.Constant) and node.value.value is None):
                self.say(node, "kernel returns")

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "iterate":
            self.say(node, "iterate")
        self.visit(call)

    # --- expressions -------------------------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) > 1:
            self.say(node, "chained comparison")
        if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
            self.say(node, "in")
        super().generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = "and" if isinstance(node.op, ast.And) else "or"
        if len(node.values) > 2:
            self.say(node, "three operands", word=word)
        elif all(map(self.is_plain, node.values)):
            self.say(node, "plain operands", word=word)
        super().generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not) and self.is_plain(node.operand):
            self.say(node, "not")
        super().generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.MatMult):
            self.say(node, "@")
        super().generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            self.say(node, "starred argument")
        if any(keyword.arg is None for keyword in node.keywords):
            self.say(node, "starred argument")
        path = dotted(node.func)
        called = self.value(path) if path else UNKNOWN
        if path and str(getattr(called, "__module__", "")).startswith("ascsim."):
            for wrong, rule in API.get(path[-1], ()):
                if wrong(node):
                    self.say(node, rule)
        for child in (node.func, *node.args, *(keyword.value for keyword in node.keywords)):
            self.visit(child.value if isinstance(child, ast.Starred) else child)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = dotted(node)
        if path is None:
            super().generic_visit(node)
            return
        self.read(node, path[0])
        base = self.value(path[:1])
        if isinstance(base, ModuleType) and base.__name__.split(".")[0] == "ascsim" and path[-1] in NEWER:
            self.say(node, "newer name", name=".".join(path))
        self.callable(node, path)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.read(node, node.id)
            self.callable(node, (node.id,))

    def read(self, node: ast.expr, name: str) -> None:
        """A name is looked up: arguments and locals, then globals, then a few builtins."""
        if name in self.plain:
            return
        if name in self.gone:
            self.say(node, "ended name", name=name, line=self.gone[name])
        elif name in self.own:
            return
        elif name in self.globals:
            plain = isinstance(ConstExpr.unwrap(self.globals[name]), (bool, int, float, str))
            if plain and name in assigned_again(
                "".join(linecache.getlines(self.fn.__code__.co_filename, self.globals))
            ):
                self.say(node, "late global", name=name)
        elif name in self.fn.__code__.co_freevars:
            self.say(node, "closure", name=name)
        elif hasattr(builtins, name) and name not in ACCEPTED_BUILTINS:
            self.say(node, "builtin", name=name)

    def callable(self, node: ast.expr, path: tuple[str, ...]) -> None:
        """pyasc refuses functions that are neither its own nor jit functions, called or not."""
        value = self.value(path)
        module = str(getattr(value, "__module__", "") or "")
        known = isinstance(value, (type, Function, ConstExpr, ModuleType)) or value is UNKNOWN
        if known or not callable(value) or path[0] not in self.globals or module.split(".")[0] in ("ascsim", "typing"):
            return
        rule = "plain function" if isinstance(value, FunctionType) else "foreign function"
        self.say(node, rule, name=".".join(path))

    def value(self, path: tuple[str, ...]) -> Any:
        """What a chain of names means, if it begins outside the function."""
        if path[0] in self.own:
            return UNKNOWN
        known = meaning(path, self.globals)
        return getattr(builtins, path[0], UNKNOWN) if known is UNKNOWN and len(path) == 1 else known

    def is_settled(self, node: ast.expr) -> bool:
        """Whether a condition is known at compile time: of plain names and of what stands outside the function."""
        names = [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]
        calls = any(isinstance(inner, ast.Call) for inner in ast.walk(node))
        return not calls and all(self.plain.get(name, name not in self.own) for name in names)

    def is_plain(self, node: ast.expr) -> bool:
        """Whether an expression is a Python number, which pyasc works out at compile time."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (bool, int, float))
        if isinstance(node, ast.UnaryOp):
            return self.is_plain(node.operand)
        if isinstance(node, ast.BinOp):
            return self.is_plain(node.left) and self.is_plain(node.right)
        if isinstance(node, ast.Compare):
            return self.is_plain(node.left) and all(map(self.is_plain, node.comparators))
        path = dotted(node)
        if path is None:
            return False
        if path[0] in self.plain:
            return len(path) == 1 and self.plain[path[0]]
        return isinstance(ConstExpr.unwrap(self.value(path)), (bool, int, float))
