# SPDX-License-Identifier: Apache-2.0
"""Jobs that are refused: a table of changes to a valid job, and of the errors that the client gets."""
import json

import pytest

from support.daemon import MACHINE

GOOD = dict(region="us-central1", masterConfig={"imageUri": "trainyard-test:1"})
CUSTOM = dict(GOOD, scaleTier="CUSTOM", masterType=MACHINE)
SEMANTIC, TRANSCODING = "semantic", "transcoding"


def image(**more):
    return dict({"imageUri": "trainyard-test:1"}, **more)


# change of the training input -> kind, field, part of the message
INPUTS = [
    (dict(GOOD, region=None), SEMANTIC, "region", ""),
    (dict(GOOD, region="mars-north1"), SEMANTIC, "region", "The provided GCE region 'mars-north1' is not available. Options are ["),
    (dict(region="us-central1"), SEMANTIC, None, ""),
    (dict(GOOD, runtimeVersion="2.1"), SEMANTIC, None,
     "Only one of runtime version or the master Docker image URI should be provided."),
    (dict(GOOD, scaleTier="CUSTOM"), SEMANTIC, "master_type", ""),
    (dict(CUSTOM, masterType="n1-standard-5"), SEMANTIC, "master_type", "n1-standard-5"),
    (dict(CUSTOM, masterType="cloud_tpu"), SEMANTIC, "master_type",
     "The specified machine type for master is not supported in TPU training jobs: cloud_tpu"),
    (dict(CUSTOM, workerCount="2"), SEMANTIC, "worker_type", ""),
    (dict(CUSTOM, workerType=MACHINE), SEMANTIC, "worker_count", ""),
    (dict(CUSTOM, workerCount="-1", workerType=MACHINE), SEMANTIC, "worker_count", ""),
    (dict(CUSTOM, parameterServerCount=1), SEMANTIC, "parameter_server_type", ""),
    (dict(CUSTOM, workerCount=1, workerType="standard"), SEMANTIC, "worker_type", ""),
    (dict(GOOD, scaleTier="STANDARD_1", masterType=MACHINE), SEMANTIC, "master_type", ""),
    (dict(GOOD, jobDir="/tmp/here"), SEMANTIC, "job_dir", ""),
    (dict(GOOD, args=["a"], masterConfig=image(containerArgs=["b"])), SEMANTIC, None, ""),
    (dict(GOOD, scheduling={"maxWaitTime": "60s"}), SEMANTIC, None, ""),
    (dict(GOOD, scheduling={"priority": 1001}), SEMANTIC, None, ""),
    (dict(CUSTOM, masterConfig=image(acceleratorConfig={"type": "NVIDIA_TESLA_T4", "count": "3"})), SEMANTIC,
     "master_config.accelerator_config", ""),
    (dict(GOOD, scaleTier="HUGE"), TRANSCODING, "job.training_input.scale_tier",
     "Invalid value at 'job.training_input.scale_tier' (type.googleapis.com/google.cloud.ml.v1.TrainingInput.ScaleTier), \"HUGE\""),
    (dict(CUSTOM, workerCount="many"), TRANSCODING, "job.training_input.worker_count",
     "Invalid value at 'job.training_input.worker_count' (TYPE_INT64), \"many\""),
    (dict(GOOD, useChiefInTfConfig="maybe"), TRANSCODING, "job.training_input.use_chief_in_tf_config", "(TYPE_BOOL)"),
    (dict(GOOD, regions="x"), TRANSCODING, "job.training_input",
     "Invalid JSON payload received. Unknown name \"regions\" at 'job.training_input': Cannot find field."),
    (dict(GOOD, masterConfig=image(imageUrl="x")), TRANSCODING, "job.training_input.master_config",
     "Unknown name \"imageUrl\" at 'job.training_input.master_config': Cannot find field."),
    (dict(GOOD, region=["a"]), TRANSCODING, None, "Proto field is not repeating, cannot start list."),
    (dict(GOOD, scheduling={"maxRunningTime": "60"}), TRANSCODING, "job.training_input.scheduling.max_running_time",
     "Illegal duration format; duration must end with 's'"),
]


def violations(error):
    return [v for d in error.get("details", []) for v in d.get("fieldViolations", [])]


@pytest.mark.parametrize("row", range(len(INPUTS)), ids=[f"{f or k}:{m[-40:]}" for _, k, f, m in INPUTS])
def test_a_bad_training_input_is_refused_in_the_services_words(yard, row):
    training_input, kind, field, text = INPUTS[row]
    training_input = {k: v for k, v in training_input.items() if v is not None}
    answer = yard.post(yard.jobs_path, dict(jobId=yard.new_id("bad"), trainingInput=training_input))
    assert answer.status == 400, answer
    error = answer.error
    assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    assert text in error["message"], error["message"]
    if field:
        fields = [v.get("field", "") for v in violations(error)]
        assert any(f == field or f.startswith(field) for f in fields), (field, error)
    if field and kind == SEMANTIC:
        first = violations(error)[0]
        assert error["message"].startswith(f"Field: {first['field']} Error: {first['description']}"), error
    assert answer.headers["Content-Type"] == "application/json; charset=UTF-8"


