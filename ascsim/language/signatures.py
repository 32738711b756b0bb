"""Call forms of functions that dispatch by hand, published for `help` and other tools."""

from __future__ import annotations

import inspect


def signatures(*forms: str) -> tuple[inspect.Signature, ...]:
    """Call forms from their text, for a function's `__overloads__`."""
    out = []
    for form in forms:
        namespace: dict[str, object] = {}
        exec(f"def f({form}): pass", namespace)
        out.append(inspect.signature(namespace["f"]))  # type: ignore[arg-type]
    return tuple(out)
