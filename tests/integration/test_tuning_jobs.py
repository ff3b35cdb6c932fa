# SPDX-License-Identifier: Apache-2.0
"""Hyperparameter tuning jobs of Vertex AI over plain HTTP, on the engine: each trial is a CustomJob of its own."""
import re

import pytest

from support.daemon import task_of, text_of
from support.tuning import REPORTING
from support.vertex import FINAL, REGION, RUNS_ON, Vertex, custom_job, tuning_job
from support.wait import wait_until

X = {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 10}}
WHOLE = {"parameterId": "x", "integerValueSpec": {"minValue": "1", "maxValue": "3"}}
MICROS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
# Prints its arguments; sh takes the first one as its own name.
SAYING = 'echo "flags $0 $*"; ' + REPORTING
# Grid search makes the points predictable, and one trial runs after the other.
GRID = {"algorithm": "GRID_SEARCH"}


@pytest.fixture(scope="module")
def custom_jobs(yard):
    return Vertex(yard)


@pytest.fixture(scope="module")
def vertex(yard):
    found = Vertex(yard, collection="hyperparameterTuningJobs")
    yield found
    found.cancel_all()


@pytest.fixture(scope="module")
def tuned(vertex):
    """Six trials, two at once, with a directory, and an argument of the client's own."""
    body = tuning_job(SAYING + "; env | grep ^AIP_", X, {"parameterId": "kind", "categoricalValueSpec": {"values": ["a", "b c"]}},
                      count=6, parallel=2, labels={"team": "red"})
    body["trialJobSpec"]["baseOutputDirectory"] = {"outputUriPrefix": "gs://tuned/out"}
    made = vertex.create(body)
    assert re.fullmatch(rf"projects/\d+/locations/{REGION}/hyperparameterTuningJobs/[1-9]\d{{17,18}}", made["name"])
    assert made["state"] == "JOB_STATE_PENDING" and made["labels"] == {"team": "red"} and "trials" not in made
    assert made["maxTrialCount"] == 6 and made["createTime"] == made["updateTime"] and "startTime" not in made
    return vertex.until(made["name"], "JOB_STATE_SUCCEEDED", timeout=120)


def entries_of(yard, job_id):
    return yard.entries(job_id, extra='resource.type="ml_job"')


def values_of(trial):
    return {parameter["parameterId"]: parameter["value"] for parameter in trial["parameters"]}


def test_trials_are_told_with_what_they_reached(tuned):
    assert [trial["id"] for trial in tuned["trials"]] == list("123456") and tuned["startTime"] <= tuned["endTime"]
    assert "error" not in tuned
    for trial in tuned["trials"]:
        values = values_of(trial)
        assert set(trial) == {"id", "state", "parameters", "finalMeasurement", "startTime", "endTime", "customJob"}
        assert trial["state"] == "SUCCEEDED" and 0 <= values["x"] <= 10 and values["kind"] in ("a", "b c")
        assert trial["finalMeasurement"] == {"stepCount": "7", "metrics": [
            {"metricId": "score", "value": pytest.approx(values["x"])}]}
        assert MICROS.fullmatch(trial["startTime"]) and MICROS.fullmatch(trial["endTime"])
    assert len({trial["customJob"] for trial in tuned["trials"]}) == 6


def test_lists_have_no_trials(vertex, tuned):
    listed = vertex.list(filter='labels.team=red AND display_name="search" AND state="JOB_STATE_SUCCEEDED"')
    assert listed["hyperparameterTuningJobs"] == [{name: value for name, value in tuned.items() if name != "trials"}]
    masked = vertex.list(filter="labels.team=red", readMask="name,study_spec.metrics,maxTrialCount")
    assert masked["hyperparameterTuningJobs"] == [{"name": tuned["name"], "maxTrialCount": 6,
                                                   "studySpec": {"metrics": tuned["studySpec"]["metrics"]}}]
    assert vertex.list(filter="labels.team=blue") == {}


