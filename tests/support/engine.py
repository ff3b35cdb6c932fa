# SPDX-License-Identifier: Apache-2.0
"""The Docker Engine as tests see it: its API over the unix socket, test images, private engines."""
import contextlib
import fcntl
import http.client
import io
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tarfile
import tempfile
import urllib.parse

from support.wait import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]


class EngineError(Exception):
    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status


def connect_to_path(path, timeout=60):
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    found.settimeout(timeout)
    try:
        found.connect(path)
    except OSError:
        found.close()
        raise
    return found


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__("engine", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = connect_to_path(self.path, self.timeout)


def query(**parameters):
    return urllib.parse.urlencode(
        {k: json.dumps(v) if isinstance(v, dict) else v for k, v in parameters.items()})


class Engine:
    def __init__(self, path=None):
        self.path = path or os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")

    def connect(self):
        """A connected socket, for what HTTP libraries are too slow for."""
        connection = UnixConnection(self.path)
        connection.connect()
        return connection.sock

    @property
    def host(self):
        return "unix://" + self.path

    def call(self, method, path, body=None, content_type="application/json", ok=(200, 201, 204, 304)):
        """The decoded answer; raises EngineError for statuses that are not in `ok`."""
        connection = UnixConnection(self.path)
        try:
            headers = {}
            if body is not None:
                headers["Content-Type"] = content_type
                if not isinstance(body, bytes):
                    body = json.dumps(body).encode()
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            data = response.read()
        finally:
            connection.close()
        if response.status not in ok:
            try:
                raise EngineError(response.status, json.loads(data)["message"])
            except (ValueError, KeyError):
                raise EngineError(response.status, data.decode(errors="replace")) from None
        try:
            return json.loads(data) if data else None
        except ValueError:
            return data

    def answers(self):
        try:
            return self.call("GET", "/_ping") == b"OK"
        except (OSError, http.client.HTTPException, EngineError):
            return False

    def containers(self, label):
        return self.call("GET", "/containers/json?" + query(all=1, filters={"label": [label]}))

    def networks(self, label):
        return self.call("GET", "/networks?" + query(filters={"label": [label]}))

    def volumes(self, **filters):
        """But the markers of daemons: scheduler/engine/docker_elsewhere.h."""
        return [volume for volume in self.call("GET", "/volumes?" + query(filters=filters))["Volumes"] or []
                if "trainyard.place" not in (volume["Labels"] or {})]

    def inspect(self, container):
        return self.call("GET", f"/containers/{container}/json")

    def kill(self, container, signal="SIGKILL"):
        self.call("POST", f"/containers/{container}/kill?signal={signal}")

    def pause(self, container):
        """On a loaded machine the freezer gives up: "unable to freeze"."""
        def paused():
            try:
                self.call("POST", f"/containers/{container}/pause")
            except EngineError as error:
                assert "unable to freeze" in str(error), error
                return False
            return True
        wait_until(paused, 60, "it is paused")

    def remove(self, container):
        self.call("DELETE", f"/containers/{container}?force=1&v=1", ok=(204,))

    def put_file(self, container, path):
        """Makes an empty file in a container. Its directory is there."""
        if self._touch(container, path):
            return
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            tar.addfile(tarfile.TarInfo(os.path.basename(path)))
        self.call("PUT", f"/containers/{container}/archive?path={os.path.dirname(path)}", out.getvalue(),
                  "application/x-tar")

    def _touch(self, container, path):
        """The same by the root of its process, for root and a container of this machine: the engine starts a program for each file
        that it is given, which costs thirty times as much. Whether it was done."""
        try:
            pid = self.inspect(container)["State"]["Pid"]
            root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY)
        except OSError:
            return False
        try:
            # If it has ended meanwhile, that may be the root of another process.
            if os.path.samestat(os.stat(root), os.stat("/")) or self.inspect(container)["State"]["Pid"] != pid:
                return False
            os.close(os.open(path.lstrip("/"), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644, dir_fd=root))
            return True
        except OSError:
            return False
        finally:
            os.close(root)

    def marker(self, instance):
        """Of a daemon that is alive, or was killed; None: there is none."""
        return self.call("GET", f"/volumes/ty-{instance}-daemon", ok=(200, 404)).get("Labels")

    def unmark(self, instance):
        self.call("DELETE", f"/volumes/ty-{instance}-daemon", ok=(204, 404))

    def leftovers(self, instance):
        """Names of what one instance of trainyard still has here."""
        label = f"trainyard.instance={instance}"
        return [c["Names"][0] for c in self.containers(label)] + [n["Name"] for n in self.networks(label)]

    def is_miscounted(self, instance):
        """Whether all that is left of an instance are networks that the engine will not remove for endpoints that it does not
        have: Docker 20.10 loses count now and then when many containers of a network go at once, until it is started anew."""
        label = f"trainyard.instance={instance}"
        return not self.containers(label) and all(self._has_lost_count(network["Id"]) for network in self.networks(label))

    def _has_lost_count(self, network):
        if self.call("GET", f"/networks/{network}")["Containers"]:
            return False
        try:
            self.call("DELETE", f"/networks/{network}")
        except EngineError as refusal:
            return "has active endpoints" in str(refusal)
        return False  # nobody had removed it

    def check_nothing_left(self, instance):
        """No container when its job is over; a network that it has left is kept for the next one for a moment."""
        assert self.containers(f"trainyard.instance={instance}") == []
        wait_until(lambda: self.leftovers(instance) == [], 20, "nothing is left")

    def remove_leftovers(self, instance):
        label = f"trainyard.instance={instance}"
        for container in self.containers(label):
            self.call("DELETE", f"/containers/{container['Id']}?force=1&v=1", ok=(204, 404, 409))
        for network in self.networks(label):
            self.call("DELETE", f"/networks/{network['Id']}", ok=(204, 404, 403))

    def import_image(self, name, files, changes=()):
        """Makes an image of `files` {path: bytes or link target as str}, and of static busybox."""
        parameters = [("fromSrc", "-"), ("repo", name)] + [("changes", c) for c in changes]
        self.call("POST", "/images/create?" + urllib.parse.urlencode(parameters),
                  busybox_root(files), "application/x-tar")

    def has_image(self, name):
        try:
            return bool(self.call("GET", f"/images/{name}/json"))
        except EngineError:
            return False

    def remove_image(self, name):
        self.call("DELETE", f"/images/{name}?force=1", ok=(200, 404))


