#!/usr/bin/env python3
"""Measures sysbench and ferrio with the same command lines, one after the other in turn, and prints a table of medians.

    benches/sysbench.py [--ferrio target/release/ferrio] [--runs 5] [--time 2] [--dir DIR] [--size 256M] [fileio|work|oltp|WORD...]

`fileio` is every mode of fileio with files in the page cache and with direct I/O, with 1 and 8 threads, and some with the I/O modes async and
mmap; `work` is cpu, threads, mutex and memory. `oltp` is point selects and transactions on a MariaDB and a PostgreSQL of its own, over sockets, with
1, 8 and 32 threads. Other words select the lines that have all of them. Files are made in DIR, by default the current directory, and removed.
A column is the median over the runs; CPU is the time that the process used, per event. The table of `oltp` has memory in the place of syncs:
the largest that the process had, in KiB.
"""
import argparse
import contextlib
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "servers", "database")
MODES = ["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"]


def lines(files, seconds):
    """The command lines to measure."""
    for flags in ("", " --file-extra-flags=direct"):
        for threads in (1, 8):
            for mode in MODES:
                yield f"fileio {files} --file-test-mode={mode}{flags} --threads={threads} --time={seconds}"
    for mode in ("rndrd", "rndwr", "rndrw"):
        yield f"fileio {files} --file-test-mode={mode} --file-io-mode=mmap --time={seconds}"
        for threads in (1, 8):
            direct = f"--file-extra-flags=direct --file-io-mode=async --threads={threads}"
            yield f"fileio {files} --file-test-mode={mode} {direct} --time={seconds}"
    for more in ("", " --threads=2", " --cpu-max-prime=20000"):
        yield f"cpu{more} --time={seconds}"
    for threads in (1, 4, 16):
        yield f"threads --threads={threads} --time={seconds}"
    for threads in (1, 8):
        yield f"mutex --threads={threads}"
    for mode, size in (("seq", "4G"), ("rnd", "1G")):
        for operation in ("write", "read", "none"):
            memory = f"memory --memory-total-size={size} --memory-access-mode={mode} --memory-oper={operation}"
            yield memory
            yield f"{memory} --threads=2"
            yield f"{memory} --threads=2 --memory-scope=local"
            if operation != "none":
                yield f"{memory} --memory-block-size=1M"


@contextlib.contextmanager
def database(kind):
    """A server until the end of the block: the words that point sysbench to it."""
    # The server's user has to be able to enter it, and the path of a socket must be short.
    directory = tempfile.mkdtemp(prefix="ferrio-", dir="/tmp")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    more = ["--innodb-buffer-pool-size=256M"] if kind == "mariadb" else ["-cshared_buffers=256MB"]
    server = subprocess.Popen([SERVER, kind, directory, str(port), *more], stdin=subprocess.PIPE)
    try:
        if kind == "mariadb":
            client = ["mariadb", "--no-defaults", f"--socket={directory}/socket", "--user=root"]
            first = [*client, "--execute=CREATE DATABASE sbtest"]
            words = ["--db-driver=mysql", f"--mysql-socket={directory}/socket", "--mysql-user=root"]
        else:
            first = ["psql", f"--host={directory}", f"--port={port}", "--username=sbtest", "--command=CREATE DATABASE sbtest", "postgres"]
            words = ["--db-driver=pgsql", f"--pgsql-host={directory}", f"--pgsql-port={port}"]
        end = time.monotonic() + 60
        while subprocess.run(first, capture_output=True, check=False).returncode != 0:
            if time.monotonic() > end or server.poll() is not None:
                sys.exit(f"{kind} does not start")
            time.sleep(0.1)
        yield words
    finally:
        server.stdin.close()
        server.wait()


