# SPDX-License-Identifier: Apache-2.0
"""The simulated engine as a process, and a disk that is slow."""
import os
import pathlib
import subprocess
import sys

from .engine import Engine

HERE = pathlib.Path(__file__).parent


class SimulatedEngine(Engine):
    def __init__(self, directory):
        super().__init__(str(directory / "engine.sock"))
        self.process = subprocess.Popen([sys.executable, "-B", HERE / "simulated_engine.py", self.path],
                                        stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def standing(self):
        """How many lines floods have handed over, how many containers and networks there are, and what was asked that it
        does not know."""
        return self.call("GET", "/simulated")


def flood(lines, together=1):
    return {"region": "us-central1", "masterConfig": {"imageUri": "image:1"}, "args": ["flood", str(lines), str(together)]}


def tick(step, total):
    return {"region": "us-central1", "masterConfig": {"imageUri": "image:1"}, "args": ["tick", str(step), str(total)]}


def lines(count, code):
    return {"region": "us-central1", "masterConfig": {"imageUri": "image:1"}, "args": ["lines", str(count), "exit", str(code)]}


def slow_disk(directory, write_us, still=None):
    """The environment of a daemon whose log entries go to a slow disk, which stands still as long as there is a file `still`."""
    library = directory / "slow_disk.so"
    subprocess.run([os.environ.get("CC", "cc").split()[-1], "-shared", "-fPIC", "-O1", "-o", library, HERE / "slow_disk.c"],
                   check=True)
    return {"LD_PRELOAD": str(library), "TRAINYARD_TEST_WRITE_US": str(write_us), "TRAINYARD_TEST_STILL": str(still or "")}
