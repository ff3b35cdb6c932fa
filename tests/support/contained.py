# SPDX-License-Identifier: Apache-2.0
"""The daemon in a container of the engine that runs its jobs, with a network of its own and a published port, as in
deploy/compose.yaml."""
import atexit
import os
import pathlib
import secrets
import subprocess
import tempfile

import yaml

from support.daemon import Daemon, program
from support.engine import ROOT
from support.wait import wait_until

SERVICES = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]
NAME = "trainyard"  # the host name by which other containers of its network reach it
LOOK_NS = 500_000_000  # the interval of the container's health check, in place of the image's


_images = {}


def image_of(engine):
    """Builds the image of deploy/Dockerfile with the program under test and this machine's libraries. It is removed when the
    tests end."""
    if engine.host not in _images:
        name = f"trainyard-contained:{os.getpid()}"
        with tempfile.TemporaryDirectory() as work:
            place = pathlib.Path(work)
            (place / "archive.tar").write_bytes(archive_make(place, program(), name))
            engine.call("POST", "/images/load", (place / "archive.tar").read_bytes(), "application/x-tar")
        # a test's private engine no longer answers at that time
        atexit.register(lambda: engine.answers() and engine.remove_image(name))
        _images[engine.host] = name
    return _images[engine.host]


def archive_make(place, binary, name):
    """Makes the archive that deploy/package would make of a program, without debugging information."""
    subprocess.run(["strip", "--strip-debug", "-o", place / "trainyard", binary], check=True)
    subprocess.run([ROOT / "deploy/image-root", place / "trainyard", place / "root"], check=True, timeout=120)
    subprocess.run([ROOT / "deploy/image-archive", place / "root", ROOT / "deploy/Dockerfile", name, place / "made.tar"],
                   check=True, timeout=120, env=os.environ | {"SOURCE_DATE_EPOCH": "0"})
    return (place / "made.tar").read_bytes()


class Contained(Daemon):
    """The daemon of the image that users have. Its state is in a volume, so only the engine can read it."""

    def __init__(self, directory, engine, *options):
        super().__init__(directory, engine, *options, project=f"contained-{os.getpid()}")
        self.token = secrets.token_hex(16)
        (self.directory / "token").write_text(self.token + "\n")
        self.name = f"trainyard-contained-{secrets.token_hex(4)}"
        self.network = engine.call("POST", "/networks/create", {"Name": self.name, "Driver": "bridge"})["Id"]
        engine.call("POST", "/volumes/create", {"Name": self.name})
        self.id, self.user = None, None
        self.binds, self.host_config = [], {}  # additional mounts and settings of its container
        self.variables = [f"{name}={value}" for name, value in SERVICES[NAME]["environment"].items()]

    def make(self):
        mounts = [f"{self.engine.path}:/var/run/docker.sock", f"{self.directory}/token:/run/secrets/token:ro",
                  f"{self.name}:/var/lib/trainyard", *self.binds]
        about = {"User": self.user} if self.user else {}
        self.id = self.engine.call("POST", "/containers/create", about | {
            "Image": image_of(self.engine), "Cmd": ["serve", "--project", self.project, *self.options],
            "Env": ["ASAN_OPTIONS=detect_leaks=0", *self.variables], "Healthcheck": {"Interval": LOOK_NS},
            "HostConfig": {**self.host_config, "Binds": mounts, "NetworkMode": self.name,
                           "PortBindings": {"8090/tcp": [{"HostIp": "127.0.0.1", "HostPort": ""}]}},
            "NetworkingConfig": {"EndpointsConfig": {self.name: {"Aliases": [NAME]}}}})["Id"]

    def start(self):
        if not self.id:
            self.make()
        self.engine.call("POST", f"/containers/{self.id}/start")
        ports = self.engine.inspect(self.id)["NetworkSettings"]["Ports"]["8090/tcp"]
        self.port = int(ports[0]["HostPort"])
        wait_until(self._is_ready, 60, self.log)
        return self

    def _is_ready(self):
        """Asks the image's HEALTHCHECK. Fails with: HEALTHCHECK without "status", or with another path of the program."""
        state = self.engine.inspect(self.id)["State"]
        assert state["Running"] and state["Health"]["Status"] != "unhealthy", (state, self.log())
        return state["Health"]["Status"] == "healthy"

    def log(self):
        return str(self.engine.call("GET", f"/containers/{self.id}/logs?stdout=1&stderr=1"))

    def joined(self):
        """The networks of jobs that the container is connected to, and those that it has left."""
        names = self.engine.inspect(self.id)["NetworkSettings"]["Networks"] if self.id else {}
        return [name for name in names if name != self.name]

    def stop(self, *_, **__):
        self.engine.call("POST", f"/containers/{self.id}/stop?t=30")

    def kill9(self):
        self.engine.kill(self.id)

    def remove(self):
        """Removes the container; the state stays in the volume."""
        self.engine.remove(self.id)
        self.id = None

    def delete_state(self):
        """Removes the volume together with the container. The next container gets a new volume."""
        self.remove()
        self.engine.call("DELETE", f"/volumes/{self.name}")
        self.engine.call("POST", "/volumes/create", {"Name": self.name})

    def delete(self):
        if self.id:
            self.remove()
        self.engine.call("DELETE", f"/volumes/{self.name}", ok=(204, 404))
        self.engine.call("DELETE", f"/networks/{self.network}", ok=(204, 404))
