# SPDX-License-Identifier: Apache-2.0
"""`trainyard shell`: runs a program in a replica's container, on a terminal and with pipes."""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from support.daemon import distributed, program, script
from support.tuning import REPORTING, tuning_input
from support.verbs import environment, on_terminal, verb
from support.wait import wait_until

UNTIL_CANCELLED = "trap 'exit 0' TERM; sleep 600 & wait"


@pytest.fixture(scope="module")
def job(yard):
    """A job that has not enabled web access."""
    made = yard.create(distributed(UNTIL_CANCELLED, worker=UNTIL_CANCELLED, workers=1))
    yard.until(made, "RUNNING")
    yield made
    yard.cancel(made)
    yard.until(made, "CANCELLED")


def piped(daemon, *words, data=b""):
    return subprocess.run([program(), "shell", *words], input=data, capture_output=True, timeout=60, env=environment(daemon))


def test_a_command_runs_through_pipes(yard, job):
    """Fails with: frames_take() that takes all frames for stdout: what went to stderr came there.
    Fails with: shell_input() without its end: cat never ended."""
    done = piped(yard, job, "--", "sh", "-c", "echo out; echo err >&2; cat; exit 7", data=b"typed \xff\x00 bytes")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"out\ntyped \xff\x00 bytes", b"err\n")
    assert piped(yard, job, "--", "hostname").stdout != piped(yard, f"{job}/worker-0", "--", "hostname").stdout
    assert piped(yard, f"{job}/worker-replica-0", "--", "sh", "-c", "echo $TF_CONFIG").stdout.count(b'"worker"') >= 1
    assert piped(yard, job, data=b"echo from a shell; exit 3\n").stdout == b"from a shell\n"


def test_a_word_that_names_neither_job_nor_replica_is_told_whole(yard, job):
    """Fails with: the daemon's own words, which told of "nope" as of a job."""
    done = piped(yard, f"{job}/nope", "--", "ls")
    assert done.returncode == 125 and f'"{job}/nope" names no job, and no replica'.encode() in done.stderr, done


def test_many_bytes_go_through(yard, job):
    data = os.urandom(3 << 20)
    done = piped(yard, job, "--", "cat", data=data)
    assert done.returncode == 0 and done.stdout == data
    process = subprocess.Popen([program(), "shell", job, "--", "sh", "-c", "while :; do echo line; done"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(yard))
    assert process.stdout.read(1 << 20)
    process.stdout.close()
    assert process.wait(30) != 0
    wait_until(lambda: b"do echo line" not in piped(yard, job, "--", "ps").stdout, 30, "the program has ended with its reader")


def test_what_cannot_run_is_told(yard, job):
    assert "no-such-program" in verb(yard, "shell", job, "--", "/no-such-program", code=125)
    missing = "trainyard: the job has no replica worker-7; it has master-replica-0, worker-replica-0\n"
    assert verb(yard, "shell", f"{job}/worker-7", code=125) == missing
    assert "No job has" in verb(yard, "shell", "nosuch", code=125)
    ended = yard.run(script("exit 0"))["jobId"]
    assert f"{ended} is SUCCEEDED" in verb(yard, "shell", ended, code=125)
    assert "no daemon answers" in verb(yard, "shell", job, "--endpoint", "http://127.0.0.1:1", code=3)


def test_a_terminal_has_the_size_of_the_users_and_takes_keys(yard, job):
    """Fails with: typing_start() without SIGWINCH: the size stayed."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(program(), [program(), "shell", job, "--", "sh"], environment(yard))
    said = b""

    def until(wanted):
        nonlocal said
        end = time.monotonic() + 30
        while wanted not in said and time.monotonic() < end:
            if select.select([fd], [], [], 1)[0]:
                said += os.read(fd, 4096)
        assert wanted in said, said
        said = said.split(wanted, 1)[1]

    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
    until(b"# ")
    os.write(fd, b"stty size\n")
    until(b"33 101\r\n")
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 77, 0, 0))
    os.kill(pid, signal.SIGWINCH)
    os.write(fd, b"while [ \"$(stty size)\" != '44 77' ]; do sleep 0.1; done; echo re''sized\n")
    until(b"resized")
    os.write(fd, b"trap 'echo inter''rupted; exit 9' INT; echo wait''ing; while :; do sleep 0.1; done\n")
    until(b"waiting")
    os.write(fd, b"\x03")
    until(b"interrupted")
    with contextlib.suppress(OSError):  # EIO: the program has ended
        while os.read(fd, 4096):
            pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    os.close(fd)


def test_a_job_without_trials_has_no_trial(yard, job):
    """Fails with: place_find() that looks for trials of tuning jobs only: the shell of the job itself was opened."""
    assert "no trial 1: so far it has started 0" in verb(yard, "shell", job, "--trial", "1", "--", "true", code=125)


@pytest.mark.long
def test_a_trial_has_a_shell(yard):
    job = yard.create(tuning_input(REPORTING + "; " + UNTIL_CANCELLED, maxTrials=1))
    yard.until(job, "RUNNING")
    assert "name a trial by its number" in verb(yard, "shell", job, code=125)
    wait_until(lambda: piped(yard, job, "--trial", "1", "--", "sh", "-c", "echo $CLOUD_ML_TRIAL_ID").stdout == b"1\n", 30)
    assert "no trial 2" in verb(yard, "shell", job, "--trial", "2", code=125)
    yard.cancel(job)
    yard.until(job, "CANCELLED")


def test_the_end_of_the_job_ends_the_shell(yard):
    job = yard.create(script(UNTIL_CANCELLED))
    yard.until(job, "RUNNING")
    process = subprocess.Popen([program(), "shell", job, "--", "sh", "-c", "echo up; sleep 600"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, env=environment(yard))
    assert process.stdout.readline() == b"up\n"
    yard.cancel(job)
    assert process.wait(60) != 0
    process.stdout.close()


def test_only_who_has_the_token_comes_in(new_daemon, tmp_path):
    """Fails with: rows of shells that are open: a program ran for a caller without the token."""
    token = tmp_path / "token"
    token.write_text("0123456789abcdef-secret\n")
    token.chmod(0o600)
    with new_daemon("--offline", "--stop-grace", "1", "--token-file", str(token)) as daemon:
        daemon.token = token.read_text().strip()
        job = daemon.create(script(UNTIL_CANCELLED))
        daemon.until(job, "RUNNING")
        words = ["shell", job, "--", "echo", "in"]
        bare = {**environment(daemon), "TRAINYARD_STATE_DIR": str(tmp_path / "none")}
        refused = subprocess.run([program(), *words], capture_output=True, text=True, env=bare, timeout=60, stdin=subprocess.DEVNULL)
        assert refused.returncode == 125 and refused.stdout == "" and refused.stderr, refused
        done = subprocess.run([program(), "shell", "--token-file", str(token), *words[1:]], capture_output=True, text=True, env=bare,
                              timeout=60, stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stdout) == (0, "in\n"), done
        daemon.cancel(job)
        daemon.until(job, "CANCELLED")


def test_help_names_it(yard):
    assert "JOB[/REPLICA] [-- COMMAND...]" in verb(yard, "shell", "--help")
    drawn, code = on_terminal(yard, "shell", "nosuch")
    assert code == 125 and re.search("No job has", drawn)
