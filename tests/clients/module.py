"""Uses the Python module: module.py DIRECTORY

Runs jobs in DIRECTORY, reads and compares their reports, and checks that wrong jobs are refused with the messages of the program.
"""

import sys
from pathlib import Path

import ferrio
import pandas

JOBS = {
    "global": {"ioengine": "null", "size": "1m", "bs": "4k"},
    "reads": {"rw": "read", "percentile_list": "50:99:99.9"},
    "mix": {"rw": "randrw", "stonewall": True, "lat_percentiles": True},
}


def main(directory):
    document = ferrio.run(JOBS, cwd=directory)
    assert [job["jobname"] for job in document.jobs] == ["reads", "mix"]
    check_frames(document)
    check_files(document, directory)
    check_comparison(document, directory)
    check_refusals(directory)
    print(f"ferrio {document.data['ferrio']['version']}")


def check_frames(document):
    frame = document.to_pandas()
    assert list(frame["job"] + " " + frame["direction"]) == ["reads read", "mix read", "mix write"], frame
    assert frame["io_bytes"].sum() == 2 << 20 and frame["ios"].sum() == 512
    reads = document.jobs[0]["read"]
    first = frame.iloc[0]
    assert (first["iops"], first["clat_p99_ns"]) == (reads["iops"], reads["clat_ns"]["percentile"]["99.000000"])
    assert "clat_p99.9_ns" in frame.columns and first["clat_mean_ns"] == reads["clat_ns"]["mean"]
    assert pandas.isna(first["lat_p99_ns"]) and frame.iloc[1]["lat_p99_ns"] > 0, "only the mix has lat_percentiles"
    series = document.series()
    assert set(series["direction"]) == {"read", "write"} and not series["ramp"].any()
    seconds = (series["end_ms"] - series["start_ms"]) / 1000
    assert round((series["iops"] * seconds).sum()) == 512, series
    warned = ferrio.Document({"jobs": [], "ferrio": {"warnings": [{"code": "few-ios", "message": "too few"}]}})
    assert warned.warnings == ["too few"] and ferrio.Document({"jobs": []}).warnings == []


def check_files(document, directory):
    reports = directory / "reports"
    reports.mkdir()
    for number in range(3):
        document.save(reports / f"{number}.json")
    again = ferrio.Document.read(reports / "0.json")
    assert again.data == document.data and repr(again) == "<ferrio.Document of reads, mix>"
    assert len(ferrio.Document.read_all(reports)) == 3
    job = directory / "job file.fio"
    job.write_text("[a]\nioengine=null\nsize=64k\n[b]\nioengine=null\nsize=64k\n")
    only = ferrio.run(job, options=["--section=b"])
    assert [entry["jobname"] for entry in only.jobs] == ["b"]
    fio = directory / "fio.json"
    fio.write_text('fio: a note\n{"fio version": "fio-3.33", "jobs": []}\n')
    assert ferrio.Document.read(fio).series().empty


def check_comparison(document, directory):
    compared = ferrio.compare([document] * 3, directory / "reports", confidence=90)
    assert compared.verdicts == ["no-difference"], compared
    frame = compared.to_pandas()
    assert set(frame["verdict"]) == {"no-difference"} and (frame["percent"] == 0).all(), frame
    assert "A: base (3 runs)" in str(compared) and "90 % interval" in str(compared)
    slower = [ferrio.Document(scaled(document.data, factor)) for factor in (0.5, 0.51, 0.49)]
    faster = [ferrio.Document(scaled(document.data, factor)) for factor in (1.0, 1.01, 0.99)]
    assert ferrio.compare(faster, slower).verdicts == ["worse"]


def scaled(data, factor):
    def job(job):
        read = {**job["read"], "iops": job["read"]["iops"] * factor, "bw_bytes": int(job["read"]["bw_bytes"] * factor)}
        return {**job, "read": read}

    return {**data, "jobs": [job(data["jobs"][0])]}


def check_refusals(directory):
    error = refused(lambda: ferrio.run({"a": {"ioengine": "null", "siz": "1m"}}))
    assert error.status == 1 and error.document is None
    assert "unknown option `siz`" in str(error) and "did you mean `size`" in str(error), error
    failing = {"full": {"filename": "/dev/full", "rw": "write", "size": "64k"}}
    error = refused(lambda: ferrio.run(failing, cwd=directory))
    assert error.document is not None and error.document.jobs[0]["error"] == 28, error.document
    assert ferrio.run(failing, cwd=directory, check=False).jobs[0]["error"] == 28
    for jobs in ({"a]\n[b": {}}, {"a": {"size": "1m\nrw=write"}}, {"a": {"si ze": 1}}):
        assert isinstance(caught(lambda jobs=jobs: ferrio.run(jobs)), ValueError)
    assert "No such file" in str(refused(lambda: ferrio.run(directory / "missing.fio")))
    assert isinstance(caught(lambda: ferrio.compare(directory / "missing", directory)), ferrio.FerrioError)


def refused(work):
    error = caught(work)
    assert isinstance(error, ferrio.RunError), error
    return error


def caught(work):
    try:
        work()
    except Exception as error:
        return error
    raise AssertionError("nothing was refused")


main(Path(sys.argv[1]))
