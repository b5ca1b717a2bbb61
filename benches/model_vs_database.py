#!/usr/bin/env python3
"""Runs sysbench's oltp_read_write on a real MariaDB, and ferrio's model of it with the parameters that `ferrio import innodb-status` takes from
the server's counters, in turn on the same disk, and prints both side by side.

    benches/model_vs_database.py [--ferrio target/release/ferrio] [--dir DIR] [--sessions 1,8,32] [--rounds 3] [--seconds 25]

Needs mariadbd with its client and sysbench (Debian: mariadb-server, sysbench). The server has a directory of its own below DIR, no network,
and ends with the script, as do all files (about 3 GB). The data is larger than the buffer pool, and read and written with O_DIRECT.

For each number of sessions, one run of sysbench under which the counters are read twice makes the job file; then the two take turns. The
figures are medians over the rounds. The CPU time of a transaction is that of the server and of sysbench, which share the machine.
"""
import argparse
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

TICK = os.sysconf("SC_CLK_TCK")
STATUS = "SHOW GLOBAL VARIABLES; SHOW GLOBAL STATUS"
# What is compared: the row, and whether a ratio says something.
ROWS = [
    ("transactions per second", True),
    ("99th percentile, ms", True),
    ("page reads", True),
    ("page writes", True),
    ("double writes", True),
    ("log writes", True),
    ("syncs", True),
    ("KiB read", True),
    ("KiB written", True),
    ("CPU time, ms", True),
]


