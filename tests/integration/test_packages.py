# SPDX-License-Identifier: Apache-2.0
"""Jobs of Python packages on a real engine: packages are fetched from object storage and installed, and run as a module in
the runtime image that deploy/runtime/build makes."""
import contextlib
import json
import os
import urllib.parse

import pytest

from support.custom_jobs import CustomJobs, pool
from support.daemon import MACHINE, task_of, text_of
from support.engine import PREBUILT, RUNTIME, build_image, ensure_runtime_images
from support.gcloud import Gcloud, needs_gcloud
from support.marks import long
from support.packages import in_order, sdist, slipping, trainer, wheel
from support.vertex import Vertex, tuning_job

HELPER_FILE = "helper-1.0-py2.py3-none-any.whl"
PATIENCE_S = 120
NOBODY, SOMEBODY = "trainyard-test-nobody:1", "trainyard-test-somebody:1"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The directory of wheels from which pip installs; it has no other source."""
    directory = tmp_path_factory.mktemp("wheels")
    directory.chmod(0o755)  # users in the images must be able to read it
    (directory / HELPER_FILE).write_bytes(wheel("helper", {"helper.py": "WORD = 'helped'"}))
    return directory


@pytest.fixture(scope="module")
def packages_yard(engine, make_daemon, wheels):
    """A daemon with the local runtime image. It pulls no images, and pip uses no index."""
    ensure_runtime_images(engine)
    daemon = make_daemon("--offline", "--stop-grace", "10", "--runtime", f"*={RUNTIME}", "--wheels", wheels).start()
    yield daemon
    daemon.stop()


@pytest.fixture(scope="module")
def users_images(engine, packages_yard):
    """Images for a user without a home directory, and for one with a home directory: their ids."""
    found = {NOBODY: (65534, "USER nobody\n"),
             SOMEBODY: (1000, "RUN mkdir -m 700 /home/somebody && chown 1000 /home/somebody\n"
                              "ENV HOME=/home/somebody\nWORKDIR /home/somebody\nUSER 1000:1000\n")}
    for name, (_, lines) in found.items():
        build_image(engine, name, {"Dockerfile": f"FROM {RUNTIME}\n{lines}".encode()})
    yield {name: user for name, (user, _) in found.items()}
    for name in found:
        engine.remove_image(name)


def put(yard, uri, data):
    bucket, name = uri[len("gs://"):].split("/", 1)
    answer = yard.request("POST", f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={urllib.parse.quote(name, safe='')}",
                          data, {"Content-Type": "application/octet-stream"})
    assert answer.status == 200, answer


def package_job(yard, task, requires=(), **more):
    """The training input of a job whose module is this text."""
    uri = f"gs://packages/{yard.new_id('package')}/trainer-1.0-py2.py3-none-any.whl"
    put(yard, uri, trainer(task, requires))
    return dict(region="us-central1", runtimeVersion="2.11", pythonVersion="3.7", packageUris=[uri],
                pythonModule="trainer.task", **more)


def text(yard, job_id, task="master-replica-0"):
    return "\n".join(yard.lines(job_id, task))


# Fails with: objects_open() of daemon/wiring.c that has "tar -P" unpack what ends in .tar.gz where it lies below gs/: /tmp has it.
def test_an_archive_slips_nowhere(packages_yard, wheels):
    """The archive is unpacked in the container only, and its paths do not lead out of the directory."""
    yard, word = packages_yard, f"slipped{os.getpid()}"
    uri, data = f"gs://packages/{yard.new_id('package')}/slip-1.0.tar.gz", slipping("slip", word)
    put(yard, uri, data)

    def seen():
        return [place for top in (wheels, yard.state_dir.parent) for place, _, files in os.walk(top) if word in files] + \
            [path for path in [f"/tmp/{word}"] if os.path.lexists(path)]
    job = yard.run(dict(package_job(yard, "print('ran')"), packageUris=[uri]), expect="FAILED", timeout=PATIENCE_S)
    assert f"Installing the package: {uri}" in text(yard, job["jobId"]), text(yard, job["jobId"])
    yard.restart()
    assert seen() == [] and os.listdir(wheels) == [HELPER_FILE]
    assert yard.get(f"/storage/v1/b/packages/o/{urllib.parse.quote(uri.split('/', 3)[3], safe='')}", alt="media").data == data


def test_a_package_is_fetched_installed_and_run(packages_yard):
    task = ("import json, os, sys, helper\nprint(json.dumps([helper.WORD] + sys.argv[1:]))\n"
            "print(json.dumps({'message': 'variables', 'names': sorted(os.environ)}))\n"
            "print(json.loads(os.environ['TF_CONFIG'])['task']['type'])\n")
    job_input = package_job(packages_yard, task, ["helper"], args=["--word", "$HOME; 'x'"], jobDir="gs://packages/jobs/1")
    uri, name = job_input["packageUris"][0], "trainer-1.0-py2.py3-none-any.whl"
    job = packages_yard.run(job_input, timeout=PATIENCE_S)
    lines = text(packages_yard, job["jobId"])
    in_order(["Running module trainer.task.", f"Downloading the package: {uri}", f"Running command: gsutil -q cp {uri} {name}",
              f"Installing the package: {uri}",
              f"Running command: pip3 install --user --upgrade --force-reinstall --no-deps {name}",
              f"Running command: pip3 install --user {name}",
              "Running command: python3 -m trainer.task --word $HOME; 'x' --job-dir gs://packages/jobs/1",
              '["helped", "--word", "$HOME; \'x\'", "--job-dir", "gs://packages/jobs/1"]', "chief",
              "Module completed; cleaning up.", "Clean up finished.", "Task completed successfully."], lines)
    assert lines.startswith('Running task with arguments: --cluster={"chief": ["127.0.0.1:2222"]} '
                            '--task={"type": "chief", "index": 0} --job={')
    entries = packages_yard.entries(job["jobId"])
    names = next(e["jsonPayload"]["names"] for e in entries if text_of(e) == "variables")
    assert {"TF_CONFIG", "CLOUD_ML_JOB_ID", "CLOUD_ML_JOB"} < set(names) and "CLUSTER_SPEC" not in names
    severities = {text_of(e): e["severity"] for e in entries if task_of(e) == "master-replica-0"}
    assert severities["Running module trainer.task."] == severities["Task completed successfully."] == "INFO"


@pytest.mark.long
def test_a_pool_of_a_custom_job_installs_its_package_and_another_runs_its_image(packages_yard):
    uri, name = "gs://packages/vertex/trainer-1.0-py2.py3-none-any.whl", "trainer-1.0-py2.py3-none-any.whl"
    put(packages_yard, uri, trainer("import os, sys\nprint('ran', sys.argv[1:], os.environ['MASTER_ADDR'])\n"))
    custom = CustomJobs(packages_yard)
    first = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "pythonPackageSpec": {
        "executorImageUri": RUNTIME, "packageUris": [uri], "pythonModule": "trainer.task",
        "args": ["--region=$(CLOUD_ML_REGION)", "x"]}}
    job_id = custom.create(first, pool("echo from the image; sleep 600"))
    custom.until(job_id, "JOB_STATE_SUCCEEDED", timeout=PATIENCE_S)
    host = "cmle-training-workerpool0-"
    lines = packages_yard.lines(job_id, "workerpool0-0")
    assert lines[0].startswith("Updating master address to local address " + host)
    assert lines[1] == "Running run_module.py"
    assert lines[2].startswith('Running task with arguments: --cluster={"workerpool0": ["' + host)
    assert '--task={"type": "workerpool0", "index": 0} --job={"python_module":"trainer.task","package_uris":["' in lines[2]
    assert "\\u003d$(CLOUD_ML_REGION)" in lines[2]
    in_order(["Running module trainer.task.", f"Running command: gsutil -q cp {uri} {name}",
              "Running command: python3 -m trainer.task --region=us-central1 x",
              "ran ['--region=us-central1', 'x'] " + lines[0].rsplit(" ", 1)[1], "Module completed; cleaning up.", "Clean up finished.",
              "Task completed successfully."], "\n".join(lines))
    assert packages_yard.lines(job_id, "workerpool1-0") == ["from the image"]


@pytest.mark.long
def test_the_report_tells_of_the_local_image(packages_yard):
    job = packages_yard.run(package_job(packages_yard, ""), timeout=PATIENCE_S)
    report = packages_yard.get(f"/_trainyard{packages_yard.jobs_path}/{job['jobId']}/report").json
    assert "runtime-image" in [d["code"] for d in report["differences"]]
    assert report["replicas"][0]["image"] == RUNTIME


@pytest.mark.long
def test_packages_are_installed_in_their_order(packages_yard):
    job_input = package_job(packages_yard, "import later\nprint(later.WORD)", ["later"])
    later = "gs://packages/later-1.0-py2.py3-none-any.whl"
    put(packages_yard, later, wheel("later", {"later.py": "WORD = 'came later'"}))
    right = dict(job_input, packageUris=[later] + job_input["packageUris"])
    job = packages_yard.run(right, timeout=PATIENCE_S)
    assert "came later" in packages_yard.lines(job["jobId"])
    wrong = dict(job_input, packageUris=job_input["packageUris"] + [later])
    job = packages_yard.run(wrong, "FAILED", timeout=PATIENCE_S)
    assert "No matching distribution found for later" in job["errorMessage"]


@pytest.mark.long
@pytest.mark.parametrize("files", [{}, long({"pyproject.toml": "[build-system]\nrequires = ['setuptools', 'wheel']\n"})],
                         ids=["setup.py", "pyproject.toml"])
def test_a_source_distribution_is_built_with_the_runtime_s_own_tools(packages_yard, files):
    uri = f"gs://packages/{packages_yard.new_id('source')}/trainer-1.0.tar.gz"
    put(packages_yard, uri, sdist("trainer", {"trainer/__init__.py": "", "trainer/task.py": "print('built')", **files}))
    job = packages_yard.run(package_job(packages_yard, "") | {"packageUris": [uri]}, timeout=PATIENCE_S)
    assert "built" in packages_yard.lines(job["jobId"])


def fails(yard, job_input, status):
    job = yard.run(job_input, "FAILED", timeout=PATIENCE_S)
    assert job["errorMessage"].startswith(f"The replica master 0 exited with a non-zero status of {status}."), job
    return job["errorMessage"], text(yard, job["jobId"])


@pytest.mark.long
def test_each_step_that_fails_is_the_replica_s_error(packages_yard):
    good = package_job(packages_yard, "raise ValueError('no data')")
    bad, none = "gs://packages/bad-1.0.tar.gz", "gs://packages/none.tar.gz"
    put(packages_yard, bad, b"not really a package")

    message, lines = fails(packages_yard, good | {"packageUris": [none]}, 1)
    assert f"CommandException: No URLs matched: {none}" in message and "No such object: packages/none.tar.gz" in message
    assert "Installing" not in lines

    message, lines = fails(packages_yard, good | {"packageUris": [bad]}, 1)
    assert "bad-1.0.tar.gz" in message and "python3 -m" not in lines

    message, lines = fails(packages_yard, good | {"pythonModule": "trainer.other"}, 1)
    assert "No module named trainer.other" in message

    message, lines = fails(packages_yard, good, 1)
    assert message.split("\n")[1].startswith("Traceback") and message.split("\n\n")[0].endswith("ValueError: no data"), message
    # The traceback is on the other stream, so the engine may deliver it later.
    last = ["Module completed; cleaning up.", "Clean up finished."]
    assert [line for line in lines.split("\n") if line in last] == last and "Task completed" not in lines

    fails(packages_yard, package_job(packages_yard, "raise SystemExit(3)"), 3)


@pytest.mark.long
def test_every_role_runs_the_module(packages_yard):
    task = ("import json, os, socket, sys\n"
            "config = json.loads(os.environ['TF_CONFIG'])\n"
            "who = config['task']['type']\n"
            "print('I am', who, sys.argv[1:])\nsys.stdout.flush()\n"
            "if who == 'ps':\n"
            "    server = socket.create_server(('', 2222))\n"
            "    while True: server.accept()[0].sendall(b'served')\n"
            "host, port = config['cluster']['ps'][0].split(':')\n"
            "while True:\n"
            "    try:\n"
            "        print(socket.create_connection((host, int(port))).recv(6).decode())\n"
            "        break\n"
            "    except OSError: pass\n"
            "if who == 'chief':\n"
            "    worker = socket.create_server(('', 2223)).accept()[0]\n"
            "else:\n"
            "    host = config['cluster']['chief'][0].split(':')[0]\n"
            "    sys.stdout.flush()\n"
            "    while True:\n"
            "        try: socket.create_connection((host, 2223)); break\n"
            "        except OSError: pass\n")
    cluster = dict(scaleTier="CUSTOM", masterType=MACHINE, workerType=MACHINE, workerCount="1", parameterServerType=MACHINE,
                   parameterServerCount="1")
    job = packages_yard.run(package_job(packages_yard, task, args=["--x"], **cluster), timeout=PATIENCE_S)
    for name, who in (("master", "chief"), ("worker", "worker"), ("ps", "ps")):
        lines = packages_yard.lines(job["jobId"], f"{name}-replica-0")
        assert f"I am {who} ['--x']" in lines, lines
        assert ("served" in lines) == (who != "ps")


@pytest.mark.long
def test_a_cancelled_job_s_module_may_save_what_it_has(packages_yard):
    task = ("import signal, sys\ndef end(*_):\n    print('saved')\n    sys.exit(0)\n"
            "signal.signal(signal.SIGTERM, end)\nprint('up')\nsys.stdout.flush()\nwhile True: signal.pause()\n")
    job_id = packages_yard.create(package_job(packages_yard, task))
    count = len(packages_yard.wait_lines(job_id, count=1))
    while "up" not in packages_yard.lines(job_id):
        count = len(packages_yard.wait_lines(job_id, count=count + 1, timeout=PATIENCE_S))
    packages_yard.cancel(job_id)
    packages_yard.until(job_id, "CANCELLED")
    assert packages_yard.lines(job_id)[-4:] == ["saved", "Module completed; cleaning up.", "Clean up finished.",
                                                "Task completed successfully."]


@pytest.mark.long
def test_custom_containers_may_have_packages(packages_yard):
    task = "import json, os\nprint('runs in', os.getcwd())\nprint(json.loads(os.environ['CLUSTER_SPEC'])['task']['type'])"
    job_input = package_job(packages_yard, task, masterConfig={"imageUri": PREBUILT})
    del job_input["runtimeVersion"], job_input["pythonVersion"]
    job = packages_yard.run(job_input, timeout=PATIENCE_S)
    in_order(["runs in /data", "master", "Task completed successfully."], text(packages_yard, job["jobId"]))
    del job_input["pythonModule"]
    job = packages_yard.run(job_input, timeout=PATIENCE_S)
    assert packages_yard.lines(job["jobId"]) == ["the image's own program"]


TASK = """
import os, helper
def path(name):
    return "/gcs/" + os.environ[name][len("gs://"):]
