# SPDX-License-Identifier: Apache-2.0
"""Every flag of gcloud's ai-platform commands: what arrives in the stored job, what replicas see of it, and what is refused.

The flags are compared with gcloud's own help, so a flag without a test fails."""
import concurrent.futures
import json
import pathlib

import pytest

from support.daemon import MACHINE, PRINT_ENVIRONMENT, UNTIL_RELEASED
from support.engine import IMAGE, role_image
from support.gcloud import needs_gcloud

pytestmark = [needs_gcloud, pytest.mark.long]

KEY = "projects/keys/locations/us-central1/keyRings/ring/cryptoKeys/key"
OTHER_KEY = KEY.replace("us-central1", "europe-west4")
ACCOUNT = "trainer@my-project.iam.gserviceaccount.com"
HOLD = 'trap "exit 0" TERM; while :; do sleep 0.1; done'

FIELDS = json.loads((pathlib.Path(__file__).parents[1] / "clients/fields.json").read_text())

GA, BETA, ALPHA = [], ["beta"], ["alpha"]

WITH_IMAGE = ["--master-image-uri", IMAGE]
MASTER = {"imageUri": IMAGE}
CUSTOM = ["--scale-tier", "custom", "--master-machine-type", MACHINE]


def custom(**more):
    return dict({"scaleTier": "CUSTOM", "masterType": MACHINE}, **more)


