# SPDX-License-Identifier: Apache-2.0
"""`trainyard exec -- COMMAND`: a daemon for one command, of which nothing stays."""
import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest

from support.daemon import program
from support.engine import IMAGE
from support.wait import wait_until

# What stands for a user's test: it submits a job that would run for ever, says what it sees, and does as it is told.
SUBMIT = """
import json, os, sys, time, urllib.request
base = os.environ["TRAINYARD_ENDPOINT"]
name = os.environ["TMPDIR"].strip("/").replace("/", "_").replace("-", "_")
job = {"jobId": name, "trainingInput": {"scaleTier": "BASIC", "region": "us-central1", "masterConfig": {
    "imageUri": IMAGE, "containerCommand": ["sh", "-c", "while :; do sleep 0.1; done"]}}}
def ask(path, body=None):
    request = urllib.request.Request(base + path, json.dumps(body).encode() if body else None, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))
ask("/v1/projects/demo/jobs", job)
while ask("/v1/projects/demo/jobs/" + name)["state"] != "RUNNING":
    time.sleep(0.05)
print(json.dumps({"endpoint": base, "environment": dict(os.environ)}), flush=True)
"""
SUBMIT = SUBMIT.replace("IMAGE", json.dumps(IMAGE))
WAIT = "\nsys.stdin.read()\n"


@pytest.fixture
def place(tmp_path):
    """Where the state directories of these daemons are made."""
    path = tmp_path / "places"
    path.mkdir()
    return path


def command(*words, options=()):
    return [program(), "exec", "--offline", "--stop-grace", "1", *options, "--", *words]


def environment(engine, place):
    return {**os.environ, "DOCKER_HOST": engine.host, "TMPDIR": str(place)}


def executed(engine, place, *words, options=(), code=0, **settings):
    done = subprocess.run(command(*words, options=options), capture_output=True, text=True, timeout=60,
                          env=environment(engine, place), **settings)
    assert done.returncode == code, done
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done


def started(engine, place, *words):
    """The program, and what its command said: its job runs."""
    process = subprocess.Popen(command(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env=environment(engine, place), start_new_session=True)
    return process, json.loads(process.stdout.readline())


def nothing_is_left(engine, place):
    job = str(place).strip("/").replace("/", "_").replace("-", "_")
    return not engine.containers(f"trainyard.job_id={job}") and not list(place.iterdir())


def test_a_command_has_a_daemon_and_nothing_of_it_stays(engine, place):
    """Broken: clean_quietly() left out of daemon_main(): the directory stayed. stop_jobs left out: a container stayed."""
    done = executed(engine, place, sys.executable, "-c", SUBMIT)
    said = json.loads(done.stdout)
    assert said["environment"]["CLOUDSDK_API_ENDPOINT_OVERRIDES_ML"] == said["endpoint"] + "/"
    assert said["environment"]["TRAINYARD_GRPC_ENDPOINT"].startswith("localhost:")
    with pytest.raises(OSError):
        urllib.request.urlopen(said["endpoint"] + "/healthz", timeout=5)
    assert nothing_is_left(engine, place)


@pytest.mark.parametrize("words, code", [(["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -TERM $$"], 143),
                                         (["/nonexistent"], 125)])
def test_the_exit_code_is_the_commands(engine, place, words, code):
    """Broken: exit_code_of() without the signal: 15. command_not_started() with EXIT_FAILED."""
    executed(engine, place, *words, code=code)
    assert list(place.iterdir()) == []


def test_a_daemon_that_does_not_start_says_why(engine, place):
    """Broken: READY_NEVER left to the poll: it waited for ever."""
    done = executed(engine, place, "true", options=["--wheels", "/nonexistent"], code=125)
    assert "/nonexistent" in done.stderr


def test_wrong_usage_starts_nothing(engine, place):
    for words, text in ((["exec"], "the command is missing"), (["exec", "--engin", "x", "--", "true"], "--engine")):
        done = subprocess.run([program(), *words], capture_output=True, text=True, env=environment(engine, place))
        assert done.returncode == 2 and text in done.stderr
    assert list(place.iterdir()) == []


def test_a_daemon_with_a_token_says_where_grpc_is(engine, place, tmp_path):
    """Broken: grpc_endpoint_set() without the token: a stranger is not told the port, and the variable was missing."""
    (tmp_path / "token").write_text("secret-of-this-daemon\n")
    (tmp_path / "token").chmod(0o600)
    done = executed(engine, place, "sh", "-c", "echo $TRAINYARD_GRPC_ENDPOINT $CLOUDSDK_AUTH_ACCESS_TOKEN_FILE",
                    options=["--token-file", str(tmp_path / "token")])
    assert done.stdout.startswith("localhost:") and done.stdout.endswith(f"{tmp_path / 'token'}\n")


def test_a_directory_that_is_named_stays(engine, place, tmp_path):
    """Broken: state_dir_make() that takes each for one of this run."""
    kept = tmp_path / "kept"
    executed(engine, place, sys.executable, "-c", SUBMIT, options=["--state-dir", str(kept)])
    assert (kept / "state.db").exists()
    assert nothing_is_left(engine, place)


def test_signals_reach_the_command(engine, place):
    """Broken: signal_pass() without its kill()."""
    process, _ = started(engine, place, sys.executable, "-c", SUBMIT + "import signal\nsignal.sigwait([signal.SIGALRM])")
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    wait_until(lambda: nothing_is_left(engine, place))


def test_a_kill_leaves_nothing(engine, place):
    """Broken: daemon_main() without PR_SET_PDEATHSIG: the job went on."""
    process, _ = started(engine, place, sys.executable, "-c", SUBMIT + WAIT)
    process.kill()
    process.wait(30)
    process.stdin.close()  # ends the command
    wait_until(lambda: nothing_is_left(engine, place))
