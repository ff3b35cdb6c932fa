#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""State directories of released versions, kept as text in tests/states/VERSION: databases as SQL, other files as they are.

    DOCKER_HOST=unix:///var/run/docker.sock TRAINYARD=./trainyard python3 tests/support/kept_state.py tests/states/0.2.0

makes the one of this version with a real engine, or makes it again. While a version is not released, its schema is changed in
its own file (store/migrations/*/*_release_0_2.sql), which gets the next number, so that directories of builds before the change
are refused; and its kept state is made again by this command, in the same commit.
Once the version is released neither is ever changed: a later schema is a new file with the next number, and the kept state of
the next release a new directory."""
import contextlib
import pathlib
import shutil
import sqlite3
import sys
import tempfile

STATES = pathlib.Path(__file__).resolve().parent.parent / "states"
DATABASES = ("state", "logs", "storage")
# The directories that are kept besides the databases: the tree of objects, and their bytes. Keys are made anew.
TREES = ("gs", "blobs")


def keep(state_dir, directory):
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for name in DATABASES:
        with contextlib.closing(sqlite3.connect(state_dir / f"{name}.db")) as database:
            marks = "".join(f"PRAGMA {mark} = {database.execute(f'PRAGMA {mark}').fetchone()[0]};\n"
                            for mark in ("application_id", "user_version"))
            (directory / f"{name}.sql").write_text(marks + "\n".join(database.iterdump()) + "\n")
    for name in TREES:
        if (state_dir / name).exists():
            shutil.copytree(state_dir / name, directory / name, symlinks=True)


def restore(directory, state_dir):
    state_dir.mkdir(mode=0o700)
    for name in DATABASES:
        with contextlib.closing(sqlite3.connect(state_dir / f"{name}.db")) as database:
            database.executescript((directory / f"{name}.sql").read_text())
    for name in TREES:
        if (directory / name).exists():
            shutil.copytree(directory / name, state_dir / name, symlinks=True)
    for path in state_dir.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


def fill(daemon):
    """Fills a state. tests/integration/test_kept_states.py checks that each kept state has these contents."""
    from support.custom_jobs import CustomJobs, pool
    from support.daemon import script
    from support.storage import Storage
    from support.tuning import tuning_input
    daemon.run(script("echo a line of a job; echo another >&2"), job_id="one_that_ran", labels={"kept": "yes"})
    daemon.run(script("exit 3"), expect="FAILED", job_id="one_that_failed")
    daemon.run(tuning_input(maxTrials=2), job_id="a_search")
    CustomJobs(daemon).run(pool("echo a line of a custom job"))
    assert Storage(daemon, "kept").put("a/b.txt", b"kept bytes\n").status == 200


def main():
    sys.path.insert(0, str(STATES.parent))
    from support.daemon import Daemon
    from support.engine import Engine, ensure_test_images
    ensure_test_images(Engine())
    with tempfile.TemporaryDirectory() as directory:
        with Daemon(directory, None, "--offline") as daemon:
            fill(daemon)
        keep(daemon.state_dir, pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    main()
