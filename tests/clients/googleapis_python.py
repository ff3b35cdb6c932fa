# SPDX-License-Identifier: Apache-2.0
"""Google's own Python library, pointed at trainyard. Prints one line of JSON a test; see test_clients.py."""
import json
import os
import time
import traceback

from google.auth.credentials import AnonymousCredentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

ENDPOINT = os.environ["TRAINYARD_ENDPOINT"]
PARENT = "projects/" + os.environ["GOOGLE_CLOUD_PROJECT"]
PREFIX = f"python_{os.getpid()}"
MACHINE = "n1-standard-4"


def client(name, version):
    return build(name, version, static_discovery=True, cache_discovery=False, credentials=AnonymousCredentials(),
                 client_options={"api_endpoint": ENDPOINT + "/"})


jobs = client("ml", "v1").projects().jobs()
entries = client("logging", "v2").entries()


def shell(text):
    return {"imageUri": "trainyard-test:1", "containerCommand": ["sh", "-c"], "containerArgs": [text]}


def create(job_id, training_input=None, **more):
    training_input = training_input or {"region": "us-central1", "masterConfig": shell("echo quick")}
    return jobs.create(parent=PARENT, body=dict(more, jobId=job_id, trainingInput=training_input)).execute()


def name_of(job_id):
    return f"{PARENT}/jobs/{job_id}"


def get(job_id):
    return jobs.get(name=name_of(job_id)).execute()


def until(job_id, *states):
    end = time.monotonic() + 60
    while True:
        job = get(job_id)
        if job["state"] in states:
            return job
        assert "endTime" not in job, job
        assert time.monotonic() < end, job
        time.sleep(0.05)


def refused(call):
    try:
        call()
    except HttpError as error:
        return error
    raise AssertionError("was not refused")


def creates_a_distributed_job_and_follows_it_to_its_end():
    job_id = PREFIX + "_dist"
    job = create(job_id, {
        "scaleTier": "CUSTOM", "region": "us-central1", "masterType": MACHINE,
        "masterConfig": shell("sleep 0.5; echo master here"), "workerType": MACHINE, "workerCount": 2,
        "workerConfig": shell("echo worker here"), "parameterServerType": MACHINE, "parameterServerCount": "1",
        "parameterServerConfig": shell("while :; do sleep 0.1; done")})
    assert (job["jobId"], job["state"], job["trainingInput"]["workerCount"]) == (job_id, "QUEUED", "2"), job
    job = until(job_id, "SUCCEEDED")
    assert job["createTime"] <= job["startTime"] <= job["endTime"], job


def reads_the_log_of_a_job():
    body = {"resourceNames": [PARENT], "orderBy": "timestamp asc", "pageSize": 2,
            "filter": f'resource.type="ml_job" AND resource.labels.job_id="{PREFIX}_dist" AND textPayload:"here"'}
    found, request = [], entries.list(body=body)
    while request is not None:
        answer = request.execute()
        found += answer.get("entries", [])
        body["pageToken"] = answer.get("nextPageToken")
        request = entries.list(body=body) if body["pageToken"] else None
    assert sorted(f"{e['resource']['labels']['task_name']} {e['textPayload']}" for e in found) == [
        "master-replica-0 master here", "worker-replica-0 worker here", "worker-replica-1 worker here"], found


def lists_jobs_by_filter_page_after_page():
    ids = [f"{PREFIX}_list_{i}" for i in range(5)]
    for job_id in ids:
        create(job_id)
    seen, request = [], jobs.list(parent=PARENT, filter=f"jobId:{PREFIX}_list_*", pageSize=2)
    while request is not None:
        answer = request.execute()
        assert len(answer["jobs"]) <= 2
        seen += [j["jobId"] for j in answer["jobs"]]
        request = jobs.list_next(request, answer)
    assert seen == ids[::-1], seen
    for job_id in ids:
        until(job_id, "SUCCEEDED")


def lists_by_a_filter_too_long_for_an_address():
    words = " OR ".join(f"jobId={PREFIX}_none_{i}" for i in range(200))
    answer = jobs.list(parent=PARENT, filter=words + f" OR jobId={PREFIX}_list_3").execute()
    assert [j["jobId"] for j in answer["jobs"]] == [f"{PREFIX}_list_3"], answer


def changes_labels_under_an_etag():
    job_id = PREFIX + "_list_0"
    etag = get(job_id)["etag"]

    def patch(labels):
        return jobs.patch(name=name_of(job_id), updateMask="labels,etag", body={"labels": labels, "etag": etag}).execute()
    assert patch({"team": "a"})["labels"] == {"team": "a"}
    error = refused(lambda: patch({"team": "b"}))
    assert error.status_code == 409 and get(job_id)["labels"] == {"team": "a"}


def cancels_a_running_job():
    job_id = PREFIX + "_cancel"
    create(job_id, {"region": "us-central1", "masterConfig": shell("while :; do sleep 0.1; done")})
    until(job_id, "RUNNING")
    assert jobs.cancel(name=name_of(job_id)).execute() == {}  # without a body
    until(job_id, "CANCELLED")
    assert jobs.cancel(name=name_of(job_id), body={}).execute() == {}


def understands_errors():
    error = refused(lambda: get(PREFIX + "_never"))
    assert (error.status_code, json.loads(error.content)["error"]["status"]) == (404, "NOT_FOUND")
    error = refused(lambda: create(PREFIX + "_list_1"))
    assert error.status_code == 409 and "A job with this id already exists." in error.reason
    error = refused(lambda: create("not-an-id"))
    assert error.status_code == 400
    assert error.error_details[0]["fieldViolations"][0]["field"] == "job.job_id", error.error_details


TESTS = [creates_a_distributed_job_and_follows_it_to_its_end, reads_the_log_of_a_job, lists_jobs_by_filter_page_after_page,
         lists_by_a_filter_too_long_for_an_address, changes_labels_under_an_etag, cancels_a_running_job, understands_errors]

for test in TESTS:
    error = None
    try:
        test()
    except Exception:  # reported, and the next one runs
        error = traceback.format_exc()
    print(json.dumps({"name": test.__name__.replace("_", " "), "error": error}), flush=True)
