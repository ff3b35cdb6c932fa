# SPDX-License-Identifier: Apache-2.0
"""The example in deploy/examples/digits: clusters of processes on the loopback interface, in C and in Python."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import pytest

from support.marks import long

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "examples" / "digits"
PATIENCE_S = 300  # training computes, which can take minutes on a busy machine
FOR_EVER = "--epochs=100000"


@pytest.fixture(scope="session")
def c_trainer(tmp_path_factory):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    binary = tmp_path_factory.mktemp("trainer") / "trainer"
    subprocess.run([EXAMPLE / "build-images", binary], check=True, timeout=PATIENCE_S)
    return [str(binary)]


@pytest.fixture
def python_trainer():
    return [sys.executable, str(EXAMPLE / "python" / "trainer.py")]


@pytest.fixture(params=["c", pytest.param("python", marks=pytest.mark.long)])
def trainer(request):
    return request.getfixturevalue(f"{request.param}_trainer")


@pytest.fixture
def spawn(tmp_path):
    """Starts processes and kills them after the test."""
    started = []

    def start(command, *flags, spec=None):
        started.append(Process(command, flags, spec, tmp_path / f"process-{len(started)}"))
        return started[-1]

    yield start
    for process in started:
        process.end()


class Process:
    def __init__(self, command, flags, spec, path):
        environment = {key: value for key, value in os.environ.items() if key != "CLUSTER_SPEC"}
        if spec:
            environment["CLUSTER_SPEC"] = json.dumps(spec)
        path.mkdir()
        self.output_dir, self.out_path, self.err_path = path / "model", path / "out", path / "err"
        command = [*command, f"--data-dir={EXAMPLE}", f"--output-dir={self.output_dir}", *flags]
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.popen = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    @property
    def out(self):
        return self.out_path.read_text()

    @property
    def err(self):
        return self.err_path.read_text()

    def until(self, text):
        """Waits for @text on stdout; the process may end with it."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.out:
            ended = self.popen.poll() is not None
            assert text in self.out or not ended, f"ended without {text!r}: {self.out}{self.err}"
            assert time.monotonic() < deadline, f"no {text!r} in time: {self.out}{self.err}"
            time.sleep(0.01)

    def exit_code(self):
        return self.popen.wait(PATIENCE_S)

    def kill(self):
        self.popen.send_signal(signal.SIGKILL)
        self.popen.wait(PATIENCE_S)

    def end(self):
        if self.popen.poll() is None:
            self.kill()

    def losses(self):
        return [float(loss) for loss in re.findall(r"^(?:start|epoch .*): loss ([0-9.]+),", self.out, re.M)]

    def accuracy(self):
        return float(re.search(r"^final test accuracy ([0-9.]+) ", self.out, re.M)[1])

    @property
    def model(self):
        return self.output_dir / "model.bin"


def new_cluster(workers, ps):
    """Returns a function (type, index) -> CLUSTER_SPEC, all on free ports of loopback."""
    counts = {"master": 1, "worker": workers, "ps": ps}
    held = {role: [socket.create_server(("127.0.0.1", 0)) for _ in range(count)] for role, count in counts.items()}
    cluster = {role: [f"127.0.0.1:{one.getsockname()[1]}" for one in some] for role, some in held.items() if some}
    for one in sum(held.values(), []):
        one.close()
    return lambda role, index=0: {"cluster": cluster, "task": {"type": role, "index": index}, "environment": "cloud"}


def flags_for(command):
    return ["--epochs=10", "--batch", "16"] if command[0] == sys.executable else ["--epochs", "20", "--seed=3"]


