# SPDX-License-Identifier: Apache-2.0
"""What deploy/examples shows, unchanged: checkpoints and the workflow in the short form, frameworks with --long. The others have tests
of their own: test_example_trainer.py, tests/clients/test_package_example.py, test_docs_python.py."""
import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

from support.daemon import ROOT
from support.engine import ensure_runtime_images, turn
from support.packages import sdist
from support.pages import Reader

EXAMPLES = ROOT / "deploy/examples"
PATIENCE_S = 600


@pytest.fixture
def reader(engine, tmp_path):
    found = Reader(tmp_path / "home", engine)
    yield found
    found.leave()


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts /gcs for containers of any user")
def test_a_trainer_goes_on_from_its_checkpoint(reader, engine):
    """Fails with: restored() that finds nothing: no line "goes on"."""
    ensure_runtime_images(engine)
    said = reader.type(f"trainyard exec -- pytest -q -p pytest_trainyard {EXAMPLES}/checkpoints/test_checkpoints.py",
                       PYTHONPATH=str(ROOT / "deploy/pytest"))
    assert "1 passed" in said, said


def test_the_workflow_has_steps_that_run(reader):
    """Its step Train is run; the steps that install something are not."""
    steps = yaml.safe_load((EXAMPLES / "github/train.yml").read_text())["jobs"]["train"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    train, = [step["run"] for step in steps if step.get("name") == "Train"]
    (reader.home / "tests").mkdir()
    (reader.home / "test_nothing.py").rename(reader.home / "tests/test_nothing.py")
    assert "1 passed" in reader.type(train)
    kept, = [step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", "")]
    assert any((reader.home / kept).iterdir())


# ---- frameworks: images of Debian's packages, and TensorFlow from its own ----

def framework_image(engine, name, package):
    name = f"trainyard-test-{name}"
    with turn(name):
        subprocess.run([ROOT / "deploy/runtime/build", name, package], check=True, timeout=PATIENCE_S,
                       env=dict(os.environ, DOCKER_HOST=engine.host))
    return name


def staged(daemon, example):
    """The example's package in gs://examples, and what a job says of it."""
    folder = EXAMPLES / example
    files = {f"trainer/{path.name}": path.read_text() for path in (folder / "trainer").glob("*.py")}
    uri = f"gs://examples/{example}-0.1.tar.gz"
    put(daemon, f"{example}-0.1.tar.gz", sdist("trainer", files, (folder / "setup.py").read_text()))
    return dict(region="us-central1", runtimeVersion="2.11", pythonVersion="3.7", pythonModule="trainer.task", packageUris=[uri])


def put(daemon, name, data):
    answer = daemon.request("POST", f"/upload/storage/v1/b/examples/o?uploadType=media&name={name}", data,
                            {"Content-Type": "application/octet-stream"})
    assert answer.status == 200, answer


@pytest.mark.long
def test_scikit_learn_is_tuned(make_daemon, engine):
    with make_daemon("--offline", "--runtime", f"*={framework_image(engine, 'sklearn', 'python3-sklearn')}") as daemon:
        tuned = yaml.safe_load((EXAMPLES / "sklearn/job.yaml").read_text())["trainingInput"]
        job = daemon.run(tuned | staged(daemon, "sklearn"), timeout=PATIENCE_S)
        trials = job["trainingOutput"]["trials"]
        assert len(trials) == tuned["hyperparameters"]["maxTrials"]
        assert all(0.5 < trial["finalMetric"]["objectiveValue"] <= 1 for trial in trials)


@pytest.mark.long
def test_pytorch_trains_on_three_replicas(make_daemon, engine):
    with make_daemon("--offline", "--runtime", f"*={framework_image(engine, 'pytorch', 'python3-torch')}") as daemon:
        cluster = dict(scaleTier="CUSTOM", masterType="n1-standard-4", workerType="n1-standard-4", workerCount=2)
        job = daemon.run(cluster | staged(daemon, "pytorch"), timeout=PATIENCE_S)
        for rank, task in enumerate(("master-replica-0", "worker-replica-0", "worker-replica-1")):
            assert f"rank {rank} of 3: epoch 20," in " ".join(daemon.lines(job["jobId"], task))
        # Which rank 0 prints when all have the same.
        assert "weights [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]" in daemon.lines(job["jobId"])



@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="TensorFlow's own gs:// takes port 443")
def test_tensorflow_trains_from_storage_to_storage(make_daemon, engine, tmp_path_factory):
    image = framework_image(engine, "tensorflow", "libstdc++6")  # which its wheels do not bring
    wheels = tmp_path_factory.mktemp("wheels")
    python = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable
    venv = tmp_path_factory.mktemp("venv")
    subprocess.run([python, "-m", "venv", venv], check=True)
    wanted = re.search(r'install_requires=\["([^"]+)"', (EXAMPLES / "tensorflow/setup.py").read_text())[1]
    subprocess.run([venv / "bin/pip", "download", "-q", "--disable-pip-version-check", "--only-binary=:all:", "-d", wheels, wanted],
                   check=True, timeout=PATIENCE_S)
    wheels.chmod(0o755)
    with make_daemon("--offline", "--runtime", f"*={image}", "--wheels", wheels) as daemon:
        put(daemon, "train.csv", "".join(f"{x / 50},{3 * x / 50 + 1}\n" for x in range(-50, 50)).encode())
        cluster = dict(scaleTier="CUSTOM", masterType="n1-standard-4", workerType="n1-standard-4", workerCount=1)
        job = daemon.run(cluster | staged(daemon, "tensorflow") | dict(
            jobDir="gs://examples/run", args=["--data", "gs://examples/train.csv"]), timeout=PATIENCE_S)
        lines = [line for line in daemon.lines(job["jobId"]) if "2 replicas" in line]
        assert lines and all("y = 3." in line or "y = 2.9" in line for line in lines), daemon.lines(job["jobId"])[-40:]
        stored = [item["name"] for item in daemon.get("/storage/v1/b/examples/o", prefix="run/model/").json["items"]]
        assert "run/model/saved_model.pb" in stored, stored
