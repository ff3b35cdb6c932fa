# SPDX-License-Identifier: Apache-2.0
"""deploy/pytest: the fixture `trainyard`, in a separate pytest and on the real engine."""
import os
import re
import signal
import subprocess
import sys

import pytest

from support.daemon import ROOT, program
from support.engine import IMAGE
from support.marks import long
from support.wait import wait_until

TESTS = f"""
import os, pytest
IMAGE = "{IMAGE}"

def test_a_job_runs(trainyard):
    out = trainyard.gs("made/first")
    (out / "in").write_text("given")
    job = trainyard.run(IMAGE, "sh", "-c", "echo $WORD and $0", "more", env={{"WORD": "this"}}, gs=out)
    assert job.state == "SUCCEEDED" and trainyard.job("@last").id == job.id == trainyard.job(job.name).id
    assert "this and more" in [line["message"] for line in trainyard.logs(job)]
    assert (out / "in").read_text() == "given" and (out / "in").exists() and not (out / "none").exists()
    assert [str(o) for o in out.list()] == ["gs://made/first/in"]
    assert os.environ["TRAINYARD_ENDPOINT"] == trainyard.endpoint and trainyard.grpc.startswith("localhost:")
    assert os.environ["CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM"]

def test_a_fault_ends_with_its_test(trainyard):
    trainyard.fault("httpStatus", method="aiplatform.*.customJobs.create", httpStatus=503)
    with pytest.raises(Exception, match="exit code"):
        trainyard.run(IMAGE, "true")

def test_the_clock_goes_on(trainyard):
    before = trainyard.now()
    trainyard.advance("7d")
    assert trainyard.now() > before
    job = trainyard.run(IMAGE, "sleep", "100", detach=True).wait(state="RUNNING")
    job.cancel().wait(state="CANCELLED")

def test_a_job_fails(trainyard):
    trainyard.run(IMAGE, "sh", "-c", "echo the disk is full; exit 3")
"""


@pytest.fixture
def inner(engine, tmp_path):
    (tmp_path / "test_inner.py").write_text(TESTS)
    places = tmp_path / "places"
    places.mkdir()

    def command(*words, **variables):
        environment = {**os.environ, "TRAINYARD": program(), "DOCKER_HOST": engine.host, "TMPDIR": str(places),
                       "PYTHONPATH": str(ROOT / "deploy/pytest"), "TRAINYARD_OFFLINE": "true", "TRAINYARD_STOP_GRACE": "1", **variables}
        environment.pop("TRAINYARD_ENDPOINT", None)
        return [sys.executable, "-B", "-m", "pytest", "-p", "pytest_trainyard", "-p", "no:cacheprovider", "-q", *words], environment

    command.places, command.path = places, tmp_path
    return command


def run(inner, *words, before=(), **variables):
    command, environment = inner(*words, **variables)
    return subprocess.run([*before, *command], env=environment, cwd=inner.path, capture_output=True, text=True, timeout=120)


def nothing_is_left(inner):
    return not [path for path in inner.places.iterdir() if path.name.startswith("trainyard-exec")]


@pytest.mark.parametrize("scope", [long("session"), "function"])
def test_the_fixture_runs_jobs_and_a_failed_tests_logs_are_reported(inner, scope):
    """Fails with: _faults_end() left out: the next test's job was refused. A report without the section."""
    done = run(inner, "-o", f"trainyard_scope={scope}")
    assert "1 failed, 3 passed" in done.stdout, done.stdout[-6000:]
    assert re.search(r"-+ trainyard job .*, FAILED -+", done.stdout), done.stdout
    assert "workerpool0-0: the disk is full" in done.stdout and "exit" in done.stdout
    assert nothing_is_left(inner)


@pytest.mark.long
def test_behind_exec_the_fixture_uses_its_daemon(inner):
    done = run(inner, "-k", "a_job_runs", before=[program(), "exec", "--"])
    assert "1 passed" in done.stdout, done


def test_a_program_that_is_not_there_is_told(inner):
    done = run(inner, "-k", "a_job_runs", TRAINYARD="/nonexistent/trainyard")
    assert "/nonexistent/trainyard is not found" in done.stdout and "1 error" in done.stdout, done


def test_nothing_stays_of_a_killed_pytest(inner):
    """Fails with: a holder that waits for nothing, or for ever."""
    (inner.path / "test_inner.py").write_text("import time\ndef test_long(trainyard):\n    print('SERVES', flush=True)\n    time.sleep(600)\n")
    command, environment = inner("-s")
    with subprocess.Popen(command, env=environment, cwd=inner.path, stdout=subprocess.PIPE, text=True) as process:
        assert any("SERVES" in line for line in process.stdout)
        assert not nothing_is_left(inner)
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: nothing_is_left(inner), 60)
