# SPDX-License-Identifier: Apache-2.0
"""The memory, descriptors and threads of a daemon, as the kernel reports them."""
import os
import statistics

from .wait import wait_until

LOOKS = 4


def _status(daemon, *names):
    with open(f"/proc/{daemon.pid}/status", encoding="utf-8") as file:
        values = {line.split(":")[0]: int(line.split()[1]) for line in file if line.startswith(names)}
    return [values[name] for name in names]


def memory_kib(daemon):
    """Without the pages of files, which the kernel frees when it likes."""
    return _status(daemon, "RssAnon")[0]


def memory_peak_kib(daemon):
    return _status(daemon, "VmHWM")[0]


def memory_peak_forget(daemon):
    with open(f"/proc/{daemon.pid}/clear_refs", "w", encoding="utf-8") as file:
        file.write("5")


def thread_count(daemon):
    return _status(daemon, "Threads")[0]


def descriptor_count(daemon):
    return len(os.listdir(f"/proc/{daemon.pid}/fd"))


def descriptors(daemon):
    """What the open descriptors refer to, to be shown after a failure."""
    found = {}
    for number in os.listdir(f"/proc/{daemon.pid}/fd"):
        try:
            target = os.readlink(f"/proc/{daemon.pid}/fd/{number}").split(":[")[0]
        except OSError:
            continue
        found[target] = found.get(target, 0) + 1
    return found


def _inodes(daemon, *tables):
    """Inodes of the sockets in its network, from the kernel's tables."""
    found = set()
    for table in tables:
        with open(f"/proc/{daemon.pid}/net/{table}", encoding="utf-8") as file:
            place = next(file).split().index("Inode") if table == "unix" else 9
            found |= {line.split()[place] for line in file}
    return found


def descriptor_kinds(daemon):
    """The number of descriptors for databases, unix sockets (the engine's), clients and listeners, and others."""
    unix, kinds = _inodes(daemon, "unix"), {"databases": 0, "engine": 0, "clients": 0, "others": 0}
    for number in os.listdir(f"/proc/{daemon.pid}/fd"):
        try:
            target = os.readlink(f"/proc/{daemon.pid}/fd/{number}")
        except OSError:
            continue
        if target.startswith("socket:["):
            kinds["engine" if target[len("socket:["):-1] in unix else "clients"] += 1
        else:
            kinds["databases" if target.endswith((".db", ".db-wal", ".db-shm")) else "others"] += 1
    return kinds


def settled(daemon):
    """Returns (memory, descriptors by kind, threads) once finished calls have freed what they used: when two looks agree."""
    last = []

    def quiet():
        last.append((descriptor_count(daemon), thread_count(daemon)))
        return len(last) > LOOKS and len(set(last[-LOOKS:])) == 1
    wait_until(quiet, 60, "nothing is closed or ended any more")
    return memory_kib(daemon), descriptor_kinds(daemon), last[-1][1]


def thirds(values):
    """The medians of the first, the middle and the last third."""
    size = max(len(values) // 3, 1)
    return [statistics.median(part) for part in (values[:size], values[size:-size] or values, values[-size:])]
