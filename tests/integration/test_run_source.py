# SPDX-License-Identifier: Apache-2.0
"""`trainyard run` without an existing image: for a Python package, and for a directory with a Dockerfile."""
import contextlib
import http.server
import json
import os
import tarfile
import threading

import pytest

from support.engine import IMAGE, RUNTIME, ensure_runtime_images
from support.marks import long
from support.verbs import on_terminal, started, verb

TASK = "import sys, helper_of_task\nprint(helper_of_task.WORD, *sys.argv[1:])\n"


@pytest.fixture(scope="module")
def packages_yard(engine, make_daemon, tmp_path_factory):
    """A daemon that pulls no images, and whose pip uses no index."""
    ensure_runtime_images(engine)
    wheels = tmp_path_factory.mktemp("wheels")
    wheels.chmod(0o755)
    daemon = make_daemon("--offline", "--stop-grace", "2", "--runtime", f"*={RUNTIME}", "--wheels", wheels).start()
    yield daemon
    daemon.stop()


def package(top, files):
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top


def ran(yard, *words):
    with started(yard, "run", "--project", yard.project, *words) as process:
        said, service = process.communicate(timeout=120)
    assert process.returncode == 0, service
    return said.strip(), service


def staged(yard):
    """The members of the package that was stored last."""
    [*_, newest] = sorted(verb(yard, "ls", "-r", "-o", "name", "gs://trainyard-staging").split(),
                          key=lambda name: verb(yard, "ls", "-l", name).split())
    verb(yard, "cp", newest, str(yard.directory / "package.tar.gz"))
    with tarfile.open(yard.directory / "package.tar.gz") as archive:
        return archive.getnames()


# Fails with: modules_pack() that packs no __init__.py of its own: no module named trainer. ml_body() without runtimeVersion.
@pytest.mark.parametrize("api", [long("vertex"), "ml"])
def test_a_folder_is_a_package(packages_yard, tmp_path, api):
    top = package(tmp_path, {
        "trainer/task.py": "from trainer import helper\nimport os, sys\nprint(helper.WORD, os.listdir(os.path.dirname(helper.__file__)).count('table.csv'), *sys.argv[1:])\n",
        "trainer/helper.py": "WORD = 'helped'\n", "trainer/table.csv": "1,2\n", "trainer/__pycache__/helper.cpython-311.pyc": "x",
        "trainer/.secret": "x"})
    said, _ = ran(packages_yard, "--api", api, "--package", str(top / "trainer"), "--", "--epochs=3")
    assert "helped 1 --epochs=3" in said.splitlines()
    names = staged(packages_yard)
    assert not [name for name in names if "pycache" in name or "secret" in name], names


@pytest.mark.long
def test_a_project_is_packed_as_its_setup_says(packages_yard, tmp_path):
    top = package(tmp_path, {
        "setup.py": "from setuptools import setup\nsetup(name='mine', version='1.0', packages=['trainer'], "
                    "py_modules=['helper_of_task'])\n",
        "trainer/__init__.py": "", "trainer/run.py": TASK, "helper_of_task.py": "WORD = 'beside'\n",
        "venv/pyvenv.cfg": "", "venv/lib/large.py": "", "build/lib/old.py": ""})
    for directory in (top, top / "trainer"):
        said, _ = ran(packages_yard, "--package", str(directory), "--module", "trainer.run", RUNTIME, "--", "a b")
        assert "beside a b" in said.splitlines()
    names = staged(packages_yard)
    assert not [name for name in names if "venv" in name or "build" in name], names


@pytest.mark.long
def test_where_a_package_is_staged(packages_yard, tmp_path):
    top = package(tmp_path, {"trainer/task.py": "print('ran')\n"})
    ran(packages_yard, "--gs", "gs://out/x", "--name", "placed", "--package", str(top / "trainer"))
    assert "gs://out/x/packages/placed/package.tar.gz" in verb(packages_yard, "ls", "-r", "-o", "name", "gs://out")


@pytest.mark.parametrize("words, said", [
    (["--package", "nosuch"], "--package: nosuch: No such file or directory"),
    (["--package", "two-words"], '"two-words" cannot be the name of a Python package'),
    (["--package", "empty"], "which module of empty is to run?"),
    (["--package", "trainer", "--module", "trainer.nosuch"], "there is no trainer.nosuch in"),
    (["--package", "trainer", "--module", "trainer/task.py"], "is not the name of a module"),
    (["--module", "trainer.task", IMAGE], "--module needs --package DIR"),
    (["--package", "trainer", "--image-build", "."], "cannot be combined"),
    (["--image-build", "empty"], "Dockerfile: No such file or directory"),
    ([], "which image?")])
