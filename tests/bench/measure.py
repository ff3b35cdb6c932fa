# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the measurements: the table, a daemon to measure, load, and the servers for the floors."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

from support.daemon import Daemon
from support.engine import Engine
from support.simulation import SimulatedEngine

PROJECT = "bench"
NO_ENGINE = Engine("/nonexistent/docker.sock")

# ---- the table ----

ROWS = {}  # name -> function(options)
NEED_ENGINE = set()
results = []  # one dictionary per line of the table


def bench(name, engine=False):
    """Registers a function as a row that bench.py runs; rows run in the order of their definition."""
    def register(function):
        ROWS[name] = function
        if engine:
            NEED_ENGINE.add(name)
        return function
    return register


def verdict_of(number, least, aim, more_is_better):
    """"aim": the aim is reached; "ok": at least the required value; "short": less than that; "": no limit is set."""
    for limit, word in ((aim, "aim"), (least, "ok")):
        if limit is not None and (number >= limit if more_is_better else number <= limit):
            return word
    return "" if least is None and aim is None else "short"


def row(what, value, unit, floor=None, least=None, aim=None):
    """Adds one line. `least` and `aim` apply to the ratio to the floor if there is one, else to the value. For units "per
    second" more is better, for others less. Zero is accepted: rows measure, and never fail because of speed."""
    more_is_better = unit.endswith("/s")
    ratio = value / floor if floor else None
    verdict = verdict_of(value if ratio is None else ratio, least, aim, more_is_better)
    results.append({"row": what, "value": value, "unit": unit, "floor": floor, "ratio": ratio, "least": least, "aim": aim,
                    "verdict": verdict})

    def limit(number):
        return "" if number is None else f"{number:,g}" + ("x" if floor else "")
    print(f"{what:46} {value:12,.2f} {unit:11} {f'{floor:12,.2f}' if floor else '':12} {f'{ratio:6.2f}x' if ratio else '':8}"
          f" {limit(least):>8} {limit(aim):>8}  {verdict}".rstrip(), flush=True)


def print_head():
    print(f"{'':46} {'now':>12} {'':11} {'floor':>12} {'ratio':>7}  {'at least':>8} {'aim':>8}", flush=True)


def median(values):
    return statistics.median(values)


# ---- what is measured ----

@contextlib.contextmanager
def serving(engine=NO_ENGINE, state_dir=None, more=()):
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory:
        daemon = Daemon(directory, engine, *more, project=PROJECT, state_dir=state_dir)
        daemon.start()
        try:
            yield daemon
        finally:
            daemon.stop()


@contextlib.contextmanager
def simulated():
    """An engine without real containers, and a daemon that uses it."""
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory:
        engine = SimulatedEngine(pathlib.Path(directory))
        try:
            with serving(engine) as daemon:
                yield daemon, engine
        finally:
            engine.stop()


def memory_mib(daemon):
    """Resident memory, and the part of it that is not shared with other processes."""
    with open(f"/proc/{daemon.pid}/smaps_rollup") as lines:
        kib = dict(re.findall(r"^(\w+): +(\d+) kB", lines.read(), re.M))
    return int(kib["Rss"]) / 1024, (int(kib["Private_Dirty"]) + int(kib["Private_Clean"])) / 1024


def timed_ms(*command, environment=None):
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "DOCKER_HOST": NO_ENGINE.host, **(environment or {})})
    return (time.monotonic() - began) * 1000


def wrk(url, connections=16, prefix=(), more=()):
    out = subprocess.run([*prefix, "wrk", "-t2", f"-c{connections}", "-d4s", *more, url], capture_output=True, text=True,
                         check=True).stdout
    assert "Non-2xx" not in out, out
    return float(next(line for line in out.splitlines() if "Requests/sec" in line).split()[1])


@contextlib.contextmanager
def bare(options, helper, argument):
    """The address of a server that does the same without a daemon."""
    process = subprocess.Popen([options.build / "tests/bench" / helper, argument], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.stdin.close()
        process.wait()


def job_body(job_id, image, args, workers=0):
    training = {"scaleTier": "CUSTOM", "region": "us-central1", "masterType": "n1-standard-4", "args": args,
                "masterConfig": {"imageUri": image}}
    if workers:
        training |= {"workerType": "n1-standard-4", "workerCount": str(workers),
                     "workerConfig": {"imageUri": image, "containerCommand": ["sleep", "600"]}}
        training["masterConfig"] |= {"containerCommand": args}
        del training["args"]
    return {"jobId": job_id, "trainingInput": training}


def run_job(daemon, body, look_every_s=0.002):
    """The time from the create call until the final state is visible."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port)
    connection.sock = daemon.connect()
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {daemon.token}"} if daemon.token else {})

    def ask(method, path, data=None):
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text
        return json.loads(text)

    began = time.monotonic()
    ask("POST", f"/v1/projects/{daemon.project}/jobs", json.dumps(body))
    while True:
        job = ask("GET", f"/v1/projects/{daemon.project}/jobs/{body['jobId']}?prettyPrint=false")
        if job["state"] in ("SUCCEEDED", "FAILED", "CANCELLED"):
            break
        time.sleep(look_every_s)
    took = time.monotonic() - began
    assert job["state"] == "SUCCEEDED", job
    return took
