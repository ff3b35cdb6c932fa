# SPDX-License-Identifier: Apache-2.0
"""Google's Python library of Vertex AI with hyperparameter tuning and training pipelines: TESTS, which aiplatform_python.py runs before
its own."""
import os
import pathlib
import tempfile
import time

from google.api_core import exceptions
from google.cloud import aiplatform, storage
from google.cloud.aiplatform import hyperparameter_tuning as tuning
from google.cloud.aiplatform import jobs as sdk_jobs
from google.cloud.aiplatform import training_jobs as sdk_pipelines
from google.cloud.aiplatform.compat.types import job_state, pipeline_state

ENDPOINT, PROJECT = os.environ["TRAINYARD_ENDPOINT"], os.environ["GOOGLE_CLOUD_PROJECT"]
BY_REST = ENDPOINT.startswith("http:")
IMAGE, PREBUILT = "trainyard-test:1", "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11:latest"
PREFIX = f"training-{os.getpid()}"
FOREVER = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
# sh -c takes its first argument as its own name, so a name precedes the flags of a trial.
REPORT = ('for a in "$@"; do case $a in --x=*) x=${a#--x=};; esac; done; '
          'printf \'{"global_step": "3", "score": "%s", "timestamp": %s.5, "trial": "%s"}\\n\' '
          '"$x" "$(date +%s)" "$CLOUD_ML_TRIAL_ID" > "$CLOUD_ML_HP_METRIC_FILE"')

sdk_jobs._JOB_WAIT_TIME = sdk_pipelines._JOB_WAIT_TIME = 0.2  # seconds between two looks; the library's own value is five
aiplatform.init(project=PROJECT, location="us-central1", api_endpoint=ENDPOINT, staging_bucket="gs://staging",
                **({"api_transport": "rest"} if BY_REST else {}))