class Server:
    """A MariaDB of its own."""

    def __init__(self, base, options):
        self.data, self.socket = os.path.join(base, "data"), os.path.join(base, "socket")
        self.options = options
        user = []
        if os.geteuid() == 0:
            user = ["--user=mysql"]
            shutil.chown(base, "mysql")
        install = ["mariadb-install-db", *user, "--datadir=" + self.data, "--auth-root-authentication-method=normal"]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        words = ["mariadbd", "--no-defaults", *user, "--datadir=" + self.data, "--socket=" + self.socket, "--skip-networking"]
        words += ["--innodb-flush-method=O_DIRECT", "--innodb-flush-log-at-trx-commit=1", f"--innodb-buffer-pool-size={options.pool}"]
        words += ["--innodb-log-file-size=256M", *options.server_option]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit("mariadbd does not come up")
            time.sleep(0.2)
        self.sql("create database sbtest; create user sbtest@localhost; grant all on *.* to sbtest@localhost")

    def client(self, text):
        words = ["mariadb", "--no-defaults", "-uroot", "--socket=" + self.socket, "-e", text]
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)

    def answers(self):
        return self.client("select 1").returncode == 0

    def sql(self, text):
        done = self.client(text)
        if done.returncode != 0:
            sys.exit(f"the server refuses: {text}")
        return done.stdout

    def cpu(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def io(self):
        lines = dict(line.split(": ") for line in open(f"/proc/{self.process.pid}/io").read().splitlines())
        return int(lines["read_bytes"]), int(lines["write_bytes"])

    def status(self):
        return dict(line.split("\t", 1) for line in self.sql("SHOW GLOBAL STATUS").splitlines() if "\t" in line)

    def data_bytes(self):
        files = (os.path.join(at, name) for at, _, names in os.walk(self.data + "/sbtest") for name in names)
        return sum(os.path.getsize(name) for name in files)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def sysbench(server, options, command, threads, seconds=0):
    words = [*options.sysbench.split(), "oltp_read_write", "--db-driver=mysql", "--mysql-socket=" + server.socket, "--mysql-db=sbtest"]
    words += [f"--tables={options.tables}", f"--table-size={options.rows}", "--rand-type=uniform", "--percentile=99"]
    words += [f"--threads={threads}", f"--time={seconds}", command]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def finished(process):
    text = process.communicate()[0]
    if process.returncode != 0:
        sys.exit(f"{' '.join(process.args)}: status {process.returncode}\n{text}")
    return text


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def busy_cpu():
    """CPU time of the whole machine, in seconds."""
    fields = [int(word) for word in open("/proc/stat").readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICK


def run_real(server, options, threads):
    """The figures of a run of sysbench."""
    before, cpu, io, own, busy, began = server.status(), server.cpu(), server.io(), children_cpu(), busy_cpu(), time.monotonic()
    text = finished(sysbench(server, options, "run", threads, options.seconds))
    own, cpu, busy, began = children_cpu() - own, server.cpu() - cpu, busy_cpu() - busy, time.monotonic() - began
    after, io_after = server.status(), server.io()
    transactions = int(re.search(r"transactions: +(\d+)", text)[1])

    def each(name):
        return (int(after[name]) - int(before[name])) / transactions

    return {
        "transactions per second": float(re.search(r"transactions: +\d+ +\(([\d.]+)", text)[1]),
        "99th percentile, ms": float(re.search(r"99th percentile: +([\d.]+)", text)[1]),
        "page reads": each("Innodb_pages_read"),
        "page writes": each("Innodb_pages_written"),
        "double writes": each("Innodb_dblwr_writes"),
        "log writes": each("Innodb_log_writes"),
        # MariaDB counts those of the log with those of the data.
        "syncs": each("Innodb_data_fsyncs"),
        "KiB read": (io_after[0] - io[0]) / transactions / 1024,
        "KiB written": (io_after[1] - io[1]) / transactions / 1024,
        "CPU time, ms": (own + cpu) / transactions * 1e3,
        "others": (busy - own - cpu) / began / os.cpu_count(),
    }


def run_model(options, job):
    """The figures of a run of the model."""
    before, busy, began = resource.getrusage(resource.RUSAGE_CHILDREN), busy_cpu(), time.monotonic()
    words = [options.ferrio, "--output-format=json", job]
    run = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {run.returncode}\n{run.stderr}")
    after, busy, began = resource.getrusage(resource.RUSAGE_CHILDREN), busy_cpu() - busy, time.monotonic() - began
    database = json.loads(run.stdout)["ferrio"]["databases"][0]
    transactions = database["transactions"]
    cpu = sum(getattr(after, kind) - getattr(before, kind) for kind in ("ru_utime", "ru_stime"))

    def each(name):
        return database["io"][name]["per_transaction"]

    def kib(*names):
        return sum(database["io"][name]["io_bytes"] for name in names) / transactions / 1024

    return {
        "transactions per second": database["tps"],
        "99th percentile, ms": dict(database["lat_ns"]["percentile"])["99.000000"] / 1e6,
        "page reads": each("data_reads"),
        "page writes": each("data_writes"),
        "double writes": each("double_writes"),
        "log writes": each("log_writes"),
        "syncs": each("log_syncs") + each("double_write_syncs") + each("data_syncs"),
        "KiB read": kib("data_reads"),
        "KiB written": kib("log_writes", "double_writes", "data_writes"),
        "CPU time, ms": cpu / transactions * 1e3,
        "others": (busy - cpu) / began / os.cpu_count(),
        "steps": {name: step["share"] for name, step in database["steps"].items()},
    }


def imported(server, options, base, threads):
    """The job file of the server, from its counters at two times of a run of sysbench."""
    process = sysbench(server, options, "run", threads, options.warm_up + options.seconds + 1)
    time.sleep(options.warm_up)
    snapshots, marks = [os.path.join(base, name) for name in ("before.txt", "after.txt")], []
    for at, path in enumerate(snapshots):
        if at:
            time.sleep(options.seconds)
        text = server.sql(STATUS)
        fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
        commits = int(re.search(r"^Com_commit\t(\d+)", text, re.M)[1])
        marks.append((commits, server.cpu() + (int(fields[11]) + int(fields[12])) / TICK))
        with open(path, "w") as file:
            file.write(text)
    finished(process)
    cpu_us = (marks[1][1] - marks[0][1]) / (marks[1][0] - marks[0][0]) * 1e6
    words = [options.ferrio, "import", "innodb-status", *snapshots, f"--sessions={threads}", f"--size={server.data_bytes()}"]
    words += [f"--runtime={options.seconds}", f"--transaction-cpu={cpu_us:.0f}us"]
    job = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    path = os.path.join(base, "model.fio")
    job += "".join(f"{option}\n" for option in options.model_option)
    directory = os.path.join(base, "model")
    os.makedirs(directory, exist_ok=True)
    with open(path, "w") as file:
        file.write(f"{job}directory={directory}\n")
    layout = os.path.join(base, "layout.fio")
    with open(layout, "w") as file:
        file.write(f"{job}directory={directory}\ncreate_only=1\n")
    subprocess.run([options.ferrio, layout], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return path, job


def table(threads, real, model):
    def median(runs, name):
        return statistics.median(run[name] for run in runs)

    print(f"\n| {threads} sessions | MariaDB | model | model / MariaDB |\n|---|---|---|---|")
    for name, _ in ROWS:
        theirs, ours = median(real, name), median(model, name)
        digits = 0 if theirs >= 100 else 3 if theirs < 1 else 2
        print(f"| {name} | {theirs:.{digits}f} | {ours:.{digits}f} | {ours / theirs if theirs else 0:.2f} |")
    steps = {name: statistics.median(run["steps"][name] for run in model) for name in model[0]["steps"]}
    shares = ", ".join(f"{name} {share:.0f} %" for name, share in steps.items())
    print(f"\nA transaction of the model: {shares}.")
    for name, runs in (("MariaDB", real), ("the model", model)):
        rates = ", ".join(f"{run['transactions per second']:.0f}" for run in runs)
        print(f"Runs of {name}: {rates} per second; other programs used {100 * median(runs, 'others'):.0f} % of the CPUs.")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ferrio", default="target/release/ferrio", type=os.path.abspath)
    parser.add_argument("--sysbench", default="sysbench", help="sysbench, or `ferrio sysbench`")
    parser.add_argument("--dir", default=".", help="directory on the disk to measure")
    parser.add_argument("--sessions", default="1,8,32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=25)
    parser.add_argument("--warm-up", type=int, default=10, help="seconds before the counters are read")
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of a table")
    parser.add_argument("--pool", default="128M", help="size of the buffer pool")
    parser.add_argument("--model-option", action="append", default=[], help="an option of the model, in place of the imported one")
    parser.add_argument("--server-option", action="append", default=[], help="an option of mariadbd; may be repeated")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="model-", dir=options.dir) as base:
        os.chmod(base, 0o755)
        server = Server(base, options)
        try:
            finished(sysbench(server, options, "prepare", options.tables))
            for threads in (int(word) for word in options.sessions.split(",")):
                job, text = imported(server, options, base, threads)
                print("\n" + "".join(line + "\n" for line in text.splitlines() if not line.startswith(";")), end="")
                real, model = [], []
                for number in range(options.rounds):
                    # Each is first as often as the other.
                    for is_real in (True, False)[:: 1 if number % 2 else -1]:
                        if is_real:
                            real.append(run_real(server, options, threads))
                        else:
                            model.append(run_model(options, job))
                table(threads, real, model)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
