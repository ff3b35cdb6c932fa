#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the daemon against floors taken in the same run, and prints ratios.

    tests/bench/bench.py [--build DIR] [--rounds N] [--copy-mib N] [--large-mib N] [--objects N] [ROW ...]

Rows: start, exec, get, grpc, pages, jobs, follow, one, sixteen, gap, logs, copies, large, objects, trials, suggest, search, tokens (default: all).
Needs an engine that answers on DOCKER_HOST (or /var/run/docker.sock), `wrk`, `curl`, and a static busybox; tokens needs root.
It asserts nothing: read the numbers."""
import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import queue
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.daemon import Daemon  # noqa: E402
from support.engine import Engine, build_test_image, query  # noqa: E402
from support.grpc_peer import (  # noqa: E402
    DATA, END_HEADERS, END_STREAM, GET_JOB, HEADERS, HELLO, SETTINGS, WINDOW_UPDATE, Peer, frame, head, message, named)
from support.tuning import REPORTING, tuning_input  # noqa: E402
import search  # noqa: E402

PROJECT = "bench"
NO_ENGINE = Engine("/nonexistent/docker.sock")


@contextlib.contextmanager
def serving(engine=NO_ENGINE, state_dir=None, more=()):
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory:
        daemon = Daemon(directory, engine, *more, project=PROJECT, state_dir=state_dir)
        daemon.start()
        try:
            yield daemon
        finally:
            daemon.stop()


def median(values):
    return statistics.median(values)


def row(what, value, unit, floor=None, least="", aim=""):
    ratio = f"{value / floor:6.2f}x" if floor else ""
    floor_text = f"floor {floor:,.2f} {unit}" if floor else ""
    print(f"{what:44} {value:12,.2f} {unit:8} {floor_text:28} {ratio:8} at least {least}, aim {aim}", flush=True)


class Raw:
    """The engine's calls and nothing else: what a job would cost with no daemon at all."""

    def __init__(self, engine, image):
        self.engine, self.image = engine, image

    def network(self, name):
        return self.engine.call("POST", "/networks/create", {"Name": name, "CheckDuplicate": True})["Id"]

    def container(self, name, network, command):
        return self.engine.call("POST", f"/containers/create?name={name}", {
            "Image": self.image, "Cmd": command, "Labels": {"trainyard.bench": name},
            "HostConfig": {"NetworkMode": network, "Init": True, "LogConfig": {"Type": "json-file"}}})["Id"]

    def start(self, container):
        self.engine.call("POST", f"/containers/{container}/start")

    def wait(self, container):
        self.engine.call("POST", f"/containers/{container}/wait")

    def remove(self, container, force=False):
        self.engine.call("DELETE", f"/containers/{container}?v=1" + ("&force=1" if force else ""))

    def one(self, number):
        began = time.monotonic()
        network = self.network(f"ty-bench-{number}")
        container = self.container(f"ty-bench-{number}", network, ["true"])
        self.start(container)
        self.wait(container)
        self.remove(container)
        self.engine.call("DELETE", f"/networks/{network}")
        return time.monotonic() - began

    def many(self, number, count, width):
        """Master ends by itself, the others are killed: each phase as parallel as pays off. The master starts last,
        as in a job: it works once its peers are there."""
        began = time.monotonic()
        network = self.network(f"ty-bench-{number}")
        with concurrent.futures.ThreadPoolExecutor(width) as pool:
            names = [f"ty-bench-{number}-{i}" for i in range(count)]
            commands = [["sleep", "600"]] * (count - 1) + [["sleep", str(MASTER_RUNS_S)]]
            containers = list(pool.map(lambda pair: self.container(pair[0], network, pair[1]), zip(names, commands)))
            list(pool.map(self.start, containers))
            self.wait(containers[-1])
            list(pool.map(lambda c: self.remove(c, True), containers))
        self.engine.call("DELETE", f"/networks/{network}")
        return time.monotonic() - began


    def trials(self, name, count, parallel, keep):
        """As a tuning job's: each on a network of its own, or on one that an earlier trial has left (`keep`), and what is
        left of one goes while the next begins."""
        left = queue.SimpleQueue()

        def network_find(number):
            try:
                return left.get_nowait()
            except queue.Empty:
                return self.network(f"{name}-{number}")

        def go_on(number):
            network = network_find(number)
            container = self.container(f"{name}-{number}", network, ["sleep", TRIAL_RUNS_S])
            self.start(container)
            self.wait(container)
            if keep:
                left.put(network)
            return container, network

        def clear(container, network):
            self.remove(container)
            if not keep:
                self.engine.call("DELETE", f"/networks/{network}")

        with concurrent.futures.ThreadPoolExecutor(count) as clearing, concurrent.futures.ThreadPoolExecutor(parallel) as pool:
            for ended in [pool.submit(go_on, number) for number in range(count)]:
                ended.add_done_callback(lambda done: clearing.submit(clear, *done.result()))
        while not left.empty():
            self.engine.call("DELETE", f"/networks/{left.get()}")


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
    """From the create until the final state can be seen."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port)
    headers = {"Content-Type": "application/json"}

    def ask(method, path, data=None):
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text
        return json.loads(text)

    began = time.monotonic()
    ask("POST", f"/v1/projects/{PROJECT}/jobs", json.dumps(body))
    while True:
        job = ask("GET", f"/v1/projects/{PROJECT}/jobs/{body['jobId']}?prettyPrint=false")
        if job["state"] in ("SUCCEEDED", "FAILED", "CANCELLED"):
            break
        time.sleep(look_every_s)
    took = time.monotonic() - began
    assert job["state"] == "SUCCEEDED", job
    return took


def bench_start(options):
    times, memory = [], 0
    for _ in range(options.rounds * 2):
        began = time.monotonic()
        with serving() as daemon:
            times.append((time.monotonic() - began) * 1000)
            time.sleep(0.5)
            status = open(f"/proc/{daemon.process.pid}/status")
            memory = int(next(line for line in status if line.startswith("VmRSS")).split()[1])
    row("start to ready line, empty state", median(times), "ms", None, "50", "10")
    row("idle RSS", memory / 1024, "MiB", None, "16", "8")


def timed_ms(*command):
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "DOCKER_HOST": NO_ENGINE.host})
    return (time.monotonic() - began) * 1000


def bench_exec(options):
    """Against a daemon that serves the same and is ended when it is ready."""
    whole, plain = [], []
    for _ in range(options.rounds * 3):
        began = time.monotonic()
        with serving(more=["--grpc", "127.0.0.1:0"]) as daemon:
            binary = daemon.binary
        plain.append((time.monotonic() - began) * 1000)
        whole.append(timed_ms(binary, "exec", "--", "true"))
    row("exec -- true, of serve to ready and stop", median(whole), "ms", median(plain), "1.2", "150 ms")


def wrk(url, connections=16, prefix=(), more=()):
    out = subprocess.run([*prefix, "wrk", "-t2", f"-c{connections}", "-d4s", *more, url], capture_output=True, text=True,
                         check=True).stdout
    assert "Non-2xx" not in out, out
    return float(next(line for line in out.splitlines() if "Requests/sec" in line).split()[1])


@contextlib.contextmanager
def bare(options, helper, argument):
    """The address of one of the floors' servers."""
    process = subprocess.Popen([options.build / "tests/bench" / helper, argument], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.stdin.close()
        process.wait()


def bench_get(options):
    with tempfile.TemporaryDirectory() as state:
        subprocess.run([options.build / "tests/bench/seed", state, "100", "0"], check=True)
        with serving(state_dir=state) as daemon:
            path = f"/v1/projects/{PROJECT}/jobs/job_000050"
            connection = http.client.HTTPConnection("127.0.0.1", daemon.port)
            connection.request("GET", path)
            size = len(connection.getresponse().read())
            connection.close()
            ours, floor = [], []
            with bare(options, "bare_server", str(size)) as base:
                for _ in range(options.rounds):
                    floor.append(wrk(base + "/"))
                    ours.append(wrk(daemon.base + path))
    row("jobs.get", median(ours), "req/s", median(floor), "0.4x", "0.7x")


CALLS_AT_ONCE = 50  # on each connection
WIDE = (HELLO + frame(SETTINGS, 0, 0, b"\0\4\x7f\xff\xff\xff") + frame(WINDOW_UPDATE, 0, 0, (2**31 - 65536).to_bytes(4, "big")))


def grpc_calls(port, name, seconds=4):
    """How many calls one connection is answered in a second: their bytes are made beforehand, and the answers', which are
    of one length, are counted only."""
    body = frame(DATA, END_STREAM, 1, message(named(name)))
    block = head(GET_JOB)
    with Peer(port, WIDE) as peer:
        first = [peer.call(GET_JOB, message(named(name))) for _ in range(2)]
        answer = peer.ends(2)[first[1]]  # the first one says in a byte more that it uses no table of headers
        assert name.rsplit("/", 1)[1].encode() in answer, answer
        size = len(answer) + 3 * 9  # of its frames
        done, began = 0, time.monotonic()
        while time.monotonic() - began < seconds:
            streams = [2 * (done + i) + 5 for i in range(CALLS_AT_ONCE)]
            peer.send(b"".join(frame(HEADERS, END_HEADERS, stream, block) + body[:5] + stream.to_bytes(4, "big") + body[9:]
                               for stream in streams))
            left = size * CALLS_AT_ONCE
            while left > 0:
                left -= len(peer.socket.recv(left))
            done += CALLS_AT_ONCE
        return done / (time.monotonic() - began)


def bench_grpc(options):
    custom_jobs = f"/v1/projects/{PROJECT}/locations/us-central1/customJobs"
    job = {"displayName": "bench", "jobSpec": {"workerPoolSpecs": [{
        "machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "containerSpec": {"imageUri": "image:1"}}]}}
    ours, floor = [], []
    with serving(more=("--grpc", "127.0.0.1:0")) as daemon, concurrent.futures.ThreadPoolExecutor(16) as threads:
        name = daemon.post(custom_jobs, job).json["name"]
        for _ in range(options.rounds):
            floor.append(wrk(f"{daemon.base}/v1/{name}"))
            ours.append(sum(threads.map(lambda _: grpc_calls(daemon.grpc_port, name), range(16))))
    row("customJobs.get by gRPC, floor by REST", median(ours), "req/s", median(floor), "0.5x", "1.0x")


def bench_pages(options):
    with tempfile.TemporaryDirectory() as state:
        subprocess.run([options.build / "tests/bench/seed", state, "10000", "1000000"], check=True)
        with serving(state_dir=state) as daemon:
            connection = http.client.HTTPConnection("127.0.0.1", daemon.port)

            def timed(method, path, body=None):
                times = []
                for _ in range(30):
                    began = time.monotonic()
                    connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    text = answer.read()
                    times.append((time.monotonic() - began) * 1000)
                    assert answer.status == 200 and len(text) > 1000, text
                return median(times)

            def entries(text, order="timestamp asc", size=1000):
                return timed("POST", "/v2/entries:list", {"resourceNames": [f"projects/{PROJECT}"], "filter": text,
                                                          "orderBy": order, "pageSize": size})

            stream = ('(resource.type="ml_job" OR resource.type="cloudml_job") AND resource.labels.job_id="job_009950"'
                      ' AND timestamp>="1970-01-01T01:00:00.000000000Z"')
            row("entries:list, 1000 of one job", entries(stream), "ms", None, "10", "2")
            row("entries:list, 100 of one job", entries(stream, size=100), "ms", None, "10", "2")
            row("entries:list, newest 1000 of all", entries("", "timestamp desc"), "ms", None, "10", "2")
            row("entries:list, newest 100 of all", entries("", "timestamp desc", 100), "ms", None, "10", "2")
            row("jobs.list, 100 newest", timed("GET", f"/v1/projects/{PROJECT}/jobs?pageSize=100"), "ms", None, "10", "2")
            row("jobs.list, 100 by state", timed("GET", f"/v1/projects/{PROJECT}/jobs?pageSize=100&filter=state%3DFAILED"),
                "ms", None, "10", "2")


def bench_jobs(options):
    """Against the same program's start and end. No job has the label: all are looked at."""
    with tempfile.TemporaryDirectory() as state:
        subprocess.run([options.build / "tests/bench/seed", state, "10000", "1000"], check=True)
        with serving(state_dir=state) as daemon:
            def timed(*words):
                return median(timed_ms(daemon.binary, *words) for _ in range(options.rounds * 4))

            floor, at = timed("version"), ["--endpoint", f"http://127.0.0.1:{daemon.port}"]
            row("jobs, of 10,000", timed("jobs", *at), "ms", floor, "50 ms", "20 ms")
            row("jobs --label, of 10,000", timed("jobs", "--label", "owner=none", *at), "ms", floor, "50 ms", "20 ms")
            row("jobs --all, 10,000 rows", timed("jobs", "--all", *at), "ms", floor, "500 ms", "150 ms")


def bench_follow(options):
    """A million lines of a hundred jobs that have ended: as followed logs, and by entries:list."""
    with tempfile.TemporaryDirectory() as state:
        subprocess.run([options.build / "tests/bench/seed", state, "100", "1000000"], check=True)
        with serving(state_dir=state) as daemon:
            connection = http.client.HTTPConnection("127.0.0.1", daemon.port)

            def ask(method, path, body=None):
                connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
                assert answer.status == 200, text
                return text

            def listed(job):
                count, body = 0, {"resourceNames": [f"projects/{PROJECT}"], "pageSize": 1000, "filter":
                                  f'resource.type="ml_job" AND resource.labels.job_id="{job}"'}
                while "pageToken" not in body or body["pageToken"]:
                    page = ask("POST", "/v2/entries:list?prettyPrint=false", body)
                    token = re.search(rb'"nextPageToken":"([^"]+)"', page)
                    count, body["pageToken"] = count + page.count(b'"insertId":'), token and token[1].decode()
                return count

            def followed(job):
                return ask("GET", f"/_trainyard/v1/jobs/{job}:log?follow=true").count(b"\n")

            jobs = [job["jobId"] for job in json.loads(ask("GET", f"/v1/projects/{PROJECT}/jobs?pageSize=100"))["jobs"]]
            spent = {listed: 0, followed: 0}
            for job in jobs:  # in turns: what else the machine does slows both
                for read in (listed, followed):
                    began = time.monotonic()
                    assert read(job) >= 10_000
                    spent[read] += time.monotonic() - began
            row("lines of followed logs, of entries:list", 1e6 / spent[followed], "lines/s", 1e6 / spent[listed], "0.9", "2")


def bench_one(options):
    raw, floor, ours = Raw(options.engine, options.image), [], []
    with serving(options.engine) as daemon:
        for i in range(options.rounds * 2):
            floor.append(raw.one(i) * 1000)
            ours.append(run_job(daemon, job_body(f"one_{i}", options.image, ["true"])) * 1000)
    row("job of 1 replica, create to SUCCEEDED", median(ours), "ms", median(floor), "1.30x", "1.10x")


def bench_sixteen(options):
    raw, ours = Raw(options.engine, options.image), []
    floors = {4: [], 16: []}
    with serving(options.engine) as daemon:
        for i in range(options.rounds):
            for width, times in floors.items():
                times.append(raw.many(f"{i}-{width}", 16, width) * 1000)
            ours.append(run_job(daemon, job_body(f"sixteen_{i}", options.image, ["sleep", str(MASTER_RUNS_S)], 15)) * 1000)
    row("job of 16 replicas", median(ours), "ms", min(median(times) for times in floors.values()), "1.15x", "1.05x")


def gaps(engine, label, began_s, parallel):
    """Milliseconds from the end of each container to the start of the one that takes its place, by the engine's clock."""
    filters = {"type": ["container"], "event": ["start", "die"], "label": [label]}
    answer = engine.call("GET", "/events?" + query(since=f"{began_s:.9f}", until=f"{time.time():.9f}", filters=filters))
    events = [json.loads(line) for line in answer.splitlines()]
    starts, ends = (sorted(e["timeNano"] for e in events if e["Action"] == action) for action in ("start", "die"))
    assert len(starts) == TRIALS, len(starts)
    return [(start - end) / 1e6 for start, end in zip(starts[parallel:], ends)]


def bench_gap(options):
    raw = Raw(options.engine, options.image)
    for parallel in (1, 4):
        floors, ours = {"networks made anew": [], "networks kept": []}, []
        with serving(options.engine) as daemon:
            label = f"trainyard.instance={daemon.read_instance()}"
            for i in range(max(options.rounds // 2, 1)):
                for keep, floor in enumerate(floors.values()):
                    began = time.time()
                    raw.trials(f"ty-bench-gap-{parallel}-{i}-{keep}", TRIALS, parallel, bool(keep))
                    floor += gaps(options.engine, "trainyard.bench", began, parallel)
                began = time.time()
                run_job(daemon, {"jobId": f"gap_{i}", "trainingInput": tuning_input(
                    f"{REPORTING}; sleep {TRIAL_RUNS_S}", image=options.image, algorithm="RANDOM_SEARCH", maxTrials=TRIALS,
                    maxParallelTrials=parallel)}, look_every_s=0.1)
                ours += gaps(options.engine, label, began, parallel)
        for name, floor in floors.items():
            row(f"gap between trials, {parallel} at once", median(ours), "ms", median(floor), "floor+60", "floor+20")
            print(f"{'':44} {median(ours) - median(floor):+12,.2f} ms beyond the floor: {name}", flush=True)


TRIALS = 12
TRIAL_RUNS_S = "0.5"
MASTER_RUNS_S = 1
LINES = 300_000
PRINT = ["sh", "-c", f"i=0; s=$(printf '%090d' 0); yes \"$s\" | head -n {LINES}"]


def read_stream(engine, container):
    """The floor: the engine's log stream, read to its end and thrown away."""
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
    row("log lines, container to queryable", median(ours), "lines/s", median(floor), "0.5x", "0.9x")


def lines_stored(daemon, number):
    """Counts by SQL on the daemon's own file: paging through the API would measure something else."""
    with sqlite3.connect(f"file:{daemon.state_dir}/logs.db?mode=ro", uri=True) as db:
        return db.execute("SELECT count(*) FROM entry WHERE job = ? AND stream = 1", (number + 1,)).fetchone()[0]


# ---- objects ----

def curl(*arguments, source=None):
    """Seconds of one transfer, by the same client for both sides."""
    done = subprocess.run(["curl", "-sS", "--noproxy", "*", "--fail", "-o", "/dev/null", "-w", "%{time_total}", *arguments],
                          stdin=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def upload_url(daemon, name):
    return f"{daemon.base}/upload/storage/v1/b/bench/o?uploadType=media&name={name}"


def bench_copies(options):
    mib = options.copy_mib
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory, serving() as daemon:
        source, target = f"{directory}/source", f"{directory}/target"
        with open("/dev/urandom", "rb") as noise, open(source, "wb") as out:
            for _ in range(mib):
                out.write(noise.read(1 << 20))
        times = {name: [] for name in ("up", "up floor", "down", "down floor")}
        with bare(options, "bare_files", target) as base:
            for _ in range(options.rounds):
                times["up floor"].append(curl("-T", source, base + "/file"))
                times["down floor"].append(curl(base + "/file"))
                pathlib.Path(target).unlink()
                times["up"].append(curl("-X", "POST", "-T", source, upload_url(daemon, "copy")))
                times["down"].append(curl(f"{daemon.base}/storage/v1/b/bench/o/copy?alt=media"))
                daemon.request("DELETE", "/storage/v1/b/bench/o/copy")
    speed = {name: mib / median(taken) for name, taken in times.items()}
    row(f"upload of {mib} MiB", speed["up"], "MiB/s", speed["up floor"], "0.6x", "0.8x")
    row(f"download of {mib} MiB", speed["down"], "MiB/s", speed["down floor"], "0.6x", "0.9x")


def memory_peak_kib(daemon):
    with open(f"/proc/{daemon.pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def bench_large(options):
    with serving() as daemon:
        free = os.statvfs(daemon.state_dir)
        if free.f_bavail * free.f_frsize < (options.large_mib + 1024) << 20:
            print(f"memory during an upload of {options.large_mib} MiB: not enough room in {daemon.state_dir}")
            return
        for path in (["-d", "x"], ["-d", "y"]):  # what the first uploads set up is not what is measured
            curl("-X", "POST", *path, upload_url(daemon, "small"))
        curl(f"{daemon.base}/storage/v1/b/bench/o/small?alt=media")
        before = memory_peak_kib(daemon)
        zeros = subprocess.Popen(["head", "-c", str(options.large_mib << 20), "/dev/zero"], stdout=subprocess.PIPE)
        curl("-X", "POST", "-T", "-", upload_url(daemon, "large"), source=zeros.stdout)
        zeros.stdout.close()
        zeros.wait()
        uploaded = memory_peak_kib(daemon)
        curl(f"{daemon.base}/storage/v1/b/bench/o/large?alt=media")
        downloaded = memory_peak_kib(daemon)
        size = daemon.get("/storage/v1/b/bench/o/large").json["size"]
        assert size == str(options.large_mib << 20), size
    row(f"memory: {options.large_mib} MiB up, growth of the peak", (uploaded - before) / 1024, "MiB", None, "8", "1")
    row(f"memory: {options.large_mib} MiB down, growth of the peak", (downloaded - uploaded) / 1024, "MiB", None, "8", "1")


def objects_seed(state_dir, count):
    """Makes `count` objects of the one that is there, by its row: uploading them would take longer than the rest."""
    with contextlib.closing(sqlite3.connect(f"{state_dir}/storage.db")) as db, db:
        columns = [column[1] for column in db.execute("PRAGMA table_info(object)")]
        chosen = ["printf('%03d/%06d', n / 1000, n)" if column == "name" else column for column in columns]
        db.execute(f"INSERT INTO object ({', '.join(columns)})"
                   f" WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < {count})"
                   f" SELECT {', '.join(chosen)} FROM number, object WHERE object.name = 'seed'")


def bench_objects(options):
    with tempfile.TemporaryDirectory() as state:
        with serving(state_dir=state) as daemon:
            curl("-X", "POST", "-d", "x", upload_url(daemon, "seed"))
        objects_seed(state, options.objects)
        with serving(state_dir=state) as daemon:
            connection = http.client.HTTPConnection("127.0.0.1", daemon.port)

            def timed(expected, **query):
                times = []
                for _ in range(30):
                    began = time.monotonic()
                    connection.request("GET", "/storage/v1/b/bench/o?" + urllib.parse.urlencode(query))
                    answer = connection.getresponse()
                    text = answer.read()
                    times.append((time.monotonic() - began) * 1000)
                    assert answer.status == 200, text
                found = json.loads(text)
                assert len(found.get("items", [])) + len(found.get("prefixes", [])) == expected, text[:1000]
                return median(times)

            of = f"of {options.objects:,}"
            folders, last = (options.objects + 999) // 1000, (options.objects - 1) // 1000
            row(f"list, first 1000 {of}", timed(1000, maxResults=1000), "ms", None, "20", "5")
            row(f"list, 1000 below a prefix {of}", timed(1000, prefix=f"{last:03}/"), "ms", None, "20", "5")
            row(f"list, 1000 in the middle {of}", timed(1000, startOffset=f"{last // 2:03}/", maxResults=1000), "ms", None,
                "20", "5")
            row(f"list, {min(folders, 1000)} prefixes {of}", timed(min(folders, 1000), delimiter="/", maxResults=1000), "ms", None,
                "20", "5")
            row(f"list, names of 1000 {of}", timed(1000, maxResults=1000, fields="items(name)"), "ms", None, "20", "3")


TOKEN_PATH = "/computeMetadata/v1/instance/service-accounts/default/token"


SEARCH = {"params": [{"parameterName": "rate", "type": "DOUBLE", "minValue": 0.0001, "maxValue": 1},
                     {"parameterName": "layers", "type": "INTEGER", "minValue": 1, "maxValue": 9},
                     {"parameterName": "optimizer", "type": "CATEGORICAL", "categoricalValues": ["adam", "sgd"]}],
          "maxTrials": 100, "hyperparameterMetricTag": "accuracy", "goal": "MAXIMIZE"}


def trials_seed(state_dir, jobs, trials):
    """Copies of the one tuning job that is there and of its trial, as if all had run."""
    with contextlib.closing(sqlite3.connect(state_dir / "state.db")) as db:
        def copies(select, *values):
            columns = [row[1] for row in db.execute("PRAGMA table_info(job)") if row[1] != "id"]
            given = dict(zip(values[::2], values[1::2]))
            db.execute(f"INSERT INTO job ({', '.join(columns)}) SELECT " +
                       ", ".join(given.get(name, name) for name in columns) + f" FROM {select}")
        times = ("created_us", "1700000000000000 + n", "started_us", "1700000001000000", "running_us",
                 "1700000002000000", "ended_us", "1700000003000000")
        number = "(WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {}) SELECT n FROM counted)"
        copies(f"job JOIN {number.format(jobs)} WHERE parent IS NULL", "job_id", "'tuned_' || n", "state", "4", *times)
        for job, name in db.execute("SELECT id, job_id FROM job WHERE job_id LIKE 'tuned!_%' ESCAPE '!'").fetchall():
            copies(f"job JOIN {number.format(trials)} WHERE job_id = 'first.1'", "job_id", f"'{name}.' || n", "state",
                   "4", "parent", str(job), "trial", "n", *times)
        db.execute("INSERT INTO trial (job, number, run, outcome, known, ended_as, parameters, final) SELECT parent, trial,"
                   " id, 1, trial - 1, trial, '[' || (abs(random()) % 99999 / 1e5) || ',' || (trial % 9 + 1) || '.0,1.0]',"
                   " '{\"step\":1000,\"values\":[' || (abs(random()) % 99999 / 1e5) || ']}' FROM job"
                   " WHERE parent IS NOT NULL AND state = 4")
        db.execute("UPDATE job SET state = 5, created_us = 1, ended_us = 1 WHERE state < 4")
        db.commit()


def bench_trials(options):
    with tempfile.TemporaryDirectory() as state:
        state = pathlib.Path(state)
        with serving(state_dir=state) as daemon:
            daemon.create(job_body("first", "image:1", ["train"])["trainingInput"] | {"hyperparameters": SEARCH}, "first")
            while not daemon.query_state("SELECT 1 FROM trial"):
                time.sleep(0.01)
        trials_seed(state, 100, 100)
        floor = float(subprocess.run([options.build / "tests/bench/bare_trials", state / "state.db", "30"], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout)
        with serving(state_dir=state) as daemon:
            connection = http.client.HTTPConnection("127.0.0.1", daemon.port)
            times = []
            for _ in range(30):
                began = time.monotonic()
                connection.request("GET", f"/v1/projects/{PROJECT}/jobs?pageSize=100")
                text = connection.getresponse().read()
                times.append((time.monotonic() - began) * 1000)
            jobs = json.loads(text)["jobs"]
            assert [len(job["trainingOutput"]["trials"]) for job in jobs] == [100] * 100
    row("jobs.list, 100 of 100 trials each", median(times), "ms", floor, "20", "10")


def bench_tokens(options):
    """As a replica asks for them: from its own network."""
    with serving(options.engine) as daemon:
        daemon.create({"region": "us-central1", "masterConfig": {"imageUri": options.image}, "args": [
            "sh", "-c", "echo $GCE_METADATA_IP; until [ -e /released ]; do sleep 0.1; done"]}, job_id="tokens")
        host = daemon.wait_lines("tokens")[0]
        pid = options.engine.inspect(daemon.container("tokens"))["State"]["Pid"]
        inside = ["nsenter", "-t", str(pid), "-n"]
        values = [wrk(f"http://{host}{TOKEN_PATH}", 16, inside, ["-H", "Metadata-Flavor: Google"]) for _ in range(options.rounds)]
        daemon.cancel_all()
    row("metadata tokens", median(values), "req/s", None, "1,000", "10,000")


def bench_suggest(options):
    with search.Optimizer(options.build / "tests/bench/suggest_bench") as optimizer:
        for trials, least, aim in ((100, "50", "10"), (1000, "2,000", "300")):
            row(f"suggestion after {trials} trials, 10 parameters", search.suggestion_ms(optimizer, trials, 15), "ms", None,
                least, aim)


def bench_search(options):
    """The median of the best losses of 5 searches with 40 trials each."""
    with search.Optimizer(options.build / "tests/bench/suggest_bench") as optimizer:
        for problem in search.PROBLEMS:
            ours, floor = (median(search.best_losses(optimizer, problem, algorithm, 40, 5))
                           for algorithm in ("ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH"))
            row(f"search, {problem}", ours, "loss", floor, "below random", "0")


ROWS = {"start": bench_start, "exec": bench_exec, "get": bench_get, "grpc": bench_grpc, "pages": bench_pages,
        "jobs": bench_jobs, "follow": bench_follow, "one": bench_one,
        "sixteen": bench_sixteen, "gap": bench_gap,
        "logs": bench_logs, "copies": bench_copies, "large": bench_large, "objects": bench_objects,
        "trials": bench_trials, "suggest": bench_suggest, "search": bench_search, "tokens": bench_tokens}
NEED_ENGINE = {"one", "sixteen", "gap", "logs", "tokens"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path.cwd())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copy-mib", type=int, default=1024, help="what copies moves")
    parser.add_argument("--large-mib", type=int, default=5120, help="what large uploads")
    parser.add_argument("--objects", type=int, default=1_000_000, help="how many objects has")
    parser.add_argument("rows", nargs="*", metavar="ROW")
    options = parser.parse_args()
    os.environ["TRAINYARD"] = str((options.build / "trainyard").resolve())
    wanted = options.rows or list(ROWS)
    if NEED_ENGINE & set(wanted):
        options.engine = Engine()
        options.image = build_test_image(options.engine)
    for name in wanted:
        ROWS[name](options)


if __name__ == "__main__":
    main()
