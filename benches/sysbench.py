#!/usr/bin/env python3
"""Measures sysbench and ferrio with the same command lines, one after the other in turn, and prints a table of medians.

    benches/sysbench.py [--ferrio target/release/ferrio] [--runs 5] [--time 2] [--dir DIR] [--size 256M] [fileio|work|WORD...]

`fileio` is every mode of fileio with files in the page cache and with direct I/O, with 1 and 8 threads, and some with the I/O modes async and
mmap; `work` is cpu, threads, mutex and memory. Other words select the lines that have all of them. Files are made in DIR, by default the
current directory, and removed. A column is the median over the runs; CPU is the time that the process used, per event.
"""
import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

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


def measure(program, words):
    """Events or requests per second, syncs per second, and CPU microseconds per event, of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(program + words + ["run"], stdout=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        sys.exit(f"{' '.join(program + words)} run: status {run.returncode}\n{run.stdout}")

    def figure(expression):
        found = re.search(expression, run.stdout)
        return float(found[1]) if found else 0.0

    events = figure(r"total number of events: +(\d+)")
    rate = figure(r"reads/s: +([\d.]+)") + figure(r"writes/s: +([\d.]+)")
    cpu = sum(getattr(after, kind) - getattr(before, kind) for kind in ("ru_utime", "ru_stime"))
    return (
        rate or events / max(figure(r"total time: +([\d.]+)s"), 1e-4),
        figure(r"fsyncs/s: +([\d.]+)"),
        cpu / max(events, 1) * 1e6,
    )


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
            runs = {name: [] for name in programs}
            for number in range(options.runs):
                # Each is first as often as the other.
                for name in list(programs)[:: 1 if number % 2 else -1]:
                    runs[name].append(measure(programs[name], line.split()))
            (theirs, their_syncs, their_cpu), (ours, our_syncs, our_cpu) = (
                [statistics.median(run[at] for run in runs[name]) for at in range(3)] for name in ("sysbench", "ferrio")
            )
            ratio = ours / theirs if theirs else 0.0
            cpu = our_cpu / their_cpu if their_cpu else 0.0
            shown = line.replace(files + " ", "").replace(f" --time={options.time}", "")
            print(
                f"| `{shown}` | {theirs:.0f} | {ours:.0f} | {ratio:.2f} | {their_syncs:.0f} | {our_syncs:.0f} "
                f"| {their_cpu:.2f} | {our_cpu:.2f} | {cpu:.2f} |",
                flush=True,
            )
        os.chdir("/")


if __name__ == "__main__":
    main()
