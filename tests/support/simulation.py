# SPDX-License-Identifier: Apache-2.0
"""Runs the simulated engine as a process, and simulates a slow disk."""
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
        """The number of lines that floods have handed over, of containers and of networks, and requests that the simulation
        does not know."""
        return self.call("GET", "/simulated")


def flood(lines, together=1):
    return {"region": "us-central1", "masterConfig": {"imageUri": "image:1"}, "args": ["flood", str(lines), str(together)]}


def tick(step, total):
    return {"region": "us-central1", "masterConfig": {"imageUri": "image:1"}, "args": ["tick", str(step), str(total)]}


def lines(count, code):
    return {"region": "us-central1", "masterConfig": {"imageUri": "image:1"}, "args": ["lines", str(count), "exit", str(code)]}


def slow_disk(directory, write_us, still=None):
    """The environment of a daemon whose log entries go to a slow disk. While the file `still` exists, its writes do not
    return."""
    library = directory / "slow_disk.so"
    subprocess.run([os.environ.get("CC", "cc").split()[-1], "-shared", "-fPIC", "-O1", "-o", library, HERE / "slow_disk.c"],
                   check=True)
    return {"LD_PRELOAD": str(library), "TRAINYARD_TEST_WRITE_US": str(write_us), "TRAINYARD_TEST_STILL": str(still or "")}
