# SPDX-License-Identifier: Apache-2.0
"""Options of the daemon that affect requests: image map, lenient validation, quotas, the TPU's address."""
import pytest

from support.daemon import PRINT_ENVIRONMENT, one_replica, script
from support.engine import IMAGE

CLOUD_IMAGE = "gcr.io/my-project/trainer:v1"


def start(new_daemon, *options):
    return new_daemon("--offline", "--stop-jobs", "--stop-grace", "1", *options).start()


def submit(daemon, training_input):
    return daemon.post(daemon.jobs_path, dict(jobId=daemon.new_id(), trainingInput=training_input))


def test_a_job_that_names_the_clouds_image_runs_the_mapped_one(new_daemon):
    daemon = start(new_daemon, "--image-map", f"gcr.io/my-project/trainer={IMAGE}")
    job = daemon.run(script("echo here", image=CLOUD_IMAGE))
    assert daemon.lines(job["jobId"]) == ["here"]
    assert job["trainingInput"]["masterConfig"] == {"imageUri": CLOUD_IMAGE}


@pytest.mark.long
def test_a_star_takes_the_rest_of_the_name(new_daemon):
    name, tag = IMAGE.split(":")
    daemon = start(new_daemon, "--image-map", "gcr.io/other/*=none/*", "--image-map", f"gcr.io/my-project/trainer:*={name}:*")
    daemon.run(one_replica("true", image=f"gcr.io/my-project/trainer:{tag}"))


def test_an_image_that_the_map_spoils_is_refused_at_once(new_daemon):
    daemon = start(new_daemon, "--image-map", "gcr.io/*=local/*:1")
    answer = submit(daemon, one_replica("true", image=CLOUD_IMAGE))
    assert (answer.status, answer.error["status"]) == (400, "FAILED_PRECONDITION"), answer
    assert "local/my-project/trainer:v1:1" in answer.error["message"], answer


@pytest.mark.long
def test_lenient_validation_takes_what_no_table_knows(new_daemon):
    future = one_replica("true", image=IMAGE, scaleTier="CUSTOM", masterType="z9-standard-4")
    future["region"] = "mars-east1"
    strict = submit(start(new_daemon), future)
    fields = [v["field"] for v in strict.error["details"][0]["fieldViolations"]]
    assert (strict.status, fields) == (400, ["region", "master_type"]), strict
    start(new_daemon, "--validation", "lenient").run(future)


def test_creates_and_reads_have_quotas_of_their_own(new_daemon):
    daemon = start(new_daemon, "--quota", "create=1,read=2")
    job = script("true")
    assert submit(daemon, job).status == 200
    refused = submit(daemon, job)
    assert (refused.status, refused.error["status"]) == (429, "RESOURCE_EXHAUSTED"), refused
    assert [d["@type"].rsplit(".", 1)[1] for d in refused.error["details"]] == ["ErrorInfo", "QuotaFailure"]
    assert refused.error["details"][0]["reason"] == "RATE_LIMIT_EXCEEDED"
    assert refused.error["details"][0]["metadata"]["quota_limit_value"] == "1"
    wrong = submit(daemon, dict(job, jobDir="nowhere"))
    assert wrong.status == 400, wrong
    assert [daemon.get(daemon.jobs_path).status for _ in range(3)] == [200, 200, 429]
    other = daemon.get("/v1/projects/another/jobs")
    assert other.status == 200, other


def test_more_accelerators_than_the_quota_are_refused_at_once(new_daemon):
    daemon = start(new_daemon, "--quota", "K80=1,V100=0")
    two = one_replica("true", image=IMAGE, scaleTier="CUSTOM", masterType="n1-standard-4")
    two["masterConfig"]["acceleratorConfig"] = {"type": "NVIDIA_TESLA_K80", "count": "2"}
    refused = submit(daemon, two)
    assert (refused.status, refused.error["status"]) == (429, "RESOURCE_EXHAUSTED"), refused
    assert f"Quota failure for project {daemon.project}. The request for 2 K80 accelerators" in refused.error["message"]
    assert refused.error["details"][0]["violations"][0]["subject"] == daemon.project
    assert submit(daemon, one_replica("true", image=IMAGE, scaleTier="BASIC_GPU")).status == 200


@pytest.mark.long
def test_the_vcpus_of_a_project_keep_later_jobs_waiting(new_daemon):
    daemon = start(new_daemon, "--quota", "vcpus=4")
    first = daemon.create(script("sleep 600"))
    daemon.until(first, "RUNNING")
    second = daemon.create(script("true"))
    assert daemon.until(second, "QUEUED")["jobPosition"] == "1"
    daemon.cancel(first)
    daemon.until(second, "SUCCEEDED")


@pytest.mark.long
def test_the_master_beside_a_tpu_is_told_the_configured_address(new_daemon):
    address = '{"project":"p","zone":"us-central1-b","tpu_node_name":"cmle-training-1-tpu"}'
    daemon = start(new_daemon, "--tpu-config", address)
    tpu = dict(scaleTier="BASIC_TPU", workerConfig={"tpuTfVersion": "2.11"})
    job = daemon.run(script(PRINT_ENVIRONMENT, **tpu))
    assert daemon.environment(job["jobId"])["TPU_CONFIG"] == address
    plain = daemon.run(script(PRINT_ENVIRONMENT))
    assert "TPU_CONFIG" not in daemon.environment(plain["jobId"])
