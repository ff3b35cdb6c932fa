# SPDX-License-Identifier: Apache-2.0
"""Requests: one job, pages of jobs and of log entries, by REST and by gRPC."""
import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import time

from measure import PROJECT, bare, bench, job_body, median, row, serving, timed_ms, wrk
from support.grpc_peer import (
    DATA, END_HEADERS, END_STREAM, GET_JOB, HEADERS, HELLO, SETTINGS, WINDOW_UPDATE, Peer, frame, head, message, named)


@bench("get")
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
    row("jobs.get", median(ours), "req/s", median(floor), 0.8, 0.9)
CLIENTS = 32


@bench("create")
def bench_create(options):
    """Durable creates by 32 clients at once, without an engine. The floor commits rows of a job's size in groups."""
    script, size = pathlib.Path(__file__).with_name("create.lua"), 1000
    ours, floor = [], []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory:
            floor.append(float(subprocess.check_output([options.build / "tests/bench/bare_commits", f"{directory}/jobs.db",
                                                        str(CLIENTS), "4", str(size)])))
        with serving() as daemon:
            ours.append(wrk(f"{daemon.base}/v1/projects/{PROJECT}/jobs", CLIENTS, more=["-s", script]))
    row(f"create, durable, {CLIENTS} clients", median(ours), "req/s", median(floor), 0.7, 0.9)


CALLS_AT_ONCE = 50  # on each connection
WIDE = (HELLO + frame(SETTINGS, 0, 0, b"\0\4\x7f\xff\xff\xff") + frame(WINDOW_UPDATE, 0, 0, (2**31 - 65536).to_bytes(4, "big")))


def grpc_calls(port, name, seconds=4):
    """Calls answered per second on one connection. Requests are prepared, and answers, all of one length, are only
    counted."""
    body = frame(DATA, END_STREAM, 1, message(named(name)))
    block = head(GET_JOB)
    with Peer(port, WIDE) as peer:
        first = [peer.call(GET_JOB, message(named(name))) for _ in range(2)]
        answer = peer.ends(2)[first[1]]  # the first answer has one more byte, which says that it uses no header table
        assert name.rsplit("/", 1)[1].encode() in answer, answer
        size = len(answer) + 3 * 9  # of its three frames' heads
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


@bench("grpc")
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
    row("customJobs.get by gRPC, floor by REST", median(ours), "req/s", median(floor), 0.9, 1.1)


@bench("pages")
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
            row("entries:list, 1000 of one job", entries(stream), "ms", None, 10, 2)
            row("entries:list, 100 of one job", entries(stream, size=100), "ms", None, 10, 2)
            row("entries:list, newest 1000 of all", entries("", "timestamp desc"), "ms", None, 10, 2)
            row("entries:list, newest 100 of all", entries("", "timestamp desc", 100), "ms", None, 10, 2)
            row("jobs.list, 100 newest", timed("GET", f"/v1/projects/{PROJECT}/jobs?pageSize=100"), "ms", None, 0.5, 0.3)
            row("jobs.list, 100 by state", timed("GET", f"/v1/projects/{PROJECT}/jobs?pageSize=100&filter=state%3DFAILED"),
                "ms", None, 10, 2)


@bench("jobs")
def bench_jobs(options):
    """No job has the label, so all jobs are examined."""
    with tempfile.TemporaryDirectory() as state:
        subprocess.run([options.build / "tests/bench/seed", state, "10000", "1000"], check=True)
        with serving(state_dir=state) as daemon:
            def timed(*words):
                return median(timed_ms(daemon.binary, *words) for _ in range(options.rounds * 4))

            at = ["--endpoint", f"http://127.0.0.1:{daemon.port}"]
            row("version: the program's start and end", timed("version"), "ms")
            row("jobs, of 10,000", timed("jobs", *at), "ms", None, 50, 20)
            row("jobs --label, of 10,000", timed("jobs", "--label", "owner=none", *at), "ms", None, 50, 20)
            row("jobs --all, 10,000 rows", timed("jobs", "--all", *at), "ms", None, 500, 150)


@bench("follow")
def bench_follow(options):
    """A million lines of a hundred ended jobs, read as followed logs and by entries:list."""
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
            for job in jobs:  # alternately, so that other load of the machine slows both
                for read in (listed, followed):
                    began = time.monotonic()
                    assert read(job) >= 10_000
                    spent[read] += time.monotonic() - began
            row("lines of followed logs, of entries:list", 1e6 / spent[followed], "lines/s", 1e6 / spent[listed], 0.9, 2)
SEARCH = {"params": [{"parameterName": "rate", "type": "DOUBLE", "minValue": 0.0001, "maxValue": 1},
                     {"parameterName": "layers", "type": "INTEGER", "minValue": 1, "maxValue": 9},
                     {"parameterName": "optimizer", "type": "CATEGORICAL", "categoricalValues": ["adam", "sgd"]}],
          "maxTrials": 100, "hyperparameterMetricTag": "accuracy", "goal": "MAXIMIZE"}


def trials_seed(state_dir, jobs, trials):
    """Copies the one tuning job in the store and its trial, as if all of them had run."""
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
        db.execute("INSERT INTO trial (job, number, run, outcome, known, ended_as, parameters, final, final_step)"
                   " SELECT parent, trial, id, 1, trial - 1, trial,"
                   " '[' || (abs(random()) % 99999 / 1e5) || ',' || (trial % 9 + 1) || '.0,1.0]',"
                   " '[' || (abs(random()) % 99999 / 1e5) || ']', 1000 FROM job WHERE parent IS NOT NULL AND state = 4")
        db.execute("UPDATE job SET state = 5, created_us = 1, ended_us = 1 WHERE state < 4")
        db.commit()


@bench("trials")
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
    row("jobs.list, 100 of 100 trials each", median(times), "ms", floor, 10, 5)
