# SPDX-License-Identifier: Apache-2.0
"""With a seed, the same requests to a new state directory get the same ids; no id occurs twice."""
import re
import types
import urllib.parse

from support.custom_jobs import pool
from support.wait import wait_until

NO_ENGINE = types.SimpleNamespace(host="unix:///nonexistent/docker.sock")
PARENT = "locations/us-central1"


def resource(daemon, collection, body):
    answer = daemon.post(f"/v1/projects/{daemon.project}/{PARENT}/{collection}", body)
    assert answer.status == 200, answer
    return answer.json["name"].rpartition("/")[2]


def scenario(daemon, trials=1):
    """Creates resources of each kind and returns their ids. Meanwhile the scheduler draws ids for `trials` trials."""
    spec = {"workerPoolSpecs": [pool("true")]}
    ids = [resource(daemon, "customJobs", {"displayName": "one", "jobSpec": spec}) for _ in range(2)]
    assert daemon.post(f"/v1/projects/{daemon.project}/{PARENT}/customJobs", {"displayName": "bad"}).status == 400
    ids.append(resource(daemon, "hyperparameterTuningJobs", {
        "displayName": "tuned", "maxTrialCount": 2, "parallelTrialCount": trials, "trialJobSpec": spec,
        "studySpec": {"metrics": [{"metricId": "m", "goal": "MAXIMIZE"}],
                      "parameters": [{"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}]}}))
    wait_until(lambda: daemon.query_state(f"SELECT count(*) FROM job WHERE parent = (SELECT id FROM job WHERE job_id ="
                                          f" '{ids[2]}')")[0][0] == trials, 30, "the search has its trials")
    ids.append(resource(daemon, "trainingPipelines", {
        "displayName": "pipe", "trainingTaskInputs": spec,
        "trainingTaskDefinition": "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"}))
    job_id = daemon.create({"region": "us-central1", "masterConfig": {"imageUri": "image:1"}, "args": ["true"]})
    plan = daemon.query_state(f"SELECT plan FROM job WHERE job_id = '{job_id}'")[0][0]
    ids += sorted(word for word in plan.replace('"', " ").replace("-", " ").split() if len(word) == 10
                  and set(word) <= set("0123456789abcdef"))
    location = daemon.request("POST", "/upload/storage/v1/b/some-bucket/o?uploadType=resumable&name=x").headers["Location"]
    ids += urllib.parse.parse_qs(urllib.parse.urlsplit(location).query)["upload_id"]
    upload = daemon.request("POST", "/some-bucket/x?uploads", b"", {"Content-Type": "application/octet-stream"}).data.decode()
    ids.append(re.search("<UploadId>(.+)</UploadId>", upload)[1])
    spare = f"/v1/projects/{daemon.project}/{PARENT}/customJobs/{ids[0]}"
    assert daemon.post(f"{spare}:cancel", {}).status == 200
    wait_until(lambda: daemon.get(spare).json["state"] == "JOB_STATE_CANCELLED", 30, "the job is cancelled")
    ids.append(daemon.request("DELETE", spare).json["name"].rpartition("/")[2])
    return ids


def ids_of(daemons):
    for number, daemon in enumerate(daemons):
        with daemon:
            yield scenario(daemon, 1 + number % 2)


def test_the_same_seed_gives_the_same_ids(new_daemon):
    first, second, other, chance = ids_of([
        new_daemon("--seed", seed, "--clock", "steppable@2026-01-01T00:00:00Z", engine=NO_ENGINE)
        for seed in ("7", "7", "8", "0")])
    assert len(first) >= 8 and len(set(first)) == len(first), first
    # Fails with: seeded_random_start() is not called; trials' jobs with RANDOM_RESOURCE (as it was), whenever the scheduler draws.
    assert first == second
    assert not set(first) & set(other) and not set(first) & set(chance)


def test_no_id_comes_twice_over_restarts(new_daemon):
    daemon = new_daemon("--seed", "7", engine=NO_ENGINE).start()
    seen = scenario(daemon)
    for end in (daemon.stop, daemon.kill9):
        end()
        daemon.start()
        again = scenario(daemon)
        # Fails with: store_start() is always 1.
        assert not set(seen) & set(again)
        seen += again
    daemon.stop()
