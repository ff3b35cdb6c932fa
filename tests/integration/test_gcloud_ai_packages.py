# SPDX-License-Identifier: Apache-2.0
"""`gcloud ai custom-jobs create` with local-package-path: gcloud builds an image with the `docker` that it finds, pushes it
and creates a job that runs it."""
import contextlib
import os
import shutil

import pytest

from support.engine import RUNTIME, build_image, ensure_runtime_images
from support.gcloud import gcloud_for, needs_gcloud
from support.packages import wheel
from support.registry import Registry
from support.vertex import REGION, Vertex

DOCKER = shutil.which("docker")
pytestmark = [needs_gcloud, pytest.mark.long, pytest.mark.skipif(not DOCKER, reason="no docker in PATH")]

PREBUILT = "us-docker.pkg.dev/vertex-ai/training/scikit-learn-cpu.1-6:trainyard-test"
SHELL = "trainyard-test-shell:1"
FILE = "-1.0-py2.py3-none-any.whl"
# gcloud pushes only to Google's registries. This `docker` redirects such a push to the test's registry, and then removes the
# image from the engine.
PUSHING = """#!/bin/sh
[ "$1" = push ] || exec {docker} "$@"
copy=127.0.0.1:{port}/${{2#*/}}
{docker} tag "$2" "$copy" && {docker} push "$copy" && {docker} rmi "$copy" "$2"
"""
KEEPING = """#!/bin/sh
[ "$1" = push ] || exec {docker} "$@"
"""


@pytest.fixture(scope="module")
def base(engine):
    """An image like those of the service; its pip has an index of two wheels and reaches no other index."""
    ensure_runtime_images(engine)
    build_image(engine, PREBUILT, {
        "Dockerfile": (f"FROM {RUNTIME}\nENV PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels PIP_NO_BUILD_ISOLATION=0\n"
                       "COPY *.whl /wheels/\n").encode(),
        **{name + FILE: wheel(name, {f"{name}.py": f"WORD = 'of the {name}'"}) for name in ("index", "listed")}})
    yield PREBUILT
    engine.remove_image(PREBUILT)


@pytest.fixture(scope="module")
def shell(engine):
    """A small image with the programs that run scripts."""
    engine.import_image(SHELL, {"bin/bash": b'#!/bin/sh\nexec sh "$@"\n'})
    yield SHELL
    engine.remove_image(SHELL)


@contextlib.contextmanager
def gcloud_with(docker, yard, engine, directory, recording):
    """A gcloud that finds this program as `docker`."""
    path = directory / "bin" / "docker"
    path.parent.mkdir()
    path.write_text(docker)
    path.chmod(0o755)
    with contextlib.ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", str(path.parent), prepend=os.pathsep)
            patch.setenv("DOCKER_HOST", engine.host)
            found = stack.enter_context(gcloud_for(yard, directory, recording))
        yield found


@pytest.fixture(scope="module")
def registry():
    with Registry() as found:
        yield found


@pytest.fixture(scope="module")
def pulling_yard(make_daemon, registry):
    daemon = make_daemon("--stop-grace", "2", "--image-map", f"gcr.io/*=127.0.0.1:{registry.port}/*").start()
    yield daemon
    daemon.stop()


@pytest.fixture(scope="module")
def pushing(pulling_yard, engine, registry, recording, tmp_path_factory):
    docker = PUSHING.format(docker=DOCKER, port=registry.port)
    with gcloud_with(docker, pulling_yard, engine, tmp_path_factory.mktemp("pushing"), recording) as found:
        yield found


@pytest.fixture(scope="module")
def keeping(yard, engine, recording, tmp_path_factory):
    with gcloud_with(KEEPING.format(docker=DOCKER), yard, engine, tmp_path_factory.mktemp("keeping"), recording) as found:
        yield found


def folder(directory, files):
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return directory


def create(gcloud, yard, name, *words, track=()):
    """Runs gcloud; returns the job that it created, and its output, in which its `docker` writes to stdout as well."""
    done = gcloud.run(*track, "ai", "custom-jobs", "create", "--display-name", name, "--region", REGION, *words, timeout=300)
    vertex = Vertex(yard)
    return vertex.until(vertex.list(filter=f"display_name={name}")["customJobs"][0]["name"], "JOB_STATE_SUCCEEDED"), done


def images(job):
    return [pool["containerSpec"]["imageUri"] for pool in job["jobSpec"]["workerPoolSpecs"] if pool]


def lines(yard, job):
    return yard.lines(job["name"].rpartition("/")[2], "workerpool0-0")


def test_a_module_is_packed_with_what_it_needs_and_found_in_the_engine(keeping, yard, engine, base, tmp_path):
    sources = folder(tmp_path / "sources", {
        "trainer/__init__.py": "", "trainer/task.py": "import sys, extra, index, listed\n"
        "print(extra.WORD, index.WORD, listed.WORD, open('words/said').read(), *sys.argv[1:])\n",
        "requirements.txt": "listed\n", "parts/extra" + FILE: wheel("extra", {"extra.py": "WORD = 'of the extra'"}),
        "words/said": "of a folder", "others/said": "not asked for"})
    spec = (f"machine-type=n1-standard-4,replica-count=1,local-package-path={sources},executor-image-uri={base},"
            "python-module=trainer.task,requirements=index,extra-packages=parts/extra" + FILE + ",extra-dirs=words;parts,"
            "output-image-uri=europe-docker.pkg.dev/my-project/training/packed:1")
    job, done = create(keeping, yard, "packed", "--worker-pool-spec=" + spec, "--args=--epochs=3,last")
    image, = images(job)
    engine.remove_image(image)
    assert image == "europe-docker.pkg.dev/my-project/training/packed:1"
    assert f"Custom container image [{image}] is created for your custom job" in done.stderr
    # Fails with: deploy/runtime/Dockerfile without PIP_BREAK_SYSTEM_PACKAGES
    assert lines(yard, job) == ["of the extra of the index of the listed of a folder --epochs=3 last"]


def test_a_script_is_packed_pushed_and_pulled_for_every_pool(pushing, pulling_yard, engine, registry, shell, tmp_path):
    sources = folder(tmp_path / "sources", {"run.sh": 'echo "$0 in $PWD with $*"'})
    spec = f"machine-type=n1-standard-4,local-package-path={sources},executor-image-uri={shell},script=run.sh"
    job, _ = create(pushing, pulling_yard, "script", "--worker-pool-spec=" + spec, "--worker-pool-spec=",
                    "--worker-pool-spec=machine-type=n1-highmem-2,replica-count=2", "--args=one,two", track=["beta"])
    (image, other), pools = images(job), job["jobSpec"]["workerPoolSpecs"]
    pushed = image.removeprefix("gcr.io/")
    engine.remove_image(f"127.0.0.1:{registry.port}/{pushed}")
    repository, _, tag = pushed.partition(":")
    assert repository == f"{pulling_yard.project}/cloudai-autogenerated/script" and (repository, tag) in registry.manifests
    assert image == other and pools[1] == {} and pools[2]["machineSpec"] == {"machineType": "n1-highmem-2"}
    # Fails with: the `docker` that leaves the push out ("manifest unknown")
    assert lines(pulling_yard, job) == ["run.sh in /usr/app with one two"]
