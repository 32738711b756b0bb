"""Emitted kernels as files of a folder: all of them, or none."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from .emission import Emission


def written(emissions: Iterable[Emission], intermediate: bool = False) -> dict[str, str]:
    """Name and text of each file. A kernel that was launched with different texts gets a number after its name."""
    files: dict[str, str] = {}
    texts: dict[str, list[str]] = {}
    for emission in emissions:
        known = texts.setdefault(emission.name, [])
        if emission.text in known:
            continue
        known.append(emission.text)
        stem = emission.name if len(known) == 1 else f"{emission.name}_{len(known)}"
        files[f"{stem}.cpp"] = emission.text
        if intermediate:
            files[f"{stem}.mlir"] = emission.intermediate
    return files


def write(folder: Path, files: dict[str, str]) -> None:
    """Write the files beside the folder first, then move them in, so that a failure leaves no half of them."""
    for file in files:
        if (folder / file).is_dir():
            raise IsADirectoryError(errno.EISDIR, f"{file} in it is a folder", str(folder / file))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as name:
        for file, text in files.items():
            Path(name, file).write_text(text)
        folder.mkdir(exist_ok=True)
        for file in files:
            os.replace(Path(name, file), folder / file)
