# SPDX-License-Identifier: Apache-2.0
"""Secrets are found nowhere afterwards, and names chosen by others cannot control a terminal; with a real engine."""
import base64
import json
import os
import subprocess

import pytest

from support.daemon import Daemon, one_replica, program
from support.engine import IMAGE
from support.registry import Registry
from support.storage import passing_over, tree_paths
from support.wait import wait_until

PASSWORD = "planted-registry-password-7351"
TOKEN = "planted-daemon-token-2468-0246"
USER = "planted-user"
EVIL = "\x1b]0;owned\x07\x1b[31m\r\nforged \u009b31m\x7f"


def spellings(secret):
    """The secret itself, and how it looks in base64 at each offset."""
    data = secret.encode()
    found = [data, data.hex().encode()]
    for shift in range(3):
        found.append(base64.b64encode(b"x" * shift + data)[4:-4])
        found.append(base64.b64encode(f"{'x' * shift}{USER}:{secret}".encode())[4:-4])
    return found


def seen_by_the_engine(engine, daemon):
    """Everything that the engine reports about the daemon's objects and the image."""
    label = f"trainyard.instance={daemon.read_instance()}"
    things = [engine.inspect(c["Id"]) for c in engine.containers(label)] + engine.networks(label) + engine.volumes()
    return json.dumps(things).encode() + json.dumps(engine.call("GET", "/images/json")).encode()


def pull_with(daemon, image):
    """Runs a job whose image is pulled with the planted credentials, then one whose registry refuses them."""
    daemon.run(one_replica("true", image=image))
    failed = daemon.run(one_replica("true", image=image.replace(":1", ":none")), expect="FAILED")
    daemon.get(daemon.jobs_path, access_token=TOKEN, key=PASSWORD)
    return json.dumps([failed, daemon.entries(), daemon.get("/healthz").json]).encode()


def auth(_directory, host):
    return {"auths": {host: {"auth": base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()}}}


def plain(_directory, host):
    return {"auths": {host: {"username": USER, "password": PASSWORD}}}


def helper(directory, host):
    program = directory / "docker-credential-planted"
    program.write_text("#!/bin/sh\ncat >/dev/null\necho '%s'\n"
                       % json.dumps({"ServerURL": host, "Username": USER, "Secret": PASSWORD}))
    program.chmod(0o755)
    return {"credsStore": "planted"}


def files_of(daemon):
    found = {}
    for path in tree_paths(daemon.state_dir):
        with passing_over():
            if path.is_file():  # skips sockets
                found[path] = path.read_bytes()
    return found


# Fails with: headers_make() of docker_http.c that logs what it sends of the registry; credentials_found() of docker_image.c that
# keeps it in a file of the state directory; pull() that tells it in the job's log, and pull_fail() in its message.
@pytest.mark.parametrize("way", [auth, plain, helper])
def test_planted_secrets_are_found_nowhere(engine, tmp_path, monkeypatch, way):
    config, token = tmp_path / "docker", tmp_path / "token"
    config.mkdir()
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    with Registry(user=USER, password=PASSWORD) as registry:
        registry.push(engine, IMAGE, "private/planted", "1")
        host = f"127.0.0.1:{registry.port}"
        (config / "config.json").write_text(json.dumps(way(config, host)))
        monkeypatch.setenv("PATH", f"{config}:{os.environ['PATH']}")
        daemon = Daemon(tmp_path / "d", engine, "--log-level", "debug", "--docker-config", str(config), "--token-file",
                        str(token), "--stop-grace", "1", "--stop-jobs", project="attack-secrets")
        daemon.token = TOKEN
        try:
            with daemon:
                told = pull_with(daemon, f"{host}/private/planted:1")
                told += seen_by_the_engine(engine, daemon)
                with open(f"/proc/{daemon.pid}/cmdline", "rb") as line, open(f"/proc/{daemon.pid}/environ", "rb") as variables:
                    told += line.read() + variables.read()
                running = files_of(daemon)
        finally:
            engine.remove_image(f"{host}/private/planted:1")
    assert "image-pull" in daemon.log() or "pull" in daemon.log()
    for place, data in [("told", told), ("log", daemon.log_path.read_bytes()), *running.items(), *files_of(daemon).items()]:
        for secret in (PASSWORD, TOKEN):
            assert not [each for each in spellings(secret) if each in data], (place, secret)


# Fails with: a log_event() of docker_replica.c that tells the body it sends.
def test_a_jobs_environment_is_in_no_log(engine, tmp_path):
    secret = "planted-environment-9135"
    spec = {"imageUri": IMAGE, "command": ["sh", "-c", "test -n \"$KEY\" && exit 3"], "env": [{"name": "KEY", "value": secret}]}
    with Daemon(tmp_path / "d", engine, "--offline", "--log-level", "debug", project="attack-secrets") as daemon:
        pools = [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "containerSpec": spec}]
        job = daemon.post(f"/v1/projects/{daemon.project}/locations/us-central1/customJobs",
                          {"displayName": "j", "jobSpec": {"workerPoolSpecs": pools}}).json["name"]
        ended = wait_until(lambda: (found := daemon.get(f"/v1/{job}").json) and "endTime" in found and found, 60)
        assert "status of 3." in ended["error"]["message"], ended
        told = json.dumps([ended["error"], daemon.entries()])
    assert secret not in told and secret not in daemon.log() and job.rpartition("/")[2] in daemon.log()


# Fails with: plain_print() that knows the bytes below 0x20 alone.
def test_names_of_leftovers_drive_no_terminal(engine, tmp_path):
    instance = f"evil{os.getpid()}"
    labels = {"trainyard.instance": instance, **{f"trainyard.{name}": EVIL for name in ("job_id", "project", "replica", "job")}}
    made = engine.call("POST", f"/containers/create?name=ty-{instance}-1", {"Image": IMAGE, "Cmd": ["true"], "Labels": labels})
    said = b""
    try:
        with Daemon(tmp_path / "d", engine, "--offline", "--log-level", "debug") as daemon:
            wait_until(lambda: instance in daemon.log(), 30, "the daemon names what others have left")
        for options in (["--list"], ["--dry-run", "--instance", instance], ["--instance", instance]):
            done = subprocess.run([program(), "clean", *options, "--engine", engine.host, "--state-dir", str(tmp_path / "none")],
                                  capture_output=True, timeout=60)
            said += done.stdout + done.stderr
        said += daemon.log_path.read_bytes()
    finally:
        engine.call("DELETE", f"/containers/{made['Id']}?force=1", ok=(204, 404))
    text = said.decode()
    assert f"removed container ty-{instance}-1 of job" in text, text
    assert not [c for c in text if c != "\n" and (ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0)], text
    assert not [line for line in text.splitlines() if line.startswith("forged")], text
