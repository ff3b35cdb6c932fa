# SPDX-License-Identifier: Apache-2.0
"""The real gcloud, with the environment that `trainyard env` sets."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile

import pytest

from .daemon import program

GCLOUD = os.environ.get("TRAINYARD_GCLOUD") or shutil.which("gcloud")

needs_gcloud = pytest.mark.skipif(not GCLOUD, reason="no gcloud in PATH, and TRAINYARD_GCLOUD does not name one")


WARM = pathlib.Path(__file__).with_name("gcloud_warm.py")


class WarmGcloud:
    """A gcloud that was loaded once by gcloud_warm.py, for one environment. If gcloud_warm.py cannot load it, each command
    starts a new gcloud."""

    def __init__(self, environment):
        self.directory = tempfile.mkdtemp(prefix="tyg", dir="/tmp")  # the path must be short: a socket's has at most 107 bytes
        self.address = self.directory + "/socket"
        self.process = subprocess.Popen(
            [GCLOUD, self.address], env=environment | {"CLOUDSDK_PYTHON_ARGS": f"-S {WARM}"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        self.ready = self.process.stdout.readline() == b"ready\n"

    def run(self, words, timeout):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, \
                socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.settimeout(timeout)
            connection.connect(self.address)
            socket.send_fds(connection, [json.dumps(words).encode()], [out.fileno(), err.fileno()])
            code = connection.recv(16)
            texts = [file.seek(0) or file.read().decode() for file in (out, err)]
        return subprocess.CompletedProcess(["gcloud", *words], int(code or -1), *texts)

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.stdout.close()
        self.process.wait()
        shutil.rmtree(self.directory)


class Gcloud:
    """Runs gcloud commands on one daemon; with TRAINYARD_COVERAGE, through a recorder."""

    def __init__(self, yard, directory, base):
        lines = subprocess.run([program(), "env", "--state-dir", str(yard.state_dir), "--project", yard.project],
                               check=True, capture_output=True, text=True).stdout
        pointed = {name: value.replace(yard.base, base) for name, value
                   in re.findall(r"^export (\w+)=(.*)$", lines, re.MULTILINE)}
        self.yard, self.base, self.directory = yard, base, directory
        self.environment = os.environ | pointed | dict(
            CLOUDSDK_CONFIG=str(directory), CLOUDSDK_CORE_DISABLE_USAGE_REPORTING="1",
            CLOUDSDK_STORAGE_PROCESS_COUNT="1",  # each process takes a second of CPU time to start
            CLOUDSDK_ML_ENGINE_POLLING_INTERVAL="2", CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK="1", PYTHONUNBUFFERED="1")
        self.warm = WarmGcloud(self.environment)

    def run(self, *words, expect=0, timeout=180, **environment):
        """Runs `gcloud WORDS`, expects an exit code, and returns the finished process."""
        if self.warm.ready and not environment:
            done = self.warm.run(words, timeout)
        else:
            done = subprocess.run([GCLOUD, *words], capture_output=True, text=True, timeout=timeout,
                                  env=self.environment | environment, stdin=subprocess.DEVNULL)
        assert expect is None or done.returncode == expect, (words, done.returncode, done.stdout, done.stderr)
        return done

    def __call__(self, *words, **more):
        """Runs `gcloud ai-platform jobs WORDS`"""
        return self.run("ai-platform", "jobs", *words, **more)

    def follow(self, *words):
        """Starts `gcloud ai-platform jobs WORDS` in the background. Returns its process, and the file that it writes."""
        handle, name = tempfile.mkstemp(dir=self.directory)
        with open(handle, "wb") as out:
            process = subprocess.Popen([GCLOUD, "ai-platform", "jobs", *words], stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, env=self.environment)
        return process, pathlib.Path(name)

    def flags(self, *command, grouped=False):
        """The flags in a command's help that not every command has. `grouped`: also those in groups of flags."""
        text = re.sub(r"\x1b\[[0-9;]*m", "", self.run(*command, "--help").stdout)
        indent = " {5}(?:  )?" if grouped else " {5}"
        return set(re.findall(rf"^{indent}(--[a-z-]+)", text.split("GCLOUD WIDE FLAGS")[0], re.MULTILINE))


@contextlib.contextmanager
def gcloud_for(yard, directory, recording):
    with recording.between("gcloud", yard) if recording.path else contextlib.nullcontext(yard) as address:
        found = Gcloud(yard, directory, address.base)
        try:
            yield found
        finally:
            found.warm.close()
