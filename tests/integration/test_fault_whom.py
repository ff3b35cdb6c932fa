# SPDX-License-Identifier: Apache-2.0
"""Which jobs and replicas injected faults apply to, and when: each field of a rule, tried with a match and with near misses.
The rules' counts are higher than needed, so that a near miss is not spared because the count is used up."""
import pytest

from support.custom_jobs import CustomJobs, pool
from support.daemon import UNTIL_RELEASED, UNTIL_RELEASED_AGAIN, distributed, script
from support.tuning import REPORTING, tuning_input
from support.vertex import Vertex, tuning_job
from support.wait import wait_until

FAULTS = "/_trainyard/v1/faults"
WAIT = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
X = {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 10}}


@pytest.fixture(autouse=True)
def no_rules_are_left(yard):
    yield
    assert yard.request("DELETE", FAULTS).status == 200


def order(yard, fault, **rule):
    answer = yard.post(FAULTS, {"fault": fault, "count": 9, **rule})
    assert answer.status == 200, answer
    return answer.json["id"]


def hits(yard, number):
    return int(yard.get(f"{FAULTS}/{number}").json["hits"])


def told(yard, job_id):
    """The log's lines about rules: "1: the replica worker 1 is cut off from its network"."""
    return [text.removeprefix("Fault rule ").removesuffix(". This fault is injected.")
            for _, text in yard.service_lines(job_id) if text.startswith("Fault rule ")]


# Fails with: fault_fits() that asks for no trial; context_of() that says none.
@pytest.mark.long
def test_one_trial_of_a_tuning_job_is_hit(yard):
    job_id = yard.new_id()
    number = order(yard, "exit", exitCode=3, job=job_id, trial=2)
    yard.create(tuning_input(f"{UNTIL_RELEASED}; {REPORTING}", maxTrials=3, maxParallelTrials=1), job_id=job_id)
    for trial in (1, 3):
        yard.engine.put_file(yard.container(f"{job_id}.{trial}"), "/released")
    job = yard.until(job_id, "SUCCEEDED")
    assert {trial["trialId"]: trial["state"] for trial in job["trainingOutput"]["trials"]} == {
        "1": "SUCCEEDED", "2": "FAILED", "3": "SUCCEEDED"}
    assert hits(yard, number) == 1 and told(yard, job_id) == [f"{number}: the replica master 0 of the trial 2 is ended with the code 3"]


def task_lines(yard, job_id):
    """For each trial: its log's lines about rules."""
    found = {}
    for entry in yard.entries(job_id):
        text = entry.get("textPayload") or ""
        if text.startswith("Fault rule "):
            found.setdefault(entry["labels"]["ml.googleapis.com/trial_id"], []).append(text.split(":")[0])
    return found


# Fails with: the same; owner_display_name() that knows none; context_of() without plan_log_job_id(), or without display_name.
@pytest.mark.long
def test_trials_of_vertex_ai_are_hit_by_each_of_their_names(yard):
    vertex = Vertex(yard, collection="hyperparameterTuningJobs")
    first = order(yard, "cutNetwork", job="search", trial=1)
    third = order(yard, "cutNetwork", job="search-trial-3")
    made = vertex.create(tuning_job(WAIT, X, name="search", count=4, parallel=4))
    second = order(yard, "cutNetwork", job=made["name"].rpartition("/")[2], trial=2)
    job_id = made["name"].rpartition("/")[2]
    wait_until(lambda: hits(yard, first) and hits(yard, second) and hits(yard, third), 60, "they are hit")
    wait_until(lambda: len([c for c in yard.containers() if c["State"] == "running"]) == 4, 60, "all run")
    vertex.cancel_all()
    assert task_lines(yard, job_id) == {"1": [f"Fault rule {first}"], "2": [f"Fault rule {second}"],
                                        "3": [f"Fault rule {third}"]}


# Fails with: fault_fits() that asks for no attempt; context_of() whose attempt is always 1.
@pytest.mark.long
def test_one_attempt_of_a_job_is_hit(yard):
    """The third attempt is of a job whose image no longer exists."""
    job_id = yard.new_id()
    gone = order(yard, "imagePull", job=job_id, attempt=3)
    second = order(yard, "crash", exitCode=134, job=job_id, attempt=2, logPattern="begun")
    first = order(yard, "crash", job=job_id, attempt=1, logPattern="begun")
    job = yard.run(script("echo begun; " + WAIT), job_id=job_id, expect="FAILED")
    assert "cannot be pulled" in job["errorMessage"] and yard.lines(job_id) == ["begun"] * 2
    assert told(yard, job_id) == [f"{first}: the replica master 0 crashes with the code 139",
                                  f"{second}: the replica master 0 crashes with the code 134",
                                  f"{gone}: the job's image is not found"]
    assert [hits(yard, number) for number in (first, second, gone)] == [1, 1, 1]


