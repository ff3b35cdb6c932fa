# SPDX-License-Identifier: Apache-2.0
"""Programs that try to use all threads or all disk space through /gcs, or that cannot be killed."""
import contextlib
import errno
import os
import resource
import shutil
import signal
import subprocess
import sys

import pytest

from support.daemon import Daemon
from support.gcs import Bucket, Mount, needs_fuse
from support.storage import passing_over, tree_paths
from support.wait import wait_until

pytestmark = needs_fuse
GIB = 1 << 30
OBJECT_MAX = 5 << 40


@pytest.fixture
def mount(idle_engine, tmp_path):
    with Daemon(tmp_path, idle_engine, "--offline") as daemon:
        daemon.get("/storage/v1/b", project="p")
        found = Mount(daemon).__enter__()
        yield found
        found.kill9()  # files of killed programs are still being stored for a while
        subprocess.run(["umount", "-l", found.files.parent], check=True)


@contextlib.contextmanager
def container(program, *arguments):
    """A program with mounts of its own, as in a container. It and its children are killed at the end."""
    command = ["unshare", "--mount", sys.executable, "-c", program, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    os.set_blocking(process.stdout.fileno(), False)
    process.lines = b""
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdin, process.stdout):
            pipe.close()
        process.wait(10)


def heard(process, count):
    """Waits up to 30 s for `count` lines of a container."""
    def there():
        process.lines += process.stdout.read() or b""
        return process.lines.count(b"\n") >= count
    wait_until(there, 30, f"{count} lines")
    return process.lines.decode().splitlines()[:count]


def fails(number, call, *arguments):
    with pytest.raises(OSError) as caught:
        call(*arguments)
    assert caught.value.errno == number, caught.value


def blocks_bytes(directory):
    """The disk space of the directory's files. Files may come and go meanwhile."""
    found = 0
    for path in tree_paths(directory):
        with passing_over():
            found += path.lstat().st_blocks * 512
    return found


STORES = """
import os, sys, threading
def store(number):
    file = os.open(f"{sys.argv[1]}/{number}", os.O_RDWR | os.O_CREAT)
    try:
        os.ftruncate(file, int(sys.argv[2]))
        os.write(1, b"grown\\n")
    except OSError as problem:
        os.write(1, problem.strerror.encode() + b"\\n")
    os.close(file)
for number in range(int(sys.argv[3])):
    threading.Thread(target=store, args=[number]).start()
"""

TURNS = """
import os, sys
number = 0
while True:
    path = f"{sys.argv[1]}/{number % 7}"
    with open(path, "w") as file:
        file.write(str(number))
    with open(path) as file:
        assert file.read() == str(number)
    os.rename(path, path + "-done")
    assert f"{number % 7}-done" in os.listdir(sys.argv[1])
    number += 1
    os.write(1, b"turn\\n")
"""


# Fails with: gcs_turns_take() that lets all begin (as it was, with 64 threads): not one turn. gcs_turns_abandoned() that finds
# none: those that wait for their turn are killed late.
@pytest.mark.skipif(not shutil.which("unshare"), reason="there is no unshare")
def test_a_container_that_stores_a_lot_keeps_nobody_else_waiting(mount):
    many = 200
    evil, good = (Bucket(mount.daemon, name, mount.files / name) for name in ("evil-bucket", "good-bucket"))
    with container(STORES, evil.directory, 200 << 20, many) as hostile:
        assert heard(hostile, many) == ["grown"] * many
        with container(TURNS, good.directory) as working:
            assert heard(working, 20) == ["turn"] * 20
        assert len(evil.names()) < many, "it is still at it"
    assert (mount.files / "good-bucket").is_dir()


