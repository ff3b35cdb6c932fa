# SPDX-License-Identifier: Apache-2.0
"""The service under systemd, with all restrictions of deploy/trainyard.service: it works, and operations that it does not
need are refused."""
import ast
import re

import pytest

from support.daemon import UNTIL_RELEASED, script
from support.service import Service, unit_running, why_not
from support.wait import wait_until

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

# A program in the service's place: tries operations, and prints with which errors they are refused.
PROBE = r"""
import ctypes, errno, mmap, os, socket
libc = ctypes.CDLL(None, use_errno=True)

def attempt(call, *args):
    ctypes.set_errno(0)
    try:
        result = call(*args)
    except OSError as error:
        return errno.errorcode[error.errno]
    return errno.errorcode[ctypes.get_errno()] if result == -1 else "done"

def write(path):
    with open(path, "w") as file:
        file.write("x")

def listen(port):
    with socket.socket() as listener:
        listener.bind(("127.0.0.77", port))

print("probe", {
    "port": attempt(listen, 80), "state": attempt(write, "/var/lib/probe/probe"), "tmp": attempt(write, "/tmp/probe"),
    "etc": attempt(write, "/etc/probe"), "usr": attempt(write, "/usr/probe"), "home": attempt(os.listdir, "/root"),
    "sysctl": attempt(write, "/proc/sys/kernel/panic"), "kmsg": attempt(os.stat, "/dev/kmsg"),
    "processes": attempt(os.stat, "/proc/1"), "unshare": attempt(libc.unshare, 0x10000000),
    "mount": attempt(libc.mount, b"none", b"/tmp", b"tmpfs", 0, None), "ptrace": attempt(libc.ptrace, 0, 0, 0, 0),
    "packet": attempt(socket.socket, socket.AF_PACKET, socket.SOCK_RAW),
    "netlink": attempt(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW),
    "clock": attempt(libc.clock_settime, 0, bytes(16)), "personality": attempt(libc.personality, 8),
    "executable": attempt(mmap.mmap, -1, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC),
    "root": attempt(os.setuid, 0), "setuid": attempt(os.chmod, "/var/lib/probe/probe", 0o4755),
    "user": "root" if os.getuid() == 0 else "own"}, flush=True)
"""
ALLOWED = {"port": "done", "state": "done", "tmp": "done", "etc": "EROFS", "usr": "EROFS", "home": "EACCES", "sysctl": "EROFS",
           "kmsg": "ENOENT", "processes": "ENOENT", "unshare": "EPERM", "mount": "EPERM", "ptrace": "EPERM",
           "packet": "EAFNOSUPPORT", "netlink": "done", "clock": "EPERM", "personality": "EPERM", "executable": "EPERM", "root": "EPERM",
           "setuid": "EPERM", "user": "own"}


@pytest.fixture(scope="module")
def service(engine, tmp_path_factory):
    # Uses another directory: systemd would give the service's own one to its user.
    probe = unit_running("/usr/bin/python3 -B /mnt/given/probe.py", Type="oneshot").replace("=trainyard\n", "=probe\n")
    made = Service(tmp_path_factory.mktemp("service"), engine, {"probe.service": probe, "probe.py": PROBE})
    try:
        yield made.start()
        made.stop()
    finally:
        made.end()


def test_a_job_runs_and_talks_to_its_gateway(service):
    # Fails with: the unit without the group docker; and with @network-io among the calls that are refused
    job_id = service.create(script(
        "echo begun; wget -qO- --header 'Metadata-Flavor: Google' http://$GCE_METADATA_HOST/computeMetadata/v1/project/project-id;"
        f"echo; {UNTIL_RELEASED}; echo over"))
    service.until(job_id, "RUNNING")
    assert service.wait_lines(job_id, count=2) == ["begun", service.project]
    service.release(job_id)
    service.until(job_id, "SUCCEEDED")
    assert service.lines(job_id)[-1] == "over"


def test_it_serves_objects_and_is_started_anew(service):
    put = service.request("POST", "/upload/storage/v1/b/some-bucket/o?uploadType=media&name=a", b"kept",
                          {"Content-Type": "application/octet-stream"})
    assert put.status == 200, put
    assert service.control("restart", "trainyard.service").returncode == 0, service.log()[-3000:]
    wait_until(service.answers, 30, "it serves again")
    assert service.request("GET", "/storage/v1/b/some-bucket/o/a?alt=media").data == b"kept"


def test_what_it_has_no_use_for_is_refused(service):
    # Fails with: the unit without MemoryDenyWriteExecute and ProtectProc; without AmbientCapabilities; without AF_NETLINK
    assert service.control("start", "probe.service").returncode == 0, service.log()[-3000:]
    said = next(line for line in service.log().splitlines() if line.startswith("probe "))
    assert ast.literal_eval(said.removeprefix("probe ")) == ALLOWED


def test_it_complains_of_nothing(service):
    # Fails with: the unit without AmbientCapabilities
    service.run(script("echo done"))
    # The unit may not change routes, which metadata by address needs (docs/getting-started.md, "As a service").
    expected = re.compile(" (orphans-found|metadata-address-missing) ")
    complaints = [line for line in service.log().splitlines()
                  if re.search(r" (warning|error) ", line) and not expected.search(line)]
    assert complaints == []
