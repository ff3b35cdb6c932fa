# SPDX-License-Identifier: Apache-2.0
"""The daemon in a container of the engine whose jobs it runs, with a network of its own and a published port: as
deploy/compose.yaml has it."""
import os
import pathlib
import secrets

import yaml

from support.daemon import Daemon
from support.engine import IMAGE, ROOT
from support.wait import wait_until

SERVICES = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]
NAME = "trainyard"  # what neighbours call it


class Contained(Daemon):
    """Its programs and libraries are this machine's, mounted; its state is in a volume that the engine alone has."""

    def __init__(self, directory, engine, *options):
        super().__init__(directory, engine, *options, project=f"contained-{os.getpid()}")
        self.token = secrets.token_hex(16)
        (self.directory / "token").write_text(self.token + "\n")
        self.name = f"trainyard-contained-{secrets.token_hex(4)}"
        self.network = engine.call("POST", "/networks/create", {"Name": self.name, "Driver": "bridge"})["Id"]
        engine.call("POST", "/volumes/create", {"Name": self.name})
        self.id, self.variables, self.words = None, [], SERVICES[NAME]["command"]

    def make(self):
        binary = pathlib.Path(self.binary).resolve()
        mounts = ["/usr:/usr:ro", "/usr/lib:/lib:ro", "/usr/lib64:/lib64:ro", "/etc/ssl:/etc/ssl:ro", f"{binary.parent}:/program:ro",
                  f"{self.engine.path}:/var/run/docker.sock", f"{self.directory}/token:/run/secrets/token:ro",
                  f"{self.name}:/var/lib/trainyard"]
        command = [f"/program/{binary.name}", *self.words, "--project", self.project, *self.options]
        self.id = self.engine.call("POST", "/containers/create", {
            "Image": IMAGE, "Cmd": command, "Env": ["ASAN_OPTIONS=detect_leaks=0", *self.variables], "ExposedPorts": {"8090/tcp": {}},
            "HostConfig": {"Binds": mounts, "NetworkMode": self.name,
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
        assert self.engine.inspect(self.id)["State"]["Running"], self.log()
        try:
            return self.get("/readyz").status == 200
        except OSError:
            return False

    def log(self):
        return str(self.engine.call("GET", f"/containers/{self.id}/logs?stdout=1&stderr=1"))

    def joined(self):
        """The networks of jobs that the container is in, and those that it was made for and has left behind."""
        names = self.engine.inspect(self.id)["NetworkSettings"]["Networks"] if self.id else {}
        return [name for name in names if name != self.name]

    def stop(self, *_, **__):
        self.engine.call("POST", f"/containers/{self.id}/stop?t=30")

    def kill9(self):
        self.engine.kill(self.id)

    def remove(self):
        """The container; its state stays in the volume."""
        self.engine.remove(self.id)
        self.id = None

    def delete(self):
        if self.id:
            self.remove()
        self.engine.call("DELETE", f"/volumes/{self.name}", ok=(204, 404))
        self.engine.call("DELETE", f"/networks/{self.network}", ok=(204, 404))
