"""The expressions of a kernel, read as pyasc reads them: what each is held for, and what keeps it from being portable.

What depends on the type of a value of the device is named where that type is known: from the arguments of a launch,
from asc.number and casts. Elsewhere pyasc is the judge.
"""

from __future__ import annotations

import ast
import builtins
import linecache
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ascsim.language.core.constexpr import ConstExpr
from ascsim.language.core.global_tensor import GlobalTensor
from ascsim.language.core.ir_value import PlainValue
from ascsim.language.core.tensor import LocalTensor
from ascsim.language.fwk.queue import TQueBind

from . import portable_values as values
from .function import Function
from .portable_rules import ACCEPTED_BUILTINS, API, NEWER, NUMBERS_OF, SYNTAX, Remark, Rule
from .portable_values import CONSTANT, NOT_SEEN, Seen, a_constant, anew, instance, number
from .reach import UNKNOWN, bindings, uses

TENSORS = (GlobalTensor, LocalTensor)
UNARY: dict[type[ast.unaryop], tuple[str, str]] = {ast.Invert: ("~", "x ^ -1")}


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


class Expressions(ast.NodeVisitor):
    """Reads expressions; `visit` gives what pyasc holds one for."""

    def __init__(self, function: Function, node: ast.FunctionDef) -> None:
        self.fn, self.node = function.fn, node
        self.globals = function.fn.__globals__
        self.own = bindings(node)
        self.found: set[Remark] = set()
        self.names: dict[str, Seen] = {}  # visible local names
        self.constants: dict[str, Seen] = {}  # parameters annotated ConstExpr
        self.gone: dict[str, int] = {}  # name: line of the block that it was first assigned in
        self.forgotten: dict[str, ast.AST] = {}  # name from before a `with`: its assignment inside

    def say(self, node: ast.AST, rule: str | Rule, **facts: Any) -> None:
        construct, problem, remedy, verdict = SYNTAX[rule] if isinstance(rule, str) else rule
        line = getattr(node, "lineno", self.node.lineno)
        construct, problem, remedy = (part.format(**facts) for part in (construct, problem, remedy))
        self.found.add(Remark(self.fn.__code__.co_filename, line, construct, problem, remedy, verdict))

    def generic_visit(self, node: ast.AST) -> Seen:
        rule = type(node).__name__
        if rule in SYNTAX:
            self.say(node, rule)
        else:
            super().generic_visit(node)
        return NOT_SEEN

    # --- names -------------------------------------------------------------------------------------------------------

    def visit_Constant(self, node: ast.Constant) -> Seen:
        return values.constant(node.value)

    def visit_Name(self, node: ast.Name) -> Seen:
        """A name is looked up: locals, then parameters annotated ConstExpr, then globals, then a few builtins."""
        name = node.id
        if name in self.forgotten:
            self.say(self.forgotten[name], "kept by with", name=name)
        if name in self.names:
            return self.names[name]
        if name in self.gone:
            self.say(node, "hidden name" if name in self.constants else "ended name", name=name, line=self.gone[name])
            return NOT_SEEN
        if name in self.constants:
            return self.constants[name]
        if name in self.own:
            return NOT_SEEN
        if name in self.globals:
            return self._global(node, name)
        if name in self.fn.__code__.co_freevars:
            self.say(node, "closure", name=name)
            return NOT_SEEN
        if hasattr(builtins, name) and name not in ACCEPTED_BUILTINS:
            self.say(node, "builtin", name=name)
        return values.constant(getattr(builtins, name, UNKNOWN))

    def _global(self, node: ast.Name, name: str) -> Seen:
        seen = values.constant(self.globals[name])
        text = "".join(linecache.getlines(self.fn.__code__.co_filename, self.globals))
        if isinstance(seen.value, (bool, int, float, str)) and name in assigned_again(text):
            self.say(node, "late global", name=name)
            return a_constant(type(seen.value))
        return seen

    def visit_Attribute(self, node: ast.Attribute) -> Seen:
        base = self.visit(node.value)
        if isinstance(base.value, ModuleType) and base.value.__name__.split(".")[0] == "ascsim" and node.attr in NEWER:
            self.say(node, "newer name", name=ast.unparse(node))
        return values.attribute(base, node.attr)

    def look_up_functions(self) -> None:
        """Before it reads, pyasc walks through all names, those of branches not taken too."""
        for use in uses(self.fn):
            if use.path[0] not in self.globals:
                continue
            value, owner = self.globals[use.path[0]], None
            for depth in range(1, len(use.path) + 1):
                self._function(use.node, ".".join(use.path[:depth]), value, owner)
                if depth == len(use.path) or value is UNKNOWN or values.is_of_the_api(value):
                    break
                owner, value = value, values.looked_up(ConstExpr.unwrap(value), use.path[depth])

    def _function(self, node: ast.expr, name: str, value: Any, owner: Any) -> None:
        """pyasc refuses functions that are neither its own nor jit functions, called or not."""
        from_object = owner is not None and not isinstance(owner, (type, ModuleType))
        if from_object and isinstance(value, (FunctionType, Function)):
            self.say(node, "method", name=name)
        elif values.made_outside(value):
            self.say(node, "object outside", name=name)
        elif isinstance(value, (type, Function, ConstExpr, ModuleType)) or value is None or value is UNKNOWN:
            return
        elif getattr(value, "__module__", "") is None:
            self.say(node, "method", name=name)
        elif callable(value) and str(getattr(value, "__module__", "")).split(".")[0] not in ("ascsim", "typing"):
            self.say(node, "plain function" if isinstance(value, FunctionType) else "foreign function", name=name)

    # --- operators ---------------------------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> Seen:
        if len(node.ops) > 1:
            self.say(node, "chained comparison")
        contains = any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops)
        if contains:
            self.say(node, "in")
        left, *others = map(self.visit, (node.left, *node.comparators))
        if len(node.ops) > 1 or contains:
            return NOT_SEEN
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return self._identity(node.ops[0], left, others[0])
        result = self.operate(node, type(node.ops[0]), left, others[0])
        return number("int1") if result.runtime else result

    @staticmethod
    def _identity(operation: ast.cmpop, left: Seen, right: Seen) -> Seen:
        if left.known and right.known:
            return values.constant((left.value is right.value) is isinstance(operation, ast.Is))
        runs = (left.runtime and right.constant) or (right.runtime and left.constant)
        return values.constant(isinstance(operation, ast.IsNot)) if runs else a_constant(bool)

    def visit_BinOp(self, node: ast.BinOp) -> Seen:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.MatMult):
            self.say(node, "@")
            return NOT_SEEN
        if isinstance(node.op, ast.Pow) and PlainValue in (left.type, right.type):
            self.say(node, "unary", word="**", form="multiply")
            return NOT_SEEN
        return self.operate(node, type(node.op), left, right)

    def operate(self, node: ast.AST, operation: type[ast.AST], left: Seen, right: Seen) -> Seen:
        """An operator between two values."""
        if left.constant and right.constant:
            return values.folded(operation, left, right)
        for one, other in ((left, right), (right, left)):
            if one.type is PlainValue and one.runtime and other.no_number:
                self.say(node, "operand", kind=_name_of(other.type))
                return NOT_SEEN
            if (
                one.type is PlainValue
                and one.dtype == "int32"
                and isinstance(other.value, int)
                and not -(2**31) <= other.value < 2**31
            ):
                self.say(node, "large operand", value=other.value)
        if right.type is np.ndarray:  # an address that is moved
            return anew(right)
        return anew(left) if left.runtime else anew(right) if right.runtime else NOT_SEEN

    def visit_BoolOp(self, node: ast.BoolOp) -> Seen:
        word = "and" if isinstance(node.op, ast.And) else "or"
        operands = list(map(self.visit, node.values))
        if len(operands) > 2:
            self.say(node, "three operands", word=word)
        elif all(operand.constant for operand in operands):
            self.say(node, "plain operands", word=word)
        else:
            for operand in operands:
                if operand.no_number:
                    self.say(node, "operand", kind=_name_of(operand.type))
        return number()

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Seen:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            if operand.constant:
                self.say(node, "not")
            return number("int1")
        if operand.constant:
            return values.folded(type(node.op), operand)
        if operand.type is PlainValue and type(node.op) in UNARY:
            word, form = UNARY[type(node.op)]
            self.say(node, "unary", word=word, form=form)
        if isinstance(node.op, ast.USub) and operand.type is PlainValue and operand.dtype.startswith("float"):
            self.say(node, "negated float")
        return operand if isinstance(node.op, ast.UAdd) else anew(operand)

    def visit_IfExp(self, node: ast.IfExp) -> Seen:
        self.condition(node.test, self.visit(node.test))
        one, other = self.visit(node.body), self.visit(node.orelse)
        for branch in (one, other):
            if branch.no_number or (branch.runtime and branch.type not in (PlainValue, None)):
                self.say(node, "conditional object", kind=_name_of(branch.type))
                return NOT_SEEN
        types = one.number_type, other.number_type
        if all(types) and types[0] != types[1]:
            self.say(node, "conditional types", before=types[0], after=types[1])
        return number(types[0] or types[1])

    def condition(self, node: ast.expr, seen: Seen) -> None:
        """A value is asked whether it is true."""
        if seen.no_number and seen.type is not type(None):
            self.say(node, "condition", kind=_name_of(seen.type))

    # --- calls and elements ------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> Seen:
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            self.say(node, "starred argument")
        if any(keyword.arg is None for keyword in node.keywords):
            self.say(node, "starred argument")
        function = self.visit(node.func)
        given = [self.visit(part.value if isinstance(part, ast.Starred) else part) for part in node.args]
        named = {keyword.arg: self.visit(keyword.value) for keyword in node.keywords}
        if function.known and values.is_of_the_api(function.value):
            return self._api(node, function.value, [*given, *named.values()])
        if isinstance(function.value, Function):
            return self._device_function(node, function.value, given, named)
        if isinstance(node.func, ast.Attribute) and not function.known:
            if node.func.attr == "init_buffer" and any(part.type is TQueBind for part in (*given, *named.values())):
                self.say(node, "bound queue")
            return self._method(node.func, given)
        if not function.constant:
            return NOT_SEEN
        if function.value in (int, float) and any(part.type is PlainValue for part in given):
            self.say(node, "conversion", name=function.value.__name__)
        return values.called(function.value, [*given, *named.values()])

    def _api(self, node: ast.Call, function: Any, given: list[Seen]) -> Seen:
        name = getattr(function, "__name__", "")
        for wrong, rule in API.get(name, ()):
            if wrong(node):
                self.say(node, rule)
        for part in given:
            self.of_numpy(node, part)
            if part.runtime and values.is_member(part) and name not in ("number", "ceildiv"):
                self.say(node, "member", kind=_name_of(part.type))
        if name == "number" and len(given) == 2:
            return number(getattr(given[1].value, "name", ""))
        if name in NUMBERS_OF:
            return number()
        if name == "ceildiv":
            return CONSTANT if all(part.constant for part in given) else number()
        if function in TENSORS and given:
            return Seen(values.Kind.RUNTIME, type=function, dtype=getattr(given[0].value, "name", ""))
        return instance(function) if isinstance(function, type) else NOT_SEEN

    def _method(self, node: ast.Attribute, given: list[Seen]) -> Seen:
        base = self.visit(node.value)
        if node.attr == "cast" and given:
            dtype = getattr(given[0].value, "name", "")
            return base if dtype and base.dtype == dtype else number(dtype)
        if node.attr == "get_value":
            return number(base.dtype)
        return CONSTANT if node.attr in ("sizeof", "index", "upper", "lower", "format") else NOT_SEEN

    def _device_function(
        self, node: ast.Call, function: Function, given: list[Seen], named: dict[str | None, Seen]
    ) -> Seen:
        try:
            bound = function.signature.bind(*given, **{str(name): seen for name, seen in named.items()})
        except TypeError:  # a wrong call, which the simulator tells of
            return NOT_SEEN
        passed: dict[str, Seen] = {}
        for name, seen in bound.arguments.items():
            passed[name] = seen
            if name not in function.constants and isinstance(seen, Seen):
                passed[name] = values.passed(seen)
                if seen.no_number:
                    self.say(node, "argument", kind=_name_of(seen.type))
        return self.call_device_function(node, function, passed)

    def call_device_function(self, node: ast.Call, function: Function, given: Mapping[str, Seen]) -> Seen:
        """The result of a call of a jit function."""
        raise NotImplementedError

    def visit_Subscript(self, node: ast.Subscript) -> Seen:
        base, index = self.visit(node.value), self.visit(node.slice)
        if base.constant and index.runtime and base.type in (tuple, list, str):
            self.say(node, "subscript", kind=base.type.__name__)
            return NOT_SEEN
        if base.type in TENSORS:
            self.of_numpy(node, index)
            return anew(base)
        return values.item(base, index)

    def visit_Slice(self, node: ast.Slice) -> Seen:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.of_numpy(part, self.visit(part))
        return NOT_SEEN

    def of_numpy(self, node: ast.AST, seen: Seen) -> None:
        """A number of numpy where the API, or a loop, wants one of Python."""
        if isinstance(seen.value, np.generic) and seen.no_number:
            self.say(node, "numpy number", kind=_name_of(seen.type))

    def visit_Tuple(self, node: ast.Tuple) -> Seen:
        parts = list(map(self.visit, node.elts))
        return values.constant(tuple(part.value for part in parts)) if _all_known(parts) else a_constant(tuple)

    def visit_List(self, node: ast.List) -> Seen:
        for part in node.elts:
            self.visit(part)
        return a_constant(list)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Seen:
        super().generic_visit(node)
        return a_constant(str)


def _all_known(parts: list[Seen]) -> bool:
    return all(part.constant and part.known for part in parts)


def _name_of(kind: type) -> str:
    return "None" if kind is type(None) else kind.__name__
