#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the daemon against floors taken in the same run, and prints ratios: see docs/performance.md.

    tests/bench/bench.py [--build DIR] [--json FILE] [--rounds N] [--copy-mib N] [--large-mib N] [--objects N]
                         [--without-console DIR] [ROW ...]

Without ROW: all, in the order of --help. Some need an engine that answers on DOCKER_HOST (or /var/run/docker.sock), and all
together `wrk`, `curl`, and a static busybox; tokens needs root. It asserts nothing: read the numbers."""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measure import NEED_ENGINE, ROWS, print_head, results  # noqa: E402
import rows_start, rows_api, rows_jobs, rows_logs, rows_gateway, rows_storage, rows_files, rows_search, rows_console, rows_forms  # noqa: E401, E402, F401
from support.engine import Engine, build_test_image  # noqa: E402


def first_line(path, beginning):
    with open(path) as lines:
        return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(beginning)), "unknown")


def machine_facts(program, engine):
    facts = {"date": time.strftime("%Y-%m-%d"), "program": subprocess.check_output([program, "version"], text=True).strip(),
             "processor": first_line("/proc/cpuinfo", "model name"), "cores": os.cpu_count(),
             "memory": first_line("/proc/meminfo", "MemTotal"), "kernel": platform.release(),
             "load before": os.getloadavg()[0]}
    if engine:
        info = engine.call("GET", "/info")
        facts["engine"] = f"{info['ServerVersion']}, {info['Driver']}, cgroup {info.get('CgroupVersion', '?')}"
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="rows: " + " ".join(ROWS))
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path.cwd())
    parser.add_argument("--json", type=pathlib.Path, help="where the table and the facts of the machine are written as JSON")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copy-mib", type=int, default=1024, help="what copies moves")
    parser.add_argument("--large-mib", type=int, default=5120, help="what large uploads")
    parser.add_argument("--objects", type=int, default=1_000_000, help="how many objects has")
    parser.add_argument("--without-console", type=pathlib.Path, metavar="DIR", help="a build of the same configured --without-console: console tells how much smaller it is")
    parser.add_argument("rows", nargs="*", metavar="ROW")
    options = parser.parse_args()
    unknown = set(options.rows) - set(ROWS)
    if unknown:
        parser.error(f"no such row: {' '.join(sorted(unknown))}")
    os.environ["TRAINYARD"] = str((options.build / "trainyard").resolve())
    wanted, options.engine = options.rows or list(ROWS), None
    if NEED_ENGINE & set(wanted):
        options.engine = Engine()
        options.image = build_test_image(options.engine)
    facts = machine_facts(os.environ["TRAINYARD"], options.engine)
    for name, fact in facts.items():
        print(f"{name}: {fact}")
    print_head()
    for name in wanted:
        ROWS[name](options)
    if options.json:
        options.json.write_text(json.dumps({"facts": facts, "rows": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