def test_trials_are_custom_jobs(custom_jobs, tuned):
    listed = {job["name"]: job for job in custom_jobs.list(filter='display_name:"search-trial-*"', pageSize=100)["customJobs"]}
    for trial in tuned["trials"]:
        job = custom_jobs.get(trial["customJob"])
        values = values_of(trial)
        assert job == listed[job["name"]]
        assert (job["displayName"], job["state"]) == (f"search-trial-{trial['id']}", "JOB_STATE_SUCCEEDED")
        given = tuned["trialJobSpec"]["workerPoolSpecs"][0]
        pool = job["jobSpec"]["workerPoolSpecs"][0]
        flags = pool["containerSpec"].pop("args")[1:]
        assert pool == given | {"containerSpec": {name: given["containerSpec"][name] for name in ("imageUri", "command")}}
        assert [flag.partition("=")[0] for flag in flags] == ["--x", "--kind"]
        assert float(flags[0][4:]) == values["x"] and flags[1][7:] == values["kind"]
        assert job["jobSpec"]["baseOutputDirectory"] == {"outputUriPrefix": f"gs://tuned/out/{trial['id']}/"}
        assert job["createTime"] >= tuned["createTime"] and "endTime" in job and "labels" not in job


def test_lines_are_found_under_both_names(yard, tuned):
    own = tuned["name"].rpartition("/")[2]
    entries = [entry for entry in entries_of(yard, own) if task_of(entry) == "workerpool0-0"]
    for trial in tuned["trials"]:
        said = [text_of(entry) for entry in entries if entry["labels"]["ml.googleapis.com/trial_id"] == trial["id"]]
        assert any(line.startswith("flags --x=") and "--kind=" in line for line in said)
        assert f"AIP_MODEL_DIR=gs://tuned/out/{trial['id']}/model/" in said
        run = trial["customJob"].rpartition("/")[2]
        assert [text_of(entry) for entry in entries_of(yard, run) if task_of(entry) == "workerpool0-0"] == said
        assert said and len(said) < len(entries)


def test_parameters_that_depend_on_others(vertex):
    """Two parameters have the same name under disjoint conditions; each trial gets only its own branch's."""
    def when(*values):
        return {"parentCategoricalValues": {"values": list(values)}}
    rate = {"parameterId": "rate", "discreteValueSpec": {"values": [1, 2]}}
    body = tuning_job(SAYING, {
        "parameterId": "kind", "categoricalValueSpec": {"values": ["tree", "net", "none"]}, "conditionalParameterSpecs": [
            when("tree") | {"parameterSpec": rate},
            when("net") | {"parameterSpec": {"parameterId": "rate", "discreteValueSpec": {"values": [64]}}},
            when("net") | {"parameterSpec": {"parameterId": "depth", "integerValueSpec": {"minValue": "3", "maxValue": "3"}}},
        ]}, count=9, parallel=3, study=GRID)
    job = vertex.until(vertex.create(body)["name"], "JOB_STATE_SUCCEEDED", timeout=120)
    points = [values_of(trial) for trial in job["trials"]]
    # The grid has fewer than nine points.
    assert sorted(points, key=str) == sorted([
        {"kind": "tree", "rate": 1}, {"kind": "tree", "rate": 2}, {"kind": "net", "rate": 64, "depth": 3}, {"kind": "none"}], key=str)
    said = vertex.yard.lines(job["name"].rpartition("/")[2], "workerpool0-0")
    assert "flags --kind=net --rate=64 --depth=3" in said and "flags --kind=none " in said
    assert {trial["state"] for trial in job["trials"]} == {"INFEASIBLE"}  # no trial has an x to report
    assert "score" in job["trials"][0]["infeasibleReason"]


def test_a_first_trial_that_fails_fails_the_job(vertex, custom_jobs):
    job = vertex.until(vertex.create(tuning_job("echo why >&2; exit 7", WHOLE, count=3, study=GRID))["name"], "JOB_STATE_FAILED")
    assert job["error"]["code"] == 3 and job["error"]["message"].startswith(
        "Hyperparameter Tuning Trial #1 Failed before any other successful trials were completed. The failed trial had "
        "parameters: x=1, . The trial's error message was: The replica workerpool0-0 exited with a non-zero status of 7.")
    [trial] = job["trials"]
    assert trial["state"] == "INFEASIBLE" and "finalMeasurement" not in trial
    assert trial["infeasibleReason"].startswith("The replica workerpool0-0 exited with a non-zero status of 7.")
    assert "To find out more" not in trial["infeasibleReason"]
    assert custom_jobs.get(trial["customJob"])["error"]["code"] == 3


@pytest.mark.long
def test_failed_trials_are_counted(vertex):
    text = REPORTING + '; case $CLOUD_ML_TRIAL_ID in 1) ;; *) exit 1;; esac'
    body = tuning_job(text, X, count=5, maxFailedTrialCount=2)
    job = vertex.until(vertex.create(body)["name"], "JOB_STATE_FAILED")
    assert re.match(r"Hyperparameter Tuning Trial #3 failed\. 2 total hyperparameter trial failures were seen, out of 3 trials "
                    r"attempted which reaches the user-specified limit of 2\.The last trial to fail was #3, with parameters: "
                    r"x=[\d.e-]+, \.  The trial's error message was: The replica workerpool0-0 exited", job["error"]["message"])
    assert [trial["state"] for trial in job["trials"]] == ["SUCCEEDED", "INFEASIBLE", "INFEASIBLE"]


