"""Runs of jobs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Union

from ._document import Document
from ._program import FerrioError, StrPath, call

Value = Union[str, int, float, bool, "os.PathLike[str]"]
#: The path of a job file, several, or options by the name of their section.
Jobs = Union[StrPath, Sequence[StrPath], Mapping[str, Mapping[str, Value]]]


class RunError(FerrioError):
    """A run was refused, or a job of it failed."""

    def __init__(self, status: int, messages: str, document: Document | None) -> None:
        super().__init__(messages.strip() or f"ferrio ended with status {status}")
        #: Exit status; negative for a signal.
        self.status = status
        #: What ferrio said on standard error.
        self.messages = messages
        #: The report, if there is one.
        self.document = document


def run(jobs: Jobs, *, options: Sequence[str] = (), cwd: StrPath | None = None, check: bool = True) -> Document:
    """Runs jobs and returns their report.

    `jobs` is the path of a job file, several paths, or a mapping from names of sections to their options, in which `True` is an option that is
    switched on. `options` are options of the command line. The jobs run in the directory `cwd`.

    Raises `RunError` if ferrio refuses the jobs or, with `check`, if a job fails.
    """
    with tempfile.TemporaryDirectory(prefix="ferrio-") as place:
        report = Path(place, "report.json")
        files: list[StrPath]
        if isinstance(jobs, Mapping):
            file = Path(place, "jobs.fio")
            file.write_text(_job_file(jobs))
            files = [file]
        elif isinstance(jobs, (str, os.PathLike)):
            files = [jobs]
        else:
            files = list(jobs)
        ended = call(["--output-format=json+", f"--output={report}", *options, *files], cwd)
        document = Document.read(report) if report.is_file() and report.stat().st_size > 0 else None
    if document is None or (check and ended.returncode != 0):
        raise RunError(ended.returncode, ended.stderr, document)
    return document


def _job_file(jobs: Mapping[str, Mapping[str, Value]]) -> str:
    lines = []
    for section, options in jobs.items():
        if not section or any(character in section for character in "[]\n\r"):
            raise ValueError(f"{section!r} cannot be the name of a section")
        lines.append(f"[{section}]")
        for option, value in options.items():
            text = str(int(value)) if isinstance(value, bool) else os.fspath(value) if isinstance(value, os.PathLike) else str(value)
            if not option or any(character in option for character in "=[]\n\r \t#;") or any(character in text for character in "\n\r"):
                raise ValueError(f"{option!r}: {text!r} cannot be a line of a job file")
            lines.append(f"{option}={text}")
    return "\n".join(lines) + "\n"
