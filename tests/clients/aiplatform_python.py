# SPDX-License-Identifier: Apache-2.0
"""Google's Python library of Vertex AI with custom jobs, by REST or by gRPC, which it chooses unless told otherwise:
the endpoint says. Prints one line of JSON a test; see test_aiplatform.py."""
import os
import pathlib
import tempfile
import time

from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import aiplatform
from google.cloud.aiplatform import jobs as sdk_jobs
from google.cloud.aiplatform.compat.types import job_state
from google.cloud.aiplatform_v1beta1 import JobServiceClient as BetaClient
from google.longrunning import operations_pb2
from google.protobuf import duration_pb2, field_mask_pb2

import aiplatform_training_python
from one_by_one import run_tests

ENDPOINT, PROJECT = os.environ["TRAINYARD_ENDPOINT"], os.environ["GOOGLE_CLOUD_PROJECT"]
BY_REST = ENDPOINT.startswith("http:")
LOCATION = "us-central1"
PARENT = f"projects/{PROJECT}/locations/{LOCATION}"
IMAGE, PREBUILT = "trainyard-test:1", "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11:latest"
PREFIX = f"python-{os.getpid()}"
FOREVER = "trap 'exit 0' TERM; while :; do sleep 0.1; done"

sdk_jobs._JOB_WAIT_TIME = 0.2  # seconds between two looks at a job; the library's own value is five
aiplatform.init(project=PROJECT, location=LOCATION, api_endpoint=ENDPOINT, staging_bucket="gs://staging",
                **({"api_transport": "rest"} if BY_REST else {}))


def low_level(kind):
    return kind(client_options={"api_endpoint": ENDPOINT}, credentials=AnonymousCredentials(),
                **({"transport": "rest"} if BY_REST else {}))


def pool(text, count=1):
    return {"machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": count,
            "container_spec": {"image_uri": IMAGE, "command": ["sh", "-c"], "args": [text],
                               "env": [{"name": "WORD", "value": "a b"}]}}


def custom_job(name, *pools, **more):
    return aiplatform.CustomJob(display_name=f"{PREFIX}-{name}", worker_pool_specs=list(pools), **more)


def described(name, text):
    return {"display_name": f"{PREFIX}-{name}", "job_spec": {"worker_pool_specs": [pool(text)]}}


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


def runs_a_job_of_two_pools_to_its_end():
    job = custom_job("pools", pool('test "$WORD" = "a b"'), pool("exit 0", count=2), labels={"team": "a"},
                     base_output_dir="gs://outputs/pools")
    job.run(sync=True, timeout=600, restart_job_on_worker_restart=False, enable_web_access=False,
            service_account="robot@demo.iam.gserviceaccount.com")
    assert job.state == job_state.JobState.JOB_STATE_SUCCEEDED, job.state
    # startTime is in whole seconds.
    assert int(job.create_time.timestamp()) <= job.start_time.timestamp() <= job.end_time.timestamp(), job.to_dict()
    spec = job.to_dict()["jobSpec"]
    assert [int(pool["replicaCount"]) for pool in spec["workerPoolSpecs"]] == [1, 2], spec
    assert spec["scheduling"]["timeout"] == "600s" and job.labels["team"] == "a", spec
    assert spec["baseOutputDirectory"]["outputUriPrefix"].startswith("gs://outputs/pools"), spec


def runs_beside_the_program():
    job = custom_job("beside", pool("exit 0"))
    job.run(sync=False)
    job.wait_for_resource_creation()
    assert job.resource_name.startswith("projects/"), job.resource_name
    job.wait()
    assert job.state == job_state.JobState.JOB_STATE_SUCCEEDED


def a_failed_job_raises():
    error = refused(RuntimeError, lambda: custom_job("fails", pool("exit 7")).run(sync=True))
    assert "non-zero status of 7" in str(error) and "code: 3" in str(error), error