def test_a_trial_may_be_cancelled_by_itself_and_has_its_own_time(vertex, custom_jobs):
    text = REPORTING + f'; case $CLOUD_ML_TRIAL_ID in 1|2) {RUNS_ON};; esac'
    body = tuning_job(text, X, count=3, parallel=2)
    body["trialJobSpec"] |= {"enableWebAccess": True, "scheduling": {"timeout": "10s"}}
    name = vertex.create(body)["name"]

    # On a loaded machine, the second trial may start too late to be observed while it runs.
    def first_runs():
        trials = vertex.get(name).get("trials", [{}])
        return trials[0] if "webAccessUris" in trials[0] else None
    first = wait_until(first_runs, 60, "the first trial runs")
    assert first["state"] == "ACTIVE" and list(first["webAccessUris"]) == ["workerpool0-0"]
    assert "webAccessUris" in custom_jobs.get(first["customJob"])
    assert custom_jobs.yard.request("DELETE", custom_jobs.path(first["customJob"])).error["status"] == "FAILED_PRECONDITION"
    assert custom_jobs.yard.post(custom_jobs.path(first["customJob"]) + ":cancel", {}).json == {}
    job = vertex.until(name, "JOB_STATE_SUCCEEDED")
    assert [trial["state"] for trial in job["trials"]] == ["INFEASIBLE", "INFEASIBLE", "SUCCEEDED"]
    assert job["trials"][0]["infeasibleReason"] == "The job was cancelled by the user."
    assert "ran longer than its timeout of 10s" in job["trials"][1]["infeasibleReason"]
    assert custom_jobs.get(job["trials"][1]["customJob"])["state"] == "JOB_STATE_CANCELLED"


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_cancelled_job_is_deleted_and_its_trials_stay(yard, version):
    vertex = Vertex(yard, version, collection="hyperparameterTuningJobs")
    body = tuning_job(RUNS_ON, X)
    if version == "v1beta1":
        body["studySpec"]["transferLearningConfig"] = {"disableTransferLearning": True}
    name = vertex.create(body)["name"]
    vertex.until(name, "JOB_STATE_RUNNING")
    assert yard.request("DELETE", vertex.path(name)).error["status"] == "FAILED_PRECONDITION"
    assert yard.post(vertex.path(name) + ":cancel").json == {}
    job = vertex.until(name, "JOB_STATE_CANCELLED")
    assert job["error"] == {"code": 1, "message": "The job was cancelled by the user."}
    [trial] = job["trials"]
    assert trial["state"] == "INFEASIBLE" and trial["infeasibleReason"] == "The trial was cancelled with its job."
    operation = yard.request("DELETE", vertex.path(name)).json
    assert operation["done"] and yard.get(f"/{version}/{operation['name']}").json == operation
    assert [o["name"] for o in yard.get(f"/{version}/{name}/operations").json["operations"]] == [operation["name"]]
    assert yard.get(vertex.path(name)).error["message"] == \
        f'The HyperparameterTuningJob "{name.replace(name.split("/")[1], yard.project, 1)}" does not exist.'
    assert Vertex(yard, version).get(trial["customJob"])["displayName"] == "search-trial-1"
    assert yard.lines(trial["customJob"].rpartition("/")[2], "workerpool0-0") == ["up"]


@pytest.mark.long
def test_what_stops_a_study(vertex):
    limits = {"minNumTrials": 2, "maxNumTrialsNoProgress": 1}
    # The score is lower from trial to trial.
    text = ('printf \'{"global_step": "1", "timestamp": 1.5, "score": "%s"}\\n\' "-$CLOUD_ML_TRIAL_ID"'
            ' > "$CLOUD_ML_HP_METRIC_FILE"')
    job = vertex.until(vertex.create(tuning_job(text, X, count=9, study={"studyStoppingConfig": limits}))["name"],
                       "JOB_STATE_SUCCEEDED")
    assert len(job["trials"]) == 2
    job = vertex.until(vertex.create(tuning_job(text, X, count=9, parallel=4, study={"studyStoppingConfig": {
        "maxNumTrials": 3}}))["name"], "JOB_STATE_SUCCEEDED")
    assert len(job["trials"]) == 3
    job = vertex.until(vertex.create(tuning_job(f"{text}; {RUNS_ON}", X, count=9, study={"studyStoppingConfig": {
        "maximumRuntimeConstraint": {"maxDuration": "3s"}, "shouldStopAsap": True}}))["name"], "JOB_STATE_SUCCEEDED")
    [trial] = job["trials"]
    assert trial["state"] == "SUCCEEDED" and trial["finalMeasurement"]["metrics"] == [{"metricId": "score", "value": -1}]


