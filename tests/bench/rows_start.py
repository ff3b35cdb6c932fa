# SPDX-License-Identifier: Apache-2.0
"""Start and stop of the daemon, and its cost while idle."""
import contextlib
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import time

from measure import PROJECT, bench, job_body, median, memory_mib, row, serving, simulated, timed_ms
from support.simulation import lines
from support.wait import wait_until


def wake_ups_a_second(daemon, seconds=10):
    """The wake-ups of all its threads per second."""
    def counted():
        total = 0
        for status in pathlib.Path(f"/proc/{daemon.pid}/task").glob("*/status"):
            total += sum(int(number) for number in re.findall(r"ctxt_switches:\s+(\d+)", status.read_text()))
        return total
    before = counted()
    time.sleep(seconds)
    return (counted() - before) / seconds


@bench("start")
def bench_start(options):
    times, resident, private = [], [], []
    for _ in range(options.rounds * 2):
        began = time.monotonic()
        with serving() as daemon:
            times.append((time.monotonic() - began) * 1000)
            time.sleep(0.5)
            both = memory_mib(daemon)
            resident.append(both[0])
            private.append(both[1])
    row("start to ready line, empty state", median(times), "ms", None, 12, 8)
    row("idle memory, all", median(resident), "MiB", None, 11, 8)
    row("idle memory, private", median(private), "MiB", None, 2.5, 2)
    with simulated() as (daemon, _):  # without an engine, the daemon looks for one every 5 s
        time.sleep(5)
        row("wake-ups of an idle daemon in a second", wake_ups_a_second(daemon), "", None, 0, 0)


def queued_seed(state_dir, count):
    """Copies the one job that waits in the store."""
    with contextlib.closing(sqlite3.connect(f"{state_dir}/state.db")) as db, db:
        columns = [column[1] for column in db.execute("PRAGMA table_info(job)") if column[1] != "id"]
        chosen = ["'waiting_' || n" if column == "job_id" else column for column in columns]
        db.execute(f"INSERT INTO job ({', '.join(columns)})"
                   f" WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {count})"
                   f" SELECT {', '.join(chosen)} FROM number, job WHERE job_id = 'waits'")


@bench("ready")
def bench_ready(options):
    """With 100,000 ended and 10,000 queued jobs in the store."""
    with tempfile.TemporaryDirectory() as state:
        subprocess.run([options.build / "tests/bench/seed", state, "100000", "0"], check=True)
        with serving(state_dir=state) as daemon:
            daemon.post(f"/v1/projects/{PROJECT}/jobs", job_body("waits", "image:1", ["true"]))
        queued_seed(state, 9_999)
        times = []
        for _ in range(options.rounds):
            began = time.monotonic()
            with serving(state_dir=state) as daemon:
                times.append((time.monotonic() - began) * 1000)
                assert daemon.get(f"/v1/projects/{PROJECT}/jobs/waiting_9999").json["state"] == "QUEUED"
    row("start to ready line, 100,000 ended, 10,000 queued", median(times), "ms", None, 30, 12)


def many_await(daemon, count, state):
    def reached():
        return daemon.query_state(f"SELECT count(*) FROM job WHERE state = {state}")[0][0] == count
    wait_until(reached, timeout=300)


STORED_RUNNING, STORED_SUCCEEDED = 3, 4  # as store/jobs writes them


@bench("thousand")
def bench_thousand(options):
    """Memory after 1,000 jobs have ended, compared with the same daemon before."""
    with simulated() as (daemon, _):
        time.sleep(1)
        fresh = memory_mib(daemon)[0]
        for i in range(1000):
            daemon.create(lines(10, 0), job_id=f"job_{i}")
        many_await(daemon, 1000, STORED_SUCCEEDED)
        time.sleep(10)
        row("memory after 1,000 jobs, of fresh", memory_mib(daemon)[0], "MiB", fresh, 1.3, 1.1)


@bench("silent")
def bench_silent(options):
    silent = {"region": "us-central1", "masterConfig": {"imageUri": "image:1"}, "args": ["silent"]}
    with simulated() as (daemon, _):
        for i in range(50):
            daemon.create(silent, job_id=f"silent_{i}")
        many_await(daemon, 50, STORED_RUNNING)
        time.sleep(5)
        row("wake-ups in a second, 50 silent jobs run", wake_ups_a_second(daemon), "", None, 2, 1)
        daemon.cancel_all()


@bench("exec")
def bench_exec(options):
    """Compared with a daemon that serves the same and is stopped when it is ready."""
    whole, plain = [], []
    for _ in range(options.rounds * 3):
        began = time.monotonic()
        with serving(more=["--grpc", "127.0.0.1:0"]) as daemon:
            binary = daemon.binary
        plain.append((time.monotonic() - began) * 1000)
        whole.append(timed_ms(binary, "exec", "--", "true"))
    row("exec -- true, of serve to ready and stop", median(whole), "ms", median(plain), 1.2, 1.0)
    row("exec -- true", median(whole), "ms", None, 150, 50)
