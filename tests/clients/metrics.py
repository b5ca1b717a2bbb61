"""Reads an exposition of ferrio with the OpenMetrics parser of Prometheus' client: metrics.py EXPOSITION DOCUMENT

DOCUMENT is the JSON document of the same jobs, run once more: what does not depend on time must be the same in both.
"""

import json
import sys
from pathlib import Path

from prometheus_client import parser as older_format
from prometheus_client.openmetrics import parser

UNITS = ["", "seconds", "bytes", "ratio", "bytes_per_second"]
DIRECTIONS = ["read", "write", "trim", "mixed"]
LATENCIES = {
    "ferrio_slat_seconds": "slat_ns",
    "ferrio_clat_seconds": "clat_ns",
    "ferrio_lat_seconds": "lat_ns",
    "ferrio_response_seconds": "response_ns",
}


class Exposition:
    """The samples of a text by name and labels."""

    def __init__(self, text):
        self.families = list(parser.text_string_to_metric_families(text))
        self.samples = {}
        for family in self.families:
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                assert key not in self.samples, key
                self.samples[key] = sample

    def value(self, name, **labels):
        return self.samples[(name, frozenset(labels.items()))].value

    def quantiles(self, name, **labels):
        wanted = labels.items()
        of_labels = [
            sample for (of, _), sample in self.samples.items() if of == name and wanted <= sample.labels.items()
        ]
        return [(float(sample.labels["quantile"]), sample.value) for sample in of_labels]


def main(exposition, document):
    text = exposition.read_text()
    metrics = Exposition(text)
    document = json.loads(document.read_text())
    check_families(metrics, text, document)
    check_older_format(text, metrics)
    series = 0
    for entry, job in enumerate(document["jobs"]):
        labels = {"entry": str(entry), "jobname": job["jobname"], "group": str(job["groupid"])}
        check_job(metrics, labels, job, document.get("global options", {}))
        for name in DIRECTIONS:
            if name in job:
                check_direction(metrics, {**labels, "direction": name}, job[name])
                series += 1
    counted = sum(1 for name, _ in metrics.samples if name == "ferrio_ios_total")
    assert counted == series, (counted, series)
    for group in {job["groupid"] for job in document["jobs"]}:
        check_group(metrics, group, [job for job in document["jobs"] if job["groupid"] == group])
    check_run(metrics, document)
    check_disks(metrics)
    print(f"{len(metrics.families)} families, {len(metrics.samples)} samples")


def check_families(metrics, text, document):
    assert text.endswith("\n# EOF\n") and text.count("# EOF") == 1
    for family in metrics.families:
        assert family.documentation, family
        assert family.type in ["gauge", "counter", "summary"], family
        assert family.unit in UNITS and family.name.startswith("ferrio_"), family
        assert family.samples and all(sample.timestamp is None for sample in family.samples), family
    names = [family.name for family in metrics.families]
    assert len(names) == len(set(names))
    (run,) = [family for family in metrics.families if family.name == "ferrio_run_info"]
    (about,) = run.samples
    assert about.value == 1
    host = document["ferrio"]["host"]
    wanted = {
        "version": document["ferrio"]["version"],
        "fio_version": document["fio version"],
        "host": host["name"],
        "kernel": host["kernel"],
        "arch": host.get("arch", ""),
        "cpu_model": host.get("cpu_model", ""),
        "clock": document["ferrio"]["clock"]["source"],
    }
    assert about.labels == wanted, about


def check_older_format(text, metrics):
    """Collectors of text files read the format that was before."""
    samples = {}
    for family in older_format.text_string_to_metric_families(text):
        for sample in family.samples:
            samples[(sample.name, frozenset(sample.labels.items()))] = sample.value
    assert samples == {key: sample.value for key, sample in metrics.samples.items()}


def check_run(metrics, document):
    of_run = document["ferrio"]["run"]
    assert metrics.value("ferrio_run_jobs", end="completed") == of_run["jobs"] - of_run["failed_jobs"] > 0
    assert metrics.value("ferrio_run_jobs", end="failed") == of_run["failed_jobs"] == 0
    assert metrics.value("ferrio_run_signal") == 0
    start = metrics.value("ferrio_run_start_timestamp_seconds")
    assert start <= metrics.value("ferrio_report_timestamp_seconds") <= start + 600
    assert 0 < metrics.value("ferrio_run_elapsed_seconds") < 600