NO_ENGINE = Engine("/nonexistent/docker.sock")  # jobs stay queued


def busybox_root(files):
    """A root file system as a tar: busybox, its applets, and `files`."""
    busybox = shutil.which("busybox", path=os.environ["PATH"] + ":/bin:/usr/bin")
    assert busybox, "busybox-static is not installed"
    applets = subprocess.run([busybox, "--list"], check=True, capture_output=True, text=True).stdout.split()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        def add(name, kind, mode=0o755, data=b"", target=""):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.size, entry.linkname = kind, mode, len(data), target
            tar.addfile(entry, io.BytesIO(data) if data else None)

        for directory, mode in (("bin", 0o755), ("etc", 0o755), ("tmp", 0o1777), ("root", 0o700), ("proc", 0o755),
                                ("sys", 0o755), ("dev", 0o755)):
            add(directory, tarfile.DIRTYPE, mode)
        add("bin/busybox", tarfile.REGTYPE, data=pathlib.Path(busybox).read_bytes())
        for applet in applets:
            if applet != "busybox":
                add("bin/" + applet, tarfile.SYMTYPE, target="busybox")
        add("etc/passwd", tarfile.REGTYPE, 0o644, b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
        for path, content in files.items():
            add(path, tarfile.REGTYPE, data=content)
    return out.getvalue()


# The images of the tests. trainyard-test:1 has no entry point: a job's args are the command. Those of roles
# say which image they are and what they got, then do what the last argument says.
IMAGE = "trainyard-test:1"
# The same with a volume: each container has one of its own.
VOLUME_IMAGE = "trainyard-test-volume:1"
ENTRY = b"""#!/bin/sh
echo "image $(cat /image)"
for word in "$@"; do echo "arg $word"; last=$word; done
eval "$last"
"""


@contextlib.contextmanager
def turn(name):
    """One process at a time: the others wait, and find done what they would do."""
    with open(pathlib.Path(tempfile.gettempdir(), f"{name}-{os.getuid()}.turn"), "w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def ensure_test_images(engine):
    with turn("trainyard-test"):
        if not engine.has_image(IMAGE):
            engine.import_image(IMAGE, {}, ['CMD ["/bin/sh","-c","echo the default command"]'])
        if not engine.has_image(VOLUME_IMAGE):
            engine.import_image(VOLUME_IMAGE, {}, ["VOLUME /kept"])
        for role in ("master", "worker", "ps"):
            name = role_image(role)
            if not engine.has_image(name):
                engine.import_image(name, {"entry": ENTRY, "image": role.encode()},
                                    ['ENTRYPOINT ["/entry"]', 'CMD ["exit 0"]', "ENV TEST_IMAGE=" + role])


def build_test_image(engine):
    ensure_test_images(engine)
    return IMAGE


def role_image(role):
    return f"trainyard-test-{role}:1"


def lib(*words, timeout=120):
    """Calls a function of deploy/lib.sh."""
    done = subprocess.run(["sh", "-c", 'root=$1; . "$root/deploy/lib.sh"; shift; "$@"', "lib.sh", str(ROOT), *words],
                          timeout=timeout, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"


class PrivateEngine(Engine):
    """An engine of a test's own, to be stopped and killed; with a network apart from the machine's."""

    def __init__(self):
        # A short path: containerd's sockets lie deep below it, and a socket's path has 107 bytes at most.
        self.top = tempfile.mkdtemp(prefix="tye", dir="/tmp")
        self.directory, self.data = self.top + "/run", self.top + "/data"
        super().__init__(self.directory + "/docker.sock")
        self.environment = {}  # of the engine, beside what it inherits

    def configure(self, **settings):
        os.makedirs(self.directory, exist_ok=True)
        pathlib.Path(self.directory, "daemon.json").write_text(json.dumps(settings))

    def start(self):
        lib("dockerd_start", self.directory, self.data, "netns",
            *(f"{name}={value}" for name, value in self.environment.items()))

    @property
    def pid(self):
        return int(pathlib.Path(self.directory, "dockerd.pid").read_text())

    def stop(self):
        lib("dockerd_stop", self.directory)

    def kill9(self):
        lib("dockerd_stop", self.directory, "KILL")

    def leftovers(self, instance):
        """And the volumes of containers that are gone: the engine makes those, and does not say for whom."""
        return super().leftovers(instance) + [v["Name"] for v in self.volumes(dangling=["true"])]

    def delete(self):
        lib("dockerd_delete", self.directory, self.data)
        shutil.rmtree(self.top, ignore_errors=True)


GPU_HOOK = ROOT / "tests/support/gpu_hook"


class GpuEngine(PrivateEngine):
    """A private engine that takes requests for GPUs, whatever their ids, on a machine without any."""

    def __init__(self):
        super().__init__()
        self.gpu_log = pathlib.Path(self.top, "gpus.log")
        self.environment = {"PATH": f"{GPU_HOOK}:{os.environ['PATH']}:/usr/local/sbin:/usr/sbin:/sbin",
                            "TRAINYARD_TEST_GPU_LOG": self.gpu_log}

    def given(self):
        """For each container's id when it began, in ns, and the devices it got."""
        text = self.gpu_log.read_text() if self.gpu_log.exists() else ""
        return {container: (int(began), devices.split(","))
                for began, container, devices in (line.split() for line in text.splitlines())}


# What jobs of Python packages run in, and the same with an entry point and a program of its own.
RUNTIME = "trainyard-runtime"
PREBUILT = "trainyard-test-prebuilt:1"


def ensure_runtime_images(engine):
    """Of Debian packages: takes some 20 s where they are not there."""
    with turn(RUNTIME):
        done = subprocess.run([ROOT / "deploy/runtime/build", RUNTIME], capture_output=True, text=True, timeout=600,
                              env=dict(os.environ, DOCKER_HOST=engine.host))
        assert done.returncode == 0, done.stdout + done.stderr
        if not engine.has_image(PREBUILT):
            _build_prebuilt(engine)


def _build_prebuilt(engine):
    text = f'FROM {RUNTIME}\nWORKDIR /data\nENTRYPOINT ["echo", "the image\'s own program"]\n'
    build_image(engine, PREBUILT, {"Dockerfile": text.encode()})


def build_image(engine, name, files):
    """Of a Dockerfile and what else is in the files {name: bytes}."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    said = engine.call("POST", f"/build?t={name}", out.getvalue(), "application/x-tar")
    assert engine.has_image(name), said
