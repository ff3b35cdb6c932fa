# SPDX-License-Identifier: Apache-2.0
"""`gcloud ai custom-jobs` with the environment of `trainyard env`."""
import json
import re

import pytest

from support.gcloud import needs_gcloud
from support.tuning import REPORTING
from support.vertex import REGION, RUNS_ON, Vertex, custom_job, tuning_job
from support.wait import wait_until

import test_gcloud_ai_packages as packages

pytestmark = needs_gcloud
TRACKS = [(), pytest.param(("beta",), marks=pytest.mark.long)]

POOL = "--worker-pool-spec=machine-type=n1-standard-4,replica-count=1,container-image-uri=trainyard-test:1"


@pytest.fixture(scope="module")
def vertex(yard):
    found = Vertex(yard)
    yield found
    found.cancel_all()


@pytest.fixture
def custom_jobs(gcloud):
    """Runs `gcloud [TRACK] ai custom-jobs WORDS`; returns its output, parsed if it is JSON."""
    def run(*words, track=(), expect=0, as_json=True):
        done = gcloud.run(*track, "ai", "custom-jobs", *words, "--region", REGION, *(["--format=json"] if as_json else []),
                          expect=expect)
        return json.loads(done.stdout) if as_json and not expect else done
    return run


@pytest.mark.parametrize("track", TRACKS, ids=["ga", "beta"])
def test_a_job_is_created_described_and_listed(custom_jobs, vertex, track):
    name = f"flags-{len(track)}"
    # gcloud accepts only the API's names of accelerators; the default count is one
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
    config.write_text(json.dumps(custom_job(RUNS_ON)["jobSpec"]))  # the file may be JSON, which is valid YAML
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


@pytest.mark.long
def test_operations_are_described(gcloud, vertex):
    job = vertex.run(custom_job("exit 0"))
    operation = vertex.yard.request("DELETE", vertex.path(job["name"])).json
    done = gcloud.run("ai", "operations", "describe", operation["name"].rpartition("/")[2], "--region", REGION, "--format=json")
    assert json.loads(done.stdout) == operation


IMAGE = "trainyard-test:1"
KEY = "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"
KEY_IN_PARTS = ["--kms-key", "k", "--kms-keyring", "r", "--kms-location", "us-central1", "--kms-project", "p"]
ACCOUNT, NETWORK = "me@p.iam.gserviceaccount.com", "projects/1/global/networks/n"
TEXTS = ["--service-account", ACCOUNT, "--network", NETWORK, "--enable-web-access", "--enable-dashboard-access"]
STORED_TEXTS = {"serviceAccount": ACCOUNT, "network": NETWORK, "enableWebAccess": True, "enableDashboardAccess": True}
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
    ([POOL, *TEXTS], {"workerPoolSpecs": [spec_of(1, containerSpec=CONTAINER)], **STORED_TEXTS}),
], ids=["pools", "packages", "texts"])
@pytest.mark.long
def test_each_form_of_create_is_taken(custom_jobs, vertex, words, expected):
    """Fails with: pool_fill() without what is skipped (pools); no row of pythonModule (packages), of enableDashboardAccess
    (texts)."""
    made = custom_jobs("create", "--display-name", "forms", "--kms-key", KEY, *words)
    vertex.yard.request("POST", vertex.path(made["name"]) + ":cancel")
    assert made["jobSpec"] == expected and made["encryptionSpec"] == {"kmsKeyName": KEY}


