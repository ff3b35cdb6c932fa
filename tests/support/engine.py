# SPDX-License-Identifier: Apache-2.0
"""The Docker Engine for tests: its API over the unix socket, test images, private engines."""
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
        """A connected socket, for tests in which an HTTP library would be too slow."""
        connection = UnixConnection(self.path)
        connection.connect()
        return connection.sock

    @property
    def host(self):
        return "unix://" + self.path

    def call(self, method, path, body=None, content_type="application/json", ok=(200, 201, 204, 304)):
        """Returns the decoded answer; raises EngineError for statuses that are not in `ok`."""
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
        """All volumes except the daemons' markers (scheduler/engine/docker_elsewhere.h)."""
        return [volume for volume in self.call("GET", "/volumes?" + query(filters=filters))["Volumes"] or []
                if "trainyard.place" not in (volume["Labels"] or {})]

    def inspect(self, container):
        return self.call("GET", f"/containers/{container}/json")

    def kill(self, container, signal="SIGKILL"):
        self.call("POST", f"/containers/{container}/kill?signal={signal}")

    def pause(self, container):
        """Pauses a container. On a loaded machine the kernel's freezer may give up ("unable to freeze"); then it is tried
        again."""
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
        """Makes an empty file in a container; its directory must exist."""
        if self._touch(container, path):
            return
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            tar.addfile(tarfile.TarInfo(os.path.basename(path)))
        self.call("PUT", f"/containers/{container}/archive?path={os.path.dirname(path)}", out.getvalue(),
                  "application/x-tar")

    def _touch(self, container, path):
        """Does the same through /proc/PID/root, which works for root and for containers of this machine. The engine's API
        starts a program for each file, which costs thirty times as much. Returns whether the file was made."""
        try:
            pid = self.inspect(container)["State"]["Pid"]
            root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY)
        except OSError:
            return False
        try:
            # If the container has ended meanwhile, the path may be the root of another process.
            if os.path.samestat(os.stat(root), os.stat("/")) or self.inspect(container)["State"]["Pid"] != pid:
                return False
            os.close(os.open(path.lstrip("/"), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644, dir_fd=root))
            return True
        except OSError:
            return False
        finally:
            os.close(root)

    def marker(self, instance):
        """The marker of an instance whose daemon runs or was killed; None: there is none."""
        return self.call("GET", f"/volumes/ty-{instance}-daemon", ok=(200, 404)).get("Labels")

    def unmark(self, instance):
        self.call("DELETE", f"/volumes/ty-{instance}-daemon", ok=(204, 404))

    def leftovers(self, instance):
        """Names of an instance's objects that the engine still has."""
        label = f"trainyard.instance={instance}"
        return [c["Names"][0] for c in self.containers(label)] + [n["Name"] for n in self.networks(label)]

    def is_miscounted(self, instance):
        """Whether an instance has left only networks that the engine refuses to remove because of endpoints that do not
        exist. Docker 20.10 sometimes miscounts endpoints when many containers of a network are removed at once; a restart
        corrects it. A manager that was switched off may also keep the task of an address, although its container is gone."""
        label = f"trainyard.instance={instance}"
        return not self.containers(label) and all(self._has_lost_count(network["Id"]) for network in self.networks(label))

    def _has_lost_count(self, network):
        if self.call("GET", f"/networks/{network}")["Containers"]:
            return False
        try:
            self.call("DELETE", f"/networks/{network}")
        except EngineError as refusal:
            return "has active endpoints" in str(refusal) or "is in use by task" in str(refusal)
        return False  # the network was not in use, so nothing had tried to remove it

    def check_nothing_left(self, instance):
        """Waits until no container is left after the job. A network may be kept for the next job for a short time."""
        assert self.containers(f"trainyard.instance={instance}") == []
        wait_until(lambda: self.leftovers(instance) == [], 20, "nothing is left")

    def remove_leftovers(self, instance):
        label = f"trainyard.instance={instance}"
        for container in self.containers(label):
            self.call("DELETE", f"/containers/{container['Id']}?force=1&v=1", ok=(204, 404, 409))
        for network in self.networks(label):
            self.call("DELETE", f"/networks/{network['Id']}", ok=(204, 404, 403))

    def import_image(self, name, files, changes=()):
        """Makes an image of static busybox and `files`: {path: bytes, or the target of a link as str}."""
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


NO_ENGINE = Engine("/nonexistent/docker.sock")  # for daemons whose jobs stay queued


def busybox_root(files):
    """A root file system as a tar archive: busybox with its applets, and `files`."""
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


# The tests' images. trainyard-test:1 has no entry point: a job's args are the command. The images for roles print their own
# name and arguments, and then run the last argument.
IMAGE = "trainyard-test:1"
# The same image with a volume: each container gets a volume of its own.
VOLUME_IMAGE = "trainyard-test-volume:1"
ENTRY = b"""#!/bin/sh
echo "image $(cat /image)"
for word in "$@"; do echo "arg $word"; last=$word; done
eval "$last"
"""


@contextlib.contextmanager
def turn(name):
    """A lock between processes: one works at a time, and the next one finds that work done."""
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
    """A private engine that a test may stop and kill; its network is apart from the machine's."""

    def __init__(self):
        # The path must be short: a socket's path has at most 107 bytes, and containerd's sockets are deep below this one.
        self.top = tempfile.mkdtemp(prefix="tye", dir="/tmp")
        self.directory, self.data = self.top + "/run", self.top + "/data"
        super().__init__(self.directory + "/docker.sock")
        self.environment = {}  # variables for the engine in addition to the inherited ones

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
        """Also lists the volumes of removed containers: the engine made them, and does not record for which instance."""
        return super().leftovers(instance) + [v["Name"] for v in self.volumes(dangling=["true"])]

    def delete(self):
        lib("dockerd_delete", self.directory, self.data)
        shutil.rmtree(self.top, ignore_errors=True)


GPU_HOOK = ROOT / "tests/support/gpu_hook"


class GpuEngine(PrivateEngine):
    """A private engine that accepts requests for GPUs with any ids, on a machine without GPUs."""

    def __init__(self):
        super().__init__()
        self.gpu_log = pathlib.Path(self.top, "gpus.log")
        self.environment = {"PATH": f"{GPU_HOOK}:{os.environ['PATH']}:/usr/local/sbin:/usr/sbin:/sbin",
                            "TRAINYARD_TEST_GPU_LOG": self.gpu_log}

    def given(self):
        """For each container that was started: its id, the time in ns, and the devices that it was given."""
        text = self.gpu_log.read_text() if self.gpu_log.exists() else ""
        return {container: (int(began), devices.split(","))
                for began, container, devices in (line.split() for line in text.splitlines())}


# The image in which jobs of Python packages run, and the same with an entry point and a program.
RUNTIME = "trainyard-runtime"
PREBUILT = "trainyard-test-prebuilt:1"


def ensure_runtime_images(engine):
    """Made from Debian packages; takes about 20 s if they are not there yet."""
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
    """Builds an image from a Dockerfile and other files {name: bytes}."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    said = engine.call("POST", f"/build?t={name}", out.getvalue(), "application/x-tar")
    assert engine.has_image(name), said