def cancels_and_deletes_what_was_submitted():
    job = custom_job("cancel", pool(FOREVER))
    job.submit()
    wait(lambda: job.state == job_state.JobState.JOB_STATE_RUNNING)
    job.cancel()
    wait(lambda: job.state == job_state.JobState.JOB_STATE_CANCELLED)
    again = aiplatform.CustomJob.get(job.resource_name)
    assert again.display_name == f"{PREFIX}-cancel" and again.name == job.name
    again.delete()
    refused(exceptions.NotFound, lambda: aiplatform.CustomJob.get(job.resource_name))


def lists_by_filter():
    for number in range(3):
        custom_job(f"list-{number}", pool("exit 0"), labels={"number": str(number)}).run(sync=True)
    found = aiplatform.CustomJob.list(filter=f'display_name:"{PREFIX}-list-*"', order_by="create_time")
    assert [job.display_name for job in found] == [f"{PREFIX}-list-{number}" for number in range(3)], found
    found = aiplatform.CustomJob.list(filter=f'display_name:"{PREFIX}-list-*" AND labels.number=1 AND state="JOB_STATE_SUCCEEDED"')
    assert [job.display_name for job in found] == [f"{PREFIX}-list-1"], found
    refused(exceptions.BadRequest, lambda: aiplatform.CustomJob.list(filter='no_such_field="x"'))


