# SPDX-License-Identifier: Apache-2.0
"""`gcloud ai custom-jobs` against a daemon, pointed here as `trainyard env` says."""
import json

import pytest

from support.gcloud import needs_gcloud
from support.tuning import REPORTING
from support.vertex import REGION, RUNS_ON, Vertex, custom_job, tuning_job
from support.wait import wait_until

pytestmark = needs_gcloud

POOL = "--worker-pool-spec=machine-type=n1-standard-4,replica-count=1,container-image-uri=trainyard-test:1"


@pytest.fixture(scope="module")
def vertex(yard):
    found = Vertex(yard)
    yield found
    found.cancel_all()


@pytest.fixture
def custom_jobs(gcloud):
    """Runs `gcloud [TRACK] ai custom-jobs WORDS`; what it prints, as JSON where that is asked for."""
    def run(*words, track=(), expect=0, as_json=True):
        done = gcloud.run(*track, "ai", "custom-jobs", *words, "--region", REGION, *(["--format=json"] if as_json else []),
                          expect=expect)
        return json.loads(done.stdout) if as_json and not expect else done
    return run


@pytest.mark.parametrize("track", [(), ("beta",)], ids=["ga", "beta"])
def test_a_job_is_created_described_and_listed(custom_jobs, vertex, track):
    name = f"flags-{len(track)}"
    # gcloud knows accelerators by the names of the API only; without a number of them it says one
    made = custom_jobs("create", "--display-name", name, "--labels", "env=dev,team=ml", POOL + ",accelerator-type=NVIDIA_TESLA_T4",
                       "--command", "echo", "--args", "one,two", track=track)
    assert made["jobSpec"]["workerPoolSpecs"][0]["machineSpec"] == {
        "machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
    assert made["state"] == "JOB_STATE_PENDING" and made["labels"] == {"env": "dev", "team": "ml"}
    job = vertex.until(made["name"], "JOB_STATE_SUCCEEDED")
    job_id = job["name"].rpartition("/")[2]
    assert vertex.yard.lines(job_id, "workerpool0-0") == ["one two"]
    assert custom_jobs("describe", job_id, track=track) == job
    assert [j["displayName"] for j in custom_jobs("list", "--filter", f"displayName={name}", track=track)] == [name]


def test_a_config_file_is_taken_and_a_job_cancelled(custom_jobs, vertex, tmp_path):
    config = tmp_path / "job.yaml"
    config.write_text(json.dumps(custom_job(RUNS_ON)["jobSpec"]))  # JSON is YAML
    done = custom_jobs("create", "--display-name", "config", "--config", str(config), as_json=False)
    assert "is submitted successfully" in done.stderr
    job = vertex.list(filter="display_name=config", pageSize=1)["customJobs"][0]
    vertex.until(job["name"], "JOB_STATE_RUNNING")
    done = custom_jobs("cancel", job["name"].rpartition("/")[2], as_json=False)
    assert "Request to cancel CustomJob" in done.stderr
    assert vertex.until(job["name"], "JOB_STATE_CANCELLED")["error"]["code"] == 1


def test_what_is_not_there_or_not_right_is_told(custom_jobs):
    done = custom_jobs("describe", "123", expect=1)
    assert "NOT_FOUND" in done.stderr and "does not exist" in done.stderr
    done = custom_jobs("create", "--display-name", "bad",
                       "--worker-pool-spec=machine-type=n1-nosuch-4,container-image-uri=trainyard-test:1", expect=1)
    assert "INVALID_ARGUMENT" in done.stderr and "worker_pool_specs[0].machine_spec.machine_type" in done.stderr


def test_operations_are_described(gcloud, vertex):
    job = vertex.run(custom_job("exit 0"))
    operation = vertex.yard.request("DELETE", vertex.path(job["name"])).json
    done = gcloud.run("ai", "operations", "describe", operation["name"].rpartition("/")[2], "--region", REGION, "--format=json")
    assert json.loads(done.stdout) == operation


IMAGE = "trainyard-test:1"
KEY = "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"
CONTAINER = {"imageUri": IMAGE}
PACKAGES = ["--python-package-uris", "gs://bucket/one.tar.gz,gs://bucket/two.tar.gz"]


def spec_of(count, machine="n1-standard-4", **task):
    return {"machineSpec": {"machineType": machine}, "replicaCount": str(count), **task,
            "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}}


@pytest.mark.parametrize("words,expected", [
    ([POOL, "--worker-pool-spec=", "--worker-pool-spec=machine-type=n1-highmem-2,replica-count=2,container-image-uri=" + IMAGE],
     {"workerPoolSpecs": [spec_of(1, containerSpec=CONTAINER), {}, spec_of(2, "n1-highmem-2", containerSpec=CONTAINER)]}),
    (["--worker-pool-spec=machine-type=n1-standard-4,replica-count=1,executor-image-uri=" + IMAGE + ",python-module=trainer.task",
      *PACKAGES, "--args=--epochs=3"],
     {"workerPoolSpecs": [spec_of(1, pythonPackageSpec={"executorImageUri": IMAGE, "pythonModule": "trainer.task", "args": [
         "--epochs=3"], "packageUris": ["gs://bucket/one.tar.gz", "gs://bucket/two.tar.gz"]})]}),
    ([POOL, "--service-account", "me@p.iam.gserviceaccount.com", "--network", "projects/1/global/networks/n",
      "--enable-web-access", "--enable-dashboard-access"],
     {"workerPoolSpecs": [spec_of(1, containerSpec=CONTAINER)], "serviceAccount": "me@p.iam.gserviceaccount.com",
      "network": "projects/1/global/networks/n", "enableWebAccess": True, "enableDashboardAccess": True}),
], ids=["pools", "packages", "texts"])
def test_each_form_of_create_is_taken(custom_jobs, vertex, words, expected):
    """Broken: pool_fill() without what is skipped (pools); no row of pythonModule (packages), of enableDashboardAccess
    (texts)."""
    made = custom_jobs("create", "--display-name", "forms", "--kms-key", KEY, *words)
    vertex.yard.request("POST", vertex.path(made["name"]) + ":cancel")
    assert made["jobSpec"] == expected and made["encryptionSpec"] == {"kmsKeyName": KEY}


def test_a_persistent_resource_is_refused(custom_jobs):
    """Broken: check_job_spec_capabilities() refused it with lenient validation alone."""
    done = custom_jobs("create", "--display-name", "forms", "--persistent-resource-id", "mine", POOL, expect=1)
    assert "job_spec.persistent_resource_id" in done.stderr and "no persistent resources" in done.stderr


def test_a_tasks_log_is_streamed(custom_jobs, vertex):
    """Broken: source_make() of the log pump gave every replica the same task_name."""
    job = vertex.run(custom_job("echo said by the program"))
    job_id = job["name"].rpartition("/")[2]
    done = wait_until(lambda: streamed(custom_jobs, job_id, "said by the program", "--task-name", "workerpool0-0"), 60,
                      "all was streamed")
    assert "workerpool0-0" in done.stdout and "Job completed" not in done.stdout


@pytest.fixture(scope="module")
def searches(yard):
    found = Vertex(yard, collection="hyperparameterTuningJobs")
    yield found
    found.cancel_all()


@pytest.fixture
def tuning_jobs(gcloud):
    """Runs `gcloud [TRACK] ai hp-tuning-jobs WORDS`, likewise."""
    def run(*words, track=(), expect=0, as_json=True):
        done = gcloud.run(*track, "ai", "hp-tuning-jobs", *words, "--region", REGION,
                          *(["--format=json"] if as_json else []), expect=expect)
        return json.loads(done.stdout) if as_json and not expect else done
    return run


def config_file(directory, text):
    body = tuning_job(text, {"parameterId": "x", "integerValueSpec": {"minValue": "1", "maxValue": "9"}})
    path = directory / "search.yaml"
    path.write_text(json.dumps({name: body[name] for name in ("studySpec", "trialJobSpec")}))
    return str(path)


@pytest.mark.parametrize("track", [(), ("beta",)], ids=["ga", "beta"])
def test_a_search_is_created_described_listed_and_its_log_read(tuning_jobs, gcloud, searches, tmp_path, track):
    name = f"search-{len(track)}"
    config = config_file(tmp_path, 'echo "trial $CLOUD_ML_TRIAL_ID"; ' + REPORTING)
    made = tuning_jobs("create", "--display-name", name, "--config", config, "--max-trial-count", "2",
                       "--parallel-trial-count", "2", "--algorithm", "random-search", "--labels", "env=dev", track=track)
    assert made["state"] == "JOB_STATE_PENDING" and made["labels"] == {"env": "dev"}
    assert made["studySpec"]["algorithm"] == "RANDOM_SEARCH"
    job = searches.until(made["name"], "JOB_STATE_SUCCEEDED")
    job_id = job["name"].rpartition("/")[2]
    assert tuning_jobs("describe", job_id, track=track) == job and len(job["trials"]) == 2
    assert [j["displayName"] for j in tuning_jobs("list", "--filter", f"displayName={name}", track=track)] == [name]
    run = job["trials"][0]["customJob"].rpartition("/")[2]
    described = gcloud.run("ai", "custom-jobs", "describe", run, "--region", REGION, "--format=json")
    assert json.loads(described.stdout)["displayName"] == f"{name}-trial-1"


def test_a_searchs_log_is_streamed(tuning_jobs, searches, tmp_path):
    """Of a job that has ended it is streamed to its end, which gcloud takes to be five seconds ago.
    Broken: as above: its trials' lines were not among them."""
    made = searches.create(tuning_job('echo "trial $CLOUD_ML_TRIAL_ID says"; ' + REPORTING,
                                      {"parameterId": "x", "doubleValueSpec": {"maxValue": 1}}, count=2, parallel=2))
    job = searches.until(made["name"], "JOB_STATE_SUCCEEDED")
    done = wait_until(lambda: streamed(tuning_jobs, job["name"].rpartition("/")[2], "trial 2 says"), 60, "all was streamed")
    assert "trial 1 says" in done.stdout and "workerpool0-0" in done.stdout


def streamed(jobs, job_id, text, *words):
    done = jobs("stream-logs", job_id, "--polling-interval", "1", *words, as_json=False)
    return done if text in done.stdout else None


def test_a_search_is_cancelled(tuning_jobs, searches, tmp_path):
    made = tuning_jobs("create", "--display-name", "long", "--config", config_file(tmp_path, RUNS_ON))
    searches.until(made["name"], "JOB_STATE_RUNNING")
    done = tuning_jobs("cancel", made["name"].rpartition("/")[2], as_json=False)
    assert "cancel" in done.stderr
    assert searches.until(made["name"], "JOB_STATE_CANCELLED")["error"]["code"] == 1
    done = tuning_jobs("describe", "123", expect=1)
    assert "NOT_FOUND" in done.stderr and "HyperparameterTuningJob" in done.stderr
