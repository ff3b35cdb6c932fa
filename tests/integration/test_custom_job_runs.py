# SPDX-License-Identifier: Apache-2.0
"""The environment of CustomJobs' replicas, how such jobs end, and what their logs have."""
import json
import re
from datetime import datetime

import pytest

from support.custom_jobs import CustomJobs, pool, variables
from support.daemon import PRINT_ENVIRONMENT, UNTIL_RELEASED, task_of, text_of
from support.engine import IMAGE
from support.marks import long

NAME = r"cmle-training-workerpool(\d)-([0-9a-f]{10})-(\d+)"
NEVER_THERE = ("LOCAL_RANK", "NODE_RANK", "CLOUD_ML_JOB", "CLOUD_ML_TRIAL_ID", "CLOUD_ML_HP_METRIC_FILE")


@pytest.fixture(scope="module")
def custom(yard):
    return CustomJobs(yard)


# ---- what a replica is told ------------------------------------------------------------------------------

def test_each_replica_of_three_pools_is_told_who_it_is_and_who_its_peers_are(custom, yard):
    told = PRINT_ENVIRONMENT + "; grep -o 'cmle-training-[a-z0-9-]*' /etc/hosts | sort -u | wc -l; "
    job_id = custom.create(pool(told + UNTIL_RELEASED), pool(told + "sleep 60", 2), pool(told + "sleep 60"),
                           baseOutputDirectory={"outputUriPrefix": "gs://bucket/out"})
    tasks = {"workerpool0-0": ("chief", 0, "0"), "workerpool1-0": ("worker", 0, "1"),
             "workerpool1-1": ("worker", 1, "2"), "workerpool2-0": ("ps", 0, None)}
    for task in tasks:
        lines = custom.wait_lines(job_id, task, 2)
        assert int(lines[1]) >= 4, lines
    yard.release(job_id)
    custom.until(job_id, "JOB_STATE_SUCCEEDED")
    number = custom.job(job_id)["name"].split("/")[1]
    ids = set()
    for task, (kind, index, rank) in tasks.items():
        environment = yard.environment(job_id, task)
        assert "\n" not in environment["CLUSTER_SPEC"] and ": " not in environment["CLUSTER_SPEC"]
        spec, config = json.loads(environment["CLUSTER_SPEC"]), json.loads(environment["TF_CONFIG"])
        assert list(spec) == ["cluster", "environment", "task", "job", "open_ports"]
        assert spec["open_ports"] == [3333] and spec["environment"] == "cloud"
        assert spec["task"] == {"type": task[:-2], "index": index}
        hosts = {p: [re.fullmatch(NAME + ":2222", a).groups() for a in at] for p, at in spec["cluster"].items()}
        ids |= {host[1] for at in hosts.values() for host in at}
        assert {p: [(h[0], h[2]) for h in at] for p, at in hosts.items()} == {
            "workerpool0": [("0", "0")], "workerpool1": [("1", "0"), ("1", "1")], "workerpool2": [("2", "0")]}
        assert json.loads(spec["job"])["python_module"] == "" and json.loads(spec["job"])["package_uris"] == []
        assert config["cluster"] == {"chief": spec["cluster"]["workerpool0"], "worker": spec["cluster"]["workerpool1"],
                                     "ps": spec["cluster"]["workerpool2"]}
        assert re.fullmatch(r"w[0-9a-f]+-ml", config["task"].pop("cloud"))
        assert config["task"] == {"type": kind, "index": index} and config["job"] == spec["job"]
        assert environment.get("RANK") == rank and environment.get("WORLD_SIZE") == (rank and "3")
        assert environment.get("MASTER_PORT") == (rank and "3333")
        assert environment.get("MASTER_ADDR") == (rank and spec["cluster"]["workerpool0"][0].removesuffix(":2222"))
        assert environment["CLOUD_ML_JOB_ID"] == job_id and environment["CLOUD_ML_REGION"] == "us-central1"
        assert environment["CLOUD_ML_PROJECT_ID"] == number
        assert [environment["AIP_" + n] for n in ("MODEL_DIR", "CHECKPOINT_DIR", "TENSORBOARD_LOG_DIR")] == [
            "gs://bucket/out/" + d for d in ("model/", "checkpoints/", "logs/")]
        assert not [n for n in NEVER_THERE if n in environment]
    assert len(ids) == 1


def test_a_replica_alone_is_chief_and_finds_itself_by_its_name(custom, yard):
    text = (PRINT_ENVIRONMENT + '; host=$(echo "$CLUSTER_SPEC" | grep -o "cmle-training-[a-z0-9-]*" | head -1); '
            'grep -q "[[:space:]]$host" /etc/hosts && echo found')
    job_id, job = custom.run(pool(text))
    assert yard.lines(job_id, "workerpool0-0")[1:] == ["found"]
    environment = yard.environment(job_id, "workerpool0-0")
    spec = json.loads(environment["CLUSTER_SPEC"])
    assert list(spec["cluster"]) == ["chief"] and spec["task"] == {"type": "chief", "index": 0}
    assert re.fullmatch(NAME + ":2222", spec["cluster"]["chief"][0]) and "open_ports" not in spec
    assert not [n for n in ("TF_CONFIG", "RANK", "WORLD_SIZE", "MASTER_ADDR", "AIP_MODEL_DIR") if n in environment]
    assert re.match(NAME + "-", environment["HOSTNAME"])
    assert "error" not in job


