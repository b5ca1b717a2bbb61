"""Runs cdmpy (fio-cdm) with the `fio` on PATH and compares the figures that it prints with the document that it read: cdm_runs.py"""

import contextlib
import io

from cdm import fio_cdm


class Job(fio_cdm.Job):
    """Keeps the document that cdmpy prints."""

    def _print(self, info):
        self.info = info
        super()._print(info)


job = Job(".", "1m", False, 70, 2, None, True)
job.create_job("seq", 8, 1)
job.create_job("rnd", 16, 2)
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    job.run()
rows = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in printed.getvalue().splitlines()
    if line.startswith("|")
][2:]
figures = {row[0]: [float(cell) for cell in row[1:]] for row in rows}
assert list(figures) == ["SEQ1M Q8 T1", "RND4K Q16T2", ". IOPS", ". latency us"], printed.getvalue()


def expected(name, figure):
    read = figure(job.info[f"{name.format('read')}"]["read"])
    write = figure(job.info[f"{name.format('write')}"]["write"])
    mixed = job.info[f"{name.format('rw')}"]
    return [read, write, 0.7 * figure(mixed["read"]) + 0.3 * figure(mixed["write"])]


def same(row, name, figure):
    for shown, value in zip(figures[row], expected(name, figure), strict=True):
        assert shown > 0 and abs(shown - value) <= 0.00501, (row, shown, value)


same("SEQ1M Q8 T1", "seq-{}-1m-q8-t1", lambda d: d["bw_bytes"] / 1e6)
same("RND4K Q16T2", "rnd-{}-4k-q16-t2", lambda d: d["bw_bytes"] / 1e6)
same(". IOPS", "rnd-{}-4k-q16-t2", lambda d: d["iops"])
same(". latency us", "rnd-{}-4k-q16-t2", lambda d: d["lat_ns"]["mean"] / 1000)
# Every pass of every job moved all of its data.
assert job.info["seq-read-1m-q8-t1"]["read"]["io_bytes"] == 2 << 20
assert job.info["rnd-write-4k-q16-t2"]["write"]["io_bytes"] == 4 << 20
print(f"{len(rows)} rows")
