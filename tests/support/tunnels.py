# SPDX-License-Identifier: Apache-2.0
"""Tunnels to job networks on other machines, and a job that prints what it reaches through one."""
from support.wait import wait_until

METADATA = "wget -q -O - --header 'Metadata-Flavor: Google' http://metadata.google.internal/computeMetadata/v1"
SAYS = (f"{METADATA}/instance/hostname; echo; hostname; "
        "wget -q -O /dev/null --header 'Content-Type: text/plain' --post-data hello "
        "\"$STORAGE_EMULATOR_HOST/upload/storage/v1/b/far/o?uploadType=media&name=$HOSTNAME\" && echo stored")
CALL_WORKER = ("""worker=$(echo "$CLUSTER_SPEC" | sed 's/.*"worker": *\\["\\([^":]*\\).*/\\1/'); """
               "until echo called | nc -w 5 $worker 2222 2> /dev/null | grep called; do sleep 0.1; done; ")
# Answers a connection. nc without input ends its sending direction at once; the other nc would then end, maybe before it got
# anything from echo.
TAKE_CALL = "nc -l -p 2222 -e head -n 1; "


def tunnels(daemon, *states):
    label = f"trainyard.instance={daemon.read_instance()}"
    return [found for found in daemon.engine.containers(label)
            if "trainyard.tunnel" in found["Labels"] and (not states or found["State"] in states)]


def tunnel_of(daemon):
    return wait_until(lambda: tunnels(daemon, "running"), 30, "a tunnel")[0]


def said_it_all(lines):
    """Checks that a job printed its address, its own name, and the answer of storage."""
    return lines[-1] == "stored" and lines[-3].split(".")[0] == lines[-2].split(".")[0]
