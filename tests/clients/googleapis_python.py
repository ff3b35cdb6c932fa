# SPDX-License-Identifier: Apache-2.0
"""Google's own Python library, pointed at trainyard. Prints one line of JSON a test; see test_clients.py."""
import json
import os
import time

from google.auth.credentials import AnonymousCredentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

from one_by_one import run_tests

ENDPOINT = os.environ["TRAINYARD_ENDPOINT"]
PARENT = "projects/" + os.environ["GOOGLE_CLOUD_PROJECT"]
PREFIX = f"python_{os.getpid()}"
MACHINE = "n1-standard-4"


def client(name, version):
    return build(name, version, static_discovery=True, cache_discovery=False, credentials=AnonymousCredentials(),
                 client_options={"api_endpoint": ENDPOINT + "/"})


def discovered(name, version, url):
    """A client that the library builds from the daemon's own discovery document."""
    return build(name, version, static_discovery=False, cache_discovery=False, credentials=AnonymousCredentials(),
                 discoveryServiceUrl=ENDPOINT + url)


projects = client("ml", "v1").projects()
jobs = projects.jobs()
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


# The end of the master would stop the workers, so it ends after both have connected to its port 2222.
MASTER = "for i in 1 2; do echo ok | nc -l -p 2222 >/dev/null; done; echo master here"
WORKER = ('echo worker here; host=$(echo "$CLUSTER_SPEC" | grep -o "cmle-training-master-[0-9a-f]*-0" | head -n 1); '
          'until [ "$(nc $host 2222 </dev/null 2>/dev/null)" = ok ]; do sleep 0.05; done')


def creates_a_distributed_job_and_follows_it_to_its_end():
    job_id = PREFIX + "_dist"
    job = create(job_id, {
        "scaleTier": "CUSTOM", "region": "us-central1", "masterType": MACHINE,
        "masterConfig": shell(MASTER), "workerType": MACHINE, "workerCount": 2,
        "workerConfig": shell(WORKER), "parameterServerType": MACHINE, "parameterServerCount": "1",
        "parameterServerConfig": shell("while :; do sleep 0.1; done")})
    assert (job["jobId"], job["state"], job["trainingInput"]["workerCount"]) == (job_id, "QUEUED", "2"), job
    job = until(job_id, "SUCCEEDED")
    assert job["createTime"] <= job["startTime"] <= job["endTime"], job


# sh -c takes its first argument as its own name, so a name precedes the flags of a trial.
REPORT = ('for a in "$@"; do case $a in --x=*) x=${a#--x=};; esac; done; '
          'printf \'{"global_step": "3", "score": "%s", "timestamp": %s.5, "trial": "%s"}\\n\' '
          '"$x" "$(date +%s)" "$CLOUD_ML_TRIAL_ID" > "$CLOUD_ML_HP_METRIC_FILE"')


def tunes_and_reads_the_trials_best_first():
    job_id = PREFIX + "_tuning"
    spec = {"goal": "MINIMIZE", "maxTrials": 3, "maxParallelTrials": 2, "hyperparameterMetricTag": "score",
            "params": [{"parameterName": "x", "type": "DOUBLE", "minValue": 1, "maxValue": 2}]}
    create(job_id, {"region": "us-central1", "masterConfig": {"imageUri": "trainyard-test:1"},
                    "args": ["sh", "-c", REPORT, "trial"], "hyperparameters": spec})
    output = until(job_id, "SUCCEEDED")["trainingOutput"]
    assert (output["completedTrialCount"], output["isHyperparameterTuningJob"]) == ("3", True), output
    assert output["hyperparameterMetricTag"] == "score", output
    values = [trial["finalMetric"]["objectiveValue"] for trial in output["trials"]]
    assert values == sorted(values) and all(1 <= value <= 2 for value in values), output
    for trial in output["trials"]:
        assert float(trial["hyperparameters"]["x"]) == trial["finalMetric"]["objectiveValue"], trial
        assert (trial["finalMetric"]["trainingStep"], trial["state"]) == ("3", "SUCCEEDED"), trial
        assert trial["startTime"] <= trial["endTime"], trial


def reads_the_log_of_a_job():
    body = {"resourceNames": [PARENT], "orderBy": "timestamp asc", "pageSize": 2,
            "filter": f'resource.type="ml_job" AND resource.labels.job_id="{PREFIX}_dist" '
                      'AND textPayload:"here" AND NOT resource.labels.task_name="service"'}
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


