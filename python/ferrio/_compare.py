"""Whether runs differ by more than noise."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from ._document import Document
from ._program import FerrioError, StrPath, call

if TYPE_CHECKING:
    import pandas

#: A report, several repetitions, or the path of a file or directory with them.
Side = Union[Document, Sequence[Document], StrPath]


class Comparison:
    """The answer of `ferrio compare` about some sides; `docs/compare.md` of ferrio describes it."""

    def __init__(self, data: Mapping[str, Any], text: str) -> None:
        #: The answer as dictionaries and lists.
        self.data = data
        self._text = text

    @property
    def verdicts(self) -> list[str]:
        """About each side but the first, which it is compared with: `better`, `worse`, `mixed`, `no-difference` or `unknown`."""
        return [side["verdict"] for side in self.data["sides"][1:]]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each job, direction, figure and side but the first: values, change and its interval in percent, and the verdict."""
        import pandas

        rows = []
        for job in self.data["jobs"]:
            for figure in job["figures"]:
                for at, change in enumerate(figure["changes"]):
                    side = self.data["sides"][at + 1]["name"]
                    row = {"job": job["jobname"], "direction": job["direction"], "figure": figure["figure"], "side": side}
                    row |= {"before": figure["values"][0], "after": figure["values"][at + 1]}
                    low, high = (change or {}).get("interval") or (None, None)
                    row |= {"percent": (change or {}).get("percent"), "low": low, "high": high, "verdict": (change or {}).get("verdict")}
                    rows.append(row)
        return pandas.DataFrame(rows)

    def __str__(self) -> str:
        return self._text


def compare(base: Side, *others: Side, confidence: float = 95) -> Comparison:
    """Compares each of `others` with `base`. A side is a report, several repetitions of it, or the path of a file or directory."""
    with tempfile.TemporaryDirectory(prefix="ferrio-") as place:
        sides = [_path(side, Path(place, name)) for name, side in _named([base, *others])]
        # The names of sides that are made here are relative, so that messages and tables show nothing else.
        arguments = ["compare", f"--confidence={confidence:g}"]
        data = _answer([*arguments, "--format=json", *sides], place)
        text = _answer([*arguments, *sides], place)
    return Comparison(json.loads(data), text)


def _named(sides: Sequence[Side]) -> list[tuple[str, Side]]:
    return [("base" if at == 0 else "new" if len(sides) == 2 else f"new{at}", side) for at, side in enumerate(sides)]


def _path(side: Side, directory: Path) -> str:
    if isinstance(side, (str, os.PathLike)):
        return os.path.abspath(side)
    documents = [side] if isinstance(side, Document) else list(side)
    if not documents:
        raise ValueError("a side has no reports")
    directory.mkdir()
    for number, document in enumerate(documents):
        document.save(directory / f"{number:06}.json")
    return directory.name


def _answer(arguments: Sequence[str], cwd: StrPath) -> str:
    ended = call(arguments, cwd)
    if ended.returncode != 0:
        raise FerrioError(ended.stderr.strip() or f"ferrio ended with status {ended.returncode}")
    return ended.stdout