@pytest.mark.parametrize("track,words,changed", [
    ((), ["--args=new,args", "--command=new", *TEXTS, *KEY_IN_PARTS],
     {"workerPoolSpecs": [spec_of(1, containerSpec=CONTAINER | {"command": ["new"], "args": ["new", "args"]}),
                          spec_of(2, pythonPackageSpec={"executorImageUri": IMAGE, "packageUris": ["gs://bucket/one.tar.gz"],
                                                        "pythonModule": "trainer.task", "args": ["new", "args"]})],
      **STORED_TEXTS}),
    (["beta"], ["--worker-pool-spec=machine-type=n1-highmem-2,accelerator-type=NVIDIA_TESLA_T4,accelerator-count=2,"
                "container-image-uri=" + IMAGE],
     {"workerPoolSpecs": [{**spec_of(1, containerSpec=CONTAINER), "machineSpec": {
         "machineType": "n1-highmem-2", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 2}}]}),
], ids=["parts of pools", "pools"])
def test_flags_go_before_the_configuration_file(custom_jobs, vertex, tmp_path, track, words, changed):
    own = {"containerSpec": CONTAINER | {"command": ["old"], "args": ["old"]}}
    package = {"pythonPackageSpec": {"executorImageUri": IMAGE, "packageUris": ["gs://bucket/one.tar.gz"],
                                     "pythonModule": "trainer.task", "args": ["old"]}}
    spec = {"workerPoolSpecs": [spec_of(1, **own), spec_of(2, **package)], "serviceAccount": "old@p.iam.gserviceaccount.com",
            "network": "projects/1/global/networks/old", "scheduling": {"timeout": "3600s", "restartJobOnWorkerRestart": True},
            "baseOutputDirectory": {"outputUriPrefix": "gs://bucket/out/"}}
    config = tmp_path / "job.yaml"
    config.write_text(json.dumps(spec))
    made = custom_jobs("create", "--display-name", "both", "--config", str(config), *words, track=track)
    vertex.yard.request("POST", vertex.path(made["name"]) + ":cancel")
    assert made["jobSpec"] == spec | changed
    assert made.get("encryptionSpec") == ({"kmsKeyName": KEY} if "--kms-key" in words else None)


@pytest.mark.long
def test_a_persistent_resource_is_refused(custom_jobs):
    """Fails with: check_job_spec_capabilities() refused it with lenient validation alone."""
    done = custom_jobs("create", "--display-name", "forms", "--persistent-resource-id", "mine", POOL, expect=1)
    assert "job_spec.persistent_resource_id" in done.stderr and "no persistent resources" in done.stderr


@pytest.mark.long
def test_a_tasks_log_is_streamed(custom_jobs, vertex):
    """Fails with: source_make() of the log pump gave every replica the same task_name."""
    job = vertex.run(custom_job("echo said by the program"))
    job_id = job["name"].rpartition("/")[2]
    done = wait_until(lambda: streamed(custom_jobs, job_id, "said by the program", "--task-name", "workerpool0-0",
                                       "--allow-multiline-logs"), 60, "all was streamed")
    assert "workerpool0-0" in done.stdout and "Job completed" not in done.stdout


@pytest.fixture(scope="module")
def searches(yard):
    found = Vertex(yard, collection="hyperparameterTuningJobs")
    yield found
    found.cancel_all()


@pytest.fixture
def tuning_jobs(gcloud):
    """Runs `gcloud [TRACK] ai hp-tuning-jobs WORDS` in the same way."""
    def run(*words, track=(), expect=0, as_json=True):
        done = gcloud.run(*track, "ai", "hp-tuning-jobs", *words, "--region", REGION,
                          *(["--format=json"] if as_json else []), expect=expect)
        return json.loads(done.stdout) if as_json and not expect else done
    return run


def config_file(directory, text, **more):
    body = tuning_job(text, {"parameterId": "x", "integerValueSpec": {"minValue": "1", "maxValue": "9"}})
    path = directory / "search.yaml"
    path.write_text(json.dumps({name: body[name] for name in ("studySpec", "trialJobSpec")} | more))
    return str(path)