POLICY = {"version": 3, "bindings": [
    {"role": "roles/ml.viewer", "members": ["user:ada@example.com", "group:team@example.com"]},
    {"role": "roles/ml.jobOwner", "members": ["serviceAccount:robot@demo.iam.gserviceaccount.com"],
     "condition": {"title": "daytime", "expression": "request.time.getHours() > 6"}}]}


def drive_policy(of, name):
    """Reads, changes and tests the policy of a job that has none yet."""
    assert of.getIamPolicy(resource=name).execute() == {"etag": "ACAB"}
    put = of.setIamPolicy(resource=name, body={"policy": dict(POLICY, etag="ACAB")}).execute()
    assert put["version"] == 3 and put["bindings"] == POLICY["bindings"], put
    assert of.getIamPolicy(resource=name, options_requestedPolicyVersion=3).execute() == put
    older = of.getIamPolicy(resource=name).execute()
    assert older["version"] == 1 and "condition" not in older["bindings"][1], older
    assert older["bindings"][1]["role"].startswith("roles/ml.jobOwner_withcond_"), older
    error = refused(lambda: of.setIamPolicy(resource=name, body={"policy": {"etag": "ACAB"}}).execute())
    assert (error.status_code, json.loads(error.content)["error"]["status"]) == (409, "ABORTED")
    asked = ["ml.jobs.get", "ml.jobs.fly", "ml.jobs.cancel"]
    held = of.testIamPermissions(resource=name, body={"permissions": asked}).execute()
    assert held == {"permissions": ["ml.jobs.get", "ml.jobs.cancel"]}, held


def drive_project(of):
    """Reads the configuration of the project and all its locations."""
    config = of.getConfig(name=PARENT).execute()
    number = config["serviceAccountProject"]
    assert config["serviceAccount"] == f"service-{number}@cloud-ml.google.com.iam.gserviceaccount.com", config
    found, request = [], of.locations().list(parent=PARENT, pageSize=10)
    while request is not None:
        answer = request.execute()
        found += answer["locations"]
        request = of.locations().list_next(request, answer)
    assert len(found) > 20 and found == sorted(found, key=lambda l: l["name"]), found
    location = of.locations().get(name=f"{PARENT}/locations/us-central1").execute()
    assert location in found and "NVIDIA_TESLA_T4" in location["capabilities"][0]["availableAccelerators"], location
    assert refused(lambda: of.locations().get(name=f"{PARENT}/locations/mars").execute()).status_code == 404


def keeps_the_policy_of_a_job():
    drive_policy(jobs, name_of(PREFIX + "_list_1"))
    missing = name_of(PREFIX + "_never")
    assert jobs.testIamPermissions(resource=missing, body={"permissions": ["ml.jobs.get"]}).execute() == {}
    assert refused(lambda: jobs.getIamPolicy(resource=missing).execute()).status_code == 404


def knows_the_project_and_its_locations():
    drive_project(projects)


def works_when_built_from_the_discovery_document():
    own = discovered("ml", "v1", "/$discovery/rest?version={apiVersion}").projects()
    job_id = PREFIX + "_discovered"
    body = {"jobId": job_id, "trainingInput": {"region": "us-central1", "masterConfig": shell("while :; do sleep 0.1; done")}}
    assert own.jobs().create(parent=PARENT, body=body).execute()["state"] == "QUEUED"
    job = own.jobs().get(name=name_of(job_id)).execute()
    patched = own.jobs().patch(name=name_of(job_id), updateMask="labels", body={"labels": {"from": "discovery"}}).execute()
    assert (job["jobId"], patched["labels"]) == (job_id, {"from": "discovery"}), patched
    listed = own.jobs().list(parent=PARENT, filter=f"jobId={job_id}", pageSize=1).execute()
    assert [j["jobId"] for j in listed["jobs"]] == [job_id], listed
    drive_policy(own.jobs(), name_of(job_id))
    drive_project(own)
    assert own.jobs().cancel(name=name_of(job_id), body={}).execute() == {}
    until(job_id, "CANCELLED")
    logs = discovered("logging", "v2", "/discovery/v1/apis/{api}/{apiVersion}/rest")
    written = logs.entries().list(body={"resourceNames": [PARENT], "filter": f'resource.labels.job_id="{job_id}"'}).execute()
    assert written["entries"], written


TESTS = [creates_a_distributed_job_and_follows_it_to_its_end, tunes_and_reads_the_trials_best_first,
         reads_the_log_of_a_job, lists_jobs_by_filter_page_after_page, lists_by_a_filter_too_long_for_an_address,
         changes_labels_under_an_etag, cancels_a_running_job, keeps_the_policy_of_a_job,
         knows_the_project_and_its_locations, works_when_built_from_the_discovery_document, understands_errors]

run_tests(TESTS)
