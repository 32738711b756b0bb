"""What a jit function reads from outside itself: its dotted names with their present values, and the jit functions
it reaches.

Read from the source, as pyasc reads it. A function whose source cannot be read has no names here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from .function import Function
from .rewrite import definition


class _Unknown:
    """Value of a name that stands for nothing that is known before the kernel runs."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


@dataclass(frozen=True, slots=True)
class Use:
    """A name or a chain of attributes, `asc.TPosition.VECIN`, and what it means now."""

    node: ast.expr
    path: tuple[str, ...]
    value: Any


def bindings(node: ast.AST) -> set[str]:
    """The names that a function binds by itself: parameters, and what it assigns."""
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and not _is_load(inner)}
    return names | {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}


def reads(nodes: Sequence[ast.AST], name: str) -> bool:
    """Whether a name is read anywhere in some code."""
    inside = (inner for node in nodes for inner in ast.walk(node))
    return any(
        (isinstance(inner, ast.Name) and inner.id == name and _is_load(inner))
        or (isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name) and inner.target.id == name)
        for inner in inside
    )


def reads_first(statements: list[ast.stmt], name: str) -> bool | None:
    """Whether statements read a name before they assign it; None if they do not have it."""
    for statement in statements:
        blocks = [block for field in ("body", "orelse") if (block := getattr(statement, field, None))]
        inside = {id(inner) for block in blocks for part in block for inner in ast.walk(part)}
        own = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and id(node) not in inside]
        found = [node for node in own if node.id == name]
        if any(_is_load(node) for node in found) or (found and isinstance(statement, ast.AugAssign)):
            return True
        if found:
            return False
        told = [reads_first(block, name) for block in blocks]
        if True in told:
            return True
        if len(told) == 2 and told == [False, False]:
            return False
    return None


def uses(fn: FunctionType) -> Iterator[Use]:
    """Every longest chain of names in the body that begins in the globals of `fn`."""
    found = definition(fn)
    if found is None:
        return
    own = bindings(found.node)
    pending: list[ast.AST] = list(reversed(found.node.body))
    while pending:
        node = pending.pop()
        path = dotted(node)
        if path is None:
            pending.extend(reversed(list(ast.iter_child_nodes(node))))
        elif path[0] not in own:
            assert isinstance(node, ast.expr)
            yield Use(node, path, meaning(path, fn.__globals__))


def dotted(node: ast.AST) -> tuple[str, ...] | None:
    """The parts of a chain of names that is read; None for anything else."""
    if isinstance(node, ast.Name):
        return (node.id,) if _is_load(node) else None
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return None if base is None else (*base, node.attr)
    return None


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def meaning(path: tuple[str, ...], names: dict[str, Any]) -> Any:
    """What a chain of names means; attributes are looked up in modules and classes alone, where nothing runs."""
    value = names.get(path[0], UNKNOWN)
    for name in path[1:]:
        value = getattr(value, name, UNKNOWN) if isinstance(value, (ModuleType, type)) else UNKNOWN
    return value


def reached(function: Function) -> list[Function]:
    """`function` and every jit function that it reaches by name, each once, callers first."""
    found = [function]
    for known in found:  # grows while it is read
        for use in uses(known.fn):
            if isinstance(use.value, Function) and use.value not in found:
                found.append(use.value)
    return found
