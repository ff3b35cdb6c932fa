# SPDX-License-Identifier: Apache-2.0
"""Log lines, from a container until they can be queried."""
import datetime
import os
import sqlite3
import subprocess
import time

from engine_floor import Raw
from measure import PROJECT, bench, job_body, median, memory_mib, row, serving, simulated
from support.simulation import flood
from support.vitals import memory_peak_kib

LINES = 300_000
PRINT = ["sh", "-c", f"i=0; s=$(printf '%090d' 0); yes \"$s\" | head -n {LINES}"]


def read_stream(engine, container):
    """The floor: reads the engine's log stream to its end, and drops it."""
    sock = engine.connect()
    sock.sendall(f"GET /v1.41/containers/{container}/logs?stdout=1&stderr=1&timestamps=1&follow=1 HTTP/1.0\r\n"
                 f"Host: d\r\n\r\n".encode())
    total = 0
    while True:
        data = sock.recv(262144)
        if not data:
            break
        total += len(data)
    sock.close()
    return total


@bench("logs", engine=True)
def bench_logs(options):
    raw, floor, ours = Raw(options.engine, options.image), [], []
    with serving(options.engine) as daemon:
        for i in range(options.rounds):
            network = raw.network(f"ty-bench-logs-{i}")
            container = raw.container(f"ty-bench-logs-{i}", network, PRINT)
            raw.start(container)
            began = time.monotonic()
            read_stream(options.engine, container)
            floor.append(LINES / (time.monotonic() - began))
            raw.remove(container, True)
            options.engine.call("DELETE", f"/networks/{network}")

            body = job_body(f"logs_{i}", options.image, PRINT)
            daemon.post(f"/v1/projects/{PROJECT}/jobs", body)
            daemon.wait_state(f"logs_{i}", "RUNNING", project=PROJECT)
            began = time.monotonic()
            while lines_stored(daemon, i) < LINES:
                time.sleep(0.02)
            ours.append(LINES / (time.monotonic() - began))
            daemon.wait_state(f"logs_{i}", "SUCCEEDED", project=PROJECT)
            counted = lines_stored(daemon, i)
            assert counted == LINES, f"{counted} lines of {LINES}"
    row("log lines, container to queryable", median(ours), "lines/s", median(floor), 0.9, 1.3)


def lines_stored(daemon, number):
    """Counts with SQL in the daemon's file, because paging through the API would be measured too."""
    with sqlite3.connect(f"file:{daemon.state_dir}/logs.db?mode=ro", uri=True) as db:
        return db.execute("SELECT count(*) FROM entry WHERE job = ? AND stream = 1", (number + 1,)).fetchone()[0]


@bench("tail", engine=True)
def bench_tail(options):
    """For a container that prints 20 lines a second: from the engine's timestamp of a line until `trainyard logs -f` prints
    it."""
    script = ["sh", "-c", "i=0; while [ $i -lt 400 ]; do echo line; i=$((i+1)); sleep 0.05; done"]
    delays = []
    with serving(options.engine) as daemon:
        daemon.post(f"/v1/projects/{PROJECT}/jobs", job_body("tail", options.image, script))
        daemon.wait_state("tail", "RUNNING", project=PROJECT)
        follower = subprocess.Popen([daemon.binary, "logs", "-f", "-t", "--tail", "0", "tail", "--endpoint", daemon.base],
                                    stdout=subprocess.PIPE, text=True, env={**os.environ, "TZ": "UTC"})
        for line in follower.stdout:
            now = datetime.datetime.utcnow()
            delays.append((now - datetime.datetime.fromisoformat(line.rsplit(" ", 1)[0])).total_seconds() * 1000)
        assert follower.wait() == 0 and len(delays) > 100, delays
    delays.sort()
    row("logs -f: line printed to line shown, median", median(delays), "ms")
    row("logs -f: line printed to line shown, p95", delays[len(delays) * 95 // 100], "ms", None, 50, 25)


EIGHT_LINES = 1_000_000  # lines of each of eight floods


def floods_stored(daemon, count):
    """Uses the number in each flood's last line: counting all lines would take longer than storing them."""
    with sqlite3.connect(f"file:{daemon.state_dir}/logs.db?mode=ro", uri=True) as db:
        last = [db.execute("SELECT payload FROM entry WHERE job = ? AND stream = 1 ORDER BY ts DESC LIMIT 1", (number,)).fetchone()
                for number in range(1, count + 1)]
    return sum(int(payload.split()[1]) + 1 for payload, in filter(None, last))


@bench("eight")
def bench_eight(options):
    """Eight floods of a million lines each, from simulated containers: by how much queryable lines lag behind, and the
    memory that this takes."""
    count, behind, stored_at_last = 8, 0, 0
    with simulated() as (daemon, engine):
        before = memory_mib(daemon)[0]
        for i in range(count):
            daemon.create(flood(EIGHT_LINES, count), job_id=f"flood_{i}")
        began = None
        while stored_at_last < count * EIGHT_LINES:
            handed = engine.standing()["flooded"]
            began = began or (time.monotonic() if handed else None)
            stored_at_last = floods_stored(daemon, count)
            behind = max(behind, handed - stored_at_last)
            time.sleep(0.1)
        took, peak = time.monotonic() - began, memory_peak_kib(daemon) / 1024
    row("8 floods of 1,000,000 lines", count * EIGHT_LINES / took, "lines/s")
    row("8 floods: the farthest behind", behind / (count * EIGHT_LINES / took), "s", None, 2, 1)
    row("8 floods: growth of memory", peak - before, "MiB", None, 32, 8)
