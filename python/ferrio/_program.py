"""The program: where it is, and how it is called."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Union

StrPath = Union[str, "os.PathLike[str]"]


class FerrioError(Exception):
    """ferrio refused something, or is not there."""


def program() -> Path:
    """The path of the program: that in the variable FERRIO, else the one of this package, else the first in PATH."""
    named = os.environ.get("FERRIO")
    if named:
        return Path(named)
    own = Path(sysconfig.get_path("scripts"), "ferrio")
    if own.is_file():
        return own
    found = shutil.which("ferrio")
    if found is None:
        raise FerrioError("there is no program ferrio: install the package with its program, or set the variable FERRIO to its path")
    return Path(found)


def call(arguments: Sequence[StrPath], cwd: StrPath | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the program with its own behaviour, whatever it is called, and returns what it printed."""
    words = [os.fspath(program()), *(os.fspath(argument) for argument in arguments)]
    environment = {**os.environ, "FERRIO_AS": "ferrio"}
    try:
        return subprocess.run(words, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise FerrioError(f"cannot run {words[0]}: {error.strerror}") from error