def test_what_cannot_be_packed_is_wrong_usage(packages_yard, tmp_path, monkeypatch, words, said):
    package(tmp_path, {"trainer/task.py": "", "two-words/task.py": "", "empty/other.txt": ""})
    monkeypatch.chdir(tmp_path)
    assert said in verb(packages_yard, "run", *words, code=2)


# Fails with: fits() that looks at whole paths only: what is below an ignored directory was sent. leaves_out() that skips a
# directory though a later line keeps something in it. entry_put() without attributes: long names were cut.
def test_a_directory_is_built_and_run(yard, engine, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    long_name = "d" * 90 + "/" + "e" * 90 + "/" + "f" * 90
    top = package(tmp_path / "My Trainer", {
        "Dockerfile": f"FROM {IMAGE}\nCOPY . /context\nENTRYPOINT [\"/bin/sh\", \"-c\", \"cd /context; find . -type f -o -type l | sort; cat link\"]\n",
        ".dockerignore": "# not these\nsecret\n**/*.tmp\ndata/*\n!data/kept\n", "secret/key": "x", "a/b/c.tmp": "x", "a/b/c": "x",
        "data/left": "x", "data/kept": "x", long_name: "x", "text": "said by a file\n"})
    os.symlink("text", top / "link")
    try:
        said, _ = ran(yard, "--image-build", str(top))
        assert said.split("\n") == sorted(["./.dockerignore", "./Dockerfile", "./a/b/c", "./data/kept", f"./{long_name}", "./link",
                                           "./text"]) + ["said by a file"]
        assert verb(yard, "describe", "@last").count("my-trainer:latest")
        drawn, code = on_terminal(yard, "run", "--image-build", str(top), "my-trainer:two")
        assert code == 0 and "building my-trainer:two: Step 1/3" in drawn
    finally:
        for name in ("my-trainer:latest", "my-trainer:two"):
            engine.remove_image(name)


@contextlib.contextmanager
def another_engine():
    """A server that only answers which engine it is; records the requests."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            answer = json.dumps({"ID": "another", "DockerRootDir": "/another"}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_POST(self):
            asked.append(self.path)
            self.send_error(500)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"tcp://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def test_an_image_is_not_built_in_another_engine_than_the_daemons(yard, tmp_path, monkeypatch):
    """Fails with: engine_is() that returns true: the other engine got the context, and the job's image was not there."""
    package(tmp_path, {"Dockerfile": f"FROM {IMAGE}\n"})
    with another_engine() as (host, asked):
        monkeypatch.setenv("DOCKER_HOST", host)
        said = verb(yard, "run", "--image-build", str(tmp_path), code=125)
    assert "the daemon runs jobs in another one" in said and host in said
    assert asked and not [path for path in asked if "/build" in path], asked


def test_a_bad_pattern_of_dockerignore_is_told(yard, engine, tmp_path, monkeypatch):
    """Fails with: ignoring_read() without the outcome of pattern_add(): the image was built with what it was to leave out."""
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    package(tmp_path, {"Dockerfile": f"FROM {IMAGE}\n", ".dockerignore": "fine\n[unclosed\n"})
    assert f"{tmp_path}/.dockerignore: " in verb(yard, "run", "--image-build", str(tmp_path), code=2)


# Fails with: failure_report() without the builder's last lines: "The command … returned a non-zero code" alone says nothing.
def test_a_build_that_fails_says_why(yard, engine, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    package(tmp_path, {"Dockerfile": f"FROM {IMAGE}\nRUN echo the reason; exit 7\n"})
    with started(yard, "run", "--image-build", str(tmp_path)) as process:
        said, service = process.communicate(timeout=60)
    assert process.returncode == 125 and said == ""
    assert "could not be built: " in service and "non-zero code: 7" in service and "    the reason" in service, service
    (tmp_path / "Dockerfile").write_text("FRO nothing\n")
    assert "unknown instruction" in verb(yard, "run", "--image-build", str(tmp_path), code=125)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody")
    assert "the engine at unix://" in verb(yard, "run", "--image-build", str(tmp_path), code=125)
