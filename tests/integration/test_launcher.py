# SPDX-License-Identifier: Apache-2.0
"""The launcher of Python-package jobs alone, in a home directory of its own, with a server in place of object storage. It
runs on this Python, or on the one that TRAINYARD_LAUNCHER_PYTHON names, for example 2.7."""
import base64
import hashlib
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

import pytest

from support.marks import long
from support.packages import in_order, sdist, trainer, wheel
from support.wait import wait_until

TEXT = (pathlib.Path(__file__).resolve().parents[2] / "scheduler/launcher/launcher.py").read_text()
TF_CONFIG = {"cluster": {"chief": ["127.0.0.1:2222"]}, "environment": "cloud", "task": {"type": "chief", "index": 0},
             "job": '{\n  "region": "us-central1"\n}'}


TRAINER = "gs://bucket/a dir/trainer-1.0-py2.py3-none-any.whl"
HELPER = "gs://bucket/helper-1.0-py2.py3-none-any.whl"


class Storage:
    """Objects by their gs:// names; each name may have failures to answer before the object."""

    def __init__(self):
        self.objects, self.faults, self.paths = {}, {}, []
        storage = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                storage.answer(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, handler):
        self.paths.append(handler.path)
        path, _, query = handler.path.partition("?")
        _, _, _, _, bucket, _, name = path.split("/")
        uri = f"gs://{bucket}/{urllib.parse.unquote(name)}"
        faults = self.faults.get(uri, [])
        fault = faults.pop(0) if faults else None
        data = self.objects.get(uri)
        if fault == "cut":
            handler.connection.close()
            return
        status = fault if isinstance(fault, int) else 200 if data is not None and query == "alt=media" else 404
        if status != 200:
            data = json.dumps({"error": {"message": f"No such object: {uri[5:]}" if status == 404 else "as asked"}}).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(data) + (fault == "short")))
        md5 = base64.b64encode(hashlib.md5(data if fault != "other" else b"").digest()).decode()
        handler.send_header("x-goog-hash", f"crc32c=AAAAAA==,md5={md5}")
        handler.end_headers()
        handler.wfile.write(data)


@pytest.fixture(scope="module")
def storage():
    found = Storage()
    yield found
    found.server.shutdown()


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python that has pip and accepts --user: a virtual environment, because Debian's Python has no pip of its own."""
    named = os.environ.get("TRAINYARD_LAUNCHER_PYTHON")
    if named:
        return named
    directory = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", directory], check=True)
    return str(directory / "bin/python")


# A pip for tests that are not about pip: puts a wheel where pip would, twenty times as fast.
UNPACK = ("import site, sys, zipfile\n"
          "zipfile.ZipFile(sys.argv[-1]).extractall(site.getusersitepackages())\n")


@pytest.fixture
def real_pip():
    """For tests about pip: uses the real pip, which is slow."""


