# SPDX-License-Identifier: Apache-2.0
"""What waiting jobs wait for, and which replicas hold the GPUs: /_trainyard/v1/queue and gpus, and the commands of these
names."""
import json
import re

import pytest

from support.daemon import distributed, script, with_gpus
from support.vertex import RUNS_ON, Vertex, custom_job, tuning_job
from support.verbs import on_terminal, verb
from support.wait import wait_until

QUEUE, GPUS = "/_trainyard/v1/queue", "/_trainyard/v1/gpus"
PARAMETER = {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}


@pytest.fixture(scope="module")
def line(narrow_yard):
    """One running job, and three that wait behind it."""
    daemon = narrow_yard
    runs = daemon.create(script(RUNS_ON), job_id=daemon.new_id("line_runs"))
    daemon.until(runs, "RUNNING")
    first = daemon.create(distributed("exit 0", "exit 0", workers=2), job_id=daemon.new_id("line_first"))
    vertex = Vertex(daemon).create(custom_job("exit 0", name="line-custom"))["name"]
    search = Vertex(daemon, collection="hyperparameterTuningJobs").create(tuning_job("exit 0", PARAMETER, name="line-search"))["name"]
    wait_until(lambda: daemon.get(QUEUE).json["waitingCount"] == 3, 30, "the search has a trial")
    yield runs, first, vertex, search
    for name in (search, vertex):
        daemon.post(f"/v1/{name}:cancel", {})
    daemon.cancel_all()
    wait_until(lambda: daemon.get(QUEUE).json["waitingCount"] == 0, 60, "nothing waits")


def test_the_queue_tells_who_waits_behind_what(narrow_yard, line):
    """Fails with: by_turn() that is reversed: the newest came first.
    Fails with: is_waiting() that takes tuning jobs: the search had two places, and its trial waited behind it."""
    runs, first, vertex, search = line
    told = narrow_yard.get(QUEUE).json
    assert told["room"]["jobs"] == 1 and told["room"]["maxJobs"] == 1 and told["room"]["hostVcpus"] > 0
    jobs = told["jobs"]
    assert [j["place"] for j in jobs] == [1, 2, 3] and told["waitingCount"] == 3
    assert [j["job"] for j in jobs] == [f"projects/{narrow_yard.project}/jobs/{first}", vertex, search]
    assert jobs[0]["replicaCount"] == 3 and jobs[0]["shortage"] == "ROOM" and "behind" not in jobs[0]
    assert jobs[2]["trial"] == "1" and jobs[2]["displayName"] == "line-search"
    assert jobs[1]["behind"] == jobs[2]["behind"] == jobs[0]["job"] and jobs[1]["displayName"] == "line-custom"
    assert "startsNow" not in jobs[0] and jobs[0]["reason"]
    document = narrow_yard.get("/discovery/v1/apis/trainyard/v1/rest").json
    assert "get" in document["resources"]["queue"]["methods"] and "list" in document["resources"]["gpus"]["methods"]
    assert "behind" in document["schemas"]["WaitingJob"]["properties"]


def test_queue_prints_it(narrow_yard, line):
    runs, first, vertex, search = line
    said = verb(narrow_yard, "queue").splitlines()
    assert re.match(r"in use: 1 of 1 jobs, 1 of \d+ containers, [\d.]+ vCPUs, [\d.]+ [KMG]iB memory", said[0])
    assert said[1].split()[:3] == ["PLACE", "JOB", "WAITS"]
    assert said[2].split()[:2] == ["1", first] and said[3].split()[:2] == ["2", "line-custom"]
    assert f"behind {first}: " in said[3]
    assert verb(narrow_yard, "queue", "-o", "name").splitlines()[1] == vertex
    assert json.loads(verb(narrow_yard, "queue", "-o", "json"))["waitingCount"] == 3
    for columns in (60, 80):
        drawn, code = on_terminal(narrow_yard, "queue", columns=columns, env={"NO_COLOR": "1"})
        assert code == 0 and all(len(row) <= columns for row in drawn.splitlines()), drawn
        assert "line-custom" in drawn and "behind" in drawn


def test_an_empty_queue_and_a_machine_without_gpus_say_so(yard):
    wait_until(lambda: yard.get(QUEUE).json["waitingCount"] == 0, 30, "nothing waits")
    assert "No job waits." in verb(yard, "queue")
    assert yard.get(GPUS).json == {"policy": "PRETEND"}
    assert verb(yard, "gpus") == "There are no GPUs to give away.\nJobs that ask for more GPUs than there are run without any.\n"


@pytest.mark.long
def test_gpus_are_told_with_the_replicas_that_hold_them(new_daemon, gpu_engine):
    """Fails with: gpu_write() that compares no device: the job held all of them."""
    with new_daemon("--offline", "--stop-grace", "1", "--gpus", "3", engine=gpu_engine) as daemon:
        wait_until(lambda: daemon.get("/healthz").json["engine"]["reachable"], 30)
        assert [g["id"] for g in daemon.get(GPUS).json["gpus"]] == ["0", "1", "2"]
        job = daemon.create(with_gpus(script("trap 'exit 0' TERM; sleep 600 & wait"), 2), job_id="holds")
        daemon.until(job, "RUNNING")
        waits = daemon.create(with_gpus(script("exit 0"), 2), job_id="waits")
        gpus = daemon.get(GPUS).json["gpus"]
        assert [[h["replica"] for h in g.get("holders", [])] for g in gpus] == [["master-replica-0"], ["master-replica-0"], []]
        assert gpus[0]["holders"][0]["job"].endswith("/jobs/holds")
        rows = [row.split() for row in verb(daemon, "gpus").splitlines()]
        assert rows[0] == ["GPU", "STATE", "JOB", "REPLICA", "SINCE"]
        assert rows[1][:4] == ["0", "held", "holds", "master-replica-0"] and rows[3][:2] == ["2", "free"]
        assert verb(daemon, "gpus", "-o", "name").split() == ["0", "1", "2"]
        waiting = daemon.get(QUEUE).json["jobs"][0]
        assert waiting["shortage"] == "DEVICES" and waiting["gpuCount"] == 2 and waiting["job"].endswith(waits)
        daemon.cancel_all()