# The flags for a job with only a master -> the members of its trainingInput besides region, image and args.
STORED = [
    ([], {}),
    (["--async"], {}),
    (["--region", "europe-west1"], {"region": "europe-west1"}),
    (["--enable-web-access"], {"enableWebAccess": True}),
    (["--service-account", ACCOUNT], {"serviceAccount": ACCOUNT}),
    (["--job-dir", "gs://bucket/run"], {"jobDir": "gs://bucket/run"}),
    (["--job-dir", "gs://bucket"], {"jobDir": "gs://bucket/"}),
    (["--staging-bucket", "gs://bucket"], {}),  # no file has to be uploaded for this job
    (["--use-chief-in-tf-config", "true"], {"useChiefInTfConfig": True}),
    (["--use-chief-in-tf-config", "false"], {}),
    (["--python-version", "3.7"], {"pythonVersion": "3.7"}),
    (["--module-name", "trainer.task"], {"pythonModule": "trainer.task"}),
    (["--packages", "gs://bucket/p.tar.gz", "--module-name", "trainer.task"],
     {"packageUris": ["gs://bucket/p.tar.gz"], "pythonModule": "trainer.task"}),
    (["--kms-key", KEY], {"encryptionConfig": {"kmsKeyName": KEY}}),
    (["--kms-key", "key", "--kms-keyring", "ring", "--kms-location", "us-central1", "--kms-project", "keys"],
     {"encryptionConfig": {"kmsKeyName": KEY}}),
    (["--scale-tier", "basic"], {}),
    (["--scale-tier", "standard-1"], {"scaleTier": "STANDARD_1"}),
    (["--scale-tier", "premium-1"], {"scaleTier": "PREMIUM_1"}),
    (["--scale-tier", "basic-gpu"], {"scaleTier": "BASIC_GPU"}),
    (["--scale-tier", "custom", "--master-machine-type", "complex_model_l"],
     {"scaleTier": "CUSTOM", "masterType": "complex_model_l"}),
    (CUSTOM, custom()),
    (CUSTOM + ["--worker-machine-type", MACHINE, "--worker-count", "3"], custom(workerType=MACHINE, workerCount="3")),
    (CUSTOM + ["--worker-machine-type", MACHINE, "--worker-count", "1", "--worker-image-uri", "worker:1",
               "--worker-accelerator", "count=2,type=nvidia-tesla-t4"],
     custom(workerType=MACHINE, workerCount="1", workerConfig={
         "imageUri": "worker:1", "acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "2"}})),
    (CUSTOM + ["--parameter-server-machine-type", MACHINE, "--parameter-server-count", "2"],
     custom(parameterServerType=MACHINE, parameterServerCount="2")),
    (CUSTOM + ["--parameter-server-machine-type", MACHINE, "--parameter-server-count", "1",
               "--parameter-server-image-uri", "ps:1", "--parameter-server-accelerator", "count=1,type=nvidia-tesla-p4"],
     custom(parameterServerType=MACHINE, parameterServerCount="1", parameterServerConfig={
         "imageUri": "ps:1", "acceleratorConfig": {"type": "NVIDIA_TESLA_P4", "count": "1"}})),
] + [
    (["--scale-tier", "custom", "--master-machine-type", machine, "--master-accelerator", f"count={count},type={flag}"],
     {"scaleTier": "CUSTOM", "masterType": machine,
      "masterConfig": MASTER | {"acceleratorConfig": {"type": flag.upper().replace("-", "_"), "count": count}}})
    for flag, machine, count in [("nvidia-tesla-k80", MACHINE, "1"), ("nvidia-tesla-p100", MACHINE, "1"),
                                 ("nvidia-tesla-v100", "n1-standard-8", "2"), ("nvidia-tesla-p4", MACHINE, "1"),
                                 ("nvidia-tesla-t4", MACHINE, "4"), ("nvidia-tesla-a100", "a2-highgpu-1g", "1")]
]

# Flags that only `gcloud beta` and `gcloud alpha` have.
STORED_BETA = [
    (["--network", "projects/123456789012/global/networks/net"], {"network": "projects/123456789012/global/networks/net"}),
    (CUSTOM + ["--worker-machine-type", "cloud_tpu", "--worker-count", "1", "--tpu-tf-version", "2.1",
               "--worker-accelerator", "count=8,type=tpu-v2"],
     custom(workerType="cloud_tpu", workerCount="1", workerConfig={
         "tpuTfVersion": "2.1", "acceleratorConfig": {"type": "TPU_V2", "count": "8"}})),
    (["--scale-tier", "basic-tpu", "--tpu-tf-version", "2.1"], {"scaleTier": "BASIC_TPU", "workerConfig": {"tpuTfVersion": "2.1"}}),
]

# Flags -> the exit code, and the message of gcloud or of trainyard.
REFUSED = [
    # refused by trainyard
    (["--runtime-version", "9.9", "--packages", "gs://bucket/p.tar.gz", "--module-name", "trainer.task"],
     1, "The specified runtime version '9.9' with the Python version '' is not supported"),
    (["--region", "mars", *WITH_IMAGE], 1, "The provided GCE region 'mars' is not available. Options are ["),
    (["--scale-tier", "custom", "--master-machine-type", "n1-standard-5", *WITH_IMAGE], 1, "n1-standard-5"),
    (["--scale-tier", "basic-tpu", *WITH_IMAGE], 1,
     "worker_config.tpu_tf_version Error: It is required for TPU workers of a job with a custom container image."),
    (["--scale-tier", "standard-1", "--master-machine-type", MACHINE, *WITH_IMAGE], 1, "Field: master_type Error: "),
    (["--master-accelerator", "count=1,type=nvidia-tesla-t4", *WITH_IMAGE], 1, "master_config.accelerator_config"),
    (CUSTOM + WITH_IMAGE + ["--master-accelerator", "count=3,type=nvidia-tesla-t4"], 1,
     "The machine type n1-standard-4 takes 1, 2 or 4 accelerators of type NVIDIA_TESLA_T4, not 3."),
    (["--kms-key", OTHER_KEY, *WITH_IMAGE], 1, "encryption_config.kms_key_name"),
    # refused by gcloud
    ([], 1, "Non-custom jobs must have packages."),
    (["--runtime-version", "2.11", *WITH_IMAGE], 1, "Only one of --master-image-uri, --runtime-version can be set."),
    (["--packages", "local.tar.gz", *WITH_IMAGE], 1,
     "If local packages are provided, the `--staging-bucket` or `--job-dir` flag must be given."),
    (["--package-path", "/nowhere/trainer", "--staging-bucket", "gs://bucket", "--module-name", "trainer.task"],
     1, "is not a valid directory"),
    (["--scale-tier", "custom", *WITH_IMAGE], 1, "--master-machine-type is required if scale-tier is set to `CUSTOM`."),
    (["--scale-tier", "huge", *WITH_IMAGE], 2, "--scale-tier: Invalid choice: 'huge'"),
    (["--master-accelerator", "count=0,type=nvidia-tesla-t4", *WITH_IMAGE], 2, "must be greater than 0"),
    (["--worker-count", "2", *WITH_IMAGE], 2, "--worker-machine-type"),
    (["--parameter-server-machine-type", MACHINE, *WITH_IMAGE], 2, "--parameter-server-count"),
    (["--async", "--stream-logs", *WITH_IMAGE], 2, "--stream-logs"),
    (["--service-account", "nobody", *WITH_IMAGE], 2, "--service-account"),
    (["--labels", "Upper=x", *WITH_IMAGE], 2, "--labels"),
    (["--job-dir", "/here", *WITH_IMAGE], 2, "--job-dir"),
    (["--kms-key", "key", *WITH_IMAGE], 1, "key"),
    (["--use-chief-in-tf-config", "maybe", *WITH_IMAGE], 2, "--use-chief-in-tf-config"),
    (["--config", "/nowhere/job.yaml", *WITH_IMAGE], 1, "/nowhere/job.yaml"),
]
REFUSED_BETA = [
    (["--network", "my-network", *WITH_IMAGE], 1, "Field: network Error: "),
    (["--tpu-tf-version", "2.1", *WITH_IMAGE], 1, "worker_config.tpu_tf_version Error: "),
]


def words_of(rows):
    return [" ".join(flags[:6]) or "none" for flags, *_ in rows]


tracks = {}


def has_track(gcloud, track):
    """Skips the test if gcloud was installed without the commands of a track."""
    [name] = track
    if name not in tracks:
        tracks[name] = "NAME" in gcloud.run(name, "ai-platform", "jobs", "--help", expect=None).stdout
    if not tracks[name]:
        pytest.skip(f"this gcloud has no {name} commands")


@pytest.fixture(scope="module")
def queue(narrow_gcloud, narrow_yard):
    """gcloud, and a daemon whose only slot is taken, so that submitted jobs stay queued."""
    hold = narrow_yard.create(dict(region="us-central1", masterConfig={"imageUri": IMAGE}, args=["sh", "-c", HOLD]))
    narrow_yard.until(hold, "RUNNING")
    yield narrow_gcloud
    narrow_yard.cancel_all()


def describe(gcloud, job_id):
    return json.loads(gcloud("describe", job_id, "--format", "json").stdout)


def stored(gcloud, track, flags, more):
    job_id = gcloud.yard.new_id("flags")
    gcloud.run(*track, "ai-platform", "jobs", "submit", "training", job_id, *WITH_IMAGE, *flags, "--", "true")
    found = gcloud.yard.job(job_id)["trainingInput"]
    assert found == dict({"region": "us-central1", "masterConfig": MASTER, "args": ["true"]}, **more)


@pytest.mark.parametrize("flags,more", STORED, ids=words_of(STORED))
def test_flags_arrive_in_the_stored_job(queue, flags, more):
    stored(queue, GA, flags, more)


@pytest.mark.parametrize("track", [BETA, ALPHA], ids=["beta", "alpha"])
@pytest.mark.parametrize("flags,more", STORED_BETA, ids=words_of(STORED_BETA))
def test_flags_of_other_tracks_arrive_in_the_stored_job(queue, track, flags, more):
    has_track(queue, track)
    stored(queue, track, flags, more)


def refused(gcloud, track, flags, code, says):
    job_id = gcloud.yard.new_id("refused")
    done = gcloud.run(*track, "ai-platform", "jobs", "submit", "training", job_id, *flags, "--", "true", expect=code)
    assert says in " ".join(done.stderr.split()), done.stderr
    assert gcloud.yard.get(f"{gcloud.yard.jobs_path}/{job_id}").status == 404


@pytest.mark.parametrize("flags,code,says", REFUSED, ids=words_of(REFUSED))
def test_flags_are_refused(queue, flags, code, says):
    refused(queue, GA, flags, code, says)


@pytest.mark.parametrize("flags,code,says", REFUSED_BETA, ids=words_of(REFUSED_BETA))
def test_flags_of_other_tracks_are_refused(queue, flags, code, says):
    has_track(queue, BETA)
    refused(queue, BETA, flags, code, says)


def test_packages_of_a_runtime_arrive_in_the_stored_job(queue, tmp_path):
    package = tmp_path / "trainer"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "task.py").write_text("print('hello')\n")
    job_id = queue.yard.new_id("flags")
    queue("submit", "training", job_id, "--package-path", str(package), "--module-name", "trainer.task", "--packages",
          "gs://bucket/first.tar.gz", "--staging-bucket", "gs://bucket", "--region", "us-central1", "--runtime-version", "2.11",
          "--python-version", "3.7", "--", "true")
    found = describe(queue, job_id)["trainingInput"]
    first, staged = found.pop("packageUris")
    assert first == "gs://bucket/first.tar.gz"
    assert staged.startswith(f"gs://bucket/{job_id}/") and staged.endswith("/trainer-0.0.0.tar.gz")
    assert found == {"region": "us-central1", "runtimeVersion": "2.11", "pythonVersion": "3.7", "pythonModule": "trainer.task",
                     "args": ["true"]}


def test_labels_arrive_in_the_stored_job(queue):
    job_id = queue.yard.new_id("flags")
    queue("submit", "training", job_id, "--labels", "team=vision,stage=one", *WITH_IMAGE)
    assert describe(queue, job_id)["labels"] == {"team": "vision", "stage": "one"}


# ---- --config --------------------------------------------------------------------------------------------

def replica(image, accelerator, count, disk):
    return {"imageUri": image, "containerCommand": ["sh", "-c"], "containerArgs": ["true"],
            "acceleratorConfig": {"type": accelerator, "count": count},
            "diskConfig": {"bootDiskType": disk, "bootDiskSizeGb": 200}}


CONFIG = {
    "labels": {"from": "file"},
    "trainingInput": {
        "scaleTier": "CUSTOM",
        "region": "europe-west4",  # a flag always overrides this: see below
        "masterType": MACHINE, "masterConfig": replica("master:1", "NVIDIA_TESLA_T4", "1", "pd-ssd"),
        "workerType": MACHINE, "workerCount": "2", "workerConfig": replica("worker:1", "NVIDIA_TESLA_V100", "1", "pd-standard"),
        "parameterServerType": MACHINE, "parameterServerCount": "1",
        "parameterServerConfig": replica("ps:1", "NVIDIA_TESLA_P4", "1", "pd-ssd"),
        "evaluatorType": MACHINE, "evaluatorCount": "1",
        "evaluatorConfig": replica("evaluator:1", "NVIDIA_TESLA_P100", "1", "pd-ssd"),
        "jobDir": "gs://bucket/run",
        "encryptionConfig": {"kmsKeyName": KEY},
        "scheduling": {"maxRunningTime": "3600s", "maxWaitTime": "1800s", "priority": 5, "strategy": "LOW_COST",
                       "resilientToWorkerRestart": True},
        "network": "projects/123456789012/global/networks/net",
        "serviceAccount": ACCOUNT,
        "enableWebAccess": True,
        "useChiefInTfConfig": True,
    },
}


def config_file(tmp_path, job):
    # JSON is YAML.
    path = tmp_path / "job.yaml"
    path.write_text(json.dumps(job))
    return ["--config", str(path)]


def test_every_field_of_a_config_file_arrives_but_what_flags_have_said(queue, tmp_path):
    job_id = queue.yard.new_id("config")
    queue("submit", "training", job_id, *config_file(tmp_path, CONFIG))
    job = describe(queue, job_id)
    assert job["labels"] == CONFIG["labels"]
    # gcloud always sends the region from its settings, and that shells are not enabled.
    wanted = dict(CONFIG["trainingInput"], region="us-central1")
    del wanted["enableWebAccess"]
    assert job["trainingInput"] == wanted


def test_flags_come_before_a_config_file(queue, tmp_path):
    job_id = queue.yard.new_id("config")
    queue("submit", "training", job_id, *config_file(tmp_path, CONFIG), "--region", "europe-west4", "--enable-web-access",
          "--labels", "from=flags", "--kms-key", OTHER_KEY, "--worker-machine-type", "n1-standard-8", "--worker-count", "4", "--service-account", "a@b.c",
          "--job-dir", "gs://other/run", "--master-image-uri", "other:1", "--use-chief-in-tf-config", "no")
    job = describe(queue, job_id)
    wanted = CONFIG["trainingInput"] | {"workerType": "n1-standard-8", "workerCount": "4", "serviceAccount": "a@b.c",
                                        "jobDir": "gs://other/run", "encryptionConfig": {"kmsKeyName": OTHER_KEY}}
    wanted["masterConfig"] = wanted["masterConfig"] | {"imageUri": "other:1"}
    del wanted["useChiefInTfConfig"]
    assert (job["labels"], job["trainingInput"]) == ({"from": "flags"}, wanted)


IMAGE_INPUT = {"masterConfig": {"imageUri": IMAGE}}
REFUSED_CONFIGS = [
    ({"trainingInput": IMAGE_INPUT | {"hyperparameters": {
        "goal": "MAXIMIZE", "maxTrials": 4, "maxParallelTrials": 2, "maxFailedTrials": 1, "hyperparameterMetricTag": "accuracy",
        "resumePreviousJobId": "before", "enableTrialEarlyStopping": True, "algorithm": "RANDOM_SEARCH",
        "params": [{"parameterName": "rate", "type": "DOUBLE", "minValue": 0.001, "maxValue": 0.1,
                    "scaleType": "UNIT_LOG_SCALE"},
                   {"parameterName": "optimizer", "type": "CATEGORICAL", "categoricalValues": ["adam", "sgd"]},
                   {"parameterName": "batch", "type": "DISCRETE", "discreteValues": [16, 32]}]}}},
     "The job 'before' cannot be resumed: the project has no job of that name."),
    # gcloud ignores the packages in a file: it sends those of --packages, or none.
    ({"trainingInput": {"packageUris": ["gs://bucket/p.tar.gz"], "pythonModule": "trainer.task", "runtimeVersion": "2.11",
                        "pythonVersion": "3.7"}}, "Non-custom jobs must have packages."),
    ({"trainingInput": IMAGE_INPUT | {"pythonModule": "trainer task"}}, "is not the name of a Python module"),
    ({"trainingInput": IMAGE_INPUT | {"runtimeVersion": "2.11"}},
     "Only one of runtime version or the master Docker image URI should be provided."),
    ({"trainingInput": IMAGE_INPUT | {"nasJobSpec": {"previousNasJobId": "before"}}},
     "trainyard does not run neural architecture searches"),
    ({"trainingInput": IMAGE_INPUT | {"scaleTier": "HUGE"}}, "HUGE"),
    ({"trainingInput": IMAGE_INPUT | {"scheduling": {"maxWaitTime": "60s"}}}, "max_wait_time"),
]


@pytest.mark.parametrize("job,says", REFUSED_CONFIGS, ids=[says[-40:] for _, says in REFUSED_CONFIGS])
def test_config_files_are_refused(queue, tmp_path, job, says):
    refused(queue, GA, config_file(tmp_path, job), 1, says)


@pytest.mark.parametrize("row", FIELDS["accepted"], ids=[row["name"] for row in FIELDS["accepted"]])
def test_what_other_clients_send_arrives_from_a_config_file_too(queue, tmp_path, row):
    job_id, wanted = queue.yard.new_id("config"), dict(row["job"]["trainingInput"])
    flags = ["--enable-web-access"] if wanted.get("enableWebAccess") else []
    if "packageUris" in wanted:  # gcloud requires these as flags
        flags += ["--packages", ",".join(wanted["packageUris"]), "--module-name", wanted["pythonModule"]]
    # gcloud also ignores the arguments in a file.
    args = ["--", *wanted["args"]] if "args" in wanted else []
    queue("submit", "training", job_id, *config_file(tmp_path, row["job"]), *flags, *args)
    assert describe(queue, job_id)["trainingInput"] == wanted


@pytest.mark.parametrize("row", FIELDS["refused"], ids=[row["name"] for row in FIELDS["refused"]])
def test_what_other_clients_are_refused_is_refused_from_a_config_file_too(queue, tmp_path, row):
    # gcloud adds a training input with an image, so the first error may be about that.
    refused(queue, GA, config_file(tmp_path, row["job"]) + WITH_IMAGE, 1, "INVALID_ARGUMENT: ")


# ---- what replicas see -----------------------------------------------------------------------------------

def test_replicas_see_what_flags_have_said(gcloud, yard):
    job_id = yard.new_id("seen")
    last = f"{PRINT_ENVIRONMENT}; case $(cat /image) in ps) {HOLD};; master) {UNTIL_RELEASED};; esac"
    gcloud("submit", "training", job_id, *CUSTOM, "--master-image-uri", role_image("master"),
           "--worker-machine-type", MACHINE, "--worker-count", "2", "--worker-image-uri", role_image("worker"),
           "--parameter-server-machine-type", MACHINE, "--parameter-server-count", "1",
           "--parameter-server-image-uri", role_image("ps"), "--use-chief-in-tf-config", "true",
           "--", "--flag=$HOME *", "", "--job-dir", "mine", "it's \"quoted\"", last)
    tasks = {"master-replica-0": "master", "worker-replica-0": "worker", "worker-replica-1": "worker", "ps-replica-0": "ps"}
    yard.release(job_id, after={task: 8 for task in tasks})
    yard.until(job_id, "SUCCEEDED")
    for task, image in tasks.items():
        said = [line for line in yard.lines(job_id, task) if line.startswith(("image", "arg"))]
        assert said == ["image " + image, "arg --flag=$HOME *", "arg ", "arg --job-dir", "arg mine", "arg it's \"quoted\"",
                        "arg " + last], (task, said)
        environment = yard.environment(job_id, task)
        assert environment["TEST_IMAGE"] == image and environment["CLOUD_ML_JOB_ID"] == job_id
        cluster = json.loads(environment["TF_CONFIG"])["cluster"]
        assert {role: len(names) for role, names in cluster.items()} == {"chief": 1, "worker": 2, "ps": 1}, cluster
        job = json.loads(environment["CLOUD_ML_JOB"])
        assert (job["worker_count"], job["args"][0], job["use_chief_in_tf_config"]) == ("2", "--flag=$HOME *", True), job


def test_a_job_dir_becomes_the_last_argument(gcloud, yard):
    job_id = yard.new_id("seen")
    gcloud("submit", "training", job_id, "--master-image-uri", IMAGE, "--job-dir", "gs://bucket/run", "--stream-logs",
           "--", "sh", "-c", 'echo "$@"', "sh", "--epochs=3")
    assert yard.lines(job_id) == ["--epochs=3 --job-dir gs://bucket/run"]


# ---- the other commands ----------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def three_jobs(queue):
    """Ids of jobs that stay queued, oldest first."""
    return [queue.yard.create(dict(region="us-central1", masterConfig={"imageUri": IMAGE}), f"list_{n}",
                              labels={"of": "list", "n": str(n)}) for n in range(3)]


LISTS = [
    # flags -> which of the three jobs are listed, in this order
    ([], [2, 1, 0]),
    (["--limit", "2"], [2, 1]),
    (["--filter", "labels.n=1"], [1]),
    (["--filter", "labels.n>=1", "--limit", "1"], [2]),
    (["--sort-by", "jobId"], [0, 1, 2]),
    (["--sort-by", "~jobId"], [2, 1, 0]),
    (["--page-size", "1", "--limit", "3"], [2, 1, 0]),
]


@pytest.mark.parametrize("flags,numbers", LISTS, ids=words_of(LISTS))
def test_list(queue, three_jobs, flags, numbers):
    if "--filter" in flags:
        flags = ["--filter", "labels.of=list AND " + flags[1], *flags[2:]]
    elif "--limit" not in flags:
        flags = ["--filter", "labels.of=list", *flags]
    listed = queue("list", "--format", "value(jobId)", *flags).stdout.split()
    assert listed == [three_jobs[n] for n in numbers]


def test_list_as_addresses_is_empty_as_with_the_real_service(queue, three_jobs):
    # gcloud has no URI for jobs.
    assert queue("list", "--uri", "--limit", "1").stdout == ""


def test_describe_in_short(queue, three_jobs):
    said = queue("describe", three_jobs[0], "--summarize").stdout
    assert "Job Overview" in said and "Training Input Summary" in said and three_jobs[0] in said


def test_update(queue, three_jobs):
    job_id = three_jobs[0]
    for flags, labels in [(["--update-labels", "of=others,new=x"], {"of": "others", "n": "0", "new": "x"}),
                          (["--remove-labels", "n,absent"], {"of": "others", "new": "x"}),
                          (["--update-labels", "a=b", "--remove-labels", "of"], {"new": "x", "a": "b"}),
                          (["--update-labels", "c=d", "--clear-labels"], {"c": "d"}),
                          (["--clear-labels"], {})]:
        queue("update", job_id, *flags)
        assert queue.yard.job(job_id).get("labels", {}) == labels


def test_cancel(queue, three_jobs):
    queue("cancel", three_jobs[1])
    queue.yard.until(three_jobs[1], "CANCELLED")
    assert describe(queue, three_jobs[1])["state"] == "CANCELLED"
    queue("cancel", three_jobs[1])


def test_stream_logs(gcloud, yard):
    job_id = yard.create(dict(region="us-central1", masterConfig={"imageUri": IMAGE}, args=["sh", "-c", "echo one; sleep 0.2; echo two"]))
    yard.until(job_id, "SUCCEEDED")
    wanted = [([], ["one", "two"]), (["--allow-multiline-logs"], ["one", "two"]),
              (["--task-name", "master-replica-0"], ["one", "two"]), (["--task-name", "worker-replica-0"], [])]
    # gcloud waits ten seconds at the end of each.
    with concurrent.futures.ThreadPoolExecutor(len(wanted)) as pool:
        done = list(pool.map(lambda row: gcloud("stream-logs", job_id, "--polling-interval", "1", *row[0]), wanted))
    for (_, lines), said in zip(wanted, done):
        shown = [line for line in said.stdout.splitlines() if "master-replica-0" in line]
        assert [line.split("\t")[-1] for line in shown] == lines, said


PREDICTION = [
    ["--model", "m"],
    ["--model", "m", "--version", "v", "--max-worker-count", "4", "--batch-size", "64", "--labels", "a=b"],
    ["--model-dir", "gs://bucket/model", "--runtime-version", "2.11", "--signature-name", "serving_default"],
]


@pytest.mark.parametrize("flags", PREDICTION, ids=[" ".join(row) for row in PREDICTION])
def test_batch_prediction_is_refused(queue, flags):
    done = queue("submit", "prediction", queue.yard.new_id("predict"), "--region", "us-central1", "--data-format", "text",
                 "--input-paths", "gs://bucket/a,gs://bucket/b", "--output-path", "gs://bucket/out", *flags, expect=1)
    assert "Batch prediction is not emulated" in done.stderr


def test_batch_prediction_with_accelerators_is_refused(queue):
    has_track(queue, ALPHA)
    done = queue.run("alpha", "ai-platform", "jobs", "submit", "prediction", queue.yard.new_id("predict"), "--region", "us-central1",
                     "--data-format", "tf-record", "--input-paths", "gs://bucket/a", "--output-path", "gs://bucket/out",
                     "--model", "m", "--accelerator-count", "1", "--accelerator-type", "nvidia-tesla-p100", expect=1)
    assert "Batch prediction is not emulated" in done.stderr


def locations(gcloud, *flags):
    """The names of the listed locations. What several flags mean together depends on gcloud's version."""
    return gcloud.run("alpha", "ai-platform", "locations", "list", "--format", "value(name)", *flags).stdout.split()


def test_locations(queue):
    has_track(queue, ALPHA)
    names = locations(queue)
    assert f"projects/{queue.yard.project}/locations/us-central1" in names and names == sorted(names)
    for flags, wanted in [(["--limit", "3"], names[:3]), (["--page-size", "2"], names), (["--sort-by", "~name"], names[::-1]),
                          (["--filter", "name~/us-"], [name for name in names if "/us-" in name])]:
        assert locations(queue, *flags) == wanted, flags
    one = json.loads(queue.run("alpha", "ai-platform", "locations", "describe", "us-central1").stdout)
    assert "TRAINING" in [capability["type"] for capability in one["capabilities"]]
    addresses = queue.run("alpha", "ai-platform", "locations", "list", "--uri", "--limit", "1").stdout
    assert addresses in ("", f"{queue.base}/v1/{names[0]}\n")


def test_a_location_is_described_by_the_endpoint_of_its_region(queue):
    """gcloud puts the region before the host's name. Names below .localhost are this machine; if the resolver does not know
    that, the proxy in gcloud's settings is asked, which here is the daemon itself."""
    has_track(queue, ALPHA)
    port = queue.base.rsplit(":", 1)[1]
    done = queue.run("alpha", "ai-platform", "locations", "describe", "us-central1", "--region", "us-central1",
                     CLOUDSDK_API_ENDPOINT_OVERRIDES_ML=f"http://ml.localhost:{port}/", CLOUDSDK_PROXY_TYPE="http",
                     CLOUDSDK_PROXY_ADDRESS="127.0.0.1", CLOUDSDK_PROXY_PORT=port, NO_PROXY="", no_proxy="")
    assert f"Using endpoint [http://us-central1-ml.localhost:{port}/]" in done.stderr
    assert json.loads(done.stdout)["name"].endswith("/locations/us-central1")


# ---- nothing is left out ---------------------------------------------------------------------------------

def driven(*tables):
    return {word for table in tables for flags, *_ in table for word in flags if word.startswith("--")}


IN_OTHER_TESTS = {"--config", "--labels", "--master-image-uri", "--stream-logs", "--package-path"}
LIST = {"--filter", "--limit", "--page-size", "--sort-by", "--uri"}
COMMANDS = {
    "jobs submit training": driven(STORED, REFUSED) | IN_OTHER_TESTS,
    "jobs submit prediction": {word for row in PREDICTION for word in row if word.startswith("--")} | {
        "--region", "--data-format", "--input-paths", "--output-path"},
    "jobs list": driven(LISTS) | {"--uri"},
    "jobs describe": {"--summarize"},
    "jobs update": {"--update-labels", "--remove-labels", "--clear-labels"},
    "jobs cancel": set(),
    "jobs stream-logs": {"--polling-interval", "--allow-multiline-logs", "--task-name"},
}
LOCATIONS = {"locations list": LIST, "locations describe": {"--region"}}
MORE = {"jobs submit training": driven(STORED_BETA)}
TABLES = [
    *(([], command, flags) for command, flags in COMMANDS.items()),
    *((BETA, command, flags | MORE.get(command, set())) for command, flags in COMMANDS.items()),
    *((ALPHA, command, flags | MORE.get(command, set())) for command, flags in COMMANDS.items()
      if command != "jobs submit prediction"),
    (ALPHA, "jobs submit prediction", COMMANDS["jobs submit prediction"] | {"--accelerator-count", "--accelerator-type"}),
    *((ALPHA, command, flags) for command, flags in LOCATIONS.items()),
]


@pytest.mark.parametrize("track,command,flags", TABLES, ids=[" ".join([*track, command]) for track, command, _ in TABLES])
def test_no_flag_is_left_out(queue, track, command, flags):
    if track:
        has_track(queue, track)
    assert queue.flags(*track, "ai-platform", *command.split()) - flags == set()
