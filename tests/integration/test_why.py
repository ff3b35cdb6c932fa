# SPDX-License-Identifier: Apache-2.0
"""The commands that explain why a job failed, and what to do."""
import json

import pytest

from support.daemon import UNTIL_RELEASED, distributed, script
from support.verbs import on_terminal, verb
from support.wait import wait_until

JOBS = "/_trainyard/v1/jobs"


@pytest.mark.parametrize("fault,said", [
    ({"fault": "oom"}, "more memory"), ({"fault": "imagePull"}, "trainyard doctor"), ({"fault": "exit", "exitCode": 5}, "has all of its log")])
def test_each_cause_has_its_advice(yard, fault, said):
    """Fails with: blame_write() that always returns "FAILED": only the log was named."""
    job = yard.new_id("advised")
    rule = yard.post("/_trainyard/v1/faults", {"job": job, **fault}).json["id"]
    yard.create(script("sleep 60"), job_id=job)
    verb(yard, "wait", job, code=1)
    verb(yard, "fault", "rm", rule)
    told = verb(yard, "why", job)
    advice = told.splitlines()[-1]
    assert said in advice and job in advice, advice
    # Fails with: faults_write() left out: nothing but the code, as if the program had failed.
    assert f"Fault rule {rule}: " in told and "This fault is injected." in told, told


def test_a_failing_job_is_understood_with_one_command(yard):
    """Fails with: last_lines_write() left out: what the program said last was told nowhere."""
    job = yard.create(script("echo step 7; printf 'no \\033]0;x\\007 data\\n' >&2; exit 9"), labels={"team": "red"})
    verb(yard, "wait", job, code=1)
    said = verb(yard, "why", job)
    assert f"{job} FAILED " in said and "status of 9" in said and f"trainyard logs {job}" in said
    assert "It ended by this: master-replica-0 exited with 9." in said and "The last lines of master-replica-0:" in said
    assert "    step 7" in said and "no  ]0;x  data" in said and "console.cloud" not in said
    said, code = on_terminal(yard, "describe", job, env={"NO_COLOR": "1"})
    assert code == 0 and "state     FAILED" in said and "status of 9" in said and "labels    team=red" in said
    assert "Unlike in the cloud" in said and "\033" not in said and "console.cloud" not in said
    # Addresses are not broken into lines, however long the project's name is.
    assert all(len(line) <= 80 for line in said.splitlines() if not line.startswith("console ")), said
    told = json.loads(verb(yard, "describe", job, "-o", "json"))
    assert told["report"]["replicas"][0]["name"] == "master-replica-0" and told["state"] == "FAILED"


def test_the_replica_to_blame_is_named_with_its_lines(yard):
    """Fails with: timeline_blamed() that takes any end: the replicas that were stopped were blamed."""
    failing = yard.create(distributed(UNTIL_RELEASED, "case $TF_CONFIG in *'\"index\": 1'*|*'\"index\":1'*) " + UNTIL_RELEASED
                                      + "; echo I am it >&2; exit 5;; esac; echo not me", workers=2))
    yard.container(failing, "worker-0", "exited")

    def end_of_worker_0():
        replicas = yard.get(f"{JOBS}/{failing}:timeline").json["replicas"]
        return next(r for r in replicas if r["replica"] == "worker-replica-0").get("exitCode")

    # Fails with: ends that are stored with the verdict alone.
    wait_until(lambda: end_of_worker_0() == 0, 30, "the end of worker 0 is told while the job runs")
    row = [row for row in verb(yard, "describe", failing).splitlines() if row.startswith("worker-replica-0")][0]
    assert "exited with 0" in row
    yard.release(failing, "worker-1")
    verb(yard, "wait", failing, code=1)
    told = yard.get(f"{JOBS}/{failing}:timeline").json
    states = [e["state"] for e in told["events"] if e["kind"] == "STATE"]
    assert states[0] == "QUEUED" and states[-1] == "FAILED" and told["attempt"] == 1
    by_name = {r["replica"]: r for r in told["replicas"]}
    assert by_name["worker-replica-1"]["exitCode"] == 5 and by_name["worker-replica-1"]["blamed"]
    assert not any(r.get("blamed") for name, r in by_name.items() if name != "worker-replica-1")
    said = verb(yard, "why", failing)
    assert "worker-replica-1 exited with 5." in said and "I am it" in said and "not me" not in said
    described = verb(yard, "describe", failing)
    assert "Timeline" in described and "the job is QUEUED" in described and "decided by it" in described
    row = [row for row in described.splitlines() if row.startswith("worker-replica-1")][0]
    assert "exited with 5" in row
    assert json.loads(verb(yard, "describe", failing, "-o", "json"))["timeline"]["attempt"] == 1
    assert yard.get(f"{JOBS}/{failing}:timeline", trial=1).status == 404


def test_a_job_without_enough_memory_is_told_so(yard):
    """A kill by the kernel. Fails with: blame_write() that does not look at outOfMemory: the log was to be read."""
    job = yard.create(script(UNTIL_RELEASED + "; echo hungry; exec awk 'BEGIN { s = \"x\"; while (1) s = s s }'"))
    container = yard.container(job, "master-0")
    yard.engine.call("POST", f"/containers/{container}/update", {"Memory": 32 << 20, "MemorySwap": 32 << 20})
    yard.release(job, "master-0")
    assert "out-of-memory" in verb(yard, "wait", job, code=1)
    told = verb(yard, "why", job)
    assert "It ended by this: master-replica-0 exited with 137, out of memory.\n" in told and "    hungry\n" in told
    assert "Give it a machine with more memory, or let it use less" in told.splitlines()[-1]


def test_a_cancelled_job_can_be_run_again(yard):
    job = yard.create(script(UNTIL_RELEASED))
    verb(yard, "cancel", job)
    verb(yard, "wait", job, code=4)
    assert f"`trainyard rerun {job}`" in verb(yard, "why", job)
