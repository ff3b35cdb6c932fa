# SPDX-License-Identifier: Apache-2.0
"""A scenario with a seed, a controllable clock and a file of faults: two complete runs of it have equal results."""
import json
import os
import re

from support.daemon import UNTIL_RELEASED, distributed, script
from support.tuning import REPORTING
from support.vertex import Vertex, custom_job, tuning_job
from support.wait import wait_until

X = {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 10}}
WAIT = "{ trap 'exit 0' TERM; while :; do sleep 0.1; done; }"
# The second trial runs until a fault ends it.
TRIAL = f'[ "$CLOUD_ML_TRIAL_ID" != 2 ] || {WAIT}; {REPORTING}'
RULES = [
    {"fault": "preempt", "job": "pair", "role": "worker", "logPattern": "saved"},
    {"fault": "exit", "exitCode": 3, "job": "search", "trial": 2},
    {"fault": "stockout", "job": "dear", "seconds": 86400},
    {"fault": "imagePull", "job": "lot_*", "probability": 0.5},
    {"fault": "httpStatus", "httpStatus": 503, "method": "ml.projects.jobs.list", "probability": 0.5},
]
# Replaces times of day: seconds pass as on the real clock.
TIME = re.compile(r"(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d+)?Z")
# The cost of a job grows with the seconds it runs, and its etag changes with it.
DRIFTING = ("consumedMLUnits", "etag")


def steady(value):
    if isinstance(value, dict):
        return {name: steady(each) for name, each in value.items() if name not in DRIFTING}
    if isinstance(value, list):
        return [steady(each) for each in value]
    return TIME.sub(r"\1", value) if isinstance(value, str) else value


def pair(daemon):
    """A job whose worker is restarted under its name, on an empty disk."""
    says = 'echo "$(hostname) saved, found $(ls /tmp | grep -c saved)"; touch /tmp/saved; '
    daemon.create(distributed(UNTIL_RELEASED, says + WAIT, workers=1), job_id="pair")
    daemon.release("pair", after={"worker-replica-0": 2})
    return daemon.until("pair", "SUCCEEDED")


def dear(daemon):
    """A job that waits for a day, and runs longer than its limit."""
    jobs = Vertex(daemon)
    name = jobs.create(custom_job(WAIT, name="dear", scheduling={"timeout": "7200s"}))["name"]
    job_id = name.rpartition("/")[2]
    wait_until(lambda: any(text.startswith("Fault rule") for _, text in daemon.service_lines(job_id)), 30, "it is held back")
    for seconds, state in ((86400, "JOB_STATE_RUNNING"), (10800, "JOB_STATE_CANCELLED")):
        assert daemon.post("/_trainyard/v1/clock", {"advance": f"{seconds}s"}).status == 200
        job = jobs.until(name, state)
    return job


def run(daemon):
    """Runs the scenario; returns everything that clients can see."""
    statuses = [daemon.get(daemon.jobs_path).status for _ in range(12)]
    jobs = {"pair": pair(daemon)}
    search = Vertex(daemon, collection="hyperparameterTuningJobs").run(tuning_job(TRIAL, X, name="search", count=2))
    jobs[search["name"].rpartition("/")[2]] = search
    lasting = dear(daemon)
    jobs[lasting["name"].rpartition("/")[2]] = lasting
    for index in range(4):
        daemon.create(script("hostname"), job_id=f"lot_{index}")
        jobs[f"lot_{index}"] = daemon.until(f"lot_{index}", "SUCCEEDED", "FAILED")
    logs = {}
    for job_id in jobs:
        for entry in daemon.entries(job_id):
            task = entry["resource"]["labels"]["task_name"] + entry.get("labels", {}).get("ml.googleapis.com/trial_id", "")
            logs.setdefault(job_id + " " + task, []).append([entry["timestamp"], entry.get("severity"), entry.get("textPayload")])
    return steady({"statuses": statuses, "faults": daemon.get("/_trainyard/v1/faults").json, "jobs": jobs, "logs": logs})


# Fails with: seeded_random_start() is not called; start_find() that begins now.
def test_two_runs_of_a_scenario_are_the_same(new_daemon, tmp_path):
    file = tmp_path / "faults.json"
    file.write_text(json.dumps(RULES))
    runs = []
    for _ in range(2):
        with new_daemon("--offline", "--stop-grace", "1", "--seed", "7", "--clock", "steppable@2026-01-31T12:00:00Z",
                        "--faults", str(file), project=f"scenario-{os.getpid()}") as daemon:
            runs.append(run(daemon))
    first, second = runs
    for what in first:
        assert first[what] == second[what], what
    # The results are those that the faults must cause.
    assert {200, 503} == set(first["statuses"])
    assert {job["state"] for name, job in first["jobs"].items() if name.startswith("lot_")} == {"SUCCEEDED", "FAILED"}
    saved = [text for _, _, text in first["logs"]["pair worker-replica-0"]]
    assert len(saved) == 2 and saved[0] == saved[1] and saved[0].endswith("saved, found 0"), saved
    states = [job["trials"] for job in first["jobs"].values() if "trials" in job]
    assert [trial["state"] for trial in states[0]] == ["SUCCEEDED", "INFEASIBLE"]
    ended = [job["endTime"] for job in first["jobs"].values() if job.get("displayName") == "dear"]
    assert ended == ["2026-02-01"] and [rule["hits"] for rule in first["faults"]["faults"]][:3] == ["1"] * 3
