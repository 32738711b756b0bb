"""Names of the API that are not built yet, each with what it belongs to.

Asking for one raises a MissingApiError, which is a NotImplementedError and, so that `hasattr` answers no, an
AttributeError. A name leaves this list in the change that builds it: a test compares the list with the package.
"""

from __future__ import annotations

from typing import NoReturn

from ..hw.errors import MissingApiError, NoSuchNameError

BASIC: dict[str, str] = {}
ADVANCED: dict[str, str] = {}


def refuse(groups: dict[str, str], module: str, name: str) -> NoReturn:
    """For a module's `__getattr__`: say that a name is not built yet, or that there is no such name."""
    for part, names in groups.items():
        if name in names.split():
            raise MissingApiError(f"{module}.{name}", f"is not simulated yet: {part} is not built")
    raise NoSuchNameError(module, "no such name", operand="attribute", value=name)
