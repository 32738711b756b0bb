"""Portability of kernels: constructs that run here but that pyasc's compiler refuses, or compiles to something else.

    for remark in remarks(kernel):
        print(remark.text)

From rules of our own, so that pyasc need not be installed. The rules go by the text of a function and by what its
global names mean now; what depends on the type of a run-time value is named where that type is known, and else left to
pyasc, which is the better judge. The tables of rules are in `portable_rules`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ascsim.language.core.ir_value import PlainValue
from ascsim.language.core.range import range as runtime_range
from ascsim.language.core.range import static_range

from . import portable_values as values
from .function import Function
from .portable_expressions import TENSORS, Expressions
from .portable_rules import SYNTAX, Remark, Verdict
from .portable_values import CONSTANT, NOT_SEEN, ON_DEVICE, Seen, a_constant, merged, number
from .reach import reads, reads_first
from .rewrite import definition

__all__ = ["Remark", "Verdict", "remarks", "remarks_of_all", "seen_of"]


def remarks(function: Function, kernel: bool = True) -> list[Remark]:
    """What keeps one jit function from being portable, in the order of its lines; `kernel`: whether it is launched."""
    return sorted(_read(function, kernel, {}, None, set())[0])


def remarks_of_all(function: Function, kernel: bool = True, given: Mapping[str, Seen] | None = None) -> list[Remark]:
    """The remarks on a function and on the device functions that it calls.

    `given` is what `seen_of` makes of the arguments of a launch: with it more is known of types, and of the branches
    that are taken.
    """
    program = _Program(function)
    found, _ = _read(function, kernel, given or {}, program, set())
    return sorted(found | program.found)


def seen_of(function: Function, arguments: Mapping[str, Any]) -> dict[str, Seen]:
    """What is known of the arguments of a launch when its kernel is read."""
    return {
        name: values.constant(value) if name in function.constants else values.argument(value)
        for name, value in arguments.items()
    }


def _read(
    function: Function, kernel: bool, given: Mapping[str, Seen], program: _Program | None, returns: set[str]
) -> tuple[set[Remark], Seen]:
    """The remarks on a function, and what it returns."""
    found = definition(function.fn)
    if found is None:
        code = function.fn.__code__
        return {Remark(code.co_filename, code.co_firstlineno, *SYNTAX["no source"])}, NOT_SEEN
    reader = _Reader(function, found.node, kernel, given, program, returns)
    reader.whole()
    return reader.found, reader.result


@dataclass(frozen=True)
class _Made:
    """A device function as pyasc has made it, at its first call, for all calls: of one name there is one."""

    function: Function
    caller: str
    given: Mapping[str, Seen]
    result: Seen


class _Program:
    """A kernel and the device functions that it calls, read in the order of the calls, as pyasc does."""

    def __init__(self, kernel: Function) -> None:
        self.found: set[Remark] = set()
        self.under_way = [kernel.fn.__name__]
        self.made: dict[str, _Made] = {}

    def call(self, caller: _Reader, node: ast.Call, function: Function, given: Mapping[str, Seen]) -> Seen:
        """A call of a device function: its result."""
        name, known = function.fn.__name__, self.made.get(function.fn.__name__)
        if name in self.under_way:
            caller.say(node, "recursion", name=name)
            return NOT_SEEN
        if known is not None:
            self._again(caller, node, function, given, known)
            return values.anew(known.result)
        self.under_way.append(name)
        returns = caller.returns or set()  # pyasc hands its record of results on, but for an empty one
        found, result = _read(function, False, given, self, returns)
        self.under_way.pop()
        self.found |= found
        caller.returns.add(name)
        self.made[name] = _Made(function, caller.fn.__name__, given, result)
        return result

    @staticmethod
    def _again(caller: _Reader, node: ast.Call, function: Function, given: Mapping[str, Seen], known: _Made) -> None:
        name = function.fn.__name__
        if known.function is not function:
            caller.say(node, "same name", name=name)
            return
        if name not in caller.returns:
            caller.say(node, "called inside", name=name, inner=known.caller, outer=caller.fn.__name__)
        for parameter, seen in given.items():
            first = known.given.get(parameter, NOT_SEEN)
            facts = {"parameter": parameter, "name": name}
            if parameter in function.constants:
                if seen.known and first.known and seen.value != first.value:
                    caller.say(node, "other constant", value=first.value, **facts)
            elif "" not in (seen.dtype, first.dtype) and seen.dtype != first.dtype:
                rule = "argument types" if seen.type is PlainValue else "element types"
                caller.say(node, rule, before=first.dtype, after=seen.dtype, **facts)


class _Reader(Expressions):
    """Reads one function as pyasc does: statement by statement, knowing which names are visible and what they hold.

    pyasc keeps a plain number at compile time and cannot carry it through a loop of the device.
    """

    def __init__(
        self,
        function: Function,
        node: ast.FunctionDef,
        kernel: bool,
        given: Mapping[str, Seen],
        program: _Program | None,
        returns: set[str],
    ) -> None:
        super().__init__(function, node)
        self.kernel, self.given, self.types, self.program = kernel, given, function.constants, program
        self.returns = returns  # names of the device functions whose result pyasc knows here
        self.result = NOT_SEEN
        self.written: dict[str, ast.AST] = {}  # name: its last assignment in the innermost block
        self.counters: list[Seen] = []  # of the loops of the device around the statement
        self.depth = 0  # blocks around the statement, in which `return` is refused
        self.ended = False  # a `return` was reached: pyasc does not look at the rest

    def whole(self) -> None:
        """Read the function."""
        spec = self.node.args
        for argument in (spec.vararg, spec.kwarg):
            if argument is not None and self.given.get(argument.arg) is not values.NOTHING:
                self.say(argument, "variadic", name=argument.arg)
        if self.kernel and (spec.defaults or any(spec.kw_defaults)):
            self.say(self.node, "default")
        for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            name = argument.arg
            if isinstance(self.fn.__annotations__.get(name), str):
                self.say(argument, "text annotation", name=name)
            if name in self.types:
                self.constants[name] = self.given.get(name, CONSTANT)
            else:
                self.names[name] = self.given.get(name, values.anew(ON_DEVICE))
        self.look_up_functions()
        self.block(self.node.body)

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self.ended:
                return
            self.visit(statement)

    # --- blocks ------------------------------------------------------------------------------------------------------

    def region(self, statements: list[ast.stmt]) -> tuple[dict[str, Seen], dict[str, ast.AST]]:
        """Read a block of the device. Gives what its names hold at its end, and its last assignment of each."""
        before, written = dict(self.names), self.written
        self.written = {}
        self.depth += 1
        self.block(statements)
        self.depth -= 1
        after, inside = self.names, self.written
        self.names, self.written, self.ended = before, written, False
        return after, inside

    def close(self, node: ast.stmt, after: dict[str, Seen], written: dict[str, ast.AST]) -> None:
        """The names behind a block: those of before, and no new ones."""
        for name, where in written.items():
            if name in self.names:
                self.names[name] = merged(number(), after[name]) if after[name].runtime else number()
                self.written[name] = where
            else:
                self.gone[name] = node.lineno

    def carried(self, name: str, where: ast.AST, before: Seen, after: Seen, always: bool) -> None:
        """A name from before a block that the block assigns; `always`: its old value goes into the block."""
        types = before.type, after.type
        if before.no_number:
            self.say(where, "carried value", name=name, kind=types[0].__name__)
        elif before.constant and (always or not after.constant or (None not in types and types[0] is not types[1])):
            self.say(where, "carried number", name=name)
        elif before.runtime and after.constant:
            self.say(where, "plain at the end", name=name)
        elif before.runtime and after.runtime and "" not in (before.dtype, after.dtype) and before.dtype != after.dtype:
            self.say(where, "other type", name=name, before=before.dtype, after=after.dtype)

    def loop(self, node: ast.For | ast.While) -> None:
        after, written = self.region(node.body)
        for name, where in written.items():
            if name in self.names:
                self.carried(name, where, self.names[name], after[name], always=True)
                if self.names[name].runtime:
                    self.mixed_up(node, name, written, after[name])
            elif name in self.constants and reads_first(node.body, name):
                self.say(where, "kept parameter", name=name)
        self.close(node, after, written)

    def mixed_up(self, node: ast.For | ast.While, name: str, written: Mapping[str, ast.AST], after: Seen) -> None:
        """What pyasc makes of a loop that hands on `name`: it replaces the value from before, whatever it is called."""
        before, where = self.names[name], written[name]
        others = [other for other, seen in self.names.items() if seen is before and other != name]
        for other in others:
            if reads(node.body, other):
                self.say(where, "one value", name=name, other=other)
        for other in written:
            if other != name and self.names.get(other) is after:
                self.say(where, "taken over", name=name, other=other)
        if isinstance(node, ast.While) and reads([node.test], name):
            self.say(node, "while", name=name)
        if any(after is counter for counter in self.counters):
            self.say(where, "kept counter", name=name)

    def visit_For(self, node: ast.For) -> None:
        kind, bounds = NOT_SEEN, []
        if isinstance(node.iter, ast.Call):
            kind, bounds = self.visit(node.iter.func), list(map(self.visit, node.iter.args))
        else:
            self.visit(node.iter)
        if node.orelse:
            self.say(node.orelse[0], "loop else")
        if not isinstance(node.target, ast.Name):
            self.say(node.target, "loop target")
            return
        name = node.target.id
        if kind.value is static_range:
            if any(bound.runtime for bound in bounds):
                self.say(node, "static bound")
            self.names[name], self.written[name] = a_constant(int), node
            self.block(node.body)
            return
        for bound in bounds:
            self.of_numpy(node, bound)
        if kind.value not in (builtins.range, runtime_range):
            self.say(node, "iterable")
        hidden = self.names.get(name)
        if hidden is not None:
            self.say(node, "plain counter" if hidden.constant else "taken counter", name=name)
        self.counters.append(number("int32"))
        self.names[name] = self.counters[-1]
        self.loop(node)
        self.counters.pop()
        if hidden is None:
            del self.names[name]
            self.gone[name] = node.lineno
        else:
            self.names[name] = hidden

    def visit_While(self, node: ast.While) -> None:
        self.condition(node.test, self.visit(node.test))
        if node.orelse:
            self.say(node.orelse[0], "loop else")
        self.loop(node)

    def visit_With(self, node: ast.With) -> None:
        if len(node.items) != 1:
            self.say(node, "with items")
        before = dict(self.names)
        for item in node.items:
            self.visit(item.context_expr)
            if isinstance(item.optional_vars, ast.Name):
                self.names[item.optional_vars.id] = NOT_SEEN
        after, written = self.region(node.body)
        for name, where in written.items():
            if name in before and reads_first(node.body, name):
                self.say(where, "kept by with", name=name)
        self.close(node, after, written)
        self.gone.update((name, node.lineno) for name in self.names if name not in before)
        self.names = before
        self.forgotten.update((name, where) for name, where in written.items() if name in before)

    def visit_If(self, node: ast.If) -> None:
        test = self.visit(node.test)
        self.condition(node.test, test)
        if test.constant:
            self.settled(node, test)
            return
        then, other = self.region(node.body), self.region(node.orelse)
        for (after, written), (_, beside) in ((then, other), (other, then)):
            for name, where in written.items():
                if name in self.names:
                    self.carried(name, where, self.names[name], after[name], always=name not in beside)
        for after, written in (then, other):
            self.close(node, after, written)

    def settled(self, node: ast.If, test: Seen) -> None:
        """pyasc reads the branch that is taken, as if it stood alone."""
        if test.known:
            self.block(node.body if test.value else node.orelse)
            return
        before = dict(self.names)
        self.block(node.body)
        then, ended = self.names, self.ended
        self.names, self.ended = before, False
        self.block(node.orelse)
        self.ended = self.ended and ended
        names = {**then, **self.names}
        self.names = {name: merged(then.get(name, seen), self.names.get(name, seen)) for name, seen in names.items()}

    def call_device_function(self, node: ast.Call, function: Function, given: Mapping[str, Seen]) -> Seen:
        return NOT_SEEN if self.program is None else self.program.call(self, node, function, given)

    # --- other statements --------------------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            self.say(node, "several targets")
        value = self.visit(node.value)
        for target in node.targets:
            self.assign(target, value, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.visit(node.value), node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Attribute):
            self.say(node, "attribute target")
            return
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        for inner in ast.walk(read):
            ast.copy_location(inner, node.target)
        value = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        self.assign(node.target, self.visit(value), value)

    def assign(self, target: ast.expr, value: Seen, node: ast.expr) -> None:
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            base = self.visit(target.value)
            if isinstance(target, ast.Subscript):
                self.visit(target.slice)
                if base.type in TENSORS:
                    self.say(target, "stored element", kind=base.type.__name__)
        elif isinstance(target, ast.Name):
            self.names[target.id], self.written[target.id] = value, target
            self.forgotten.pop(target.id, None)
        elif isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts):
            elements = node.elts if isinstance(node, ast.Tuple) else []
            for index, part in enumerate(target.elts):
                inner = (
                    self.visit(elements[index]) if index < len(elements) else values.item(value, values.constant(index))
                )
                self.assign(part, inner, node)
        else:
            self.say(target, "target")

    def visit_Assert(self, node: ast.Assert) -> None:
        if self.visit(node.test).runtime:
            self.say(node, "assertion")
        if node.msg is not None:
            self.visit(node.msg)

    def visit_Return(self, node: ast.Return) -> None:
        if self.depth:
            self.say(node, "return in a block")
        if node.value is not None:
            value = self.visit(node.value)
            if self.kernel and value.value is not None:
                self.say(node, "kernel returns")
            if not self.kernel and value.no_number and value.type not in (type(None), tuple, list):
                self.say(node, "returned", kind=value.type.__name__)
            self.result = number(value.number_type) if value.number_type else NOT_SEEN
        self.ended = True

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "iterate":
            self.say(node, "iterate")
        self.visit(call)
