# SPDX-License-Identifier: Apache-2.0
"""Controls tests/fault/shim.c, which is preloaded into the program: chosen calls for memory or disk fail, and the clock can
be set."""
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

# The bits of the classes, as in shim.c.
MEMORY, CREATE, WRITE, SYNC, SIZE, RENAME, REMOVE, LARGE, SMALL = (1 << bit for bit in range(9))
FULL = CREATE | WRITE | SYNC | SIZE | RENAME  # the classes that fail on a full disk
KILL, TEAR = -1, -2
FOREVER = 1 << 62
CLASSES, FIRST, COUNT, ACTION, SEEN, HIT, AHEAD = range(0, 56, 8)


def build(directory):
    """Builds the library in that directory."""
    library = pathlib.Path(directory) / "shim.so"
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-shared", "-fPIC", "-O1", "-g", "-fno-builtin",
                    "-fno-omit-frame-pointer", "-Wall", "-Wextra", "-Werror", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    return library


class Shim:
    """The faults of one program. `directory`: has the file that both sides map; `below`: faults of the disk concern files
    below it."""

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
        """From now on, calls of these classes are counted, and `count` of them, beginning with number `first`, get
        `action`."""
        self._set(CLASSES, 0)
        for place, value in ((FIRST, first), (COUNT, count), (ACTION, action), (SEEN, 0), (HIT, 0), (CLASSES, classes)):
            self._set(place, value)

    def lift(self):
        """Removes the fault; returns how many calls have failed."""
        self._set(CLASSES, 0)
        return self.hit

    def set_clock(self, ahead_s):
        """Sets the program's wall clock ahead of the machine's."""
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

    # Fails with: meets() of shim.c that is always false: of this assertion, and those that something failed, each sweep fails.
    def count(self, classes, call):
        """Returns the result of `call`, and how many calls of these classes it makes: the lowest of several counts, because
        the first run may fill caches and other threads may make calls. Fails for 0: a test would then try nothing."""
        counts = []
        for _ in range(3):
            with self.faults(classes):
                answer = call()
            counts.append(self.seen)
        assert min(counts), "the shim has seen nothing"
        return answer, min(counts)


class FaultyDaemon(Daemon):
    """A daemon with a shim."""

    def __init__(self, library, directory, engine=NO_ENGINE, *options, **more):
        super().__init__(directory, engine, *options, **more)
        self.state_dir.mkdir(parents=True, exist_ok=True)
        self.shim = Shim(library, self.directory, self.state_dir)

    def command(self):
        environment = [f"{name}={value}" for name, value in self.shim.environment.items()]
        return ["env", *environment, *super().command()]