@pytest.mark.long
def test_several_metrics_and_the_best_measurement(vertex):
    lines = "".join(f'{{\\"global_step\\": \\"{step}\\", \\"timestamp\\": {step}.5, \\"{name}\\": \\"{value}\\"}}\\n'
                    for step, name, value in ((1, "score", 2), (1, "loss", 3), (2, "score", 1), (2, "loss", 4)))
    text = f'printf "{lines}" > "$CLOUD_ML_HP_METRIC_FILE"'
    metrics = (("score", "MAXIMIZE"), ("loss", "MINIMIZE"))
    for kind, step, values in (("BEST_MEASUREMENT", "1", (2, 3)), ("LAST_MEASUREMENT", "2", (1, 4))):
        job = vertex.until(vertex.create(tuning_job(text, X, count=2, parallel=2, metrics=metrics, study={"measurementSelectionType": kind}))
                           ["name"], "JOB_STATE_SUCCEEDED")
        for trial in job["trials"]:
            assert trial["finalMeasurement"] == {"stepCount": step, "metrics": [
                {"metricId": "score", "value": values[0]}, {"metricId": "loss", "value": values[1]}]}


def test_custom_jobs_and_tuning_jobs_are_not_each_other(vertex, custom_jobs, tuned):
    own = tuned["name"].rpartition("/")[2]
    assert vertex.yard.get(f"{custom_jobs.parent}/customJobs/{own}").status == 404
    run = tuned["trials"][0]["customJob"].rpartition("/")[2]
    assert vertex.yard.get(f"{vertex.parent}/hyperparameterTuningJobs/{run}").status == 404
    assert vertex.yard.get(f"{vertex.yard.jobs_path}/{run}").status == 404
    single = custom_jobs.run(custom_job("exit 0"))
    assert single["name"] not in [job["name"] for job in vertex.list().get("hyperparameterTuningJobs", [])]


def test_a_bad_job_is_refused_with_its_fields(vertex):
    body = tuning_job("exit 0", X) | {"maxTrialCount": 0}
    answer = vertex.yard.post(f"{vertex.parent}/hyperparameterTuningJobs", body)
    assert answer.status == 400 and answer.error["message"].startswith("List of found errors:\t1.Field: max_trial_count")
    body = tuning_job("exit 0", X, study={"transferLearningConfig": {}})
    answer = vertex.yard.post(f"{vertex.parent}/hyperparameterTuningJobs", body)
    assert answer.status == 400 and "Unknown name \"transferLearningConfig\" at 'hyperparameter_tuning_job.study_spec'" \
        in answer.error["message"]


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_the_discovery_document_has_it(yard, version):
    document = yard.get(f"/discovery/v1/apis/aiplatform/{version}/rest").json
    jobs = document["resources"]["projects"]["resources"]["locations"]["resources"]["hyperparameterTuningJobs"]
    assert set(jobs["methods"]) == {"create", "get", "list", "delete", "cancel"}
    assert jobs["methods"]["create"]["id"] == "aiplatform.projects.locations.hyperparameterTuningJobs.create"
    assert set(jobs["resources"]["operations"]["methods"]) == {"get", "list", "delete", "cancel", "wait"}


def test_a_search_goes_on_after_a_crash(make_daemon):
    with make_daemon("--offline", "--stop-grace", "2") as daemon:
        vertex = Vertex(daemon, collection="hyperparameterTuningJobs")
        text = REPORTING + "; sleep 1"
        name = vertex.create(tuning_job(text, X, count=4, parallel=2))["name"]
        vertex.until(name, "JOB_STATE_RUNNING")
        daemon.kill9()
        daemon.start()
        job = vertex.until(name, "JOB_STATE_SUCCEEDED")
        assert [trial["state"] for trial in job["trials"]] == ["SUCCEEDED"] * 4
        assert all(Vertex(daemon).get(trial["customJob"])["state"] in FINAL for trial in job["trials"])