# Fails with: gcs_node_reserve() without its sum, or without the limit.
def test_a_container_has_no_more_changed_bytes_than_the_disk_has_room_for(mount):
    bucket = Bucket(mount.daemon, "big-bucket", mount.files / "big-bucket")
    free = os.statvfs(mount.daemon.state_dir)
    room = min(free.f_bavail * free.f_frsize, OBJECT_MAX)
    (bucket / "path").write_bytes(b"x")
    fails(errno.EFBIG, os.truncate, bucket / "path", OBJECT_MAX + 1)
    with open(bucket / "one", "wb", buffering=0) as one, open(bucket / "other", "wb", buffering=0) as other:
        fails(errno.EFBIG, one.truncate, OBJECT_MAX + 1)
        fails(errno.EFBIG, os.pwrite, one.fileno(), b"x", OBJECT_MAX)
        fails(errno.ENOSPC, one.truncate, room + GIB)
        one.truncate(room * 6 // 10)
        fails(errno.ENOSPC, other.truncate, room * 6 // 10)
        fails(errno.ENOSPC, os.pwrite, other.fileno(), b"x", room * 6 // 10)
        os.unlink(bucket / "one")  # the removed file had been changed, so it still counts
        fails(errno.ENOSPC, other.truncate, room * 6 // 10)
        one.close()
        wait_until(lambda: not isinstance(grown(other, room * 6 // 10), OSError), 10, "there is room again")
        os.unlink(bucket / "other")
    assert bucket.names() == ["path"] and bucket.get("path") == b"x"


# Fails with: gcs_file_store() without gcs_node_release(): what is stored and not yet released counts, so that the first file is
# in the other's way. gcs_write_room() that asks for no more than the written bytes: the last write passes.
def test_what_is_stored_takes_no_share_of_the_room(idle_engine, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128m", "tmpfs", disk], check=True)
    try:
        with Daemon(tmp_path, idle_engine, "--offline", state_dir=disk / "state") as daemon:
            daemon.get("/storage/v1/b", project="p")
            with Mount(daemon) as mount:
                bucket = Bucket(daemon, "kept-bucket", mount.files / "kept-bucket")
                with open(bucket / "one", "wb", buffering=0) as one, open(bucket / "other", "wb", buffering=0) as other:
                    one.truncate(72 << 20)
                    fails(errno.ENOSPC, other.truncate, 72 << 20)
                    os.fsync(one)
                    other.truncate(72 << 20)
                    fails(errno.ENOSPC, os.pwrite, one.fileno(), b"x", 0)
                assert bucket.facts("other")["size"] == bucket.facts("one")["size"] == str(72 << 20)
    finally:
        subprocess.run(["umount", disk], check=True)


def grown(file, size):
    try:
        return file.truncate(size)
    except OSError as problem:
        return problem


# Fails with: file_append() without hole_append(); gcs_bytes_copy() that copies from the beginning to the end.
def test_holes_take_no_room(mount):
    bucket = Bucket(mount.daemon, "hole-bucket", mount.files / "hole-bucket")
    size = 256 << 20
    with open(bucket / "sparse", "wb", buffering=0) as file:
        file.write(b"begin")
        file.truncate(size)
        os.pwrite(file.fileno(), b"end", size - 3)
    assert bucket.facts("sparse")["size"] == str(size)
    with open(bucket / "sparse", "r+b", buffering=0) as file:
        os.pwrite(file.fileno(), b"middle", size // 2)
        assert blocks_bytes(mount.daemon.state_dir / "blobs") < 16 << 20
        free = os.statvfs(mount.daemon.state_dir)
        scratch = [os.stat(f"/proc/{mount.process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{mount.process.pid}/fd")]
        assert any(info.st_size == size and info.st_nlink == 0 and info.st_blocks * 512 < 16 << 20 for info in scratch), free
    with open(bucket / "sparse", "rb") as file:
        assert file.read(5) == b"begin" and file.seek(size // 2) and file.read(6) == b"middle"
        assert file.seek(size - 4) and file.read() == b"\0end"
    assert blocks_bytes(mount.daemon.state_dir / "blobs") < 16 << 20


OPENS = """
import os, sys
files = []
try:
    while True:
        files.append(os.open(sys.argv[1], os.O_RDONLY | len(files) % 2 * os.O_DIRECTORY))
except OSError as problem:
    os.write(1, f"{len(files)} {problem.strerror}\\n".encode())
sys.stdin.read()
"""


# Fails with: gcs_open() and gcs_directory_open() without gcs_node_open() (as they were): no other container can open a file.
@pytest.mark.parametrize("name", ["file", ""], ids=["files", "directories"])
def test_a_container_that_opens_a_lot_leaves_something_to_open(idle_engine, tmp_path, name):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Daemon(tmp_path, idle_engine, "--offline") as daemon:
        daemon.get("/storage/v1/b", project="p")
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
        mount = Mount(daemon).__enter__()
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(65536, before[1]), before[1]))
        try:
            bucket = Bucket(daemon, "open-bucket", mount.files / "open-bucket")
            (bucket / "file").write_bytes(b"x")
            with container(OPENS.replace("len(files) % 2", str(int(not name))), bucket / name) as hostile:
                count, problem = heard(hostile, 1)[0].split(" ", 1)
                assert problem == "Too many open files in system" and 100 < int(count) < 400
                with open(bucket / "good", "wb") as good, open(bucket / "file", "rb") as file:
                    assert file.read() == b"x" and sorted(os.listdir(bucket.directory)) == ["file", "good"]
                    good.write(b"good")
                assert bucket.get("good") == b"good"
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
            mount.__exit__()


# Fails with: progress_look() that asks only while nothing moves (as it was): it is there until all is stored. flush of a killed
# program for as long as it takes: the second program, whose files are stored as it ends.
@pytest.mark.parametrize("program", ["os.close(files[0])", "os.fsync(files[0])", "os.kill(os.getpid(), 9)",
                                     "os.truncate(sys.argv[1] + '/9', 16 << 30)"], ids=["close", "fsync", "open", "truncate"])
def test_a_program_that_stores_can_be_killed(mount, program):
    bucket = Bucket(mount.daemon, "slow-bucket", mount.files / "slow-bucket")
    code = f"""
import os, sys
files = [os.open(f"{{sys.argv[1]}}/{{number}}", os.O_RDWR | os.O_CREAT) for number in range(10)]
for file in files:
    os.ftruncate(file, 4 << 30)
if "truncate" in {program!r}:
    for file in files:
        os.ftruncate(file, 0)
        os.close(file)
os.write(1, b"go\\n")
{program}
"""
    with container(code, bucket.directory) as process:
        assert heard(process, 1) == ["go"]
        wait_until(lambda: blocks_of_uploads(mount.daemon) > 0, 20, "it is being stored")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(6)


def blocks_of_uploads(daemon):
    """The bytes of unfinished uploads."""
    sizes = []
    for path in (daemon.state_dir / "uploads").iterdir():
        with passing_over():
            sizes.append(path.stat().st_size)
    return sum(sizes)