def runs_a_script_of_this_machine():
    with tempfile.TemporaryDirectory() as directory:
        script = pathlib.Path(directory, "train.py")
        script.write_text("import os, sys\nassert sys.argv[1:] == ['--epochs', '3'] and os.environ['WORD'] == 'a', sys.argv\n"
                          "assert os.environ['AIP_MODEL_DIR'] == 'gs://outputs/script/model/', os.environ\n")
        job = aiplatform.CustomJob.from_local_script(
            display_name=f"{PREFIX}-script", script_path=str(script), container_uri=PREBUILT, args=["--epochs", "3"],
            environment_variables={"WORD": "a"}, base_output_dir="gs://outputs/script", replica_count=1)
        job.run(sync=True)
    spec = job.to_dict()["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]
    assert spec["packageUris"][0].startswith("gs://staging/"), spec
    assert job.state == job_state.JobState.JOB_STATE_SUCCEEDED


def the_service_itself_is_called():
    client = low_level(aiplatform.gapic.JobServiceClient)
    made = [client.create_custom_job(parent=PARENT, custom_job=described(f"low-{number}", FOREVER)) for number in range(3)]
    names = {job.name for job in made}
    found = client.list_custom_jobs({"parent": PARENT, "filter": f'display_name:"{PREFIX}-low-*"', "page_size": 1,
                                     "read_mask": field_mask_pb2.FieldMask(paths=["name", "display_name"])})
    listed = list(found)
    assert {job.name for job in listed} == names and not listed[0].job_spec.worker_pool_specs, listed
    assert refused(exceptions.BadRequest, lambda: client.delete_custom_job(name=made[0].name))
    for name in names:
        client.cancel_custom_job(name=name)
    for name in names:
        wait(lambda name=name: client.get_custom_job(name=name).state.name == "JOB_STATE_CANCELLED")
        operation = client.delete_custom_job(name=name)
        operation.result(timeout=30)
        assert operation.done() and operation.metadata.generic_metadata.create_time, operation.metadata
        assert client.get_operation({"name": operation.operation.name}).done
    operations = client.list_operations({"name": PARENT})
    assert operation.operation.name in [one.name for one in operations.operations], operations
    waited = client.wait_operation({"name": operation.operation.name, "timeout": duration_pb2.Duration(seconds=5)})
    if isinstance(waited, bytes):  # the library does not decode this answer of gRPC
        waited = operations_pb2.Operation.FromString(waited)
    assert waited.done, waited
    client.cancel_operation({"name": operation.operation.name})
    client.delete_operation({"name": operation.operation.name})
    refused(exceptions.NotFound, lambda: client.get_operation({"name": operation.operation.name}))


def fields_of_a_job_come_back():
    client = low_level(aiplatform.gapic.JobServiceClient)
    sent = described("fields", "exit 0") | {"labels": {"team": "a"}, "encryption_spec": {"kms_key_name": (
        f"projects/{PROJECT}/locations/{LOCATION}/keyRings/r/cryptoKeys/k")}}
    sent["job_spec"] |= {"service_account": "robot@demo.iam.gserviceaccount.com",
                         "network": "projects/123456789012/global/networks/net",
                         "base_output_directory": {"output_uri_prefix": "gs://outputs/fields/"}, "enable_web_access": True,
                         "scheduling": {"timeout": {"seconds": 600}, "restart_job_on_worker_restart": True}}
    sent["job_spec"]["worker_pool_specs"][0]["disk_spec"] = {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 200}
    got = client.get_custom_job(name=client.create_custom_job(parent=PARENT, custom_job=sent).name)
    assert dict(got.labels) == sent["labels"] and got.encryption_spec.kms_key_name == sent["encryption_spec"]["kms_key_name"]
    spec = got.job_spec
    assert (spec.network, spec.service_account, spec.enable_web_access) == (
        sent["job_spec"]["network"], sent["job_spec"]["service_account"], True), spec
    assert spec.scheduling.timeout.total_seconds() == 600 and spec.scheduling.restart_job_on_worker_restart, spec
    of = spec.worker_pool_specs[0]
    assert (of.disk_spec.boot_disk_type, of.disk_spec.boot_disk_size_gb, of.replica_count) == ("pd-ssd", 200, 1), of
    assert [(one.name, one.value) for one in of.container_spec.env] == [("WORD", "a b")], of
    wait(lambda: client.get_custom_job(name=got.name).end_time)


def errors_have_their_kind_and_details():
    client = low_level(aiplatform.gapic.JobServiceClient)
    error = refused(exceptions.NotFound, lambda: client.get_custom_job(name=f"{PARENT}/customJobs/123"))
    assert "does not exist" in error.message, error
    bad = described("bad", "exit 0")
    bad["job_spec"]["worker_pool_specs"][0]["machine_spec"]["machine_type"] = "n1-nosuch-4"
    error = refused(exceptions.BadRequest, lambda: client.create_custom_job(parent=PARENT, custom_job=bad))
    assert "worker_pool_specs[0].machine_spec.machine_type" in error.message, error
    violations = [one for detail in error.details for one in (detail["fieldViolations"] if BY_REST else detail.field_violations)]
    assert "machine_type" in (violations[0]["field"] if BY_REST else violations[0].field), error.details
    error = refused(exceptions.GoogleAPICallError, lambda: low_level(aiplatform.gapic.DatasetServiceClient)
                    .get_dataset(name=f"{PARENT}/datasets/1"))
    # Fails with: "Method not found." as the whole message by gRPC, which does not name the method that the program called.
    assert error.code in (404, 501) and "trainyard does not emulate" in error.message, error
    assert ("datasets.get" if BY_REST else "DatasetService/GetDataset") in error.message, error


def the_beta_is_called_likewise():
    client = low_level(BetaClient)
    made = client.create_custom_job(parent=PARENT, custom_job=described("beta", FOREVER))
    client.cancel_custom_job(name=made.name)
    wait(lambda: client.get_custom_job(name=made.name).state.name == "JOB_STATE_CANCELLED")
    client.delete_custom_job(name=made.name).result(timeout=30)


def a_later_init_changes_to_rest_at_the_same_host():
    """init() without a project and a transport changes the library's own state, so this is the last test."""
    aiplatform.init(staging_bucket="gs://staging-later")
    began = time.monotonic()
    job = custom_job("by-rest", pool("true"))
    job.submit()
    assert "rest" in type(job.api_client.select_version("v1").transport).__module__, job.api_client
    assert job.resource_name in [found.resource_name for found in aiplatform.CustomJob.list()]
    assert time.monotonic() - began < 10


TESTS = [runs_a_job_of_two_pools_to_its_end, runs_beside_the_program, a_failed_job_raises,
         cancels_and_deletes_what_was_submitted, lists_by_filter, runs_a_script_of_this_machine,
         the_service_itself_is_called, fields_of_a_job_come_back, errors_have_their_kind_and_details,
         the_beta_is_called_likewise, a_later_init_changes_to_rest_at_the_same_host]

# In one process, because importing the library takes seconds of CPU time.
run_tests(aiplatform_training_python.TESTS + TESTS)
