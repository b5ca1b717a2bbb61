"""Draws every kind of chart that fio-plot knows from runs of ferrio: charts.py bars|lines RUNS PICTURES

Bars come from JSON documents, lines from logs. RUNS holds directories as bench-fio makes them. Each chart must be a picture, and
what fio-plot read from the files must be what stands in them.
"""

import contextlib
import copy
import io
import json
import statistics
import sys
import traceback
from pathlib import Path

import fio_plot
import matplotlib.pyplot
from fio_plot.fiolib import getdata
from PIL import Image

# Name, directories of runs, arguments.
CHARTS = [
    ("bars-3d-iops", ["randread"], "-L -t iops -r randread"),
    ("bars-3d-lat", ["randread"], "-L -t lat -r randread"),
    ("bars-3d-bw", ["randread"], "-L -t bw -r randread"),
    ("bars-by-depth", ["randread"], "-l -r randread -n 1"),
    ("bars-by-depth-grouped", ["randread"], "-l -r randread -n 2 --group-bars --show-data"),
    ("bars-by-depth-cpu", ["randread"], "-l -r randread -n 2 --show-cpu --table-lines"),
    ("bars-of-a-steady-state", ["steady"], "-l -r randread -d 2 -n 1 --show-ss"),
    ("bars-by-jobs", ["randread"], "-N -r randread -d 4"),
    ("bars-by-jobs-data", ["randread"], "-N -r randread -d 1 --show-data"),
    ("bars-of-reads", ["randrw"], "-l -r randrw -f read -n 1"),
    ("bars-of-writes", ["randrw"], "-l -r randrw -f write -n 1"),
    ("histogram", ["randread"], "-H -r randread -d 4 -n 2"),
    ("histogram-of-writes", ["randrw"], "-H -r randrw -f write -d 2 -n 1"),
    ("compare", ["randread", "again"], "-C -r randread -d 2 -n 1"),
    ("compare-grouped", ["randread", "again"], "-C -r randread -d 2 -n 1 --group-bars --show-cpu"),
    ("lines-bw", ["randread"], "-g -t bw -r randread -f read -d 1 -n 1"),
    ("lines-iops", ["randread"], "-g -t iops -r randread -f read -d 1 2 -n 1"),
    ("lines-lat", ["randread"], "-g -t lat -r randread -f read -d 4 -n 1 2"),
    ("lines-slat", ["randread"], "-g -t slat -r randread -f read -d 4 -n 1"),
    ("lines-clat", ["randread"], "-g -t clat -r randread -f read -d 4 -n 2 -e 5 --enable-markers"),
    ("lines-three", ["randread"], "-g -t iops bw lat -r randread -f read -d 2 -n 2"),
    ("lines-of-two-runs", ["randread", "again"], "-g -t clat -r randread -f read -d 2 -n 1"),
    ("lines-of-a-mix", ["randrw"], "-g -t clat iops -r randrw -f read write -d 2 -n 1"),
    # There is also --draw-total, with which fio-plot 1.1.21 fails on fio's logs as well.
]

# The names of logs and of the latencies of the report.
LATENCIES = {"lat": "lat_ns", "slat": "slat_ns", "clat": "clat_ns"}


def main(kind, runs, pictures):
    charts = [chart for chart in CHARTS if chart[2].startswith("-g") == (kind == "lines")]
    read = []
    for name in ["get_json_data", "get_log_data"]:
        setattr(getdata, name, recorded(getattr(getdata, name), read))
    failed = 0
    for name, directories, arguments in charts:
        read.clear()
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                picture = draw(name, [runs / directory for directory in directories], arguments, pictures)
            look_at(picture)
            for settings, data in read:
                check_log_data(settings, data) if settings["loggraph"] else check_json_data(settings, data)
            assert read, "fio-plot read nothing"
        except (Exception, SystemExit):
            failed += 1
            print(f"--- {name}: fio-plot {arguments}\n{said.getvalue()}", file=sys.stderr)
            traceback.print_exc()
    print(f"{len(charts) - failed} charts, {failed} failed")
    return 1 if failed else 0


