# SPDX-License-Identifier: Apache-2.0
"""Podman's service as a private engine: Docker's API at a socket, independent of the Podman of the machine. Its network is
apart from the machine's, because the firewall rules of the machine's Docker Engine would drop traffic inside Podman's
internal networks."""
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile

from support.engine import Engine, ensure_test_images
from support.wait import wait_until

RUNTIMES = ("crun", "runc")  # which of them works depends on the machine's control groups


class PodmanEngine(Engine):
    def __init__(self, runtime, top=None):
        # The path must be short: a socket's has at most 107 bytes.
        self.top = top or pathlib.Path(tempfile.mkdtemp(prefix="typ", dir="/tmp"))
        self.top.mkdir(exist_ok=True)
        super().__init__(str(self.top / "podman.sock"))
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        files = min(most, 65536) if most != resource.RLIM_INFINITY else 65536
        (self.top / "containers.conf").write_text(
            f'[engine]\nruntime = "{runtime}"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
            f'tmp_dir = "{self.top}/tmp"\n[network]\nnetwork_config_dir = "{self.top}/networks"\n'
            f'[containers]\ndefault_ulimits = ["nofile={files}:{files}", "nproc=4096:4096"]\n')
        (self.top / "storage.conf").write_text(
            f'[storage]\ndriver = "overlay"\nrunroot = "{self.top}/run"\ngraphroot = "{self.top}/root"\n')
        self.settings = {"CONTAINERS_CONF": str(self.top / "containers.conf"),
                         "CONTAINERS_STORAGE_CONF": str(self.top / "storage.conf")}
        self.environment = os.environ | self.settings
        self.process = None

    def start(self):
        with open(self.top / "log", "ab") as log:
            self.process = subprocess.Popen(["unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh",
                                             "podman", "system", "service", "--time=0", self.host],
                                            env=self.environment, stdout=log, stderr=log, start_new_session=True)
        wait_until(self.answers, 30, "Podman's service answers")

    def runs(self):
        """Tries to run a container; returns "", or why that fails."""
        ensure_test_images(self)
        made = self.call("POST", "/containers/create", {"Image": "trainyard-test:1", "Cmd": ["true"], "HostConfig": {"Init": True}})["Id"]
        try:
            self.call("POST", f"/containers/{made}/start")
            self.call("POST", f"/containers/{made}/wait")  # removing a container that is about to end would fail
            return ""
        except Exception as error:  # pylint: disable=broad-except
            return str(error)
        finally:
            self.remove(made)

    def remove(self, container):
        self.call("DELETE", f"/containers/{container}?force=1&v=1", ok=(200, 204))

    def delete(self):
        subprocess.run(["podman", "rm", "--all", "--force", "--time=0"], env=self.environment, capture_output=True, timeout=60)
        self.process.terminate()
        self.process.wait(30)
        subprocess.run(["umount", "--lazy", self.top / "root/overlay"], capture_output=True, timeout=30)
        shutil.rmtree(self.top, ignore_errors=True)


def podman_start():
    """Returns an engine and "", or None and the reason why there is none."""
    problem = "Podman is not installed"
    for runtime in filter(shutil.which, RUNTIMES if shutil.which("podman") and os.geteuid() == 0 else ()):
        engine = PodmanEngine(runtime)
        engine.start()
        problem = engine.runs()
        if not problem:
            return engine, ""
        engine.delete()
    return None, problem
