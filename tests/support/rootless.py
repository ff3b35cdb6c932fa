# SPDX-License-Identifier: Apache-2.0
"""Engines of a user other than root (Docker's by dockerd-rootless.sh, and Podman's), and a daemon of that user. The user,
its ids for namespaces (subuid), and devices that each user may open exist only in a mount namespace of the test."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from support.daemon import Daemon, program
from support.engine import GPU_HOOK, GpuEngine
from support.podman import RUNTIMES, PodmanEngine
from support.wait import wait_until

DOCKERD = shutil.which("dockerd-rootless.sh", path=f"{os.environ['PATH']}:/usr/share/docker.io/contrib")
PATH = f"{GPU_HOOK}:{os.environ['PATH']}:/usr/local/sbin:/usr/sbin:/sbin"
NUMBERS = 65536
# $1: the user's directory. The command is exec'd as that user.
ENTER = """
top=$1; user=$2; first=$3; shift 3
mount --make-rshared /
hide() { mount --bind "$top/$1" "$2"; }
for file in subuid subgid; do echo "tyuser:$first:65536" >"$top/$file"; touch "/etc/$file"; hide $file /etc/$file; done
{ cat /etc/passwd; echo "tyuser:x:$user:$user::$top/home:/bin/sh"; } >"$top/passwd"; hide passwd /etc/passwd
{ cat /etc/group; echo "tyuser:x:$user:"; } >"$top/group"; hide group /etc/group
mknod -m 666 "$top/tun" c 10 200; hide tun /dev/net/tun
mknod -m 666 "$top/fuse" c 10 229; hide fuse /dev/fuse
echo user_allow_other >"$top/fuse.conf"; hide fuse.conf /etc/fuse.conf
cd "$top/home"
exec setpriv --reuid="$user" --regid="$user" --clear-groups env HOME="$top/home" XDG_RUNTIME_DIR="$top/run" "$@"
"""


class User:
    """A user who has no processes but those of this test."""

    def __init__(self):
        self.number = 30000 + os.getpid() % 20000
        self.first = (10 + os.getpid() % 20000) * NUMBERS
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="tyr", dir="/tmp"))
        self.top.chmod(0o755)
        self.home, self.run = self.top / "home", self.top / "run"
        for place in (self.top, self.home, self.run):
            place.mkdir(exist_ok=True)
            os.chown(place, self.number, self.number)
        shutil.copy(program(), self.top / "trainyard")  # the user may not be able to read the checkout
        self.process = None

    def start(self, *command, **variables):
        """Starts the first process of the user. Its mount namespace is shared by the others."""
        with open(self.top / "log", "ab") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "--propagation", "slave", "sh", "-ec", ENTER, "sh", self.top, str(self.number),
                 str(self.first), *command], env=os.environ | {"PATH": PATH} | variables, stdout=log, stderr=log,
                start_new_session=True)

    def command(self, *command):
        return ["nsenter", f"--mount=/proc/{self.process.pid}/ns/mnt", "setpriv", f"--reuid={self.number}",
                f"--regid={self.number}", "--clear-groups", "env", f"HOME={self.home}", f"XDG_RUNTIME_DIR={self.run}",
                f"PATH={PATH}", *command]

    def log(self):
        return (self.top / "log").read_text(errors="replace")[-3000:]

    def processes(self):
        found = []
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, IndexError):
                owner = int((place / "status").read_text().split("Uid:")[1].split()[0])
                if owner == self.number or 0 <= owner - self.first < NUMBERS:
                    found.append(int(place.name))
        return found

    def delete(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(AssertionError):
                for pid in self.processes():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, how)
                if self.process:
                    self.process.poll()
                wait_until(lambda: not self.processes(), 15, "the user's processes have ended")
                break
        self.process.wait(10)
        shutil.rmtree(self.top, ignore_errors=True)


class RootlessDocker(GpuEngine):
    def __init__(self):
        super().__init__()
        self.user = User()
        self.path = f"{self.user.run}/docker.sock"
        self.gpu_log = self.user.home / "gpus.log"

    def start(self):
        self.user.start(DOCKERD, "-H", self.host, TRAINYARD_TEST_GPU_LOG=str(self.gpu_log))
        wait_until(self.answers, 60, self.user.log)

    def delete(self):
        self.user.delete()
        shutil.rmtree(self.top, ignore_errors=True)


class RootlessPodman(PodmanEngine):
    def __init__(self, runtime):
        self.user = User()
        super().__init__(runtime, self.user.home / "podman")
        self.path = f"{self.user.run}/podman.sock"
        subprocess.run(["chown", "-R", f"{self.user.number}:{self.user.number}", self.user.home], check=True)

    def start(self):
        self.user.start("podman", "system", "service", "--time=0", self.host, **self.settings)
        wait_until(self.answers, 60, self.user.log)

    def delete(self):
        self.user.delete()


class RootlessDaemon(Daemon):
    """A daemon that runs as the same user."""

    def __init__(self, engine, *options):
        super().__init__(engine.user.home / "daemon", engine, *options, binary=str(engine.user.top / "trainyard"))
        os.chown(self.directory, engine.user.number, engine.user.number)

    def command(self):
        return self.engine.user.command(*super().command())


def lacking(*programs):
    """Returns "" if these programs are installed, else which one is missing."""
    if os.geteuid() != 0:
        return "to be another user takes root"
    missing = [name for name in ("newuidmap", "slirp4netns", "setpriv", "nsenter", *programs) if not shutil.which(name)]
    return f"no {missing[0]} in PATH" if missing else ""


def rootless_docker_start():
    """Returns an engine and "", or None and the reason why there is none."""
    problem = lacking("rootlesskit", "dockerd") or ("" if DOCKERD else "no dockerd-rootless.sh")
    if problem:
        return None, problem
    engine = RootlessDocker()
    engine.start()
    return engine, ""


def rootless_podman_start():
    problem = lacking("podman")
    for runtime in filter(shutil.which, () if problem else RUNTIMES):
        engine = RootlessPodman(runtime)
        engine.start()
        problem = engine.runs()
        if not problem:
            return engine, ""
        engine.delete()
    return None, problem