# Fails with: replica_fits() that asks for no role, or for no replica; is_used_up() that lets every rule hit once, or for ever.
def test_roles_and_replicas_are_hit_as_they_are_named(yard):
    job_id = yard.new_id()
    worker = order(yard, "cutNetwork", job=job_id, role="worker", replica=1)
    servers = order(yard, "cutNetwork", job=job_id, role="ps", count=2)
    last = order(yard, "cutNetwork", job=job_id, role="evaluator", replica=0)
    third = order(yard, "cutNetwork", job=job_id, replica=2)
    yard.create(distributed(UNTIL_RELEASED, WAIT, WAIT, WAIT, workers=2, ps_count=3, evaluators=1), job_id=job_id)
    expected = [f"{worker}: the replica worker 1", f"{servers}: the replica ps 0", f"{servers}: the replica ps 1",
                f"{third}: the replica ps 2", f"{last}: the replica evaluator 0"]
    wait_until(lambda: len(told(yard, job_id)) >= len(expected), 30, "they are cut off")
    master = order(yard, "exit", exitCode=5, job=job_id, role="master")
    job = yard.until(job_id, "FAILED")
    assert job["errorMessage"].startswith("The replica master 0 exited with a non-zero status of 5."), job
    cut = " is cut off from its network"
    assert sorted(told(yard, job_id)) == sorted([text + cut for text in expected] +
                                                [f"{master}: the replica master 0 is ended with the code 5"])


# Fails with: pool_parse() that takes each pool for the first.
@pytest.mark.long
def test_each_pool_of_a_custom_job_is_hit_by_its_number(yard):
    jobs = CustomJobs(yard)
    numbers = [order(yard, "cutNetwork", job="test", pool=f"workerpool{index}") for index in range(4)]
    job_id = jobs.create(*(pool(WAIT) for _ in range(4)))
    wait_until(lambda: len(told(yard, job_id)) >= 4, 30, "they are cut off")
    assert sorted(told(yard, job_id)) == [f"{number}: the replica workerpool{index}-0 is cut off from its network"
                                          for index, number in enumerate(numbers)]
    jobs.cancel(job_id)
    jobs.until(job_id, "JOB_STATE_CANCELLED")


# Fails with: fault_fits() that asks for no name, or for no project; fault_glob_fits() that takes '?' as it is, or tries what
# follows a star once.
@pytest.mark.long
def test_jobs_are_hit_by_patterns_of_their_names(yard):
    other = f"/v1/projects/{yard.project}-b/jobs"
    name = yard.new_id("gone")
    number = order(yard, "imagePull", job="gon?_*", project=yard.project)
    vertex = order(yard, "imagePull", job="My *job")
    spared = {"jobId": name, "trainingInput": script("true")}
    assert yard.post(other, spared).status == 200
    yard.run(script("true"), job_id=yard.new_id("gonne"))
    yard.run(script("true"), job_id=name, expect="FAILED")
    wait_until(lambda: yard.job(name, project=yard.project + "-b")["state"] == "SUCCEEDED", 30, "the other project's is spared")
    assert hits(yard, number) == 1
    jobs = Vertex(yard)
    run = {"workerPoolSpecs": [pool("true")]}
    jobs.run({"displayName": "My first job", "jobSpec": run}, expect="JOB_STATE_FAILED")
    jobs.run({"displayName": "my first job", "jobSpec": run})
    assert hits(yard, vertex) == 1


# Fails with: fault_wait_us() that asks for no line; page_mark() that matches none.
def test_a_line_that_fits_is_waited_for(yard):
    job_id = yard.new_id()
    number = order(yard, "exit", exitCode=5, job=job_id, logPattern=r"^saved checkpoint \d{2}$")
    yard.create(script(f"echo saved checkpoint 1; {UNTIL_RELEASED}; echo saved checkpoint 10 times; {UNTIL_RELEASED_AGAIN}; "
                       f"echo saved checkpoint 10; {WAIT}"), job_id=job_id)
    yard.wait_lines(job_id)
    yard.until(job_id, "RUNNING")
    yard.release(job_id)
    yard.wait_lines(job_id, count=2)
    assert hits(yard, number) == 0
    yard.release(job_id, again=True)
    job = yard.until(job_id, "FAILED")
    assert "status of 5." in job["errorMessage"]
    assert yard.lines(job_id) == ["saved checkpoint 1", "saved checkpoint 10 times", "saved checkpoint 10"]