def check_job(metrics, labels, job, globals):
    def value(name, **more):
        return metrics.value(f"ferrio_job_{name}", **labels, **more)

    assert value("error_code") == job["error"] == 0
    assert value("start_timestamp_seconds") > 1.6e9
    assert value("instances") == int(job["job options"].get("numjobs", 1)) or value("instances") == 1
    for option, text in {**globals, **job.get("job options", {})}.items():
        assert value("option_info", option=option, value=text) == 1, option
    for label, key, name in [
        ("iodepth", "iodepth_level", "iodepth_ratio"),
        ("ios", "iodepth_submit", "submit_ratio"),
        ("ios", "iodepth_complete", "complete_ratio"),
    ]:
        # One I/O at a time: these do not depend on time.
        for word, percent in job[key].items():
            assert same(value(name, **{label: word}), percent / 100), (name, word, percent)
    below = [
        (float(sample.labels["below"]), sample.value)
        for (name, _), sample in metrics.samples.items()
        if name == "ferrio_job_latency_ratio" and labels.items() <= sample.labels.items()
    ]
    assert len(below) == 32 and below == sorted(below) and 0.99 < sum(share for _, share in below) < 1.01, below
    if "sync" in job:
        assert metrics.value("ferrio_syncs_total", **labels) == job["sync"]["total_ios"]
        if job["sync"]["total_ios"]:
            assert metrics.value("ferrio_sync_lat_seconds_count", **labels) == job["sync"]["lat_ns"]["N"]


def check_direction(metrics, labels, figures):
    def value(name):
        return metrics.value(f"ferrio_{name}", **labels)

    assert value("ios_total") == figures["total_ios"], labels
    assert value("io_bytes_total") == figures["io_bytes"], labels
    assert value("short_ios_total") == figures["short_ios"], labels
    runtime = value("runtime_seconds")
    if runtime:
        assert value("bandwidth_bytes_per_second") == int(value("io_bytes_total") * 1000) // round(runtime * 1000)
        assert same(value("iops"), value("ios_total") / runtime)
    for name, key in LATENCIES.items():
        count = figures.get(key, {}).get("N", 0)
        quantiles = metrics.quantiles(name, **labels)
        if not count:
            assert not quantiles and (f"{name}_count", frozenset(labels.items())) not in metrics.samples
            continue
        assert metrics.value(f"{name}_count", **labels) == count, (name, labels)
        shares = [share for share, _ in quantiles]
        wanted = [float(percent) / 100 for percent in figures[key].get("percentile", {})]
        wanted = [0, *(share for share in wanted if share < 1), 1]
        assert len(shares) == len(wanted) and all(map(same, shares, wanted)), (name, shares, wanted)
        values = [latency for _, latency in quantiles]
        assert values == sorted(values), (name, labels, values)
        mean = metrics.value(f"{name}_sum", **labels) / count
        assert values[0] - 1e-12 <= mean <= values[-1] + 1e-12 and values[-1] < 60, (name, labels, mean)


def check_group(metrics, group, jobs):
    for name in DIRECTIONS:
        moved = sum(job[name]["io_bytes"] for job in jobs if name in job)
        key = ("ferrio_group_io_bytes_total", frozenset({"group": str(group), "direction": name}.items()))
        # A job too short for a millisecond does not count in its group.
        if key in metrics.samples:
            assert 0 < metrics.samples[key].value <= moved, (key, moved)


def check_disks(metrics):
    disks = {sample.labels["disk"] for (name, _), sample in metrics.samples.items() if name.startswith("ferrio_disk_")}
    for disk in disks:
        assert 0 <= metrics.value("ferrio_disk_utilization_ratio", disk=disk) <= 1
        for direction in ["read", "write"]:
            bytes_moved = metrics.value("ferrio_disk_io_bytes_total", disk=disk, direction=direction)
            assert bytes_moved % 512 == 0, (disk, direction, bytes_moved)


def same(left, right):
    return abs(left - right) <= 1e-9 * max(abs(left), abs(right))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