@pytest.mark.long
def test_a_replica_alone_may_be_called_by_its_pool(make_daemon):
    with make_daemon("--offline", "--single-replica-name", "workerpool0") as yard:
        job_id, _ = CustomJobs(yard).run(pool(PRINT_ENVIRONMENT))
        spec = json.loads(yard.environment(job_id, "workerpool0-0")["CLUSTER_SPEC"])
        assert list(spec["cluster"]) == ["workerpool0"] and spec["task"] == {"type": "workerpool0", "index": 0}


def test_variables_are_filled_in_and_a_clients_own_win(custom, yard):
    job_id, _ = custom.run(
        pool(command=["sh", "-c", PRINT_ENVIRONMENT + '; for a; do echo "arg $a"; done', "name-$(SECOND)"],
             args=["$(OUT)", "$$(OUT)", "$(NONE)", "${OUT}", "--region=$(CLOUD_ML_REGION)"],
             env=variables(FIRST="$(SECOND)", SECOND="two", OUT="$(AIP_MODEL_DIR)$(SECOND)", KEPT="$$(SECOND)",
                           CLOUD_ML_REGION="mine", CLUSTER_SPEC="mine")),
        baseOutputDirectory={"outputUriPrefix": "gs://bucket/out/"})
    environment = yard.environment(job_id, "workerpool0-0")
    assert [environment[n] for n in ("FIRST", "SECOND", "OUT", "KEPT", "CLOUD_ML_REGION")] == [
        "$(SECOND)", "two", "gs://bucket/out/model/two", "$(SECOND)", "mine"]
    assert environment["CLUSTER_SPEC"].startswith("{")
    assert yard.lines(job_id, "workerpool0-0")[1:] == [
        "arg gs://bucket/out/model/two", "arg $(OUT)", "arg $(NONE)", "arg ${OUT}", "arg --region=mine"]


# ---- how jobs end ----------------------------------------------------------------------------------------

@pytest.mark.long
def test_a_failed_replica_fails_the_job_with_its_last_words(custom, yard):
    job_id, job = custom.run(pool(UNTIL_RELEASED), pool("echo said; echo 'ValueError: no' >&2; exit 3", 2),
                             expect="JOB_STATE_FAILED")
    message = job["error"]["message"]
    number = job["name"].split("/")[1]
    assert job["error"]["code"] == 3
    assert re.match(r"The replica workerpool1-[01] exited with a non-zero status of 3\. Termination reason: Error\. ",
                    message)
    assert "\nValueError: no\n\nTo find out more about why your job exited please check the logs: " in message
    assert f"?project={number}&resource=ml_job%2Fjob_id%2F{job_id}&" in message
    assert ("ERROR", message) in yard.service_lines(job_id)


@pytest.mark.long
def test_the_first_replica_ends_the_job_whatever_the_others_do(custom, yard):
    job_id = custom.create(pool(UNTIL_RELEASED), pool("sleep 600"))
    custom.until(job_id, "JOB_STATE_RUNNING")
    yard.release(job_id)
    job = custom.until(job_id, "JOB_STATE_SUCCEEDED")
    assert "startTime" in job and job["startTime"] <= job["endTime"]
    assert yard.containers(job_id) == []
    assert [text for _, text in yard.service_lines(job_id)][-4:] == [
        "Waiting for training program to start.", "Job is preparing.", "Job is running.", "Job completed successfully."]


@pytest.mark.long
def test_a_crash_by_signal_begins_the_job_anew_three_times(custom, yard):
    job_id, job = custom.run(pool("echo begun; exit 134"), expect="JOB_STATE_FAILED")
    assert yard.lines(job_id, "workerpool0-0") == ["begun"] * 4
    assert "The replica workerpool0-0 exited with a non-zero status of 134. " in job["error"]["message"]


@pytest.mark.long
def test_a_job_out_of_time_is_cancelled(custom):
    _, job = custom.run(pool("sleep 600"), scheduling={"timeout": "1s"}, expect="JOB_STATE_CANCELLED")
    assert job["error"]["code"] == 1 and "longer than its timeout of 1s" in job["error"]["message"]


@pytest.mark.parametrize("never, ended", [long(False, "JOB_STATE_SUCCEEDED"), (True, "JOB_STATE_FAILED")])
def test_what_is_lost_is_started_anew_unless_the_job_says_never(custom, yard, never, ended):
    job_id = custom.create(pool(UNTIL_RELEASED), pool("echo begun; sleep 600"), scheduling={"disableRetries": never})
    custom.until(job_id, "JOB_STATE_RUNNING")
    custom.wait_lines(job_id, "workerpool1-0")
    yard.engine.call("DELETE", f"/containers/{yard.container(job_id, 'worker-0')}?force=1")
    if not never:
        custom.wait_lines(job_id, "workerpool1-0", 2)
        yard.release(job_id)
    job = custom.until(job_id, ended)
    if never:
        assert job["error"]["code"] == 13
        assert job["error"]["message"].startswith(
            "Internal error occurred for the current attempt. The replica workerpool1-0 ")


