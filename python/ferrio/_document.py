"""Reports of runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._program import FerrioError, StrPath

if TYPE_CHECKING:
    import pandas

DIRECTIONS = ("read", "write", "trim", "mixed")


class Document:
    """A JSON report of ferrio or fio; `docs/json.md` of ferrio describes its keys."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        if not isinstance(data, Mapping) or "jobs" not in data:
            raise ValueError("this is no report: it has no jobs")
        self.data: Mapping[str, Any] = data

    @classmethod
    def read(cls, path: StrPath) -> Document:
        """Reads a report from a file."""
        text = Path(path).read_text()
        try:
            # fio may print notes before the document.
            return cls(json.loads(text[max(text.find("{"), 0) :]))
        except ValueError as error:
            raise FerrioError(f"{path}: {error}") from error

    @classmethod
    def read_all(cls, directory: StrPath) -> list[Document]:
        """Reads the reports in the files of a directory that end with `.json`, in the order of their names."""
        paths = sorted(Path(directory).glob("*.json"))
        if not paths:
            raise FerrioError(f"{directory} has no files that end with .json")
        return [cls.read(path) for path in paths]

    def save(self, path: StrPath) -> None:
        """Writes the report to a file."""
        Path(path).write_text(json.dumps(self.data, indent=2) + "\n")

    @property
    def jobs(self) -> list[Mapping[str, Any]]:
        """The entries: one for each job, or for each group with `group_reporting`."""
        return list(self.data["jobs"])

    @property
    def warnings(self) -> list[str]:
        """Reasons why figures may mislead."""
        return [warning["message"] for warning in self.data.get("ferrio", {}).get("warnings", [])]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each entry and direction with I/O: its rates and latencies.

        Columns end with their unit. A latency has `min`, `mean`, `max`, `stddev` and its percentiles, as in `clat_p99_ns`.
        """
        import pandas

        return pandas.DataFrame([row for number, job in enumerate(self.jobs) for row in _rows(number, job)])

    def series(self) -> pandas.DataFrame:
        """The figures over time: a row for each entry, period and direction; empty for reports without `ferrio.series`."""
        import pandas

        series = self.data.get("ferrio", {}).get("series", [])
        columns = ["job", "job_number", "direction", "start_ms", "end_ms", "ramp", "iops", "bw_bytes", "max_ns", "iodepth_mean", "errors"]
        return pandas.DataFrame([row for job in series for row in _pieces(job)], columns=columns)

    def __repr__(self) -> str:
        names = ", ".join(str(job.get("jobname")) for job in self.jobs)
        return f"<ferrio.Document of {names}>"


def _rows(number: int, job: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for direction in DIRECTIONS:
        figures = job.get(direction)
        if not figures or not figures.get("total_ios"):
            continue
        row = {"entry": number, "job": job["jobname"], "group": job["groupid"], "direction": direction, "error": job.get("error", 0)}
        row |= {"ios": figures["total_ios"], "iops": figures["iops"], "io_bytes": figures["io_bytes"], "bw_bytes": figures["bw_bytes"]}
        row["runtime_ms"] = figures["runtime"]
        for name in ("slat", "clat", "lat"):
            row |= _latency(name, figures.get(f"{name}_ns", {}))
        rows.append(row)
    return rows


def _latency(name: str, latency: Mapping[str, Any]) -> dict[str, Any]:
    if not latency.get("N", latency.get("max")):
        return {}
    figures = {f"{name}_{figure}_ns": latency[figure] for figure in ("min", "mean", "max", "stddev") if figure in latency}
    percentiles = {f"{name}_p{float(percent):g}_ns": value for percent, value in latency.get("percentile", {}).items()}
    return figures | percentiles


def _pieces(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for direction in DIRECTIONS:
        figures = job.get(direction)
        if figures is None:
            continue
        start = job["start_ms"]
        for at, end in enumerate(job["time_ms"]):
            seconds = max(end - start, 1) / 1000
            row = {"job": job["jobname"], "job_number": job["job_number"], "direction": direction, "start_ms": start, "end_ms": end}
            row |= {"ramp": end <= job["ramp_until_ms"], "iops": figures["ios"][at] / seconds, "bw_bytes": figures["bytes"][at] / seconds}
            row |= {"max_ns": figures["max_ns"][at], "iodepth_mean": job["iodepth_mean"][at], "errors": job["errors"][at]}
            rows.append(row)
            start = end
    return rows
