# SPDX-License-Identifier: Apache-2.0
"""Jobs in each form of use (docs/engines.md), against the same calls without a daemon on the same engine."""
import contextlib
import functools
import os
import pathlib
import tempfile

from engine_floor import MASTER_RUNS_S, Raw
from measure import bench, job_body, median, row, run_job, serving
from support.engine import GpuEngine, ensure_test_images
from support.far_engine import SSH_HOST, ssh_make
from support.forms import Beside, ContainedThere, FarGpuEngine
from support.podman import podman_start
from support.rootless import RootlessDaemon, rootless_docker_start, rootless_podman_start


@contextlib.contextmanager
def variables(more):
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@contextlib.contextmanager
def started(engine):
    engine.start()
    try:
        yield engine
    finally:
        engine.delete()


@contextlib.contextmanager
def found(start):
    """Starts an engine that may not be installed; None: prints why it is missing."""
    engine, problem = start()
    try:
        if problem:
            print(f"not measured: {problem}")
        yield engine
    finally:
        if engine:
            engine.delete()


@contextlib.contextmanager
def beside(place):
    with started(GpuEngine()) as engine, Beside(place, engine, "--offline") as daemon:
        yield daemon


@contextlib.contextmanager
def contained(place):
    with started(GpuEngine()) as engine:
        ensure_test_images(engine)
        daemon = ContainedThere(place, engine, "--offline")
        try:
            yield daemon.start()
            daemon.stop()
        finally:
            daemon.delete()


@contextlib.contextmanager
def tcp_with_tls(_):
    with started(FarGpuEngine()) as engine, variables(engine.variables), serving(engine, more=["--offline"]) as daemon:
        yield daemon


@contextlib.contextmanager
def by_ssh(place):
    with started(GpuEngine()) as engine, variables(ssh_make(place / "bin", engine)):
        with serving(engine, more=["--offline", "--engine", SSH_HOST]) as daemon:
            yield daemon


@contextlib.contextmanager
def on_podman(_):
    with found(podman_start) as engine:
        if engine:
            with serving(engine, more=["--offline"]) as daemon:
                yield daemon
        else:
            yield None


def rootless(start):
    @contextlib.contextmanager
    def form(_):
        with found(start) as engine:
            if engine:
                with RootlessDaemon(engine, "--offline") as daemon:
                    yield daemon
            else:
                yield None
    return form


def measure(form, open_form, options):
    with tempfile.TemporaryDirectory(prefix="tyf", dir="/tmp") as place, open_form(pathlib.Path(place)) as daemon:
        if not daemon:
            return
        ensure_test_images(daemon.engine)
        raw, one, sixteen = Raw(daemon.engine, options.image), ([], []), ([], [])
        for i in range(options.rounds):
            one[0].append(raw.one(i) * 1000)
            one[1].append(run_job(daemon, job_body(f"one_{i}", options.image, ["true"])) * 1000)
            sixteen[0].append(min(raw.many(f"{i}-{width}", 16, width) for width in (4, 16)) * 1000)
            sixteen[1].append(run_job(daemon, job_body(f"sixteen_{i}", options.image, ["sleep", str(MASTER_RUNS_S)], 15)) * 1000)
    row(f"{form}: job of 1 replica", median(one[1]), "ms", median(one[0]), 1.2, 1.0)
    row(f"{form}: job of 16 replicas", median(sixteen[1]), "ms", median(sixteen[0]), 1.2, 1.0)


FORMS = {"beside": beside, "contained": contained, "tcp": tcp_with_tls, "ssh": by_ssh, "podman": on_podman,
         "rootless-docker": rootless(rootless_docker_start), "rootless-podman": rootless(rootless_podman_start)}
for name, way in FORMS.items():
    bench(f"form-{name}", engine=True)(functools.partial(measure, name, way))