# ---- logs ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("code, end", [(0, "SUCCEEDED"), (3, "FAILED")])
def test_the_services_last_entry_says_how_the_job_ended(custom, yard, code, end):
    """Fails with: OUTBOX_AFTER's CASE looks at neither torn_down nor max(later.id): earlier entries said so, too.
    Fails with: the statement's last column is 0: no entry had the endpoint."""
    job_id, _ = custom.run(pool(f"echo said; exit {code}"), expect=f"JOB_STATE_{end}")
    by_task = {}
    for entry in yard.entries(job_id):
        by_task.setdefault(task_of(entry), []).append(entry.get("labels", {}))
    endpoint = {"ml.googleapis.com/endpoint": ""}
    *first, last = by_task["service"]
    assert first and first == [endpoint] * len(first) and last == endpoint | {"ml.googleapis.com/job_state": end}, by_task
    assert [list(labels) for labels in by_task["workerpool0-0"]] == [["compute.googleapis.com/resource_name"]], by_task


def test_gclouds_stream_finds_each_task_by_its_name(custom, yard):
    said = json.dumps({"message": "m", "severity": "WARNING", "n": 1})
    job_id, _ = custom.run(pool(f"echo out; echo err >&2; echo '{said}'"))
    query = (f'resource.type="ml_job" AND resource.labels.job_id="{job_id}" AND '
             'timestamp>="1970-01-01T01:00:00.000000000Z" AND resource.labels.task_name="workerpool0-0"')
    answer = yard.post("/v2/entries:list", {"filter": query, "orderBy": "timestamp asc", "pageSize": 1000,
                                            "resourceNames": [f"projects/{yard.project}"]})
    entries = answer.json["entries"]
    assert sorted((e["severity"], text_of(e)) for e in entries) == [
        ("ERROR", "err"), ("INFO", "out"), ("WARNING", "m")]
    for entry in entries:
        assert entry["logName"] == f"projects/{yard.project}/logs/workerpool0-0" and entry["insertId"]
        assert entry["resource"]["labels"] == {"project_id": yard.project, "job_id": job_id,
                                               "task_name": "workerpool0-0"}


def test_a_programs_plain_lines_are_messages_of_json_payloads(custom, yard):
    """Fails with: dialect_aiplatform's row without wraps_lines: textPayloads as in ml."""
    job_id, _ = custom.run(pool("echo out; echo err >&2; echo '{\"message\": \"m\"}'"))
    own = f'resource.labels.job_id="{job_id}" AND resource.labels.task_name!="service"'
    payloads = {}
    for entry in yard.entries(job_id):
        assert ("textPayload" in entry) == (task_of(entry) == "service"), entry
        if task_of(entry) != "service":
            payloads[text_of(entry)] = payload = entry["jsonPayload"]
            created = payload.pop("created", None)
            assert created is None or abs(created - datetime.fromisoformat(entry["timestamp"][:26] + "+00:00").timestamp()) < 1, entry
            assert (created is None) == (text_of(entry) == "m"), entry
    attrs = {"tag": "workerpool0-0"}
    assert payloads == {"out": {"message": "out", "levelname": "INFO", "attrs": attrs},
                        "err": {"message": "err", "levelname": "ERROR", "attrs": attrs}, "m": {"message": "m"}}
    for query, found in [('jsonPayload.message:"OU"', {"out"}), ('jsonPayload.message="err"', {"err"}),
                         ('jsonPayload.message=~"^(out|err)$"', {"out", "err"}), ('jsonPayload.levelname="INFO"', {"out"}),
                         ('jsonPayload.attrs.tag="workerpool0-0"', {"out", "err"}), ("jsonPayload.created>1", {"out", "err"}),
                         ('textPayload:"out"', set()), ("textPayload:*", set()), ("out", {"out"}), ('"err"', {"err"})]:
        answer = yard.post("/v2/entries:list", {"filter": f"{own} AND {query}", "resourceNames": [f"projects/{yard.project}"]})
        assert {text_of(entry) for entry in answer.json.get("entries", [])} == found, query


@pytest.mark.long
def test_a_program_that_is_not_there_is_told_with_its_command(custom, yard):
    """Fails with: the line said for any exit code; an environment without the service's variables."""
    def told(job_id):
        return [text for severity, text in yard.service_lines(job_id) if severity == "WARNING" and "no such program" in text]
    job_id, _ = custom.run(pool(command=["nosuch", "a b"], args=["--id=$(CLOUD_ML_JOB_ID)"]), pool(UNTIL_RELEASED),
                           expect="JOB_STATE_FAILED")
    assert told(job_id) == ["Status 127 says that the replica workerpool0-0 found no such program. It was started as: "
                            f"docker run --entrypoint nosuch {IMAGE} 'a b' '--id={job_id}'"]
    job_id, _ = custom.run(pool("exit 126"), expect="JOB_STATE_FAILED")
    assert told(job_id) == []