@pytest.mark.parametrize("job_id", ["with-hyphen", "1st", "_x", "", "a" * 129, "sp ace", "ümlaut"])
def test_a_bad_job_id_is_refused(yard, job_id):
    answer = yard.post(yard.jobs_path, dict(jobId=job_id, trainingInput=GOOD))
    assert answer.status == 400
    assert violations(answer.error)[0]["field"] == "job.job_id", answer


def test_several_unknown_names_are_all_told(yard):
    answer = yard.post(yard.jobs_path, dict(jobId=yard.new_id(), trainingInput=dict(GOOD, one=1, two=2), three=3))
    assert answer.status == 400
    assert len(violations(answer.error)) == 3 and answer.error["message"].count("\n") == 2, answer


def test_several_bad_fields_are_all_told(yard):
    answer = yard.post(yard.jobs_path, dict(jobId=yard.new_id(), trainingInput=dict(
        CUSTOM, region="nowhere", masterType="nothing", jobDir="here")))
    assert {"region", "master_type", "job_dir"} <= {v["field"] for v in violations(answer.error)}, answer


@pytest.mark.parametrize("body", ["{", '{"jobId": }', "[]", '"text"', "", '{"jobId": "a\\ud800"}', b"\xff\xfe"])
def test_a_body_that_is_no_json_object_is_refused(yard, body):
    answer = yard.post(yard.jobs_path, body)
    assert (answer.status, answer.error["status"]) == (400, "INVALID_ARGUMENT"), answer


def test_prediction_and_missing_input_are_refused(yard):
    for job in ({"predictionInput": {"dataFormat": "TEXT"}}, {}):
        answer = yard.post(yard.jobs_path, dict(job, jobId=yard.new_id()))
        assert answer.status == 400, answer
        assert "details" in answer.error or answer.error["message"]


def test_names_may_be_camel_or_snake_case_and_integers_text_or_number(yard):
    job_id = yard.new_id("spelled")
    answer = yard.post(yard.jobs_path, {
        "job_id": job_id, "training_input": {
            "scale_tier": 5, "master_type": MACHINE, "workerType": MACHINE, "worker_count": 1, "region": "us-central1",
            "master_config": {"image_uri": "trainyard-test:1", "container_command": ["true"]}}})
    assert answer.status == 200, answer
    assert answer.json["trainingInput"] == {
        "scaleTier": "CUSTOM", "masterType": MACHINE, "workerType": MACHINE, "workerCount": "1", "region": "us-central1",
        "masterConfig": {"imageUri": "trainyard-test:1", "containerCommand": ["true"]}}
    yard.until(job_id, "SUCCEEDED")


def test_defaults_vanish_from_the_echo_and_output_only_fields_are_ignored(yard):
    answer = yard.post(yard.jobs_path, dict(
        jobId=yard.new_id("echo"), state="FAILED", createTime="2001-01-01T00:00:00Z", errorMessage="mine", endTime=None,
        labels={"a": "b"}, trainingOutput={"consumedMLUnits": 3},
        trainingInput=dict(GOOD, scaleTier="BASIC", workerCount="0", useChiefInTfConfig=False, args=[], packageUris=[],
                           masterConfig=image(containerCommand=["true"], acceleratorConfig={"count": "0"}))))
    assert answer.status == 200, answer
    job = answer.json
    assert job["state"] == "QUEUED" and not job["createTime"].startswith("2001") and "errorMessage" not in job
    assert job["labels"] == {"a": "b"} and job["trainingOutput"] == {}
    assert set(job["trainingInput"]) == {"region", "masterConfig"}, job
    assert len(job["createTime"]) == len("2001-01-01T00:00:00Z")
    yard.until(job["jobId"], "SUCCEEDED")


def test_a_second_job_of_the_same_id_is_refused(yard):
    job_id = yard.create(dict(GOOD, args=["true"]))
    answer = yard.post(yard.jobs_path, dict(jobId=job_id, trainingInput=dict(GOOD, args=["true"])))
    assert (answer.status, answer.error["status"]) == (409, "ALREADY_EXISTS")
    assert violations(answer.error) == [{"field": "job.job_id", "description": "A job with this id already exists."}]
    assert answer.error["message"] == "Field: job.job_id Error: A job with this id already exists."
    yard.until(job_id, "SUCCEEDED")
    assert yard.post(yard.jobs_path, dict(jobId=job_id, trainingInput=GOOD)).status == 409


def test_the_older_error_form_is_given_when_asked_for(yard):
    body = json.dumps(dict(jobId="x-y", trainingInput=GOOD))
    error = yard.request("POST", yard.jobs_path + "?%24.xgafv=1", body).error
    assert error["errors"][0]["domain"] == "global" and error["errors"][0]["reason"] == "badRequest"
    assert error["errors"][0]["message"] == error["message"]
    assert "errors" not in yard.request("POST", yard.jobs_path + "?%24.xgafv=2", body).error
