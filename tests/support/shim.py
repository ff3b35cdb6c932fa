# SPDX-License-Identifier: Apache-2.0
"""Faults of memory and disk, ordered to the call, and a clock that is set: tests/fault/shim.c in the program, and this at the other end of it."""
import contextlib
import errno
import mmap
import os
import pathlib
import struct
import subprocess

from .daemon import Daemon
from .engine import NO_ENGINE

SOURCE = pathlib.Path(__file__).parents[1] / "fault" / "shim.c"

# As in shim.c.
MEMORY, CREATE, WRITE, SYNC, SIZE, RENAME, REMOVE, LARGE, SMALL = (1 << bit for bit in range(9))
FULL = CREATE | WRITE | SYNC | SIZE | RENAME  # what a full disk refuses
KILL, TEAR = -1, -2
FOREVER = 1 << 62
CLASSES, FIRST, COUNT, ACTION, SEEN, HIT, AHEAD = range(0, 56, 8)


def build(directory):
    """The library, made there."""
    library = pathlib.Path(directory) / "shim.so"
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-shared", "-fPIC", "-O1", "-g", "-fno-builtin",
                    "-fno-omit-frame-pointer", "-Wall", "-Wextra", "-Werror", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    return library


class Shim:
    """One program's faults. `directory`: for the file that both sides share; `below`: whose files and directories the
    faults of a disk are about."""

    def __init__(self, library, directory, below):
        path = pathlib.Path(directory) / "fault-control"
        path.write_bytes(bytes(mmap.PAGESIZE))
        with open(path, "r+b") as file:
            self.place = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self.environment = {"LD_PRELOAD": str(library), "FAULT_CONTROL": str(path), "FAULT_BELOW": str(below),
                            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:"
                                            "allocator_may_return_null=1:handle_abort=1"}

    def _set(self, place, value):
        struct.pack_into("=q", self.place, place, value)

    def _get(self, place):
        return struct.unpack_from("=q", self.place, place)[0]

    def order(self, classes, first=FOREVER, count=1, action=errno.ENOMEM):
        """From now on calls of these classes are counted, and those from the first-th on meet the action."""
        self._set(CLASSES, 0)
        for place, value in ((FIRST, first), (COUNT, count), (ACTION, action), (SEEN, 0), (HIT, 0), (CLASSES, classes)):
            self._set(place, value)

    def lift(self):
        """No more faults; how many there were."""
        self._set(CLASSES, 0)
        return self.hit

    def set_clock(self, ahead_s):
        """The program's wall clock is so far ahead of the machine's from now on."""
        self._set(AHEAD, ahead_s)

    @property
    def seen(self):
        return self._get(SEEN)

    @property
    def hit(self):
        return self._get(HIT)

    @contextlib.contextmanager
    def faults(self, classes, first=FOREVER, count=1, action=errno.ENOMEM):
        self.order(classes, first, count, action)
        try:
            yield self
        finally:
            self.lift()

    # Broken: meets() of shim.c that is always false: of this assertion, and those that something failed, each sweep fails.
    def count(self, classes, call):
        """What the call answers, and how many calls of these classes can fail in it: the fewest of some times, since the
        first one may warm caches, and others may be at work. Without any, whoever asks would try nothing."""
        counts = []
        for _ in range(3):
            with self.faults(classes):
                answer = call()
            counts.append(self.seen)
        assert min(counts), "the shim has seen nothing"
        return answer, min(counts)


class FaultyDaemon(Daemon):
    """A daemon whose calls fail when its shim says so."""

    def __init__(self, library, directory, engine=NO_ENGINE, *options, **more):
        super().__init__(directory, engine, *options, **more)
        self.state_dir.mkdir(parents=True, exist_ok=True)
        self.shim = Shim(library, self.directory, self.state_dir)

    def command(self):
        environment = [f"{name}={value}" for name, value in self.shim.environment.items()]
        return ["env", *environment, *super().command()]