@pytest.fixture
def launch(request, storage, python, tmp_path):
    """Runs the launcher. Packages and the module's arguments are its arguments; everything else is its environment."""
    storage.objects.clear()
    storage.faults.clear()
    storage.paths.clear()
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "work/json.py").write_text("raise SystemExit('a module of the working directory')")
    # The pip3 of exactly this Python, even if PATH has another one.
    (tmp_path / "bin").mkdir()
    (tmp_path / "unpack.py").write_text(UNPACK)
    pip = " -m pip" if "real_pip" in request.fixturenames else f" {tmp_path}/unpack.py"
    for name, words in (("python3", ""), ("pip3", pip)):
        script = tmp_path / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {python}{words} "$@"\n')
        script.chmod(0o755)

    class Launch:
        directory = tmp_path

        def start(self, packages, arguments=(), module="trainer.task", wheels=None, options=(), **environment):
            words = [*options, *(f"--package={p}" for p in packages)] + ([f"--wheels={wheels}"] if wheels else [])
            base = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "HOME": f"{tmp_path}/home",
                    "TMPDIR": f"{tmp_path}/tmp", "STORAGE_EMULATOR_HOST": storage.endpoint,
                    "TF_CONFIG": json.dumps(TF_CONFIG)}
            return subprocess.Popen([python, "-c", TEXT, "--python=python3", f"--module={module}", *words, "--",
                                     *arguments], env={**base, **environment}, cwd=tmp_path / "work",
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def __call__(self, *words, **more):
            process = self.start(*words, **more)
            out, err = process.communicate(timeout=120)
            self.stderr = err.decode()
            return process.returncode, out.decode()
    return Launch()


def test_the_steps_and_their_lines_are_those_of_the_service(launch, storage):
    storage.objects[HELPER] = wheel("helper", {"helper.py": "WORD = 'helped'"})
    storage.objects[TRAINER] = trainer("from __future__ import print_function\nimport helper, json, os, sys\n"
                                       "print(json.dumps([helper.WORD] + sys.argv[1:]))\nprint(os.getcwd())\n"
                                       "sys.stderr.write('to stderr\\n')\n", ["helper"])
    # The module runs in the container's directory, whose modules come first, as with python -m.
    (launch.directory / "work/json.py").unlink()
    status, out = launch([HELPER, TRAINER], ["--word", "$HOME; 'x'", "--job-dir", "gs://bucket/jobs"])
    assert status == 0, out + launch.stderr
    helper, name = (uri.rsplit("/", 1)[1] for uri in (HELPER, TRAINER))
    pip = "Running command: pip3 install --user "
    in_order([
        'Running task with arguments: --cluster={"chief": ["127.0.0.1:2222"]} --task={"type": "chief", "index": 0} '
        '--job={   "region": "us-central1" }',
        "Running module trainer.task.",
        "Downloading the package: " + HELPER, f"Running command: gsutil -q cp {HELPER} {helper}",
        "Downloading the package: " + TRAINER, f"Running command: gsutil -q cp {TRAINER} {name}",
        "Installing the package: " + HELPER,
        f"{pip}--upgrade --force-reinstall --no-deps {helper}", f"{pip}{helper}",
        "Installing the package: " + TRAINER,
        f"{pip}--upgrade --force-reinstall --no-deps {name}", f"{pip}{name}",
        "Running command: python3 -m trainer.task --word $HOME; 'x' --job-dir gs://bucket/jobs",
        '["helped", "--word", "$HOME; \'x\'", "--job-dir", "gs://bucket/jobs"]', str(launch.directory / "work"),
        "Module completed; cleaning up.", "Clean up finished.", "Task completed successfully."], out)
    assert out.endswith("Task completed successfully.\n")
    assert "to stderr\n" in launch.stderr and "to stderr" not in out
    assert storage.paths[1] == "/storage/v1/b/bucket/o/a%20dir%2Ftrainer-1.0-py2.py3-none-any.whl?alt=media"
    assert os.listdir(launch.directory / "tmp") == []


@pytest.mark.parametrize("task, is_first", [long("chief", True), ("workerpool0", True), ("workerpool1", False)])
def test_a_wrapper_tells_the_first_replica_that_it_is_the_master(launch, storage, task, is_first):
    storage.objects[TRAINER] = trainer("import os\nprint(os.environ.get('MASTER_ADDR'))")
    spec = {"cluster": {task: ["h:2222"]}, "environment": "cloud", "task": {"type": task, "index": 0}, "job": "{}"}
    status, out = launch([TRAINER], options=["--specification=CLUSTER_SPEC", "--wrapper=run_module.py"],
                         CLUSTER_SPEC=json.dumps(spec, separators=(",", ":")), MASTER_ADDR="there")
    assert status == 0, out + launch.stderr
    lines = out.splitlines()
    master = f"Updating master address to local address {socket.gethostname()}"
    assert lines[:2 + is_first] == [master] * is_first + [
        "Running run_module.py", f'Running task with arguments: --cluster={{"{task}": ["h:2222"]}} '
                                 f'--task={{"type": "{task}", "index": 0}} --job={{}}']
    assert (socket.gethostname() if is_first else "there") in lines, out


def test_the_working_directory_holds_no_module_of_the_launcher(launch, storage):
    storage.objects[TRAINER] = trainer("print('ran')")
    status, out = launch([TRAINER])
    assert status == 0 and "ran" in out.splitlines(), out + launch.stderr


@pytest.mark.long
def test_names_beyond_ascii_are_passed_as_they_are(launch, storage):
    uri = "gs://bucket/d\u00e9j\u00e0/trainer-1.0-py2.py3-none-any.whl"
    storage.objects[uri] = trainer("import sys\nassert sys.argv[1] in ('\\u00fc', '\\xc3\\xbc'), sys.argv")
    status, out = launch([uri], ["\u00fc"], LC_ALL="C.UTF-8")
    assert status == 0, out + launch.stderr
    assert "Running command: python3 -m trainer.task \u00fc" in out
    status, _ = launch(["gs://bucket/\u00e9"])
    assert status == 1 and "No URLs matched: gs://bucket/\u00e9 (No such object: bucket/" in launch.stderr


@pytest.mark.usefixtures("real_pip")
@pytest.mark.long
def test_a_source_distribution_is_built_without_an_index(launch, storage, python):
    """The package also names its build requirements, which pip would get from an index."""
    if subprocess.run([python, "-c", "import setuptools, wheel"], capture_output=True).returncode:
        pytest.skip("this Python has no setuptools and wheel to build with")
    (launch.directory / "wheels").mkdir()
    files = {"trainer/__init__.py": "", "trainer/task.py": "print('built')",
             "pyproject.toml": "[build-system]\nrequires = ['setuptools', 'wheel']\n"}
    storage.objects["gs://bucket/trainer-1.0.tar.gz"] = sdist("trainer", files)
    status, out = launch(["gs://bucket/trainer-1.0.tar.gz"], wheels=launch.directory / "wheels")
    assert status == 0 and "built" in out.splitlines(), out + launch.stderr


@pytest.mark.long
@pytest.mark.usefixtures("real_pip")
def test_dependencies_come_from_the_wheels_alone(launch, storage):
    wheels = launch.directory / "wheels"
    wheels.mkdir()
    storage.objects[TRAINER] = trainer("import helper\nprint(helper.WORD)", ["helper"])
    status, out = launch([TRAINER], wheels=wheels)
    assert status == 1 and "No matching distribution found for helper" in launch.stderr
    assert "Running command: python3 -m" not in out
    (wheels / HELPER.rsplit("/", 1)[1]).write_bytes(wheel("helper", {"helper.py": "WORD = 'helped'"}))
    status, out = launch([TRAINER], wheels=wheels)
    assert status == 0 and "helped" in out.splitlines(), out + launch.stderr


@pytest.mark.usefixtures("real_pip")
@pytest.mark.long
def test_packages_of_the_same_name_do_not_meet(launch, storage):
    other = "gs://other/" + TRAINER.rsplit("/", 1)[1]
    storage.objects[TRAINER] = trainer("print('first')")
    storage.objects[other] = trainer("print('last')")
    status, out = launch([TRAINER, other])
    assert status == 0 and "last" in out.splitlines() and "first" not in out.splitlines(), out + launch.stderr


def test_a_module_without_packages_is_run_too(launch):
    status, out = launch([], module="this")
    assert status == 0 and "Beautiful is better than ugly." in out
    assert "pip3" not in out


@pytest.mark.parametrize("task, status", [("raise SystemExit(3)", 3), long("raise ValueError('x')", 1),
                                          long("import os, signal\nos.kill(os.getpid(), signal.SIGABRT)", 134)])
def test_the_status_is_the_module_s(launch, storage, task, status):
    storage.objects[TRAINER] = trainer(task)
    got, out = launch([TRAINER])
    assert got == status, out + launch.stderr
    last = out.splitlines()[-3:]
    assert json.loads(last[0])["severity"] == "ERROR"
    assert "Module raised an exception" in last[0] and "-m" in last[0]
    assert last[1:] == ["Module completed; cleaning up.", "Clean up finished."]
    # stderr ends the job's errorMessage, so it must end with the program's own message
    assert "Module raised" not in launch.stderr


def test_a_module_that_is_not_there_fails(launch, storage):
    storage.objects[TRAINER] = trainer("")
    status, _ = launch([TRAINER], module="trainer.other")
    assert status == 1 and "No module named" in launch.stderr


def pip_replace(launch, words):
    """Puts another pip3 in place: it installs wheels if its arguments allow that."""
    script = launch.directory / "bin/pip3"
    last = script.read_text().splitlines()[-1]
    script.write_text(f"#!/bin/sh\n{words}\n{last}\n")


def test_what_pip_warns_of_is_not_why_a_module_failed(launch, storage):
    """Fails with: run_step() with run(): stderr, whose end is the job's errorMessage, began with the warnings."""
    pip_replace(launch, "echo 'WARNING: as root' >&2; printf 'DEPRECATION: \\351 no end' >&2")
    storage.objects[TRAINER] = trainer("raise ValueError('of the module')")
    status, out = launch([TRAINER])
    assert status == 1 and launch.stderr.startswith("Traceback ") and launch.stderr.endswith("ValueError: of the module\n")
    told = [json.loads(line)["message"] for line in out.splitlines() if line.startswith('{"severity": "ERROR"')]
    assert told[:4] == ["WARNING: as root", "DEPRECATION: \ufffd no end"] * 2, out


def test_a_step_that_fails_says_why_and_what_it_leaves_behind_stops_nobody(launch, storage):
    """Fails with: listen() that waits for the end of the pipe: half a minute."""
    pip_replace(launch, "sleep 30 >/dev/null & echo $! >../../pid; for i in $(seq 40); do echo line $i >&2; done; exit 3")
    storage.objects[TRAINER] = trainer("")
    began = time.monotonic()
    status, out = launch([TRAINER], TMPDIR=str(launch.directory / "tmp"))
    took_s = time.monotonic() - began
    os.kill(int((launch.directory / "tmp/pid").read_text()), signal.SIGKILL)
    lines = launch.stderr.splitlines()
    assert status == 1 and took_s < 15
    assert lines[:-1] == [f"line {i}" for i in range(26, 41)] and lines[-1].startswith("Command '['pip3',")
    assert [json.loads(x)["message"] for x in out.splitlines() if x.startswith("{")] == [f"line {i}" for i in range(1, 41)]


@pytest.mark.usefixtures("real_pip")
def test_what_pip_cannot_install_fails_with_its_words(launch, storage):
    uri = "gs://bucket/large.bin"
    storage.objects[uri] = b"not really a package"
    status, out = launch([uri])
    assert status == 1
    assert "large.bin" in launch.stderr and "Command '['pip3'," in launch.stderr
    assert out.endswith("Module completed; cleaning up.\nClean up finished.\n")
    assert os.listdir(launch.directory / "tmp") == []


@pytest.mark.usefixtures("real_pip")
def test_names_of_files_are_no_options_of_pip(launch, storage):
    storage.objects["gs://bucket/--version"] = b"x"
    status, out = launch(["gs://bucket/--version"])
    assert status == 1 and "--no-deps ./--version\n" in out


@pytest.mark.parametrize("uri", ["gs://bucket/dir/", "gs://bucket/..", "gs://bucket/a/."])
def test_a_uri_without_a_file_s_name_is_refused(launch, uri):
    status, _ = launch([uri])
    assert status == 1 and f"{uri} does not name a file" in launch.stderr


def test_a_missing_object_fails_at_once(launch, storage):
    status, out = launch(["gs://bucket/none.tar.gz"])
    assert status == 1
    assert "CommandException: No URLs matched: gs://bucket/none.tar.gz (No such object: bucket/none.tar.gz)" in launch.stderr
    assert len(storage.paths) == 1 and "Installing" not in out


@pytest.mark.parametrize("fault, words", [(503, "503 Service Unavailable: as asked"), long("cut", ""), long("short", "bytes came"),
                                          ("other", "MD5"), long(429, "429")])
def test_a_download_is_tried_again(launch, storage, fault, words):
    storage.objects[TRAINER] = trainer("print('ran')")
    storage.faults[TRAINER] = [fault]
    status, out = launch([TRAINER])
    assert status == 0 and "ran" in out.splitlines(), launch.stderr
    assert words in out and "trying again in 0.5 s" in out and not launch.stderr
    assert len(storage.paths) == 2


def test_a_refused_download_is_not_tried_again(launch, storage):
    storage.faults[TRAINER] = [403]
    status, _ = launch([TRAINER])
    assert status == 1 and f"{TRAINER} cannot be downloaded: 403 Forbidden: as asked" in launch.stderr


@pytest.mark.parametrize("endpoint, words", [("", "STORAGE_EMULATOR_HOST is not set"),
                                             ("ftp://x", "STORAGE_EMULATOR_HOST is ftp://x")])
def test_without_object_storage_it_says_so(launch, endpoint, words):
    status, _ = launch([TRAINER], STORAGE_EMULATOR_HOST=endpoint)
    assert status == 1 and words in launch.stderr


def test_an_endpoint_may_lack_its_scheme(launch, storage):
    storage.objects[TRAINER] = trainer("print('ran')")
    status, out = launch([TRAINER], STORAGE_EMULATOR_HOST=storage.endpoint[len("http://"):])
    assert status == 0 and "ran" in out.splitlines()


def read_until(process, line):
    for found in process.stdout:
        if found.decode().rstrip("\n") == line:
            return
    raise AssertionError(f"no line {line!r}: {process.stderr.read().decode()}")


def test_a_signal_reaches_the_module_which_may_finish(launch, storage):
    storage.objects[TRAINER] = trainer("import signal, sys\ndef end(*_):\n    print('saved')\n    sys.exit(%s)\n"
                                       "signal.signal(signal.SIGTERM, end)\nprint('ready')\nsys.stdout.flush()\n"
                                       "while True: signal.pause()\n" % 5)
    with launch.start([TRAINER]) as process:
        read_until(process, "ready")
        process.send_signal(signal.SIGTERM)
        out = process.stdout.read().decode()
        assert process.wait(30) == 5
    assert out == "saved\nModule completed; cleaning up.\nClean up finished.\n"


def test_a_module_that_a_signal_ends_has_its_status(launch, storage):
    storage.objects[TRAINER] = trainer("import signal, sys\nprint('ready')\nsys.stdout.flush()\nsignal.pause()\n")
    with launch.start([TRAINER]) as process:
        read_until(process, "ready")
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read().endswith(b"Clean up finished.\n")
        assert process.wait(30) == 143
    assert os.listdir(launch.directory / "tmp") == []


def test_a_signal_ends_a_download(launch, storage):
    storage.faults[TRAINER] = [503] * 9
    with launch.start([TRAINER]) as process:
        wait_until(lambda: len(storage.paths) > 1)
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read().endswith(b"Module completed; cleaning up.\nClean up finished.\n")
        assert process.wait(30) == 143


def test_much_output_is_passed_on_without_loss(launch, storage):
    storage.objects[TRAINER] = trainer("import sys\nfor i in range(200000): sys.stdout.write('%056d\\n' % i)\n")
    status, out = launch([TRAINER])
    assert status == 0
    numbers = [int(line) for line in out.splitlines() if len(line) == 56 and line.isdigit()]
    assert numbers == list(range(200000))


@pytest.mark.usefixtures("real_pip")
@pytest.mark.long
def test_a_user_without_a_home_can_install(launch, storage):
    storage.objects[TRAINER] = trainer("print('ran')")
    status, out = launch([TRAINER], HOME="/proc/none")
    assert status == 0 and "ran" in out.splitlines(), launch.stderr


def test_the_environment_of_pip_is_not_the_module_s(launch, storage):
    (launch.directory / "wheels").mkdir()
    storage.objects[TRAINER] = trainer("import os\nprint(sorted(k for k in os.environ if k.startswith('PIP_')))\n"
                                       "print('PYTHONUNBUFFERED' in os.environ)")
    status, out = launch([TRAINER], wheels=launch.directory / "wheels")
    assert status == 0 and "[]\nFalse\n" in out