os.makedirs(path("AIP_MODEL_DIR"), exist_ok=True)
open(path("AIP_MODEL_DIR") + "model", "w").write(helper.WORD)
metrics = os.environ["CLOUD_ML_HP_METRIC_FILE"]
os.makedirs(os.path.dirname(metrics), exist_ok=True)
open(metrics, "w").write('{"global_step": "1", "score": "0.5", "timestamp": 1.5, "trial": "1"}')
print("user", os.getuid(), "wrote", open(path("AIP_MODEL_DIR") + "model").read())
"""


@pytest.mark.parametrize("image", [NOBODY, pytest.param(SOMEBODY, marks=pytest.mark.long)], ids=["without a home", "with one"])
def test_a_package_runs_as_the_image_s_user(packages_yard, users_images, image):
    """Choice: the service's own images run as root; for others their user counts, as in a custom container."""
    uri = f"gs://packages/{packages_yard.new_id('package')}/trainer-1.0-py2.py3-none-any.whl"
    put(packages_yard, uri, trainer(TASK, ["helper"]))
    searches = Vertex(packages_yard, collection="hyperparameterTuningJobs")
    asked = tuning_job("", {"parameterId": "x", "integerValueSpec": {"minValue": "1", "maxValue": "9"}}, count=1)
    asked["trialJobSpec"] = {"baseOutputDirectory": {"outputUriPrefix": "gs://packages/" + image.replace(":", "-")}, "workerPoolSpecs": [{
        "machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "pythonPackageSpec": {
            "executorImageUri": image, "packageUris": [uri], "pythonModule": "trainer.task"}}]}
    search = searches.until(searches.create(asked)["name"], "JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", timeout=PATIENCE_S)
    run = search["trials"][0]["customJob"].rpartition("/")[2]
    lines = packages_yard.lines(run, "workerpool0-0")
    # Fails with: install_all() without user_base_set()
    assert f"user {users_images[image]} wrote helped" in lines, lines
    assert search["trials"][0]["finalMeasurement"]["metrics"] == [{"metricId": "score", "value": 0.5}], search
    job_input = package_job(packages_yard, "import os, helper\nprint('user', os.getuid())", ["helper"], masterConfig={"imageUri": image})
    del job_input["runtimeVersion"], job_input["pythonVersion"]
    job = packages_yard.run(job_input, timeout=PATIENCE_S)
    in_order([f"user {users_images[image]}", "Task completed successfully."], text(packages_yard, job["jobId"]))


