# SPDX-License-Identifier: Apache-2.0
"""Cloud Storage as files, as a replica has it at /gcs: bytes in large files, and many small ones."""
import contextlib
import os
import pathlib
import shlex
import subprocess
import tempfile
import time

from measure import bench, median, row, serving
from support.wait import wait_until

LARGE_MIB, SMALL_FILES, SMALL_BYTES = 256, 2_000, 1_000
PASSTHROUGH = pathlib.Path("/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c")


@contextlib.contextmanager
def mounted(daemon):
    """Serves a bucket as files, by the process that serves replicas."""
    process = subprocess.Popen([daemon.binary, "gcs-mount", str(daemon.state_dir), "auto", ".sign"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    try:
        yield daemon.state_dir / "mount/gcs/gcs/bench"
    finally:
        process.communicate(timeout=60)


@contextlib.contextmanager
def passed_through(program, source, place):
    """The floor: libfuse's example that passes each call on to another directory."""
    process = subprocess.Popen([program, "-f", "-o", f"source={source}", place])
    try:
        wait_until(lambda: os.path.ismount(place), 30, "the passthrough is mounted")
        yield pathlib.Path(place)
    finally:
        subprocess.run(["umount", place], check=True)
        process.wait(30)


def timed(work):
    began = time.monotonic()
    work()
    return time.monotonic() - began


def large_write(directory):
    block = os.urandom(1 << 20)
    with open(directory / "large", "wb", buffering=0) as file:
        for _ in range(LARGE_MIB):
            file.write(block)


def large_read(directory):
    count = 0
    with open(directory / "large", "rb", buffering=0) as file:
        while block := file.read(1 << 20):
            count += len(block)
    assert count == LARGE_MIB << 20, count


def small_write(directory):
    for number in range(SMALL_FILES):
        (directory / f"small-{number}").write_bytes(b"x" * SMALL_BYTES)


def small_read(directory):
    names = [name for name in os.listdir(directory) if name.startswith("small-")]
    assert len(names) == SMALL_FILES, len(names)
    for name in names:
        assert len((directory / name).read_bytes()) == SMALL_BYTES


WRITES, READS = (large_write, small_write), (large_read, small_read)


@bench("gcs")
def bench_gcs(options):
    """Written files are read through a new mount, so that the kernel has not cached them."""
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse") or not PASSTHROUGH.exists():
        print("/gcs: takes root, /dev/fuse and libfuse3-dev with its examples")
        return
    ours, floor = {work: [] for work in WRITES + READS}, {work: [] for work in WRITES + READS}
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory:
        program, place = f"{directory}/passthrough", f"{directory}/place"
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "fuse3"], text=True)
        subprocess.run(["cc", "-O2", "-w", "-o", program, PASSTHROUGH, *shlex.split(flags)], check=True)
        os.mkdir(place)
        for _ in range(max(options.rounds // 2, 1)):
            with tempfile.TemporaryDirectory(dir=directory) as source:
                for works in (WRITES, READS):
                    with passed_through(program, source, place) as files:
                        for work in works:
                            floor[work].append(timed(lambda: work(files)))
            with serving() as daemon:
                daemon.get("/storage/v1/b", project="bench")  # opens its store
                for works in (WRITES, READS):
                    with mounted(daemon) as files:
                        for work in works:
                            ours[work].append(timed(lambda: work(files)))
    for work, what, amount, unit in ((large_write, f"write of {LARGE_MIB} MiB", LARGE_MIB, "MiB/s"),
                                     (large_read, "read of it", LARGE_MIB, "MiB/s"),
                                     (small_write, f"{SMALL_FILES:,} files of {SMALL_BYTES} bytes made", SMALL_FILES, "files/s"),
                                     (small_read, "listed and read", SMALL_FILES, "files/s")):
        row(f"/gcs: {what}", amount / median(ours[work]), unit, amount / median(floor[work]), 0.5, 0.8)
