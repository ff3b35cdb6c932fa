# SPDX-License-Identifier: Apache-2.0
"""`trainyard exec -- COMMAND`: a daemon for one command, of which nothing stays."""
import contextlib
import errno
import fcntl
import json
import os
import pathlib
import pty
import signal
import socket
import subprocess
import sys
import termios
import time
import urllib.request

import pytest

from support.daemon import program
from support.engine import IMAGE
from support.marks import long
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
    """The directory in which these daemons make their state directories."""
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


def started(engine, place, *words, options=(), **more):
    """Starts the program; returns it and its command's first output line, once its job runs."""
    process = subprocess.Popen(command(*words, options=options), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env=environment(engine, place), start_new_session=True, **more)
    return process, json.loads(process.stdout.readline())


def in_terminal(engine, place, *words, options=()):
    """Starts the program as the leader of a terminal's session, with `stty tostop`; returns it and the terminal."""
    terminal, its = pty.openpty()
    modes = termios.tcgetattr(its)
    modes[3] |= termios.TOSTOP
    termios.tcsetattr(its, termios.TCSANOW, modes)
    process = subprocess.Popen(command(*words, options=options), stdin=its, stdout=its, stderr=its, start_new_session=True,
                               env=environment(engine, place), preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(its)
    return process, terminal


def daemon_of(process):
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return next(int(child) for child in children if os.getsid(int(child)) == int(child))


def nothing_is_left(engine, place):
    job = str(place).strip("/").replace("/", "_").replace("-", "_")
    return not engine.containers(f"trainyard.job_id={job}") and not list(place.iterdir())


def test_a_command_has_a_daemon_and_nothing_of_it_stays(engine, place):
    """Fails with: clean_quietly() left out of daemon_main(): the directory stayed. stop_jobs left out: a container stayed."""
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
    """Fails with: exit_code_of() without the signal: 15. command_not_started() with EXIT_FAILED."""
    executed(engine, place, *words, code=code)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("option", ["--wheels", "--docker-config"])
def test_a_daemon_that_does_not_start_says_why(engine, place, option):
    """Fails with: READY_NEVER left to the poll: it waited for ever."""
    done = executed(engine, place, "true", options=[option, "/nonexistent"], code=125)
    assert f"{option}: /nonexistent: No such file or directory" in done.stderr


def test_wrong_usage_starts_nothing(engine, place):
    for words, text in ((["exec"], "the command is missing"), (["exec", "--engin", "x", "--", "true"], "--engine")):
        done = subprocess.run([program(), *words], capture_output=True, text=True, env=environment(engine, place))
        assert done.returncode == 2 and text in done.stderr
    assert list(place.iterdir()) == []


def test_a_daemon_with_a_token_says_where_grpc_is(engine, place, tmp_path):
    """Fails with: environment_set() without the token: a stranger is not told the port, and the variable was missing."""
    (tmp_path / "token").write_text("secret-of-this-daemon\n")
    (tmp_path / "token").chmod(0o600)
    done = executed(engine, place, "sh", "-c", "echo $TRAINYARD_GRPC_ENDPOINT $CLOUDSDK_AUTH_ACCESS_TOKEN_FILE",
                    options=["--token-file", str(tmp_path / "token")])
    assert done.stdout.startswith("localhost:") and done.stdout.endswith(f"{tmp_path / 'token'}\n")


LAZY = """
import json, os
path = os.environ["GOOGLE_APPLICATION_CREDENTIALS"]
state = os.path.dirname(path)
before = os.path.getsize(path), os.path.exists(state + "/identity.key")
with open(path) as file:
    made = json.load(file)
print(json.dumps({"before": before, "after": [os.path.getsize(path), os.path.exists(state + "/identity.key")], "made": made,
                  "endpoint": os.environ["TRAINYARD_ENDPOINT"]}))
"""


def test_credentials_are_made_when_a_program_opens_them(engine, place):
    """Making the key takes longer than starting the daemon, and most commands read no credentials, so it is made when the
    file is opened. Fails with: SIGIO left out of the signalfd: the program waited until the kernel broke the lease."""
    said = json.loads(executed(engine, place, sys.executable, "-c", LAZY).stdout)
    assert said["made"]["type"] == "service_account" and "PRIVATE KEY" in said["made"]["private_key"]
    assert said["made"]["token_uri"] == said["endpoint"] + "/token"
    assert said["after"] == [4096, True]
    assert said["before"] in ([4096, False], said["after"])  # the second case: the file system has no leases


def test_env_inside_says_the_same(engine, place):
    """Also the port for gRPC, which only the daemon knows. Fails with: the address file without its port."""
    names = "TRAINYARD_ENDPOINT TRAINYARD_GRPC_ENDPOINT GOOGLE_APPLICATION_CREDENTIALS GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"
    show = f"for name in {names}; do printenv $name; done; cat $GOOGLE_APPLICATION_CREDENTIALS"
    done = executed(engine, place, "sh", "-c", f'{{ {show}; echo =====; unset {names}; eval "$({program()} env)"; {show}; }}')
    outside, inside = [part.split("\n") for part in done.stdout.split("=====\n")]
    assert outside[1].startswith("localhost:") and [line for line in outside if line] == [line for line in inside if line]


@pytest.mark.long
def test_a_directory_that_is_named_stays(engine, place, tmp_path):
    """Fails with: state_dir_make() that takes each for one of this run."""
    kept = tmp_path / "kept"
    executed(engine, place, sys.executable, "-c", SUBMIT, options=["--state-dir", str(kept)])
    assert (kept / "state.db").exists()
    assert nothing_is_left(engine, place)


def test_signals_reach_the_command(engine, place):
    """Fails with: signal_take() without its kill()."""
    process, _ = started(engine, place, sys.executable, "-c", SUBMIT + "import signal\nsignal.sigwait([signal.SIGALRM])")
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    wait_until(lambda: nothing_is_left(engine, place))


@pytest.mark.long
def test_a_kill_leaves_nothing(engine, place):
    """Fails with: daemon_main() without PR_SET_PDEATHSIG: the job went on."""
    process, _ = started(engine, place, sys.executable, "-c", SUBMIT + WAIT)
    process.kill()
    process.wait(30)
    process.stdin.close()  # ends the command
    wait_until(lambda: nothing_is_left(engine, place))


def test_a_daemon_writes_to_a_terminal_that_stops_background_output(engine, place):
    """Fails with: setpgid() in the place of setsid() in daemon_child_begin(), and no SIG_IGN for SIGTTOU: the daemon stopped at
    its first line."""
    process, terminal = in_terminal(engine, place, "true", options=["--log-level", "debug"])
    assert process.wait(60) == 0
    os.close(terminal)
    assert list(place.iterdir()) == []


def test_the_end_of_a_terminal_reaches_the_command(engine, place, tmp_path):
    """Fails with: signals of the kernel left to the terminal, which tells the session's leader alone of its end."""
    script = f"trap 'echo told >{tmp_path}/told; exit 5' HUP; echo >{tmp_path}/begun; while :; do sleep 0.05; done"
    process, terminal = in_terminal(engine, place, "sh", "-c", script)
    wait_until((tmp_path / "begun").exists)
    os.close(terminal)
    assert process.wait(30) == 5 and (tmp_path / "told").exists()
    assert list(place.iterdir()) == []


COUNT = """
import signal, time
got, ends = [], []
def take(*_):
    got.append(1)
    print("taken", flush=True)
signal.signal(signal.SIGINT, take)
signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
print("{}", flush=True)
while not ends:
    time.sleep(0.01)
print(len(got), flush=True)
"""


def is_quiet(group):
    """Whether all processes of a group sleep and have no pending signals."""
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if os.getpgid(int(status.parent.name)) != group:
                continue
            facts = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
            if not facts["State"].startswith("S") or any(int(facts[key], 16) for key in ("SigPnd", "ShdPnd")):
                return False
    return True


def test_a_signal_comes_to_the_command_once(engine, place):
    """Fails with: group_has_had() that is always false: 3."""
    process, _ = started(engine, place, sys.executable, "-c", COUNT)
    os.killpg(process.pid, signal.SIGINT)
    assert process.stdout.readline() == "taken\n"
    wait_until(lambda: is_quiet(process.pid))  # two signals sent at once would be merged into one
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "taken\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.read() == "2\n" and process.wait(30) == 0


def test_a_daemon_that_was_killed_leaves_nothing(engine, place):
    """Fails with: rest_clean() left out: a container and the directory stayed."""
    process, _ = started(engine, place, sys.executable, "-c", SUBMIT + WAIT)
    os.kill(daemon_of(process), signal.SIGKILL)
    process.stdin.close()
    assert process.wait(60) == 0 and nothing_is_left(engine, place)


@pytest.mark.parametrize("how", [long(signal.SIGTERM), signal.SIGKILL])
def test_an_early_end_leaves_nothing(engine, place, how):
    """Fails with: daemon_main() without PR_SET_PDEATHSIG, and rest_clean() without tree_remove(): directories stayed."""
    for step in range(20):
        process = subprocess.Popen(command("sleep", "30"), env=environment(engine, place), start_new_session=True)
        time.sleep(step * 0.012)
        process.send_signal(how)
        process.wait(30)
    wait_until(lambda: not list(place.iterdir()))


def test_an_engine_that_is_not_there_is_told_where_it_matters(engine, place):
    """Fails with: quiet_clean() that ends where the engine does not answer: the directory stayed; rest_clean() without
    EXIT_FAILED; state_dir_had_jobs() that is always true: the first one failed."""
    def run(*words, code):
        done = subprocess.run(command(*words), capture_output=True, text=True, timeout=60,
                              env={**environment(engine, place), "DOCKER_HOST": f"unix://{place}.sock"})
        assert done.returncode == code and not list(place.iterdir()), done
        return done.stderr

    run("true", code=0)
    submit = SUBMIT.split("while ask")[0]
    assert "clean --instance" in run(sys.executable, "-c", submit, code=1)
    run(sys.executable, "-c", submit + "sys.exit(7)", code=7)


@pytest.mark.long
def test_jobs_that_are_slow_to_stop_are_killed_on_demand(engine, place):
    """Fails with: stop_hasten() left out: nothing was said, and it took the whole time."""
    heard = 'while b"deaf" not in urllib.request.urlopen(f"{base}/_trainyard/v1/jobs/{name}:log").read():\n    time.sleep(0.05)\n'
    deaf = SUBMIT.replace("while :;", "trap '' TERM; echo deaf; while :;").replace("print(", heard + "print(")
    process, said = started(engine, place, sys.executable, "-c", deaf, options=["--stop-grace", "50"], stderr=subprocess.PIPE)
    began = time.monotonic()
    address = said["endpoint"].removeprefix("http://").rsplit(":", 1)

    def is_stopping():
        with socket.socket() as client:
            return client.connect_ex((address[0], int(address[1]))) == errno.ECONNREFUSED
    wait_until(is_stopping, what="the daemon stops its jobs")
    process.send_signal(signal.SIGINT)
    assert "once more" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(40) == 0 and time.monotonic() - began < 40
    assert nothing_is_left(engine, place)


def test_other_commands_inside_mean_the_same_daemon(engine, place, tmp_path, monkeypatch):
    """Fails with: own_options_set() left out: env told of port 9. The token's variable left out of env's table: status was a
    stranger's. variable_set() without unsetenv(): the outer token file stayed."""
    token = tmp_path / "token"
    token.write_text("secret-of-this-daemon\n")
    token.chmod(0o600)
    monkeypatch.setenv("TRAINYARD_LISTEN", "127.0.0.1:9")
    monkeypatch.setenv("TRAINYARD_LOG_LEVEL", "info")
    monkeypatch.setenv("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", "/outer")
    script = '"$0" status --wait -o json && eval "$("$0" env)" && "$0" status -o name && echo $TRAINYARD_ENDPOINT'
    done = executed(engine, place, "sh", "-c", script, program(), options=["--token-file", str(token), "--project", "p-1"])
    status, (name, endpoint) = json.loads(done.stdout.splitlines()[0]), done.stdout.splitlines()[-2:]
    assert status["engine"]["reachable"] and status["endpoint"] == name == endpoint
    assert " info " in done.stderr
    done = executed(engine, place, "sh", "-c", "echo ${CLOUDSDK_AUTH_ACCESS_TOKEN_FILE-none} $TRAINYARD_TOKEN_FILE")
    assert done.stdout == "none\n"


def test_a_daemon_that_does_not_start_in_time_is_given_up(engine, place, tmp_path):
    """Fails with: wait_ms() that is -1: it waited for ever for what a pipe would say."""
    pipe = tmp_path / "faults"
    os.mkfifo(pipe)
    done = executed(engine, place, "true", options=["--start-timeout", "1s", "--faults", str(pipe)], code=125)
    assert "the daemon did not serve within 1 s" in done.stderr and "--start-timeout" in done.stderr
    assert nothing_is_left(engine, place)
    assert "--start-timeout" in executed(engine, place, "true", options=["--start-timeout", "soon"], code=2).stderr
