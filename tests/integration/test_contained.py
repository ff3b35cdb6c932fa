# SPDX-License-Identifier: Apache-2.0
"""A daemon in a container with a network of its own: jobs reach storage and metadata, and other containers of its network
reach the daemon."""
import io
import os
import re
import subprocess
import tarfile

import pytest
import yaml

from support.contained import NAME, SERVICES, Contained, image_of
from support.daemon import UNTIL_RELEASED, distributed, script
from support.engine import IMAGE, ROOT
from support.tuning import tuning_input
from support.vertex import Vertex, custom_job
from support.wait import wait_until

SAYS = ("wget -q -O - --header 'Metadata-Flavor: Google' http://metadata.google.internal/computeMetadata/v1/project/project-id; echo; "
        "wget -q -O /dev/null --header 'Content-Type: text/plain' --post-data hello "
        "\"$STORAGE_EMULATOR_HOST/upload/storage/v1/b/contained/o?uploadType=media&name=$HOSTNAME\" && echo stored; "
        "head -c 27 $SSL_CERT_FILE; echo")


pytestmark = pytest.mark.long


@pytest.fixture
def contained(engine, tmp_path):
    daemon = Contained(tmp_path, engine, "--offline")
    try:
        yield daemon.start()
        daemon.cancel_all()
        wait_until(lambda: not daemon.containers(), what="no container is left")
        wait_until(lambda: not daemon.joined(), what="the container is in no job's network")
        daemon.stop()  # the job's network, which the daemon has left, is being removed
    finally:
        for container in daemon.containers():
            engine.remove(container["Id"])
        joined = daemon.joined()
        daemon.delete()
        for network in joined:
            engine.call("DELETE", f"/networks/{network}", ok=(204, 404))


def test_jobs_reach_storage_and_metadata(contained):
    """Fails with: create_done() whose reach is the bridge; present() that does not join; remove_looked() that does not leave."""
    job = contained.run(distributed(SAYS, SAYS, workers=1))
    for task in ("master-replica-0", "worker-replica-0"):
        assert contained.lines(job["jobId"], task) == [contained.project, "stored", "-----BEGIN CERTIFICATE-----"], contained.log()


def test_a_neighbour_reaches_it_by_name(contained, engine):
    """The other container is the compose file's container for tests. Fails with: TRAINYARD_HOST_NAME left out of the image."""
    shell, option, text = SERVICES["test"]["command"]
    text = text.replace("$$", "$").replace("demo-project", contained.project)
    neighbour = engine.call("POST", "/containers/create", {
        "Image": IMAGE, "Cmd": [shell, option, text],
        "HostConfig": {"NetworkMode": contained.name, "Binds": [f"{contained.directory}/token:/run/secrets/token:ro"]}})["Id"]
    try:
        engine.call("POST", f"/containers/{neighbour}/start")
        assert engine.call("POST", f"/containers/{neighbour}/wait")["StatusCode"] == 0
    finally:
        engine.remove(neighbour)


def test_its_own_names_are_let_in(contained, engine):
    """Fails with: host_names_make() that takes "auto" for a name; docker_own_names() without aliases, or with the name's slash."""
    def status(host):
        return contained.request("GET", contained.jobs_path, headers={"Host": host}).status

    def names():
        own = engine.inspect(contained.id)
        return [own["Name"][1:], own["Config"]["Hostname"], NAME]
    assert [status(f"{name}:8090") for name in [*names(), "auto", "evil.example"]] == [200, 200, 200, 403, 403]
    contained.stop()
    contained.remove()
    contained.variables.append(f"TRAINYARD_HOST_NAME={NAME}")
    contained.start()
    assert [status(f"{name}:8090") for name in names()] == [403, 403, 200]


def test_its_token_may_be_a_variable(contained, engine):
    """A service container of CI is given no files, so only the variables of docs/ci.md are set. Fails with: addresses_check()
    that wants a file; client_of() that adds no token; token_put() left out."""
    contained.stop()
    contained.remove()
    block, = re.findall(r"```yaml\n(services:.*?)```", (ROOT / "docs/ci.md").read_text(), re.DOTALL)
    service = yaml.safe_load(block)["services"]["trainyard"]
    contained.token = service["env"]["TRAINYARD_TOKEN"]
    contained.variables = [f"{name}={value}" for name, value in service["env"].items()]
    assert "/var/run/docker.sock:/var/run/docker.sock" in service["volumes"]
    contained.start()
    assert contained.get(contained.jobs_path).status == 200
    own = [contained.binary, "jobs", "--project", contained.project]
    variables = {"PATH": os.environ["PATH"], "TRAINYARD_ENDPOINT": contained.base}
    assert subprocess.run(own, env=variables, capture_output=True, timeout=30).returncode == 1
    subprocess.run(own, env=variables | {"TRAINYARD_TOKEN": contained.token}, check=True, timeout=30)
    assert "/var/lib/trainyard/state/token" in engine_exec(engine, contained, "env")


def engine_exec(engine, daemon, *words):
    made = engine.call("POST", f"/containers/{daemon.id}/exec",
                       {"AttachStdout": True, "AttachStderr": True, "Cmd": ["/usr/bin/trainyard", *words]})
    return engine.call("POST", f"/exec/{made['Id']}/start", {"Detach": False}).decode(errors="replace")


def test_it_need_not_be_root(contained, engine):
    """The container's user is only in the group of the socket. Fails with: image-root whose /var/lib/trainyard is root's
    alone."""
    contained.stop()
    contained.delete_state()
    contained.user = f"4711:{os.stat(engine.path).st_gid}"
    contained.start()
    job = contained.run(script(SAYS))
    assert contained.lines(job["jobId"]) == [contained.project, "stored", "-----BEGIN CERTIFICATE-----"], contained.log()


