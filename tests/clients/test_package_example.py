# SPDX-License-Identifier: Apache-2.0
"""deploy/examples/package as its README describes it: from gs:// data to gs:// outputs, with Google's storage library in the
container, and continued from the last checkpoint."""
import json
import pathlib
import subprocess
import sys
import urllib.parse

import pytest

from support.daemon import Daemon
from support.engine import RUNTIME, ensure_runtime_images
from support.packages import sdist

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "deploy/examples"
PATIENCE_S = 300


@pytest.fixture(scope="module")
def example_yard(engine, make_daemon, tmp_path_factory):
    """A daemon whose wheels include google-cloud-storage, and whose replicas cannot reach other networks."""
    ensure_runtime_images(engine)
    venv, wheels = tmp_path_factory.mktemp("venv"), tmp_path_factory.mktemp("wheels")
    # Debian's Python, because the runtime image has the same.
    python = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable
    subprocess.run([python, "-m", "venv", venv], check=True)
    subprocess.run([venv / "bin/pip", "download", "-q", "--disable-pip-version-check", "--only-binary=:all:", "-d", wheels,
                    "google-cloud-storage"], check=True, timeout=PATIENCE_S)
    daemon = make_daemon("--offline", "--egress", "none", "--runtime", f"*={RUNTIME}", "--wheels", wheels).start()
    yield daemon
    daemon.stop()


def put(yard: Daemon, bucket, name, data):
    answer = yard.request("POST", f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={urllib.parse.quote(name, safe='')}",
                          data, {"Content-Type": "application/octet-stream"})
    assert answer.status == 200, answer


def objects(yard, bucket, prefix):
    items = yard.get(f"/storage/v1/b/{bucket}/o", prefix=prefix).json["items"]
    return [item["name"] for item in items]


@pytest.mark.long
def test_the_example_trains_from_storage_to_storage_and_goes_on(example_yard):
    folder = EXAMPLES / "package"
    files = {f"trainer/{name}": (folder / "trainer" / name).read_text() for name in ("__init__.py", "task.py")}
    put(example_yard, "digits", "trainer-0.1.tar.gz", sdist("trainer", files, (folder / "setup.py").read_text()))
    put(example_yard, "digits", "train.csv", (EXAMPLES / "digits/digits-train.csv").read_bytes())
    job_input = dict(region="us-central1", runtimeVersion="2.11", pythonVersion="3.7", pythonModule="trainer.task",
                     packageUris=["gs://digits/trainer-0.1.tar.gz"], jobDir="gs://digits/run",
                     args=["--data", "gs://digits/train.csv", "--epochs", "2"])
    example_yard.run(job_input, timeout=PATIENCE_S)
    assert objects(example_yard, "digits", "run/") == ["run/checkpoints/000001.json", "run/checkpoints/000002.json",
                                                       "run/model.json"]
    model = json.loads(example_yard.get("/storage/v1/b/digits/o/run%2Fmodel.json", alt="media").data)
    assert model["accuracy"] > 0.85

    again = example_yard.run(job_input | {"args": ["--data", "gs://digits/train.csv", "--epochs", "3"]}, timeout=PATIENCE_S)
    lines = example_yard.lines(again["jobId"])
    assert "goes on after epoch 2, from gs://digits/run/checkpoints/000002.json" in lines
    assert [line.split(":")[0] for line in lines if line.startswith("epoch ")] == ["epoch 3/3"]