def wait(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not come to that in a minute"
        time.sleep(0.05)


def refused(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError("was not refused")


# ---- hyperparameter tuning ----

def tuning_job(name, text, trials=3, **more):
    custom_job = aiplatform.CustomJob(display_name=f"{PREFIX}-{name}-trial", worker_pool_specs=[
        {"machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1,
         "container_spec": {"image_uri": IMAGE, "command": ["sh", "-c"], "args": [text, "trial"]}}])
    return aiplatform.HyperparameterTuningJob(
        display_name=f"{PREFIX}-{name}", custom_job=custom_job, metric_spec={"score": "minimize"},
        parameter_spec={"x": tuning.DoubleParameterSpec(min=1, max=2, scale="linear")}, max_trial_count=trials,
        parallel_trial_count=2, search_algorithm="random", labels={"team": "a"}, **more)


def tunes_to_the_end():
    job = tuning_job("tunes", REPORT)
    job.run(sync=True, timeout=600)
    assert job.state == job_state.JobState.JOB_STATE_SUCCEEDED, job.state
    trials = job.trials
    assert sorted(trial.id for trial in trials) == ["1", "2", "3"], trials
    for trial in trials:
        assert trial.state.name == "SUCCEEDED" and 1 <= trial.parameters[0].value <= 2, trial
        [metric] = trial.final_measurement.metrics
        assert metric.metric_id == "score" and abs(metric.value - trial.parameters[0].value) < 1e-9, trial
        assert trial.final_measurement.step_count == 3 and trial.start_time <= trial.end_time, trial
    [found] = aiplatform.HyperparameterTuningJob.list(filter=f'display_name="{PREFIX}-tunes"')
    assert found.resource_name == job.resource_name
    job.delete()
    refused(exceptions.NotFound, lambda: aiplatform.HyperparameterTuningJob.get(job.resource_name))


def a_failed_search_raises():
    error = refused(RuntimeError, lambda: tuning_job("fails", "exit 7", max_failed_trial_count=1).run(sync=True))
    assert "Job failed with" in str(error), error


def cancels_a_search():
    job = tuning_job("cancel", FOREVER)
    job.run(sync=False)
    job.wait_for_resource_creation()
    wait(lambda: job.state == job_state.JobState.JOB_STATE_RUNNING)
    job.cancel()
    wait(lambda: job.state == job_state.JobState.JOB_STATE_CANCELLED)


# ---- training pipelines ----

def container_job(name, text, **more):
    return aiplatform.CustomContainerTrainingJob(
        display_name=f"{PREFIX}-{name}", container_uri=IMAGE, command=["sh", "-c", text], labels={"team": "a"}, **more)


def trains_in_a_container():
    job = container_job("container", 'test "$WORD" = "a b"')
    assert job.run(sync=True, replica_count=1, machine_type="n1-standard-4", environment_variables={"WORD": "a b"},
                   base_output_dir="gs://outputs/container") is None
    assert job.state == pipeline_state.PipelineState.PIPELINE_STATE_SUCCEEDED, job.state
    # startTime is in whole seconds.
    assert int(job.create_time.timestamp()) <= job.start_time.timestamp() <= job.end_time.timestamp(), job.to_dict()
    backing = job.gca_resource.training_task_metadata["backingCustomJob"]
    assert aiplatform.CustomJob.get(backing).state == job_state.JobState.JOB_STATE_SUCCEEDED, backing
    [found] = aiplatform.CustomContainerTrainingJob.list(filter=f'display_name="{PREFIX}-container"')
    assert found.resource_name == job.resource_name
    assert aiplatform.CustomContainerTrainingJob.get(job.resource_name).display_name == f"{PREFIX}-container"
    job.delete()
    refused(exceptions.NotFound, lambda: job._sync_gca_resource())


def trains_and_uploads_a_model():
    job = container_job("model", "exit 0", model_serving_container_image_uri="gcr.io/p/serving:1")
    model = job.run(sync=True, replica_count=1, model_display_name=f"{PREFIX}-model", base_output_dir="gs://outputs/model")
    assert model.display_name == f"{PREFIX}-model" and model.uri.startswith("gs://outputs/model"), model.to_dict()
    assert model.container_spec.image_uri == "gcr.io/p/serving:1", model.to_dict()
    assert [found.resource_name for found in aiplatform.Model.list(filter=f'display_name="{PREFIX}-model"')] == [model.resource_name]
    model.delete()


def a_failed_pipeline_raises():
    error = refused(RuntimeError, lambda: container_job("fails", "exit 7").run(sync=True, replica_count=1))
    assert "non-zero status of 7" in str(error), error


def cancels_a_pipeline():
    job = container_job("cancel", FOREVER)
    job.run(sync=False, replica_count=1)
    job.wait_for_resource_creation()
    wait(lambda: job.state == pipeline_state.PipelineState.PIPELINE_STATE_RUNNING)
    job.cancel()
    wait(lambda: job.state == pipeline_state.PipelineState.PIPELINE_STATE_CANCELLED)


def trains_by_a_script_of_this_machine():
    with tempfile.TemporaryDirectory() as directory:
        script = pathlib.Path(directory, "train.py")
        script.write_text("import sys\nassert sys.argv[1:] == ['--epochs', '3'], sys.argv\n")
        job = aiplatform.CustomTrainingJob(display_name=f"{PREFIX}-script", script_path=str(script), container_uri=PREBUILT)
        job.run(sync=True, args=["--epochs", "3"], replica_count=1, machine_type="n1-standard-4")
    assert job.state == pipeline_state.PipelineState.PIPELINE_STATE_SUCCEEDED, job.state


def trains_by_a_package():
    bucket = storage.Client().create_bucket(PREFIX)
    bucket.blob("trainer-1.0-py3-none-any.whl").upload_from_string(pathlib.Path(os.environ["TRAINER_WHEEL"]).read_bytes())
    job = aiplatform.CustomPythonPackageTrainingJob(
        display_name=f"{PREFIX}-package", python_package_gcs_uri=f"gs://{PREFIX}/trainer-1.0-py3-none-any.whl",
        python_module_name="trainer.task", container_uri=PREBUILT)
    job.run(sync=True, args=["--epochs", "3"], replica_count=1, machine_type="n1-standard-4")
    assert job.state == pipeline_state.PipelineState.PIPELINE_STATE_SUCCEEDED, job.state


TESTS = [tunes_to_the_end, a_failed_search_raises, cancels_a_search, trains_in_a_container, trains_and_uploads_a_model,
         a_failed_pipeline_raises, cancels_a_pipeline, trains_by_a_script_of_this_machine, trains_by_a_package]
