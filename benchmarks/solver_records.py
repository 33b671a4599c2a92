#!/usr/bin/env python3
"""Runs takt-plan over the instances of published.csv, and keeps each schedule
that is better than the best of its methods, with its seed, in
benchmarks/records/.

usage: solver_records.py TAKT_PLAN FJSP_DIR [--seconds S] [--seed N] [--only NAME...]
       FJSP_DIR: has published.csv and FAMILY/NAME.fjs
       --seconds: the limit of each run, of one thread (15)
"""

import argparse
import csv
import json
import pathlib
import subprocess


def published(path):
    """The best makespan of each instance."""
    best = {}
    with open(path) as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        for row in rows:
            if row["best"]:
                best[row["instance"]] = min(best.get(row["instance"], float("inf")), float(row["best"]))
    return best


def write(path, record):
    """One operation a line."""
    head = {key: value for key, value in record.items() if key != "schedule"}
    lines = [json.dumps(entry, separators=(",", ":")) for entry in record["schedule"]]
    text = json.dumps(head, indent=1)[:-2] + ',\n "schedule": [\n' + ",\n".join(lines) + "]}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def keep(folder, name, best, solution, seed, seconds):
    """Writes the record if it beats the published and the kept one."""
    path = folder / (name + ".json")
    kept = json.loads(path.read_text())["makespan"] if path.exists() else float("inf")
    if solution["makespan"] >= min(best, kept):
        return False
    record = {
        "instance": name,
        "makespan": solution["makespan"],
        "published": int(best),
        "lower_bound": solution["lower_bound"],
        "seed": seed,
        "threads": 1,
        "time_limit_s": seconds,
        "steps": solution["steps"],
        "schedule": solution["schedule"],
    }
    write(path, record)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("takt_plan")
    parser.add_argument("fjsp_dir", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*")
    arguments = parser.parse_args()
    folder = pathlib.Path(__file__).resolve().parent / "records"
    for name, best in published(arguments.fjsp_dir / "published.csv").items():
        if arguments.only and name not in arguments.only:
            continue
        command = [arguments.takt_plan, "solve", arguments.fjsp_dir / (name + ".fjs"), "--json"]
        command += [f"--time_limit={arguments.seconds}", f"--seed={arguments.seed}"]
        solution = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        is_kept = keep(folder, name, best, solution, arguments.seed, arguments.seconds)
        print(name, solution["makespan"], "of", best, "kept" if is_kept else "")


if __name__ == "__main__":
    main()