def test_wheels_that_the_image_s_user_may_not_read_are_told(packages_yard, users_images, wheels):
    # Fails with: has_setuptools() without except: a traceback is all that is told
    job_input = package_job(packages_yard, "", masterConfig={"imageUri": NOBODY})
    del job_input["runtimeVersion"], job_input["pythonVersion"]
    wheels.chmod(0o700)
    try:
        job = packages_yard.run(job_input, "FAILED", timeout=PATIENCE_S)
    finally:
        wheels.chmod(0o755)
    assert "The directory of --wheels cannot be read by the image's user, 65534: Permission denied." in job["errorMessage"], job


def test_a_runtime_s_image_that_is_not_there_is_told_with_the_remedy(engine, make_daemon):
    daemon = make_daemon("--offline").start()
    try:
        job = daemon.run(dict(region="us-central1", runtimeVersion="2.3", pythonVersion="3.7", pythonModule="t",
                              packageUris=["gs://b12/p.tar.gz"]), "FAILED")
    finally:
        daemon.stop()
    message = job["errorMessage"]
    assert "gcr.io/cloud-aiplatform/training/tf-cpu.2-3" in message and "deploy/runtime/build" in message
    assert "--runtime 2.3=" in message


def submit(yard, directory, job_id, *words):
    (directory / "gcloud").mkdir()
    gcloud = Gcloud(yard, directory / "gcloud", yard.base)
    with contextlib.closing(gcloud.warm):  # the background process would stay otherwise
        gcloud("submit", "training", job_id, *words)