def predict(command, data, model):
    done = subprocess.run([*command, "--predict", data, "--model", model], capture_output=True, text=True,
                          timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    return float(re.search(r"^accuracy ([0-9.]+) ", done.stdout, re.M)[1])


def assert_trained(master, command):
    assert master.exit_code() == 0, master.err
    losses = master.losses()
    assert losses[-1] < losses[0] / 2
    assert master.accuracy() >= 0.93
    assert predict(command, EXAMPLE / "digits-test.csv", master.model) == pytest.approx(master.accuracy(), abs=1e-4)


@pytest.mark.parametrize("workers, ps", [long(2, 1), (1, 0), (1, 3), long(0, 2)])
def test_a_cluster_learns(trainer, spawn, workers, ps):
    spec, flags = new_cluster(workers, ps), flags_for(trainer)
    servers = [spawn(trainer, *flags, spec=spec("ps", i)) for i in range(ps)]
    others = [spawn(trainer, *flags, spec=spec("worker", i)) for i in range(workers)]
    master = spawn(trainer, *flags, spec=spec("master"))
    assert_trained(master, trainer)
    assert [worker.exit_code() for worker in others] == [0] * workers
    assert [server.popen.poll() for server in servers] == [None] * ps, "parameter servers serve for ever"
    for server in servers:
        server.popen.terminate()
        assert server.exit_code() == 128 + signal.SIGTERM


def test_a_single_replica_learns_the_same_from_the_same_seed(trainer, spawn):
    flags = flags_for(trainer)
    alone = spawn(trainer, *flags, spec=new_cluster(0, 0)("master"))
    again = spawn(trainer, *flags)                               # runs without CLUSTER_SPEC
    assert_trained(alone, trainer)
    assert_trained(again, trainer)
    assert alone.losses() == again.losses()
    assert alone.model.read_bytes() == again.model.read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("roles", ["cpp", "pcc", "pcp"])
def test_both_languages_work_in_one_job(c_trainer, python_trainer, spawn, roles):
    commands = {"c": c_trainer, "p": python_trainer}
    ps, worker, master = (commands[role] for role in roles)
    spec = new_cluster(1, 1)
    spawn(ps, spec=spec("ps"))
    other = spawn(worker, "--epochs=10", spec=spec("worker"))
    chief = spawn(master, "--epochs=10", spec=spec("master"))
    assert_trained(chief, python_trainer if master is c_trainer else c_trainer)
    assert other.exit_code() == 0


def test_peers_may_start_late(trainer, spawn):
    spec, flags = new_cluster(1, 1), flags_for(trainer)
    master = spawn(trainer, *flags, spec=spec("master"))
    master.until("master 0: trains on")
    spawn(trainer, *flags, spec=spec("ps"))
    epochs = re.search(r"\d+", " ".join(flags))[0]
    master.until(f"epoch {epochs}/{epochs}:")
    worker = spawn(trainer, *flags, spec=spec("worker"))         # the master waits for this worker
    assert_trained(master, trainer)
    assert worker.exit_code() == 0


def test_a_worker_that_never_comes_is_a_warning(trainer, spawn):
    spec, flags = new_cluster(2, 0), flags_for(trainer) + ["--wait=1"]
    worker = spawn(trainer, *flags, "--wait=60", spec=spec("worker", 1))
    master = spawn(trainer, *flags, spec=spec("master"))
    assert master.exit_code() == 0, master.err
    assert worker.exit_code() == 0, worker.err
    entries = [json.loads(line) for line in master.out.splitlines() if line.startswith("{")]
    assert [(entry["severity"], entry.get("worker")) for entry in entries] == [("WARNING", 0), ("INFO", None)]


def test_a_peer_that_cannot_be_reached_ends_the_wait(trainer, spawn):
    worker = spawn(trainer, "--wait=1", spec=new_cluster(1, 1)("worker"))
    assert worker.exit_code() == 1
    assert re.search(r"^ps 0 \(127.0.0.1:\d+\) cannot be reached: .*refused", worker.err)


def test_a_worker_does_not_wait_for_ever_for_the_master(trainer, spawn):
    spec = new_cluster(1, 1)
    spawn(trainer, spec=spec("ps")).until("listens")
    worker = spawn(trainer, "--wait=1", spec=spec("worker"))
    assert worker.exit_code() == 1
    assert "the master has not come" in worker.err


def test_a_parameter_server_that_vanishes_fails_the_trainers(trainer, spawn):
    spec = new_cluster(1, 1)
    server = spawn(trainer, FOR_EVER, spec=spec("ps"))
    trainers = [spawn(trainer, FOR_EVER, spec=spec(role)) for role in ("master", "worker")]
    trainers[0].until("epoch 1/")
    trainers[1].until("has the first parameters")
    server.kill()
    for one in trainers:
        assert one.exit_code() == 1
        assert re.search(r"^ps 0 \(127.0.0.1:\d+\) vanished: ", one.err)


@pytest.mark.parametrize("ps", [0, 1])
def test_a_worker_that_vanishes_fails_the_master(trainer, spawn, ps):
    spec = new_cluster(1, ps)
    for i in range(ps):
        spawn(trainer, spec=spec("ps", i))
    master = spawn(trainer, "--epochs=2", spec=spec("master"))
    worker = spawn(trainer, FOR_EVER, spec=spec("worker"))
    worker.until("has the first parameters")
    worker.kill()
    assert master.exit_code() == 1
    assert "vanished before its share was done" in master.err


def test_a_master_that_vanishes_ends_the_parameter_server(trainer, spawn):
    spec = new_cluster(0, 1)
    server = spawn(trainer, FOR_EVER, spec=spec("ps"))
    master = spawn(trainer, FOR_EVER, spec=spec("master"))
    master.until("epoch 1/")
    master.kill()
    assert server.exit_code() == 1
    assert server.err.startswith("the master vanished: ")


def frame(kind, *words, count=None):
    return struct.pack(f">{2 + len(words)}I", kind, len(words) if count is None else count, *words)


GREETING = frame(1, 0x54594431, 1, 0)    # the first frame of worker 0


@pytest.mark.parametrize("attack", [
    b"GET / HTTP/1.0\r\n\r\n",
    frame(1, 0xbad, 1, 0),
    frame(1, 0x54594431, 2, 0),
    frame(1, 0x54594431, 1, 7),
    frame(1, 0x54594431, 0xffffffff, 0),
    frame(1, count=0xffffffff),
    GREETING + frame(4, count=0xffffffff),
    GREETING + frame(4, 1, 2, 3),
    GREETING + frame(2, 1, 2, 3),
    GREETING + frame(77),
], ids=range(10))
def test_a_parameter_server_survives_nonsense(trainer, spawn, attack):
    spec = new_cluster(1, 1)
    server = spawn(trainer, spec=spec("ps"))
    server.until("listens")
    address = spec("ps")["cluster"]["ps"][0].split(":")

    def talk(request):
        with socket.create_connection(address, timeout=PATIENCE_S) as sock:
            sock.sendall(request)
            answer = b""
            try:
                while part := sock.recv(4096):
                    answer += part
            except ConnectionResetError:
                pass
            return answer

    assert talk(attack) in (b"", frame(7)), "the nonsense is not answered"
    assert server.popen.poll() is None
    # A well-behaved worker is still served: PULL is NOT_READY, BYE is OK.
    assert talk(GREETING + frame(3) + frame(6)) == frame(7) + frame(9) + frame(7)


@pytest.mark.parametrize("flags", [
    ["--unknown"], ["--epochs"], ["--epochs=0"], ["--epochs=many"], ["--batch", "-1"], ["--learning-rate=0"],
    ["--hidden=99999"], ["argument"], ["--predict=x.csv"],
], ids=" ".join)
def test_wrong_flags_exit_with_2(trainer, spawn, flags):
    process = spawn(trainer, *flags)
    assert process.exit_code() == 2
    assert process.err and not process.out


@pytest.mark.parametrize("spec", [
    [], {}, {"cluster": {"master": ["h:1"]}}, {"cluster": {"master": ["h"]}, "task": {"type": "master", "index": 0}},
    {"cluster": {"master": ["h:99999"]}, "task": {"type": "master", "index": 0}},
    {"cluster": {"master": ["h:1"]}, "task": {"type": "master", "index": 1}},
    {"cluster": {"master": ["h:1"]}, "task": {"type": "evaluator", "index": 0}},
    {"cluster": {"worker": ["h:1"]}, "task": {"type": "worker", "index": 0}},
], ids=range(8))
def test_a_cluster_spec_without_sense_fails(trainer, tmp_path, spec):
    done = subprocess.run(trainer, env={**os.environ, "CLUSTER_SPEC": json.dumps(spec)}, cwd=tmp_path,
                          capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 1
    assert done.stderr.startswith("CLUSTER_SPEC: ")


def test_a_loss_that_does_not_fall_is_a_failure(trainer, spawn):
    process = spawn(trainer, "--epochs=1", "--learning-rate=1000")
    assert process.exit_code() == 1
    assert "the loss did not fall" in process.err


@pytest.mark.parametrize("form", [["--job-dir={}"], ["--job-dir", "{}"]], ids=["=", "next"])
def test_job_dir_is_taken_in_both_forms(trainer, spawn, tmp_path, form):
    process = spawn(trainer, "--epochs=1", *(part.format(tmp_path / "a" / "b") for part in form))
    assert process.exit_code() == 0, process.err
    assert (tmp_path / "a" / "b" / "model.bin").exists()


def test_a_cloud_storage_job_dir_is_reported_and_not_used(trainer, spawn):
    process = spawn(trainer, "--epochs=1", "--job-dir", "gs://bucket/\"quoted\"")
    assert process.exit_code() == 0, process.err
    entry = json.loads(process.out.splitlines()[0])
    assert entry["severity"] == "WARNING" and entry["jobDir"] == "gs://bucket/\"quoted\""
    assert process.model.exists()


def test_an_output_dir_that_cannot_be_written_is_a_failure(trainer, spawn, tmp_path):
    (tmp_path / "file").touch()
    process = spawn(trainer, "--epochs=1", f"--output-dir={tmp_path}/file/model")
    assert process.exit_code() == 1
    assert "file/model" in process.err


@pytest.mark.parametrize("as_json", [False, True], ids=["lines", "entries"])
def test_the_printed_model_is_recovered_from_a_log(trainer, spawn, tmp_path, as_json):
    process = spawn(trainer, "--epochs=1", "--print-model")
    assert process.exit_code() == 0
    lines = process.out.splitlines()[::-1]                       # a log may come newest first
    lines[3:3] = ["worker 0: a line of another replica"]
    log = json.dumps({"entries": [{"textPayload": line} for line in lines]}, indent=1) if as_json else "\n".join(lines)
    done = subprocess.run([EXAMPLE / "read-model", tmp_path / "copy"], input=log, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0
    assert (tmp_path / "copy").read_bytes() == process.model.read_bytes()

    without_one = re.sub(r"model 2/", "other 2/", log)
    done = subprocess.run([EXAMPLE / "read-model", tmp_path / "copy"], input=without_one, text=True,
                          capture_output=True, timeout=PATIENCE_S)
    assert done.returncode == 1 and "no whole model" in done.stderr


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b + b"x", lambda b: b"X" + b[1:],
                                    lambda b: b[:8] + b"\xff" * 4 + b[12:], lambda b: b[:5]], ids=range(5))
def test_a_damaged_model_is_refused(trainer, spawn, tmp_path, damage):
    process = spawn(trainer, "--epochs=1", "--hidden=4", "--learning-rate=0.01")
    assert process.exit_code() == 0, process.err
    (tmp_path / "damaged").write_bytes(damage(process.model.read_bytes()))
    done = subprocess.run([*trainer, "--predict", EXAMPLE / "digits-test.csv", "--model", tmp_path / "damaged"],
                          capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 1 and "damaged: " in done.stderr


def test_the_job_is_what_the_trainer_and_the_images_take(trainer, spawn):
    job = json.loads((EXAMPLE / "job.json").read_text())["trainingInput"]
    process = spawn(trainer, *job["args"], "--epochs=1", "--augment=0")
    assert process.exit_code() == 0, process.err
    images = {job[f"{pool}Config"]["imageUri"] for pool in ("master", "worker", "parameterServer")}
    assert images == {f"trainyard-demo-{role}:1" for role in ("master", "worker", "ps")}
    assert all((EXAMPLE / f"Dockerfile.{role}").exists() for role in ("master", "worker", "ps"))


def test_the_sources_compile_without_warnings(tmp_path):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    subprocess.run(["cc", "-std=gnu17", "-O2", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only",
                    *EXAMPLE.glob("*.c")], check=True, timeout=PATIENCE_S)
