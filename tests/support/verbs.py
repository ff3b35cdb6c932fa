# SPDX-License-Identifier: Apache-2.0
"""Runs the program's commands as a user does: with pipes, and on a terminal."""
import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from .daemon import program


def environment(daemon):
    return {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TRAINYARD_ENDPOINT": daemon.base, "TERM": "xterm"}


@contextlib.contextmanager
def started(daemon, *words, **settings):
    process = subprocess.Popen([program(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment(daemon), **settings)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def verb(daemon, *words, code=0):
    """Runs a command against the daemon. Returns its stdout, or its stderr if a failure is expected."""
    done = subprocess.run([program(), *words], capture_output=True, text=True, timeout=60, env=environment(daemon))
    assert done.returncode == code, done
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done.stderr if code and not done.stdout else done.stdout


def on_terminal(daemon, *words, columns=80, seconds=60, until=None, key=b"\x03", env=()):
    """Runs a command on a terminal of this width; returns all its output and its exit code. Sends Ctrl-C, or `key`, once
    `until` is printed."""
    pid, fd = pty.fork()
    if pid == 0:
        # Set before the command asks for the terminal's size.
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execve(program(), [program(), *words], {**environment(daemon), **dict(env)})
    said, end = b"", time.monotonic() + seconds
    with contextlib.suppress(OSError):  # EIO: the command has ended
        while True:
            if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                raise AssertionError(f"{words} goes on after {seconds} s: {said.decode(errors='replace')}")
            if not (piece := os.read(fd, 65536)):
                break
            said += piece
            if until and until in said.decode(errors="replace"):
                os.write(fd, key)
                until = None
    status = os.waitpid(pid, 0)[1]
    os.close(fd)
    return said.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(status)


def clean_apart(daemon, tmp_path):
    """Runs `clean` for the daemon's instance in another network namespace."""
    return subprocess.run(["unshare", "--net", program(), "clean", "--instance", daemon.read_instance(), "--state-dir", tmp_path / "none",
                           "--engine", daemon.engine.host], capture_output=True, text=True, timeout=60)
