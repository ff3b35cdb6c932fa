# SPDX-License-Identifier: Apache-2.0
"""Finds what an ended daemon has left on the machine itself, outside the engine."""
import contextlib
import os
import pathlib
import re
import sqlite3

IN_THE_MAKING = re.compile(r".\.[0-9a-f]{16}$|^%new$")


def gcs_processes():
    """The ids of all processes that serve /gcs, by state directory."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = entry.read_bytes().split(b"\0")
            if len(words) > 2 and words[1] == b"gcs-mount":
                found.setdefault(words[2].decode(), []).append(int(entry.parent.name))
    return found


def mount_points():
    lines = pathlib.Path("/proc/self/mounts").read_text(errors="replace").splitlines()
    return {line.split()[1].replace("\\040", " ") for line in lines}


def _rows(path, sql):
    """Rows of a database; None: it does not exist or cannot be read, because some tests damage it."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as database:
            return [row[0] for row in database.execute(sql)]
    except sqlite3.Error:
        return None


def _files(top):
    return [pathlib.Path(directory, name) for directory, _, names in os.walk(top) for name in names]


def _leases(state_dir):
    jobs = _rows(state_dir / "state.db", "SELECT job_id FROM lease JOIN job ON job.id = lease.job "
                                         "WHERE job.state IN (4, 5, 7)")
    return [f"a GPU's lease of the ended job {job}" for job in jobs or ()]


def _blobs(state_dir):
    """Files of blobs that belong to no object, no upload and no pending work."""
    used = _rows(state_dir / "storage.db", "SELECT blob FROM object UNION SELECT blob FROM session WHERE answer IS NULL "
                                           "UNION SELECT blob FROM part UNION SELECT blob FROM post_commit")
    names = {f"{blob:016x}" for blob in used or () if blob}
    files = _files(state_dir / "uploads") + _files(state_dir / "blobs") if used is not None else []
    return [str(path) for path in files if path.name not in names]


def of_state(state_dir, processes=None, mounts=None):
    """What is left in a state directory or because of it. `processes`, `mounts`: results of the two searches, if the caller
    has them."""
    state_dir = pathlib.Path(os.path.realpath(state_dir))
    place = str(state_dir / "mount" / "gcs")
    left = [f"the process {pid}, which serves /gcs"
            for pid in (gcs_processes() if processes is None else processes).get(str(state_dir), ())]
    left += [f"the mount {place}"] if place in (mount_points() if mounts is None else mounts) else []
    made = [path for place in ("", "ca", "local-ca") for path in (state_dir / place).glob("*")]
    made += _files(state_dir / "gs")
    left += [str(path) for path in made if IN_THE_MAKING.search(path.name)]
    return left + _leases(state_dir) + _blobs(state_dir)
