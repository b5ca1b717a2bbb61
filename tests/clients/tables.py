"""Reads reports and logs of ferrio with pandas: tables.py DIRECTORY

DIRECTORY holds `report`, the terse lines and the JSON document of one run, and its logs of every I/O, `JOB_KIND.NUMBER.log`. What pandas
makes of them must add up.
"""

import io
import json
import sys
from pathlib import Path

import pandas

DIRECTIONS = ["read", "write", "trim"]
# Columns of terse lines, version 3, in which the figures of a direction begin.
TERSE_FIGURES = {"read": 5, "write": 46}
TERSE_COLUMNS = 121
TERSE_CPU = 87
TERSE_DEPTHS = range(92, 99)


def main(directory):
    text = (directory / "report").read_text()
    terse, brace, document = text.partition("{\n")
    document = json.loads(brace + document)
    jobs = pandas.json_normalize(document["jobs"])
    check_document(jobs)
    check_terse(terse, jobs)
    for number, (_, job) in enumerate(jobs.iterrows(), 1):
        check_logs(directory, number, job)
    print(f"{len(jobs)} jobs")


def check_document(jobs):
    """Three jobs: a reader of 512 KiB, a writer of 256 KiB in blocks of 8 KiB, a mix of 1 MiB."""
    assert list(jobs["jobname"]) == ["reads", "writes", "mix"], jobs["jobname"]
    moved = jobs[[f"{direction}.io_bytes" for direction in DIRECTIONS]]
    assert list(moved.sum(axis=1)) == [512 << 10, 256 << 10, 1 << 20], moved
    assert moved.sum().sum() == 1792 << 10
    assert list(jobs["write.total_ios"])[1] == 32 and list(jobs["sync.total_ios"]) == [0, 3, 0]
    # One row per job and direction, as a person would make of it.
    figures = pandas.concat(
        [jobs.filter(regex=rf"^{name}\.").rename(columns=lambda key: key.partition(".")[2]).assign(direction=name, jobname=jobs["jobname"])
         for name in DIRECTIONS]
    )
    assert len(figures) == 9
    busy = figures[figures["total_ios"] > 0]
    assert list(busy.groupby("jobname")["direction"].agg(list)) == [["read", "write"], ["read"], ["write"]]
    assert (busy["io_bytes"] // 1024 == busy["io_kbytes"]).all()
    assert (busy["clat_ns.N"] == busy["total_ios"]).all()
    assert (busy["clat_ns.min"] <= busy["clat_ns.mean"]).all() and (busy["clat_ns.mean"] <= busy["clat_ns.max"]).all()
    assert (busy["lat_ns.mean"] >= busy["clat_ns.mean"]).all()
    percentiles = busy.filter(like="clat_ns.percentile.")
    percentiles = percentiles[sorted(percentiles.columns, key=lambda key: float(key.split("percentile.")[1]))]
    assert percentiles.shape == (4, 17) and percentiles.notna().all().all()
    assert percentiles.apply(lambda row: row.is_monotonic_increasing, axis=1).all()
    # Syncs have a depth, but the shares are of the other I/Os.
    syncs = 100 * jobs["sync.total_ios"] / moved_ios(jobs)
    for shares, more in [("iodepth_level", syncs), ("iodepth_submit", 0), ("iodepth_complete", 0)]:
        summed = jobs.filter(regex=rf"^{shares}\.").sum(axis=1) - more
        # Shares that are not zero are shown as 0.1 % at least.
        assert summed.between(99.9, 100.7).all(), (shares, summed)
    assert jobs.filter(regex=r"^latency_[num]s\.").sum(axis=1).between(99.9, 100.5).all()
    assert (jobs.dtypes.drop(jobs.filter(regex="^job options|^jobname").columns).map(pandas.api.types.is_numeric_dtype)).all()


def moved_ios(jobs):
    return jobs[[f"{direction}.total_ios" for direction in DIRECTIONS]].sum(axis=1)


def check_terse(text, jobs):
    lines = pandas.read_csv(io.StringIO(text), sep=";", header=None)
    assert lines.shape[0] == len(jobs) and lines.shape[1] >= TERSE_COLUMNS, lines.shape
    assert (lines[0] == 3).all() and list(lines[2]) == list(jobs["jobname"])
    for direction, at in TERSE_FIGURES.items():
        for column, key in enumerate(["io_kbytes", "bw", "iops", "runtime"], at):
            wanted = jobs[f"{direction}.{key}"].astype(int)
            assert (lines[column] == wanted).all(), (direction, key)
        for column, key in [(at + 4, "slat_ns"), (at + 8, "clat_ns"), (at + 32, "lat_ns")]:
            mean = jobs[f"{direction}.{key}.mean"] / 1000
            assert (abs(lines[column + 2] - mean) < 1e-5).all(), (direction, key)
    assert lines[[5, 46]].sum().sum() == 1792
    user = lines[TERSE_CPU].str.rstrip("%").astype(float)
    assert (abs(user - jobs["usr_cpu"]) < 1e-5).all()
    depths = lines[list(TERSE_DEPTHS)].apply(lambda column: column.str.rstrip("%").astype(float))
    wanted = jobs.filter(regex=r"^iodepth_level\.")
    assert (abs(depths.to_numpy() - wanted.to_numpy()) <= 0.051).all(), depths


def check_logs(directory, number, job):
    """Every I/O has its row in each log, with its direction and size."""
    for kind in ["bw", "iops", "lat", "slat", "clat"]:
        path = directory / f"{job['jobname']}_{kind}.{number}.log"
        rows = pandas.read_csv(path, header=None, skipinitialspace=True)
        assert rows.dtypes[:4].map(pandas.api.types.is_integer_dtype).all(), rows.dtypes
        rows = rows.rename(columns=dict(enumerate(["time", "value", "direction", "bs", "offset"])))
        assert rows["time"].is_monotonic_increasing, path
        for at, direction in enumerate(DIRECTIONS[:2]):
            own = rows[rows["direction"] == at]
            assert len(own) == job[f"{direction}.total_ios"], (path, direction, len(own))
            assert own["bs"].sum() == job[f"{direction}.io_bytes"], (path, direction)
            if kind.endswith("lat") and len(own):
                figures = [job[f"{direction}.{kind}_ns.{key}"] for key in ["min", "max"]]
                assert [own["value"].min(), own["value"].max()] == figures, (path, direction)
                assert abs(own["value"].mean() - job[f"{direction}.{kind}_ns.mean"]) < 1e-5, (path, direction)
        assert len(rows) == sum(job[f"{direction}.total_ios"] for direction in DIRECTIONS), path


if __name__ == "__main__":
    main(Path(sys.argv[1]))