@pytest.mark.parametrize("track,words,counts,algorithm", [
    ((), ["--max-trial-count=4", "--algorithm=grid-search", *TEXTS, *KEY_IN_PARTS], (4, 3), "GRID_SEARCH"),
    (["beta"], ["--parallel-trial-count=1", "--algorithm=algorithm-unspecified", "--kms-key", KEY], (5, 1), None),
], ids=["texts", "counts"])
@pytest.mark.long
def test_flags_go_before_the_configuration_of_a_search(tuning_jobs, searches, tmp_path, track, words, counts, algorithm):
    config = config_file(tmp_path, RUNS_ON, displayName="old", maxTrialCount=5, parallelTrialCount=3, maxFailedTrialCount=2)
    made = tuning_jobs("create", "--display-name", "new", "--config", config, *words, track=track)
    searches.yard.request("POST", searches.path(made["name"]) + ":cancel")
    assert (made["displayName"], made["maxTrialCount"], made["parallelTrialCount"], made["maxFailedTrialCount"]) == ("new", *counts, 2)
    assert made["encryptionSpec"] == {"kmsKeyName": KEY} and made["studySpec"].get("algorithm") == algorithm
    assert {name: made["trialJobSpec"].get(name) for name in STORED_TEXTS} == (
        STORED_TEXTS if "--network" in words else dict.fromkeys(STORED_TEXTS))


@pytest.mark.parametrize("track,group,names", [((), "custom-jobs", "vertex"), (["beta"], "hp-tuning-jobs", "searches")],
                         ids=["custom-jobs", "hp-tuning-jobs"])
@pytest.mark.long
def test_lists_are_cut_sorted_and_told_as_addresses(gcloud, request, track, group, names):
    """Lists ended jobs, so that no new one changes the pages."""
    jobs = request.getfixturevalue(names)
    asked = custom_job("true", "listed") if names == "vertex" else tuning_job(
        REPORTING, {"parameterId": "x", "doubleValueSpec": {"maxValue": 1}}, name="listed", count=1)
    made = [jobs.run(asked)["name"] for _ in range(2)]

    def listed(*words):
        done = gcloud.run(*track, "ai", group, "list", "--region", REGION, *words)
        return done.stdout.split()
    ids = ["--filter", "displayName=listed", "--format", "value(name)"]
    every = listed(*ids)
    assert set(made) <= set(every)
    assert listed(*ids, "--sort-by", "createTime", "--page-size", "1") == sorted(every, key=lambda name: jobs.get(name)["createTime"])
    assert listed(*ids, "--limit", "1", "--sort-by", "~createTime") == [made[1]]
    addresses = listed("--uri", "--filter", "displayName=listed")
    assert [address.partition("/v1")[2].removeprefix("beta1/").removeprefix("/") for address in addresses] == every, addresses


@pytest.mark.parametrize("track", TRACKS, ids=["ga", "beta"])
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


@pytest.mark.long
def test_a_searchs_log_is_streamed(tuning_jobs, searches, tmp_path):
    """The log of an ended job is streamed up to its end, which for gcloud is five seconds ago. Fails with: as above: its trials'
    lines were not among them."""
    made = searches.create(tuning_job('echo "trial $CLOUD_ML_TRIAL_ID says"; ' + REPORTING,
                                      {"parameterId": "x", "doubleValueSpec": {"maxValue": 1}}, count=2, parallel=2))
    job = searches.until(made["name"], "JOB_STATE_SUCCEEDED")
    job_id = job["name"].rpartition("/")[2]
    done = wait_until(lambda: streamed(tuning_jobs, job_id, "trial 2 says", "--allow-multiline-logs", "--task-name=workerpool0-0"),
                      60, "all was streamed")
    assert "trial 1 says" in done.stdout and "workerpool0-0" in done.stdout


def streamed(jobs, job_id, text, *words):
    done = jobs("stream-logs", job_id, "--polling-interval", "1", *words, as_json=False)
    return done if text in done.stdout else None


