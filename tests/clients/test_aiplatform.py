# SPDX-License-Identifier: Apache-2.0
"""Google's libraries for Vertex AI, by REST and by gRPC, and plain HTTP. REST goes through support/recorder.py. Each test of
each script is reported under its name.

Their environment is what `trainyard env` prints; only the endpoint is given in addition."""
import concurrent.futures
import pathlib
import re

import pytest

from support.engine import RUNTIME, ensure_runtime_images
from support.marks import long
from support.packages import trainer
from support.scripts import run_in_environment, run_script

HERE = pathlib.Path(__file__).parent
SCRIPTS = {"aiplatform_node.js": "aiplatform-node", "aiplatform_python.py": "aiplatform-python", "aiplatform_http.py": "http"}
IMPORTED = {"aiplatform_python.py": ["aiplatform_training_python.py"]}  # scripts whose tests another script runs as well


def names(script):
    text = "\n".join((HERE / each).read_text() for each in [*IMPORTED.get(script, ()), script])
    if script.endswith(".js"):
        return re.findall(r"^  async '([^']+)'\(\)", text, re.MULTILINE)
    return [name.replace("_", " ") for tests in re.findall(r"(?s)^TESTS = \[(.*?)\]", text, re.M) for name in re.findall(r"\w+", tests)]


@pytest.fixture(scope="module")
def vertex_yard(engine, make_daemon, tmp_path_factory):
    """A daemon for each transport. Images of Vertex AI are replaced by the local runtime image, where pip uses no index."""
    ensure_runtime_images(engine)
    daemons = {transport: make_daemon("--offline", "--stop-grace", "2", "--grpc", "127.0.0.1:0",
                                      "--wheels", tmp_path_factory.mktemp("wheels"),
                                      "--image-map", f"us-docker.pkg.dev/vertex-ai/training/*={RUNTIME}:latest").start()
               for transport in ("rest", "grpc")}
    yield daemons
    for daemon in daemons.values():
        daemon.stop()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A package for the scripts' jobs; it is uploaded to a bucket."""
    path = tmp_path_factory.mktemp("package") / "trainer-1.0-py3-none-any.whl"
    path.write_bytes(trainer("import sys\nassert sys.argv[1:] == ['--epochs', '3'], sys.argv\n"))
    return {"TRAINER_WHEEL": str(path)}


@pytest.fixture(scope="module")
def results(request, recording, vertex_yard, wheel):
    """Runs the scripts of the selected tests one after the other, and both transports in parallel, since they mostly
    wait."""
    def run(script, transport):
        daemon = vertex_yard[transport]
        if transport == "grpc":
            return run_in_environment(daemon, SCRIPTS[script], script, TRAINYARD_ENDPOINT=f"localhost:{daemon.grpc_port}", **wheel)
        return run_script(recording, daemon, SCRIPTS[script], script, daemon.client_environment() | wheel)

    tests = [item.callspec.params for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    with concurrent.futures.ThreadPoolExecutor(1) as rest, concurrent.futures.ThreadPoolExecutor(1) as grpc:
        pools = {"rest": rest, "grpc": grpc}
        keys = dict.fromkeys((test["script"], test["transport"]) for test in tests)
        started = {key: pools[key[1]].submit(run, *key) for key in keys}
        yield lambda *key: started[key].result()


def transports(script):
    return ["rest"] if SCRIPTS[script] == "http" else ["rest", "grpc"]


# Without --long, gRPC is tested with one library only.
@pytest.mark.parametrize("script, name, transport", [
    (long if (SCRIPTS[script], transport) == ("aiplatform-python", "grpc") else pytest.param)(script, name, transport)
    for script in SCRIPTS for name in names(script) for transport in transports(script)])
def test_client(results, script, name, transport):
    found, errors = results(script, transport)
    assert name in found, f"did not run: {errors}"
    assert found[name] is None, found[name]
