# SPDX-License-Identifier: Apache-2.0
"""An engine in another network over TCP, with TLS and without, as GitLab's service docker:dind provides it to a job."""
import shutil

import pytest
import yaml

from support.daemon import ROOT, Daemon
from support.engine import ensure_test_images
from support.forms import Beside, FarGpuEngine
from support.gpus import race
from support.marks import long
from support.pages import Reader

pytestmark = pytest.mark.skipif(not shutil.which("openssl") or not shutil.which("ip"), reason="no openssl, or no ip, in PATH")
FORM_TLS = "TCP with TLS, port 2376"
FORM_PLAIN = "TCP, port 2375"


@pytest.fixture(scope="module", params=[FORM_TLS, long(FORM_PLAIN)])
def daemon(request, tmp_path_factory):
    engine = FarGpuEngine(tls=request.param == FORM_TLS)
    try:
        engine.start()
        ensure_test_images(engine)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in engine.variables.items():
                patch.setenv(name, value)
            with Daemon(tmp_path_factory.mktemp("dind"), engine, "--offline", "--gpus", "2") as found:
                found.form = request.param
                yield found
    finally:
        engine.delete()


def test_what_the_matrix_tells_is_so(daemon, cell):
    cell(daemon.form)


@pytest.mark.long
def test_a_daemon_beside_the_engine_never_has_a_gpu_at_the_same_time(daemon, tmp_path):
    """Their machines have nothing in common but the engine. Fails with: contest_of() that finds no contest: both jobs ran at
    once."""
    options = "--offline", "--gpus", "1", "--accelerators", "require"
    far = Daemon(tmp_path / "far", daemon.engine, *options, project="race-far")
    beside = Beside(tmp_path / "beside", daemon.engine, *options, "--engine", f"unix://{daemon.engine.path}", project="race-beside")
    with far, beside:
        race([far, beside], daemon.engine, 3)


@pytest.mark.long
def test_the_example_for_gitlab_runs(tmp_path):
    """Runs the example's script with the engine that its variables name; skips what it installs. Fails with: DOCKER_CERT_PATH
    left out of the example."""
    job = yaml.safe_load((ROOT / "deploy/examples/gitlab/train.yml").read_text())["train"]
    engine = FarGpuEngine(tls=True)
    try:
        engine.start()
        assert engine.variables.keys() <= job["variables"].keys() and job["services"] == ["docker:28-dind"]
        reader = Reader(tmp_path / "home", engine)
        reader.environment |= {name: engine.variables.get(name, value) for name, value in job["variables"].items()}
        (reader.home / "tests").mkdir()
        (reader.home / "test_nothing.py").rename(reader.home / "tests/test_nothing.py")
        assert "1 passed" in reader.type("\n".join(job["script"]))
        assert all(any((reader.home / path).iterdir()) for path in job["artifacts"]["paths"])
    finally:
        engine.delete()
