# SPDX-License-Identifier: Apache-2.0
"""deploy/trainyard.service under a systemd of its own. In its namespaces, only what the service may write is writable, and
there are no other units."""
import contextlib
import grp
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile

from .daemon import ROOT, Daemon
from .engine_proxy import EngineProxy
from .wait import wait_until

UNIT = ROOT / "deploy/trainyard.service"
SYSTEMD = next((path for path in ("/lib/systemd/systemd", "/usr/lib/systemd/systemd") if os.path.exists(path)), None)

# Arguments: NAME ENGINE GIVEN SYSTEMD. Makes a control group that is the root of what this systemd sees.
OUTSIDE = """
set -e
mount --make-rprivate /
mount -t cgroup2 cgroup2 /mnt
mkdir "/mnt/$1"
echo $$ >"/mnt/$1/cgroup.procs"
umount /mnt
shift
exec unshare --mount --pid --fork --ipc --uts --cgroup --kill-child sh -c "$INSIDE" sh "$@"
"""

# Arguments: ENGINE GIVEN SYSTEMD. Mounts files at their places, then makes all else read-only.
INSIDE = """
set -e
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir /mnt/engine /mnt/given /mnt/state
mount --bind "$1" /mnt/engine
mount --bind "$2" /mnt/given
mount --bind "$2/state" /mnt/state
for place in /usr/local/bin /etc/default /var/lib /var/cache /var/log; do mount -t tmpfs -o mode=755 tmpfs $place; done
mkdir -m 700 /var/lib/private
mount --bind /mnt/state /var/lib/private
cp /mnt/given/trainyard /usr/local/bin/
cp /mnt/given/environment /etc/default/trainyard
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/units /run/engine /run/out
cp /mnt/given/*.service /mnt/given/*.target /run/units/
mount --bind /mnt/engine /run/engine
ln -s engine/docker.sock /run/docker.sock
umount -R /sys/fs/cgroup 2>/dev/null || :
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=1777 tmpfs /var/tmp
mount -o remount,ro,bind /
export container=trainyard-test SYSTEMD_UNIT_PATH=/run/units SYSTEMD_GENERATOR_PATH=/nonexistent
export SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/nonexistent SYSTEMD_LOG_TARGET=console
exec "$3" --system --unit=test.target --log-target=console --default-standard-output=null >&2 </dev/null
"""


REMOVE = """
mount --make-rprivate / && mount -t cgroup2 cgroup2 /mnt && find "/mnt/$1" -depth -type d -exec rmdir {} +
"""


def why_not():
    """Returns why a systemd cannot be run here, or None."""
    if os.geteuid() != 0:
        return "to run systemd takes root"
    if not SYSTEMD or not shutil.which("unshare") or not shutil.which("nsenter"):
        return "there is no systemd, unshare or nsenter"
    try:
        grp.getgrnam("docker")
    except KeyError:
        return "there is no group docker"
    tried = subprocess.run(["unshare", "--mount", "sh", "-c", "mount --make-rprivate / && mount -t cgroup2 cgroup2 /mnt"],
                           capture_output=True, text=True, timeout=30)
    return None if tried.returncode == 0 else f"no control groups can be mounted: {tried.stderr.strip()}"


def unit_running(command, **more):
    """The unit with another command, and with `more` lines in [Service]."""
    lines = UNIT.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("ExecStart="))
    lines[at:at + 1] = [f"ExecStart={command}", *(f"{name}={value}" for name, value in more.items())]
    return "\n".join(lines) + "\n"


class Service(Daemon):
    """The daemon of the unit. `units`: {name: text} of further units."""

    def __init__(self, directory, engine, units=(), **more):
        super().__init__(directory, engine, **more)
        self.units = dict(units)
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="tys", dir="/tmp"))
        self.proxy, self.cgroup, self.manager = None, None, None

    def _give(self):
        """Copies the files that the namespaces can see."""
        given = self.top / "given"
        (given / "state").mkdir(parents=True, mode=0o700)
        shutil.copy(self.binary, given / "trainyard")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        (given / "environment").write_text(
            f"TRAINYARD_LISTEN=127.0.0.1:{self.port}\nTRAINYARD_OFFLINE=true\nTRAINYARD_PROJECT={self.project}\n"
            "TRAINYARD_STOP_GRACE=1\nASAN_OPTIONS=detect_leaks=0:log_path=/var/lib/trainyard/asan\n")
        output = "StandardOutput=append:/run/out/log\nStandardError=append:/run/out/log\n"
        for name, text in ({"trainyard.service": UNIT.read_text()} | self.units).items():
            (given / name).write_text(text.replace("[Install]", output + "[Install]"))
        for name in ("sysinit", "basic", "network", "shutdown", "test"):
            (given / f"{name}.target").write_text(f"[Unit]\nDescription={name}\nDefaultDependencies=no\n")
        return given

    def _engine_directory(self):
        """The directory of the engine's socket, with the owner and mode of Docker's packages. The engine can read the state
        directory."""
        self.proxy = EngineProxy(self.engine, {"/var/lib/private": str(self.top / "given/state")})
        os.chmod(self.proxy.directory, 0o755)
        os.chown(self.proxy.socket_path, 0, grp.getgrnam("docker").gr_gid)
        os.chmod(self.proxy.socket_path, 0o660)
        return self.proxy.directory

    def start(self):
        given, sockets = self._give(), self._engine_directory()
        with open(self.directory / "manager.log", "ab") as log:
            self.manager = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", OUTSIDE, "sh", self.top.name, sockets, given, SYSTEMD],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=dict(os.environ, INSIDE=INSIDE))
        wait_until(lambda: self.control("list-units").returncode == 0, 60, "the manager serves")
        begun = self.control("start", "trainyard.service")
        assert begun.returncode == 0, begun.stderr + self.told()
        wait_until(self.answers, 30, "it serves")
        return self

    def inside(self, *command):
        """Runs a command in the namespaces of the systemd."""
        assert self.manager.poll() is None, self.told()
        pid = pathlib.Path(f"/proc/{self.manager.pid}/task/{self.manager.pid}/children").read_text().strip()
        return subprocess.run(["nsenter", "-t", pid, "-m", "-p", *command] if pid else ["false"], capture_output=True,
                              text=True, timeout=60)

    def control(self, *words):
        return self.inside("systemctl", *words)

    def property(self, name, unit="trainyard.service"):
        return self.control("show", "--value", "-p", name, unit).stdout.strip()

    def log(self):
        return self.inside("cat", "/run/out/log").stdout

    def told(self):
        return (self.directory / "manager.log").read_text(errors="replace")[-3000:]

    def answers(self):
        try:
            return self.get("/healthz").status == 200
        except OSError:
            return False

    def stop(self, how=signal.SIGTERM, timeout=60):
        if self.manager is None:
            return
        try:
            assert self.control("stop", "trainyard.service").returncode == 0, self.told()
            assert self.property("Result") == "success", self.log()[-3000:]
        finally:
            self.end()

    def end(self):
        if self.manager is None:
            return
        self.manager.kill()
        self.manager.wait()
        self.manager = None
        self.proxy.close()
        wait_until(lambda: subprocess.run(["unshare", "--mount", "sh", "-c", REMOVE, "sh", self.top.name],
                                          capture_output=True, timeout=60).returncode == 0, 20, "its control groups are gone")
        shutil.rmtree(self.top)