@pytest.mark.long
def test_a_search_is_cancelled(tuning_jobs, searches, tmp_path):
    made = tuning_jobs("create", "--display-name", "long", "--config", config_file(tmp_path, RUNS_ON))
    searches.until(made["name"], "JOB_STATE_RUNNING")
    done = tuning_jobs("cancel", made["name"].rpartition("/")[2], as_json=False)
    assert "cancel" in done.stderr
    assert searches.until(made["name"], "JOB_STATE_CANCELLED")["error"]["code"] == 1
    done = tuning_jobs("describe", "123", expect=1)
    assert "NOT_FOUND" in done.stderr and "HyperparameterTuningJob" in done.stderr


# ---- nothing is left out ---------------------------------------------------------------------------------

PACKED = packages.test_a_module_is_packed_with_what_it_needs_and_found_in_the_engine
FORMS, BOTH = test_each_form_of_create_is_taken, test_flags_go_before_the_configuration_file
SEARCH, SEARCHES = test_flags_go_before_the_configuration_of_a_search, test_a_search_is_created_described_listed_and_its_log_read
LISTS = dict.fromkeys(["--filter", "--limit", "--page-size", "--sort-by", "--uri"], test_lists_are_cut_sorted_and_told_as_addresses)
KEY_PARTS = ["--kms-key", "--kms-keyring", "--kms-location", "--kms-project"]
TEXT_FLAGS = [word for word in TEXTS if word.startswith("--")]
# Each flag of each command, and the test that uses it; --region is used everywhere.
DRIVEN = {
    "custom-jobs create": {
        **dict.fromkeys(KEY_PARTS + TEXT_FLAGS + ["--config", "--args", "--command"], BOTH), "--python-package-uris": FORMS,
        **dict.fromkeys(["--display-name", "--labels"], test_a_job_is_created_described_and_listed), "--worker-pool-spec": FORMS,
        "--persistent-resource-id": test_a_persistent_resource_is_refused},
    "custom-jobs list": LISTS, "custom-jobs describe": {}, "custom-jobs cancel": {},
    "custom-jobs stream-logs": dict.fromkeys(["--allow-multiline-logs", "--polling-interval", "--task-name"], test_a_tasks_log_is_streamed),
    "hp-tuning-jobs create": {
        **dict.fromkeys(KEY_PARTS + TEXT_FLAGS + ["--algorithm", "--max-trial-count", "--parallel-trial-count", "--config"], SEARCH),
        **dict.fromkeys(["--display-name", "--labels"], SEARCHES)},
    "hp-tuning-jobs list": LISTS, "hp-tuning-jobs describe": {}, "hp-tuning-jobs cancel": {},
    "hp-tuning-jobs stream-logs": dict.fromkeys(["--allow-multiline-logs", "--polling-interval", "--task-name"],
                                                test_a_searchs_log_is_streamed),
}
POOL_KEYS = {
    **dict.fromkeys(["machine-type", "accelerator-type", "accelerator-count"], BOTH),
    **dict.fromkeys(["replica-count", "container-image-uri"], FORMS),
    **dict.fromkeys(["local-package-path", "executor-image-uri", "python-module", "requirements", "extra-packages", "extra-dirs",
                     "output-image-uri"], PACKED),
    "script": packages.test_a_script_is_packed_pushed_and_pulled_for_every_pool,
}


@pytest.mark.parametrize("track,command", [*(((), command) for command in DRIVEN),
                                           *((["beta"], command) for command in DRIVEN if command.endswith("create"))])
@pytest.mark.long
def test_no_flag_is_left_out(gcloud, track, command):
    """The only other command of custom-jobs is local-run, which makes no calls."""
    assert gcloud.flags(*track, "ai", *command.split(), grouped=True) - {"--region"} == set(DRIVEN[command])


@pytest.mark.long
def test_no_key_of_a_pool_is_left_out(custom_jobs):
    done = custom_jobs("create", "--display-name", "x", "--worker-pool-spec=no-such-key=1", expect=2)
    assert set(re.search(r"valid keys are \[(.*?)\]", done.stderr)[1].split(", ")) == set(POOL_KEYS)