def test_the_image_holds_what_it_needs_and_no_more(contained, engine):
    """Fails with: image-root that leaves out a library, or the licences; LABEL without the version."""
    image = engine.call("GET", f"/images/{image_of(engine)}/json")
    version = subprocess.run([contained.binary, "version"], capture_output=True, text=True, check=True).stdout.split()[1]
    assert image["Config"]["Labels"]["org.opencontainers.image.version"] == version
    assert image["Config"]["Cmd"] == ["serve"] and image["Config"]["Volumes"] == {"/var/lib/trainyard": {}}
    with tarfile.open(fileobj=io.BytesIO(engine.call("GET", f"/containers/{contained.id}/export"))) as tar:
        sizes = {entry.name: entry.size for entry in tar if entry.isfile()}
        status = tar.extractfile("var/lib/dpkg/status").read().decode()
    assert "etc/ssl/certs/ca-certificates.crt" in sizes and not [name for name in sizes if name.endswith("/sh")]
    packages = re.findall(r"^Package: (.*)$", status, re.MULTILINE)
    assert {"trainyard", "libc6", "libsqlite3-0", "ca-certificates"} <= set(packages)
    assert {f"usr/share/doc/{package}/copyright" for package in packages} <= sizes.keys()
    of_program = ("usr/bin/trainyard", "asan", "ubsan", "libstdc++")
    assert sum(size for name, size in sizes.items() if not any(word in name for word in of_program)) < 50 << 20, sizes


def test_metrics_of_trials_arrive(contained):
    job = contained.create(tuning_input(maxTrials=1))
    done = contained.until(job, "SUCCEEDED", "FAILED")
    assert "objectiveValue" in done["trainingOutput"]["trials"][0]["finalMetric"], done


def test_a_container_that_is_made_anew_takes_its_jobs_over(contained):
    """Fails with: network_take() that does not join."""
    # After a restart, the daemon is ready before it has joined the networks of its jobs again.
    job = contained.create(script(f"echo begun; {UNTIL_RELEASED}; until wget -q -O /dev/null --header 'Metadata-Flavor: Google' "
                                  f"http://metadata.google.internal/ 2> /dev/null; do sleep 0.1; done; {SAYS}"))
    contained.wait_lines(job)
    contained.kill9()
    contained.remove()
    contained.start()
    contained.release(job)
    assert contained.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"
    assert contained.lines(job)[1:] == [contained.project, "stored", "-----BEGIN CERTIFICATE-----"], contained.log()


def test_clean_leaves_a_daemon_in_a_container_alone(contained, engine):
    """Fails with: docker_sweep() without elsewhere_check(): the running job was killed."""
    job = contained.create(script(f"echo begun; {UNTIL_RELEASED}"))
    contained.wait_lines(job)
    instance = contained.containers(job)[0]["Labels"]["trainyard.instance"]
    clean = [contained.binary, "clean", "--instance", instance, "--engine", engine.host, "--state-dir", "/nonexistent"]
    done = subprocess.run(clean, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and f"its host name is {contained.id[:12]}" in done.stderr, done
    contained.container(job)
    contained.kill9()
    wait_until(lambda: not engine.inspect(contained.id)["State"]["Running"], what="the daemon's end")
    done = subprocess.run(clean, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.count("removed") == 3, done
    contained.remove()
    contained.start()  # the fixture stops it at the end
    contained.cancel(job)


@pytest.fixture
def shared(tmp_path):
    """A directory whose mounts are shared between this machine and containers."""
    place = tmp_path / "shared"
    place.mkdir()
    subprocess.run(["mount", "--bind", place, place], check=True)
    try:
        subprocess.run(["mount", "--make-shared", place], check=True)
        yield place
    finally:
        subprocess.run(["umount", "--recursive", "--lazy", place], check=True)


@pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="mounts take root and /dev/fuse")
def test_a_shared_mount_brings_the_files_of_storage(contained, shared):
    """The mount is as in docs/getting-started.md. Fails with: visibility_check() that judges by the process behind the
    socket."""
    contained.stop()
    contained.remove()
    contained.variables.append(f"TRAINYARD_STATE_DIR={shared}/state")
    contained.binds = [f"{shared}:{shared}:rshared"]
    contained.host_config = {"CapAdd": ["SYS_ADMIN"], "SecurityOpt": ["apparmor=unconfined"], "Devices": [
        {"PathOnHost": "/dev/fuse", "PathInContainer": "/dev/fuse", "CgroupPermissions": "rwm"}]}
    contained.start()
    vertex = Vertex(contained)
    name = vertex.create(custom_job("mkdir -p /gcs/contained && echo kept >/gcs/contained/file"))["name"]
    vertex.until(name, "JOB_STATE_SUCCEEDED")
    assert contained.get("/storage/v1/b/contained/o/file").status == 200, contained.log()


def test_a_job_is_told_that_it_has_no_files_of_storage(contained):
    """Fails with: gcs_place() without visibility_check()."""
    vertex = Vertex(contained)
    name = vertex.create(custom_job("touch /gcs/contained || echo refused"))["name"]
    vertex.until(name, "JOB_STATE_SUCCEEDED")
    lines = [text for _, text in contained.service_lines(name.rsplit("/", 1)[1])]
    assert any("Cloud Storage is not there as files at /gcs" in line for line in lines), (lines, contained.log())
