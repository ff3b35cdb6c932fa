# SPDX-License-Identifier: Apache-2.0
"""The engine's calls alone, without a daemon: the floor for everything that runs containers."""
import concurrent.futures
import queue
import time

MASTER_RUNS_S = 1
TRIAL_RUNS_S = "0.5"


class Raw:
    """Makes the engine's calls that a job needs."""

    def __init__(self, engine, image):
        self.engine, self.image = engine, image

    def network(self, name):
        return self.engine.call("POST", "/networks/create", {"Name": name, "CheckDuplicate": True})["Id"]

    def container(self, name, network, command):
        return self.engine.call("POST", f"/containers/create?name={name}", {
            "Image": self.image, "Cmd": command, "Labels": {"trainyard.bench": name},
            "HostConfig": {"NetworkMode": network, "Init": True, "LogConfig": {"Type": "json-file"}}})["Id"]

    def start(self, container):
        self.engine.call("POST", f"/containers/{container}/start")

    def wait(self, container):
        self.engine.call("POST", f"/containers/{container}/wait")

    def remove(self, container, force=False):
        self.engine.call("DELETE", f"/containers/{container}?v=1" + ("&force=1" if force else ""))

    def one(self, number):
        began = time.monotonic()
        network = self.network(f"ty-bench-{number}")
        container = self.container(f"ty-bench-{number}", network, ["true"])
        self.start(container)
        self.wait(container)
        self.remove(container)
        self.engine.call("DELETE", f"/networks/{network}")
        return time.monotonic() - began

    def many(self, number, count, width):
        """The master ends by itself and the others are killed. Each phase runs `width` calls in parallel. The master starts
        last, as in a job, so that its peers are up."""
        began = time.monotonic()
        network = self.network(f"ty-bench-{number}")
        with concurrent.futures.ThreadPoolExecutor(width) as pool:
            names = [f"ty-bench-{number}-{i}" for i in range(count)]
            commands = [["sleep", "600"]] * (count - 1) + [["sleep", str(MASTER_RUNS_S)]]
            containers = list(pool.map(lambda pair: self.container(pair[0], network, pair[1]), zip(names, commands)))
            list(pool.map(self.start, containers))
            self.wait(containers[-1])
            list(pool.map(lambda c: self.remove(c, True), containers))
        self.engine.call("DELETE", f"/networks/{network}")
        return time.monotonic() - began

    def trials(self, name, count, parallel, keep):
        """Like a tuning job's trials: each on a network of its own, or, with `keep`, on one that an earlier trial has left.
        One trial is removed while the next begins."""
        left = queue.SimpleQueue()

        def network_find(number):
            try:
                return left.get_nowait()
            except queue.Empty:
                return self.network(f"{name}-{number}")

        def go_on(number):
            network = network_find(number)
            container = self.container(f"{name}-{number}", network, ["sleep", TRIAL_RUNS_S])
            self.start(container)
            self.wait(container)
            if keep:
                left.put(network)
            return container, network

        def clear(container, network):
            self.remove(container)
            if not keep:
                self.engine.call("DELETE", f"/networks/{network}")

        with concurrent.futures.ThreadPoolExecutor(count) as clearing, concurrent.futures.ThreadPoolExecutor(parallel) as pool:
            for ended in [pool.submit(go_on, number) for number in range(count)]:
                ended.add_done_callback(lambda done: clearing.submit(clear, *done.result()))
        while not left.empty():
            self.engine.call("DELETE", f"/networks/{left.get()}")