def measure(program, words, seconds):
    """Events or requests per second, syncs per second or memory, and CPU microseconds per event, of one run."""
    process = subprocess.Popen(program + words + ["run"], stdout=subprocess.PIPE, text=True)
    memory = 0
    if words[0].startswith("oltp"):
        # Not from getrusage, whose maximum includes this interpreter before the program was executed.
        time.sleep(seconds / 2)
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            memory = float(re.search(r"VmHWM:\s+(\d+)", status.read())[1])
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status != 0:
        sys.exit(f"{' '.join(program + words)} run: status {process.returncode}\n{output}")

    def figure(expression):
        found = re.search(expression, output)
        return float(found[1]) if found else 0.0

    events = figure(r"total number of events: +(\d+)")
    rate = figure(r"reads/s: +([\d.]+)") + figure(r"writes/s: +([\d.]+)")
    return (
        rate or events / max(figure(r"total time: +([\d.]+)s"), 1e-4),
        memory or figure(r"fsyncs/s: +([\d.]+)"),
        (usage.ru_utime + usage.ru_stime) / max(events, 1) * 1e6,
    )


def compare(programs, words, options):
    """The medians of both programs."""
    measured = {name: [] for name in programs}
    for number in range(options.runs):
        # Each is first as often as the other.
        for name in list(programs)[:: 1 if number % 2 else -1]:
            measured[name].append(measure(programs[name], words, options.time))
    return [[statistics.median(run[at] for run in measured[name]) for at in range(3)] for name in ("sysbench", "ferrio")]


def print_row(shown, theirs, ours):
    (their_rate, their_other, their_cpu), (our_rate, our_other, our_cpu) = theirs, ours
    ratio = our_rate / their_rate if their_rate else 0.0
    cpu = our_cpu / their_cpu if their_cpu else 0.0
    print(
        f"| `{shown}` | {their_rate:.0f} | {our_rate:.0f} | {ratio:.2f} | {their_other:.0f} | {our_other:.0f} "
        f"| {their_cpu:.2f} | {our_cpu:.2f} | {cpu:.2f} |",
        flush=True,
    )


def compare_oltp(programs, options):
    print("| command | per second: sysbench | ferrio | ratio | memory KiB: sysbench | ferrio | CPU us: sysbench | ferrio | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind in ("mariadb", "postgres"):
        with database(kind) as words:
            table = ["--table-size=100000", *words]
            subprocess.run([options.sysbench, "oltp_read_write", *table, "prepare"], check=True, stdout=subprocess.DEVNULL)
            for test in ("oltp_point_select", "oltp_read_write"):
                for threads in (1, 8, 32):
                    shown = f"{test} --threads={threads}"
                    line = [*shown.split(), f"--time={options.time}", *table]
                    if all(word in f"{kind} {shown}" for word in options.words if word != "oltp"):
                        print_row(f"{kind}: {shown}", *compare(programs, line, options))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ferrio", default="target/release/ferrio")
    parser.add_argument("--sysbench", default="sysbench")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--time", type=int, default=2)
    parser.add_argument("--dir", default=".")
    parser.add_argument("--size", default="256M")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    programs = {"sysbench": [options.sysbench], "ferrio": [os.path.abspath(options.ferrio), "sysbench"]}
    files = f"--file-num=4 --file-total-size={options.size}"

    if "oltp" in options.words:
        compare_oltp(programs, options)
        return

    def is_chosen(line):
        for word in options.words:
            if (line.startswith("fileio") == (word == "fileio")) if word in ("fileio", "work") else (word in line):
                continue
            return False
        return True

    print("| command | per second: sysbench | ferrio | ratio | fsyncs/s: sysbench | ferrio | CPU us: sysbench | ferrio | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.dir) as directory:
        os.chdir(directory)
        for line in filter(is_chosen, lines(files, options.time)):
            # seqwr leaves files that are too short for the others.
            if line.startswith("fileio"):
                prepare = [options.sysbench, "fileio", *files.split(), "prepare"]
                subprocess.run(prepare, check=True, stdout=subprocess.DEVNULL)
            shown = line.replace(files + " ", "").replace(f" --time={options.time}", "")
            print_row(shown, *compare(programs, line.split(), options))
        os.chdir("/")


if __name__ == "__main__":
    main()
