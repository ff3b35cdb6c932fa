# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the daemon while files are in the making: the next start sweeps them, whether or not anybody asks for
anything. What it may keep, such as a session of an upload, stays.

    pytest tests/crash/test_temp_files.py --cycles 10     # all of it ten times"""
import contextlib
import http.client
import os
import resource
import signal
import sqlite3
import subprocess

import pytest

from support import remains
from support.daemon import Daemon, program
from support.engine import NO_ENGINE
from support.gcs import Bucket, Mount, needs_fuse
from support.storage import KIB, MIB, Storage, pattern
from support.wait import wait_until

pytestmark = pytest.mark.each_cycle()


@pytest.fixture
def storage(tmp_path):
    with Daemon(tmp_path, NO_ENGINE) as daemon:
        yield Storage(daemon)


@contextlib.contextmanager
def half_sent(storage, method, path, size=4 * MIB):
    """A request of which the daemon has received the first half."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", storage.daemon.port, timeout=30)) as connection:
        connection.putrequest(method, path)
        connection.putheader("Content-Type", "x/y")
        connection.putheader("Content-Length", size)
        connection.endheaders(pattern("half", size // 2))
        wait_until(lambda: sum(storage.files("uploads").values()) > 0, 20, "the daemon writes")
        yield


def test_uploads_that_were_cut_off(storage):
    """Fails with: objects_recover() left out of objects_open(): the parts of uploads stayed until the first request for storage."""
    assert storage.put("kept", b"kept").status == 200
    for method, path in (("POST", f"{storage.uploads}?uploadType=media&name=media"),
                         ("PUT", storage.plain_path("plain"))):
        with half_sent(storage, method, path):
            storage.daemon.kill9()
        assert storage.files("uploads")
        storage.daemon.start()
        assert not storage.files("uploads"), method
        assert remains.of_state(storage.daemon.state_dir) == []
    assert storage.names() == ["kept"]


def test_a_session_stays_until_it_is_too_old(storage):
    """Fails with: objects_expire() left out of objects_recover(): its bytes stayed until the next session was begun."""
    data = pattern("session", MIB)
    session = storage.session("resumed")
    assert storage.send(session, data[:512 * KIB], f"bytes 0-{512 * KIB - 1}/{MIB}").status == 308
    storage.daemon.kill9()
    storage.daemon.start()
    assert list(storage.files("uploads").values()) == [512 * KIB] and remains.of_state(storage.daemon.state_dir) == []
    storage.daemon.kill9()
    with contextlib.closing(sqlite3.connect(storage.daemon.state_dir / "storage.db")) as database, database:
        database.execute("UPDATE session SET created_us = created_us - 8 * 86400 * 1000000")
    storage.daemon.start()
    wait_until(lambda: not storage.files("uploads"), 20, "its bytes are gone")


def killed_at_the_first_byte():
    """From now on, the kernel kills the process when it writes to a file: so an unfinished file is left."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_credentials_in_the_making(storage):
    """`trainyard env` makes keys and certificates. Fails with: state_dir_sweep() left out of store_open(): it stayed."""
    state_dir = storage.daemon.state_dir
    words = [program(), "env", "--state-dir", state_dir]
    subprocess.run(words, check=True, capture_output=True)
    before = set(os.listdir(state_dir))
    assert "credentials.json" in before
    (state_dir / "credentials.json").unlink()
    done = subprocess.run(words, capture_output=True, preexec_fn=killed_at_the_first_byte)
    assert done.returncode == -signal.SIGXFSZ, done
    left = set(os.listdir(state_dir)) - before
    assert len(left) == 1 and remains.of_state(state_dir) == [str(state_dir / name) for name in left]
    storage.daemon.kill9()
    storage.daemon.start()
    assert remains.of_state(state_dir) == []


@pytest.mark.parametrize("place", ["", "ca", "local-ca"])
def test_every_place_of_small_files(storage, place):
    """A file that a live process is making is locked, and is not removed. Fails with: the flock() left out of
    small_files_sweep(): it was removed too."""
    directory = storage.daemon.state_dir / place
    directory.mkdir(exist_ok=True)
    dead, live = directory / "a.key.0123456789abcdef", directory / "a.crt.fedcba9876543210"
    other = directory / "a.crt.fedcba987654321g"
    for path in (dead, live, other):
        path.write_bytes(b"x")
    holder = subprocess.Popen(["flock", live, "-c", "echo locked; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"locked\n"
    storage.daemon.kill9()
    storage.daemon.start()
    assert [path.exists() for path in (dead, live, other)] == [False, True, True]
    holder.communicate()
    storage.daemon.kill9()
    storage.daemon.start()
    assert [path.exists() for path in (dead, live, other)] == [False, False, True]


@needs_fuse
def test_files_that_are_written_at_gcs_and_their_mount(storage):
    """The daemon and the serving process are killed while a program writes. Fails with: gcs_mountpoint_sweep() left out of
    gcs_host_open(): the dead mount stayed until the next job wanted /gcs."""
    assert storage.put("kept", b"kept").status == 200
    bucket, before = Bucket(storage.daemon, "written"), set(os.listdir(storage.daemon.state_dir))
    mount = Mount(storage.daemon).__enter__()
    half = os.open(mount.files / "written" / "half", os.O_CREAT | os.O_WRONLY)
    os.write(half, pattern("half", MIB))
    storage.daemon.kill9()
    mount.kill9()
    with contextlib.suppress(OSError):
        os.close(half)
    assert remains.of_state(storage.daemon.state_dir)
    storage.daemon.start()
    assert remains.of_state(storage.daemon.state_dir) == [] and not (storage.daemon.state_dir / "mount/gcs").exists()
    assert set(os.listdir(storage.daemon.state_dir)) - before == {"gcs.lock"}
    assert bucket.names() == []
