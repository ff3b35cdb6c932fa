# SPDX-License-Identifier: Apache-2.0
"""A state directory that the engine does not have: as in a container with a volume of its own."""
import os
import re
import shutil
import subprocess

import pytest

from support.daemon import program
from support.engine import IMAGE, Engine
from support.tuning import tuning_input

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="mounts of its own take root and unshare")

# What runs after these has a file system of its own at $STATE; and is in the container $ID, by the file that engines mount.
OWN_STATE = 'mount -t tmpfs none "$STATE" && '
IN_CONTAINER = ('mkdir "$STATE.engine/$ID" && echo name >"$STATE.engine/$ID/hostname" && '
                'mount --bind "$STATE.engine/$ID/hostname" /etc/hostname && ')


def apart(script, *command):
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script + 'exec "$@"', "sh", *map(str, command)]


def surroundings(state, container=""):
    for path in (state, f"{state}.engine"):
        os.mkdir(path)
    return dict(os.environ, STATE=str(state), ID=container)


def test_a_trial_whose_metrics_would_be_lost_fails_and_says_why(new_daemon, engine, tmp_path, monkeypatch):
    """The engine comes after the start, which cannot tell then.
    Broken: docker_container_body() with Binds: the engine makes the directory, and the trial succeeds without metrics."""
    late = tmp_path / "late.sock"
    daemon = new_daemon("--offline", engine=Engine(str(late)))
    for name, value in surroundings(daemon.state_dir).items():
        monkeypatch.setenv(name, value)
    command = daemon.command
    daemon.command = lambda: apart(OWN_STATE, *command())
    daemon.start()
    late.symlink_to(engine.path)
    job = daemon.create(tuning_input(maxTrials=1))
    message = daemon.until(job, "FAILED", "SUCCEEDED").get("errorMessage", "")
    assert re.search(rf"the engine does not have {daemon.state_dir}/(ca/bundle\.crt|trials/\d+), which this daemon has: .*"
                     r"docker run -v DIR:DIR", message), daemon.service_lines(job)
    assert os.listdir(daemon.state_dir) == []  # on the engine's side


@pytest.fixture
def container(engine):
    made = engine.call("POST", "/containers/create", {"Image": IMAGE, "Cmd": ["true"]})["Id"]
    yield made
    engine.remove(made)


@pytest.mark.parametrize("own,is_the_engines,words", [
    (OWN_STATE, True, "the engine does not have the state directory {} of this daemon, which runs in a container"),
    ("", True, ""), (OWN_STATE, False, "")], ids=["elsewhere", "here", "container-of-another-engine"])
def test_a_start_in_a_container_finds_out(engine, container, tmp_path, own, is_the_engines, words):
    """Broken: wiring.c without place_check(); docker_place_check() that asks for the directory alone, as the engine has one; and
    one that does not ask whether the engine has the container."""
    state = tmp_path / "state"
    environment = surroundings(state, container if is_the_engines else container[::-1])
    started = apart(own + IN_CONTAINER, program(), "serve", "--state-dir", state, "--listen", "127.0.0.1:0", "--log-level", "error",
                    "--engine", engine.host)
    with subprocess.Popen(started, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as daemon:
        line = daemon.stdout.readline()
        daemon.terminate()
        said = daemon.stderr.read()
        code = daemon.wait(60)
    assert (code, bool(line)) == ((1, False) if words else (0, True)), (line, said)
    assert words.format(state) in said and len(said.splitlines()) == bool(words), said
    assert not list(state.glob("seen-*"))
