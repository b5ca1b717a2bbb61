#!/usr/bin/env python3
"""Tries whether `ferrio compare` is right about real runs: the same job on both sides must be no difference, and another job must be one.

    benches/compare.py [--ferrio target/release/ferrio] [--tries 20] [--runs 6] [--time 0.5] [--dir DIR]

Each try runs the job for both sides in turn and compares them. The same job is random reads with direct I/O; the other reads the
same file from the page cache, tried once per five tries. Prints a line per try and how many were right. At 95 %, one try in twenty may be wrong.
"""
import argparse
import json
import os
import subprocess
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ferrio", default="target/release/ferrio")
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--time", type=float, default=0.5)
    parser.add_argument("--dir", default=".")
    arguments = parser.parse_args()
    ferrio = os.path.abspath(arguments.ferrio)
    runtime = f"--runtime={int(arguments.time * 1000)}ms"
    with tempfile.TemporaryDirectory(dir=arguments.dir) as place:

        def run(side, number, cached):
            subprocess.run(
                [ferrio, "--output-format=json+", f"--output={side}/{number}.json", "--quiet", "--name=reads", "--filename=file",
                 "--rw=randread", "--bs=4k", "--size=256m", f"--direct={1 - cached}",
                 f"--pre_read={cached}", "--ioengine=psync", "--time_based", runtime],
                cwd=place, check=True, stderr=subprocess.DEVNULL,
            )

        def verdict(name, cached):
            sides = [os.path.join(place, f"{name}-{side}") for side in "ab"]
            for side in sides:
                os.mkdir(side)
            for number in range(arguments.runs):
                # Each round begins with the other side.
                order = [0, 1] if number % 2 == 0 else [1, 0]
                for side in order:
                    run(sides[side], number, cached[side])
            found = subprocess.run([ferrio, "compare", "--format=json", *sides], capture_output=True, check=True)
            return json.loads(found.stdout)["sides"][1]["verdict"]

        run_once = os.path.join(place, "warm-up")
        os.mkdir(run_once)
        run(run_once, 0, 0)
        same = []
        for number in range(arguments.tries):
            same.append(verdict(f"same{number}", [0, 0]))
            print(f"same job, try {number + 1}: {same[-1]}", flush=True)
        other = []
        for number in range(max(1, arguments.tries // 5)):
            other.append(verdict(f"other{number}", [0, 1]))
            print(f"page cache instead of direct I/O, try {number + 1}: {other[-1]}", flush=True)
        print(f"no difference between same jobs: {same.count('no-difference')} of {len(same)}")
        print(f"a difference between direct and buffered: {len(other) - other.count('no-difference')} of {len(other)}")


main()
