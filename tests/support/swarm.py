# SPDX-License-Identifier: Apache-2.0
"""A Docker Swarm of several engines on one machine. Each has a network and a host name of its own, and is connected by a
virtual cable to a bridge in a further network."""
import concurrent.futures
import contextlib
import os
import pathlib
import subprocess

from support.daemon import program
from support.engine import EngineError, PrivateEngine, ensure_test_images, lib
from support.wait import wait_until

# From the block for tests between networks (RFC 2544). The third number is this process's, above those of far_engine.py.
NETWORK = f"198.19.{os.getpid() % 250}"
# The addresses for networks that the swarm makes itself, such as ingress.
POOL = "198.18.252.0/22"


class Node(PrivateEngine):
    def __init__(self, number, gpus=0):
        super().__init__()
        self.number = number
        self.address = f"{NETWORK}.{number}"
        self.name = f"node-{number}"
        self.configure(**({"node-generic-resources": [f"NVIDIA-GPU=GPU-{number}-{i}" for i in range(gpus)]} if gpus else {}))
        pathlib.Path(self.directory, "hostname").write_text(self.name + "\n")

    def has_begun(self):
        try:
            return pathlib.Path(f"/proc/{self.pid}/comm").read_text() == "dockerd\n"
        except (OSError, ValueError):
            return False

    def cable(self, hub):
        lib("as_root", "sh", "-ec",
            'ip -n "$1" link delete "port$2" 2>/dev/null || :; ip link add name "port$2" netns "$1" type veth peer name lan netns "$3"; ip -n "$1" link set "port$2" master hub up; '
            'nsenter --net --target "$3" sh -ec "ip address add $4/24 dev lan; ip link set lan up; ip route add default via $5"',
            "sh", hub, str(self.number), str(self.pid), self.address, f"{NETWORK}.254")


class Swarm:
    """`nodes`: names; the first is the manager. `gpus`: how many each reports."""

    def __init__(self, gpus=(0, 0)):
        self.hub = f"ty-hub-{os.getpid()}"
        self.nodes = [Node(i + 1, count) for i, count in enumerate(gpus)]

    @property
    def manager(self):
        return self.nodes[0]

    def start(self):
        lib("as_root", "sh", "-ec", 'ip netns add "$1"; ip -n "$1" link add hub type bridge; ip -n "$1" link set hub up', "sh",
            self.hub)
        for node in self.nodes:
            node.start()
            node.cable(self.hub)
        self.manager.call("POST", "/swarm/init", {"ListenAddr": f"{self.manager.address}:2377",
                                                  "AdvertiseAddr": self.manager.address, "DefaultAddrPool": [POOL],
                                                  "SubnetSize": 26})
        for node in self.nodes[1:]:
            self.join(node)

    def switch_on(self, node):
        """The cable is there before the engine looks for the address that its swarm knows: a manager ends its swarm without."""
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            started = threads.submit(node.start)
            wait_until(lambda: started.done() or node.has_begun(), 60, f"{node.name} begins")
            node.cable(self.hub)
            started.result()

    def join(self, node):
        token = self.manager.call("GET", "/swarm")["JoinTokens"]["Worker"]
        node.call("POST", "/swarm/join", {"ListenAddr": f"{node.address}:2377", "AdvertiseAddr": node.address,
                                          "RemoteAddrs": [f"{self.manager.address}:2377"], "JoinToken": token})
        wait_until(lambda: (node.name, "ready") in self.states(), 30, f"{node.name} is ready")

    def states(self):
        return [(node["Description"].get("Hostname"), node["Status"]["State"]) for node in self.manager.call("GET", "/nodes")]

    def is_whole(self):
        """Whether the manager answers, and all nodes are ready for it."""
        try:
            return sorted(self.states()) == [(node.name, "ready") for node in self.nodes]
        except (EngineError, OSError, ValueError):
            return False

    def agents_up(self, directory, *words):
        """`trainyard swarm up`, with the image for all nodes; `directory`: to find each node's socket by its name."""
        for node in self.nodes:
            if not pathlib.Path(directory, node.name).exists():
                pathlib.Path(directory, node.name).symlink_to(node.path)
        return subprocess.run([program(), "swarm", "up", "--engine", self.manager.host, "--unencrypted", "--socket",
                               f"{directory}/{{{{.Node.Hostname}}}}",
                               *(f"--node={node.name}={node.host}" for node in self.nodes[1:]), *words],
                              capture_output=True, text=True, timeout=240)

    def availability_set(self, name, availability, **labels):
        for node in self.manager.call("GET", "/nodes"):
            if node["Description"].get("Hostname") == name:
                self.manager.call("POST", f"/nodes/{node['ID']}/update?version={node['Version']['Index']}",
                                  {**node["Spec"], "Availability": availability, "Labels": labels})

    def leave(self, node):
        node.call("POST", "/swarm/leave?force=true")
        gone = next(found["ID"] for found in self.manager.call("GET", "/nodes") if found["Description"].get("Hostname") == node.name)
        self.manager.call("DELETE", f"/nodes/{gone}?force=true")

    def plug(self, node, state):
        """Connects a node's cable ("up") or disconnects it ("down")."""
        lib("as_root", "ip", "-n", self.hub, "link", "set", f"port{node.number}", state)

    def delete(self):
        for node in reversed(self.nodes):
            node.delete()
        subprocess.run(["sh", "-c", '. "$1/deploy/lib.sh"; as_root ip netns del "$2"', "sh",
                        str(pathlib.Path(__file__).resolve().parents[2]), self.hub], check=False, capture_output=True)


@contextlib.contextmanager
def running_swarm(gpus=(0, 0), agents_in=None):
    """A swarm with the images of the tests on each node. `agents_in`: a directory for agents_up(), which is called then."""
    found = Swarm(gpus)
    try:
        found.start()
        if agents_in:
            done = found.agents_up(agents_in)
            assert done.returncode == 0 and f"{len(gpus)} of {len(gpus)}" in done.stdout, done
        for node in found.nodes:
            ensure_test_images(node)
        yield found
    finally:
        found.delete()