@needs_gcloud
@pytest.mark.long
def test_gcloud_submits_a_folder_of_sources(packages_yard, tmp_path):
    folder = tmp_path / "trainer"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "task.py").write_text("import json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    job_id = packages_yard.new_id("gcloud")
    submit(packages_yard, tmp_path, job_id, "--package-path", str(folder), "--module-name", "trainer.task", "--staging-bucket",
           "gs://staging-bucket", "--job-dir", "gs://staging-bucket/out", "--runtime-version", "2.11", "--python-version", "3.7",
           "--region", "us-central1", "--", "--flag", "x")
    packages_yard.until(job_id, "SUCCEEDED", timeout=PATIENCE_S)
    assert json.dumps(["--flag", "x", "--job-dir", "gs://staging-bucket/out"]) in packages_yard.lines(job_id)


# Reports the number of its flags as the metric that the job names; stands in for a trainer.
COUNTING = """import json, os, sys
with open(os.environ["CLOUD_ML_HP_METRIC_FILE"], "w") as file:
    file.write(json.dumps({"global_step": "1", "timestamp": 1.5, os.environ["CLOUD_ML_HP_METRIC_TAG"]: len(sys.argv) - 1}) + "\\n")
"""

# Jobs as samples of 2018 and 2019 submit them: with a runtime version that is retired by now, whose Python was 2.7 by default;
# with a Cloud TPU, or with runtime and Python in the configuration file.
OLD = {
    "tpu": ("""
trainingInput:
  scaleTier: CUSTOM
  masterType: standard
  workerCount: 1
  workerType: cloud_tpu
  hyperparameters:
    goal: MAXIMIZE
    enableTrialEarlyStopping: true
    hyperparameterMetricTag: my_accuracy
    maxTrials: 2
    maxParallelTrials: 2
    params:
      - parameterName: base_rate
        type: DOUBLE
        scaleType: UNIT_REVERSE_LOG_SCALE
        minValue: 0.02
        maxValue: 0.5
""", ["--runtime-version", "1.8"], ["runtime-image", "cloud-tpu", "runtime-version-unknown", "python-version-unset"]),
    "runtime": ("""
trainingInput:
  scaleTier: BASIC
  runtimeVersion: "1.13"
  pythonVersion: "3.5"
  hyperparameters:
    goal: MAXIMIZE
    maxTrials: 2
    maxParallelTrials: 2
    hyperparameterMetricTag: my_tag
    params:
    - parameterName: criterion
      type: CATEGORICAL
      categoricalValues: [
        'first',
        'second'
      ]
""", [], ["runtime-image", "runtime-version-unknown"]),
}


@pytest.fixture(scope="module")
def old_yard(engine, make_daemon, wheels):
    ensure_runtime_images(engine)
    daemon = make_daemon("--offline", "--validation", "lenient", "--runtime", f"*={RUNTIME}", "--wheels", wheels).start()
    put(daemon, "gs://old/trainer-1.0-py2.py3-none-any.whl", trainer(COUNTING))
    yield daemon
    daemon.stop()


@needs_gcloud
@pytest.mark.parametrize("sample", OLD)
@pytest.mark.long
def test_configurations_of_old_samples_are_searched(old_yard, tmp_path, sample):
    # Fails with: without a default Python the submission of "tpu" was refused.
    text, flags, told = OLD[sample]
    (tmp_path / "config.yaml").write_text(text)
    job_id = old_yard.new_id(sample)
    submit(old_yard, tmp_path, job_id, "--packages", "gs://old/trainer-1.0-py2.py3-none-any.whl", "--module-name", "trainer.task",
           "--region", "us-central1", "--config", str(tmp_path / "config.yaml"), *flags, "--", "--data_dir=gs://bucket/data")
    job = old_yard.until(job_id, "SUCCEEDED", timeout=2 * PATIENCE_S)
    for trial in job["trainingOutput"]["trials"]:
        assert trial["finalMetric"] == {"trainingStep": "1", "objectiveValue": 2}
    assert job["trainingOutput"]["completedTrialCount"] == "2"
    report = old_yard.get(f"/_trainyard{old_yard.jobs_path}/{job_id}/report").json
    assert [d["code"] for d in report["differences"]] == told