def recorded(function, log):
    """The function with what it takes and gives kept."""

    def wrapped(settings):
        data = function(settings)
        # Later steps change both.
        log.append((copy.deepcopy(settings), copy.deepcopy(data)))
        return data

    return wrapped


def draw(name, directories, arguments, pictures):
    picture = pictures / f"{name}.png"
    words = arguments.split() + ["-T", name, "-s", "ferrio", "-D", "60", "-o", str(picture), "-i"]
    sys.argv = ["fio-plot"] + words + [str(directory) for directory in directories]
    try:
        fio_plot.main()
    except SystemExit as end:
        assert end.code == 0, f"fio-plot ends with {end.code}"
    finally:
        matplotlib.pyplot.close("all")
    return picture


def look_at(picture):
    with Image.open(picture) as image:
        assert image.format == "PNG", image.format
        assert min(image.size) > 100, image.size
        assert len(image.convert("RGB").getcolors(1 << 24)) > 10, "the picture is empty"


def documents(directory, settings):
    """The JSON documents of a directory by depth and number of jobs."""
    found = {}
    for path in sorted(Path(directory).glob("*.json")):
        document = json.loads(path.read_text())
        written = {**document["jobs"][0]["job options"], **document.get("global options", {})}
        key = (int(written["iodepth"]), int(written["numjobs"]))
        if key[0] in settings["iodepth"] and key[1] in settings["numjobs"]:
            found[key] = document
    return found


def check_json_data(settings, data):
    for directory in data:
        rows = {(int(row["iodepth"]), int(row["numjobs"])): row for row in directory["data"]}
        wanted = documents(directory["directory"], settings)
        assert rows and rows.keys() == wanted.keys(), (rows.keys(), wanted.keys())
        for key, row in rows.items():
            jobs = wanted[key]["jobs"]
            assert len(jobs) == key[1], (key, len(jobs))
            kind = row["type"]
            same(row["iops"], sum(job[kind]["iops"] for job in jobs))
            same(row["bw"], sum(job[kind]["bw"] for job in jobs))
            same(row["lat"], statistics.mean(job[kind]["lat_ns"]["mean"] for job in jobs))
            same(row["cpu_usr"], statistics.mean(job["usr_cpu"] for job in jobs))
            same(row["cpu_sys"], statistics.mean(job["sys_cpu"] for job in jobs))
            for unit in ["latency_ns", "latency_us", "latency_ms"]:
                assert row[unit] == [job[unit] for job in jobs], unit
            assert row["fio_version"] == wanted[key]["fio version"]
            assert row["iops"] > 0 and row["lat"] > 0, row


def check_log_data(settings, data):
    assert len(data) == len(settings["type"]) * len(settings["iodepth"]) * len(settings["numjobs"]) * len(
        settings["input_directory"]
    )
    for line in data:
        directory = next(path for path in settings["input_directory"] if str(path).endswith(str(line["directory"])))
        document = documents(directory, settings)[(line["iodepth"], line["numjobs"])]
        (record,) = line["data"]
        for kind in settings["filter"]:
            # One row for each I/O; of several jobs their rows side by side.
            jobs = [job[kind] for job in document["jobs"]]
            values = [value for _, value in record[kind]]
            assert len(values) == min(job["total_ios"] for job in jobs) > 0, (line["type"], kind, len(values))
            latency = LATENCIES.get(line["type"])
            if latency:
                # All samples of the run, so their mean is that of the report.
                same(statistics.mean(values), statistics.mean(job[latency]["mean"] for job in jobs))
            else:
                assert min(values) > 0, line["type"]


def same(left, right):
    assert abs(left - right) <= 1e-6 * max(abs(left), abs(right)), (left, right)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
