# SPDX-License-Identifier: Apache-2.0
"""Engines that are not at a unix socket of this machine: over TCP with TLS, by ssh, or by a Docker context."""
import hashlib
import json
import os
import shutil
import subprocess

import pytest
from support import far_engine
from support.daemon import program, script, text_of
from support.engine import IMAGE
from support.verbs import environment
from support.wait import wait_until
from support.vertex import Vertex, custom_job

pytestmark = pytest.mark.skipif(not shutil.which("openssl") or not shutil.which("ip"), reason="no openssl, or no ip, in PATH")


def run(*words, code=0, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOCKER_")}
    done = subprocess.run([program(), *map(str, words)], env={**kept, **variables}, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stdout + done.stderr


def context_make(directory, name, host, certificates=None):
    """Writes a context as `docker context create NAME --docker host=HOST,ca=…` does, and selects it as `docker context use`
    does."""
    key = hashlib.sha256(name.encode()).hexdigest()
    meta = directory / "contexts/meta" / key
    meta.mkdir(parents=True)
    (meta / "meta.json").write_text(json.dumps(
        {"Name": name, "Metadata": {}, "Endpoints": {"docker": {"Host": host, "SkipTLSVerify": False}}}))
    if certificates:
        shutil.copytree(certificates, directory / "contexts/tls" / key / "docker")
    (directory / "config.json").write_text(json.dumps({"currentContext": name}))


@pytest.fixture
def ssh(tmp_path, engine):
    return far_engine.ssh_make(tmp_path / "bin", engine)


def doctor_says(tmp_path, **variables):
    told = json.loads(run("doctor", "--state-dir", tmp_path, "--output", "json", **variables))
    engine = next(check for check in told if check["check"] == "engine")
    assert engine["verdict"] == "good", engine
    return engine["text"]


def image_is_built(daemon, tmp_path, name):
    (tmp_path / "source").mkdir()
    (tmp_path / "source/Dockerfile").write_text(f"FROM {IMAGE}\nCMD [\"echo\", \"built\"]\n")
    try:
        said = subprocess.run([program(), "run", "--image-build", tmp_path / "source", name], capture_output=True, text=True,
                              env=environment(daemon), timeout=120)
        assert (said.returncode, said.stdout) == (0, "built\n"), said
    finally:
        daemon.engine.remove_image(name)


def runs_jobs(daemon):
    """The daemon reads both streams, runs a program in a replica, and after a kill adopts its running job."""
    job = daemon.run(script("echo hello; echo there >&2"))
    assert sorted(daemon.lines(job["jobId"])) == ["hello", "there"]
    job_id = daemon.create(script("echo begun; until [ -e /tmp/end ]; do sleep 0.1; done; echo ended"))
    daemon.wait_lines(job_id)
    daemon.kill9()
    daemon.start()
    # until then the daemon cannot ask this engine to run a program
    wait_until(lambda: daemon.log().count("engine-up") == 2, 60, daemon.log)
    daemon.until(job_id, "RUNNING")
    said = subprocess.run([program(), "shell", job_id, "--", "sh", "-c", "cat; touch /tmp/end"], input="typed\n", text=True,
                          capture_output=True, timeout=60, env=environment(daemon))
    assert (said.returncode, said.stdout) == (0, "typed\n"), said
    daemon.until(job_id, "SUCCEEDED")
    assert daemon.lines(job_id) == ["begun", "ended"]


# Fails with: far_reach() that sends no question; tls_choose() that reads no DOCKER_CERT_PATH; wire_end_sending() without
# gnutls_bye(): `cat` waits for more.
@pytest.mark.long
def test_an_engine_by_tls(far, new_daemon, tmp_path, monkeypatch):
    for name, value in far.variables.items():
        monkeypatch.setenv(name, value)
    assert far.host in doctor_says(tmp_path, **far.variables)
    daemon = new_daemon("--offline", engine=far).start()
    runs_jobs(daemon)
    image_is_built(daemon, tmp_path, "far-away:1")
    name = Vertex(daemon).create(custom_job("ls /gcs"))["name"]
    Vertex(daemon).until(name, "JOB_STATE_SUCCEEDED")
    told = " ".join(text for text in map(text_of, daemon.entries()) if text)
    assert "The replicas cannot reach" not in told
    assert "Cloud Storage is not there as files" not in told  # its network is apart, but it has the same mounts
    daemon.stop()
    assert daemon.read_instance() in run("clean", "--list", **far.variables) or not far.leftovers(daemon.read_instance())


@pytest.mark.parametrize("variables, said", [
    ({"DOCKER_CERT_PATH": "/nonexistent"}, "the engine's certificate is not trusted for the host"),
    ({"DOCKER_CERT_PATH": "", "DOCKER_TLS_VERIFY": ""}, "HTTP 400: Client sent an HTTP request to an HTTPS server.; for TLS set"),
    ({"DOCKER_CERT_PATH": "/nonexistent", "DOCKER_TLS_VERIFY": ""}, "the engine refuses the connection: TLS: "),
    ({"DOCKER_HOST": "tcp://127.0.0.1:1"}, "Connection refused: no engine listens there"),
    ({"DOCKER_HOST": "", "DOCKER_CONTEXT": "none"}, "Docker's context none cannot be read")])
def test_an_engine_that_cannot_be_reached_is_told(far, variables, said):
    """Fails with: files_load() that takes any certificate; break_report() that notes no alert."""
    assert said in run("clean", "--list", code=1, **{**far.variables, **variables})


def test_certificates_count_for_their_host_alone(far, tmp_path):
    """Fails with: tls_open() without gnutls_session_set_verify_cert() or without its host."""
    stranger = tmp_path / "stranger"
    far_engine.authority_make(stranger, "another authority")
    files = far_engine.certificate_make(far.authority, tmp_path / "files", "client", "extendedKeyUsage=clientAuth")
    variables = {**far.variables, "DOCKER_CERT_PATH": str(files)}
    run("clean", "--list", **variables)
    (files / "ca.pem").write_bytes((stranger / "ca.pem").read_bytes())
    assert "is not trusted" in run("clean", "--list", code=1, **variables)


def test_an_engine_by_a_context(far, tmp_path):
    """Fails with: context_read() without its TLS files; endpoint_default() that looks for no context."""
    context_make(tmp_path, "ci", far.host, far.certificates)
    assert f"{far.host} (context ci)" in doctor_says(tmp_path, DOCKER_CONFIG=str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    assert "context ci" in doctor_says(tmp_path, DOCKER_CONFIG=str(tmp_path), DOCKER_CONTEXT="ci")
    for file in tmp_path.glob("contexts/tls/*/docker/ca.pem"):
        file.unlink()
    assert "is not trusted" in run("clean", "--list", code=1, DOCKER_CONFIG=str(tmp_path), DOCKER_CONTEXT="ci")


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("docker"), reason="no docker, which has dial-stdio, in PATH")
def test_an_engine_by_ssh(engine, ssh, new_daemon, tmp_path, monkeypatch):
    """Fails with: ssh_spawn() without dup2 of its output; run_await() that ends the program when its input has ended."""
    for name, value in ssh.items():
        monkeypatch.setenv(name, value)
    assert far_engine.SSH_HOST in doctor_says(tmp_path, **ssh)
    daemon = new_daemon("--offline", "--engine", far_engine.SSH_HOST, engine=engine).start()
    runs_jobs(daemon)
    image_is_built(daemon, tmp_path, "far-away:2")
