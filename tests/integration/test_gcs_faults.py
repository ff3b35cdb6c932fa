# SPDX-License-Identifier: Apache-2.0
"""Injected faults affect Cloud Storage as files: each call that it makes, and the network of its replica."""
import itertools
import os
import signal
import subprocess
import sys

import pytest

from support.daemon import Daemon
from support.engine import NO_ENGINE
from support.gcs import Bucket, Mount, needs_fuse
from support.marks import long
from support.vertex import Vertex, pool
from support.wait import wait_until

pytestmark = needs_fuse
FAULTS = "/_trainyard/v1/faults"
_numbers = itertools.count(1)


def order(daemon, fault, **rule):
    answer = daemon.post(FAULTS, dict(fault=fault, **rule))
    assert answer.status == 200, answer
    return answer.json["id"]


def hits(daemon, number):
    return int(daemon.get(f"{FAULTS}/{number}").json["hits"])


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    with Daemon(tmp_path_factory.mktemp("gcs"), NO_ENGINE) as found:
        found.get("/storage/v1/b", project="p")  # opens the store
        yield found


@pytest.fixture
def bucket(daemon):
    with Mount(daemon) as mount:
        name = f"rules-{next(_numbers)}"
        yield Bucket(daemon, name, mount.files / name)
    assert daemon.request("DELETE", FAULTS).status == 200


# Fails with: the door without a gate (as it was); ask() that never makes its request: no hit of objects.get and list.
def test_each_call_is_hit_by_its_name_and_made_again(daemon, bucket):
    bucket.put("kept", b"kept")
    rules = {name: order(daemon, **fault, method="storage.objects." + name) for name, fault in (
        ("get", {"fault": "httpStatus", "httpStatus": 503}), ("list", {"fault": "timeout"}),
        ("insert", {"fault": "httpStatus", "httpStatus": 500}), ("copy", {"fault": "timeout"}),
        ("delete", {"fault": "httpStatus", "httpStatus": 504}))}

    def are_hit(*names):
        assert {name for name, number in rules.items() if hits(daemon, number)} == set(names)
    assert (bucket / "kept").read_bytes() == b"kept"
    are_hit("get")
    assert os.listdir(bucket.directory) == ["kept"]
    are_hit("get", "list")
    (bucket / "new").write_bytes(b"new")
    are_hit("get", "list", "insert")
    os.rename(bucket / "new", bucket / "newer")
    are_hit(*rules)
    assert bucket.names() == ["kept", "newer"] and bucket.get("newer") == b"new"
    assert [hits(daemon, number) for number in rules.values()] == [1] * len(rules)


def test_reading_asks_the_daemon_while_there_are_rules(daemon, bucket):
    bucket.put("kept", b"kept")
    asked = daemon.state_dir / "gcs.rules"
    assert not asked.exists()
    number = order(daemon, "httpStatus", method="storage.objects.get", httpStatus=503, count=2)
    daemon.kill9()
    assert (bucket / "kept").read_bytes() == b"kept"  # reads succeed
    daemon.start()
    assert (bucket / "kept").read_bytes() == b"kept"
    assert hits(daemon, number) == 2
    # Fails with: fault_registry_clear() that reports nothing (as it was).
    assert daemon.request("DELETE", f"{FAULTS}/{number}").status == 200
    assert not asked.exists()
    order(daemon, "httpStatus", method="storage.objects.get", httpStatus=503)
    assert asked.exists() and daemon.request("DELETE", FAULTS).status == 200
    assert not asked.exists()


def program(code, *arguments):
    """A program of another container. The test waits for it, whatever the program itself waits for."""
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def looks(path):
    """Fails unless the name is found within a limited time."""
    return subprocess.run(["stat", path], stdout=subprocess.DEVNULL, check=False, timeout=30).returncode == 0


MANY = 64
CALLS = f"""
import os, sys, threading
def call(number):
    try:
        if sys.argv[2:] == ["write"]:
            file = os.open(f"{{sys.argv[1]}}-{{number}}", os.O_WRONLY | os.O_CREAT)
            os.write(file, b"new")
            os.close(file)
        else:
            os.open(sys.argv[1], os.O_RDONLY)
        os.write(1, b"done\\n")
    except OSError as problem:
        os.write(1, os.strerror(problem.errno).encode() + b"\\n")
for number in range({MANY}):
    threading.Thread(target=call, args=[number]).start()
"""


# Fails with: gcs_wait_quiet() that gives each call a place (as it was): no call is told of an error, and looking at a name
# lasts for a minute. Without progress_look(), who was killed is there for a minute.
def test_calls_that_last_leave_room_for_others_and_end_with_their_program(daemon, bucket):
    bucket.put("kept", b"kept")
    order(daemon, "timeout", method="storage.objects.get", seconds=600, count=1000)
    with program(CALLS, bucket / "kept") as opening:
        try:
            for _ in range(MANY - 16):
                assert opening.stdout.readline() == "Input/output error\n"
            assert looks(bucket / "kept") and not looks(bucket / "none")
        finally:
            opening.kill()
        opening.wait(30)


# Fails with: gcs_turns_take() that lets all begin, with 64 threads and no places (as it was once): reading stops when all
# threads wait. gcs_turns_pass() that begins nothing: not all are stored.
@pytest.mark.long
def test_reading_goes_on_while_many_wait_for_a_daemon(daemon, bucket):
    bucket.put("kept", b"kept")
    daemon.kill9()
    with program(CALLS, bucket / "new", "write") as writing:
        try:
            wait_until(lambda: len(os.listdir(bucket.directory)) == MANY + 1, 30, "all have a file")
            assert looks(bucket / "kept") and (bucket / "kept").read_bytes() == b"kept"
        finally:
            daemon.start()
        assert writing.stdout.read() == "done\n" * MANY
    assert len(bucket.names("new-")) == MANY


CHANGES_NAMES = """
import os, sys
def change(call, *names):
    try:
        call(*(os.path.join(sys.argv[1], name) for name in names))
        print(call.__name__)
    except OSError as problem:
        print(call.__name__, os.strerror(problem.errno))
change(os.unlink, "kept")
change(os.rename, "kept", "other")
change(os.mkdir, "made")
change(os.rmdir, "empty")
change(os.rename, "empty", "full")
"""


# Fails with: gcs_remove() that takes the name away first, gcs_rename() that moves it before the old object is deleted (as they
# were): nothing is stored, or under the name that the program was told it has not got.
@pytest.mark.parametrize("change", [os.unlink, long(lambda path: os.rename(path, f"{path}-2"))], ids=["unlink", "rename"])
def test_a_name_that_could_not_be_changed_is_still_the_open_file_s(daemon, bucket, change):
    bucket.put("kept", b"kept")
    with open(bucket / "kept", "r+b", buffering=0) as file:
        file.write(b"new")
        order(daemon, "httpStatus", method="storage.objects.delete", httpStatus=503, count=1000)
        with pytest.raises(OSError, match="Input/output error"):
            change(bucket / "kept")
        assert daemon.request("DELETE", FAULTS).status == 200
        file.write(b"er bytes")
    assert bucket.get("kept") == b"newer bytes"


# Fails with: gcs_delete() without a generation (as it was): what a client has stored between the copy and the removal is removed.
@pytest.mark.parametrize("names", [("old", "new"), ("old/name", "new/name")], ids=["directory", "file"])
def test_what_is_stored_while_it_is_renamed_is_kept(daemon, bucket, names):
    bucket.put("old/name", b"first")
    bucket.put("new/other")
    number = order(daemon, "httpStatus", method="storage.objects.delete", httpStatus=503)
    if names[0] == "old":
        names = ("old", "newer")
    with program("import os, sys\nos.rename(*sys.argv[1:])", *(bucket / name for name in names)) as renaming:
        wait_until(lambda: hits(daemon, number) == 1, 30, "it is copied")
        bucket.put("old/name", b"second")
        assert renaming.wait(60) == 0
    assert bucket.get(names[1].removesuffix("/name") + "/name") == b"second"
    assert bucket.names("old/") == []


# Fails with: fs_truncate() that closes as everybody does (as it was): after the two seconds it is tried for two minutes, while the
# file is locked for all.
@pytest.mark.long
def test_a_file_that_could_not_be_truncated_does_not_keep_others_out(daemon, bucket):
    bucket.put("kept", b"kept")
    order(daemon, "httpStatus", method="storage.objects.insert", httpStatus=503, count=1000)
    with program("import os, sys\nos.truncate(sys.argv[1], 1)", bucket / "kept") as truncating:
        assert truncating.wait(60) == 1
    assert looks(bucket / "kept") and daemon.request("DELETE", FAULTS).status == 200
    assert bucket.get("kept") == b"kept"


# Fails with: names.c without its calls hurrying (as it was): each is tried for two minutes, while the directory is locked.
@pytest.mark.long
@pytest.mark.parametrize("rule", [{"fault": "httpStatus", "httpStatus": 503}, long({"fault": "timeout", "seconds": 600})],
                         ids=["refused", "kept_back"])
def test_changes_of_names_do_not_keep_others_out_for_long(daemon, bucket, rule):
    bucket.put("kept", b"kept")
    bucket.put("empty/")
    order(daemon, **rule, method="storage.objects.*", count=1000)
    with program(CHANGES_NAMES, bucket.directory) as changing:
        said = changing.communicate(timeout=60)[0].splitlines()
    assert said == [f"{name} Input/output error" for name in ("unlink", "rename", "mkdir", "rmdir", "rename")]
    assert daemon.request("DELETE", FAULTS).status == 200
    assert {"empty/", "kept"} <= set(bucket.names())  # the last copy may have been released before the call was given up


# Fails with: serving_main() without change_begin() (as it was): the name is removed when the others have given up.
@pytest.mark.long
@pytest.mark.parametrize("rule", [{"fault": "httpStatus", "httpStatus": 503}, long({"fault": "timeout", "seconds": 600})],
                         ids=["refused", "kept_back"])
def test_who_opens_makes_way_for_who_removes(daemon, bucket, rule):
    bucket.put("kept", b"kept")
    number = order(daemon, **rule, method="storage.objects.get", count=1000)
    with program("import os, sys; os.open(sys.argv[1], os.O_RDONLY)", bucket / "kept") as opening:
        try:
            wait_until(lambda: hits(daemon, number), 30, "it is being opened")
            assert program("import os, sys; os.unlink(sys.argv[1])", bucket / "kept").wait(50) == 0
            assert opening.wait(10) == 1
        finally:
            opening.kill()
    assert bucket.names() == []


LEFT_OPEN = f"""
import ctypes, os, sys, time
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
os.write(file, b"never stored")
assert ctypes.CDLL(None).unshare(0x40000000) == 0  # CLONE_NEWNET: as a container's network is when it was cut
children = []
for _ in range({MANY}):
    children.append(os.fork())
    if children[-1] == 0:
        os._exit(0)
os.write(1, b"forked\\n")
for child in children:
    os.waitpid(child, 0)
os.write(1, b"over\\n")
time.sleep(600)
"""


# Fails with: left_us() without gcs_caller_is_ending(); gcs_wait_lock() by pthread_mutex_lock() (as both were): each of the
# children waits for two minutes, one after the other. is_ended_by_signal() that is always false: so does the last one.
@pytest.mark.long
def test_programs_that_end_do_not_wait_long_for_a_network(daemon, bucket):
    bucket.put("kept", b"kept")
    with program(LEFT_OPEN, bucket / "new") as parent:
        try:
            assert parent.stdout.readline() == "forked\n"
            assert looks(bucket / "kept")
            assert parent.stdout.readline() == "over\n"
        finally:
            parent.send_signal(signal.SIGKILL)
        parent.wait(5)
    assert bucket.get("new") is None


READS_ON = """
import ctypes, os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
assert ctypes.CDLL(None).unshare(0x40000000) == 0
os.write(1, os.read(file, 100))
"""


# Fails with: fs_read_buf() that waits for a network (as it was): the kernel has locked the page, and all who read it wait.
def test_what_is_open_is_read_on_without_a_network(bucket):
    bucket.put("kept", b"kept")
    with program(READS_ON, bucket / "kept") as reader:
        assert reader.communicate(timeout=60)[0] == "kept"


OPENS_LATE = """
import ctypes, os, sys
assert ctypes.CDLL(None).unshare(0x40000000) == 0
os.open(sys.argv[1], os.O_RDONLY)
"""


# Fails with: serving_main() that does not ask opening_may_begin(), and fs_open() that waits (as it was): libfuse has locked
# the path, and the name can be neither removed nor looked at for two minutes.
def test_who_opens_without_a_network_keeps_nobody_from_the_name(daemon):
    with Mount(daemon) as mount:
        bucket = Bucket(daemon, "opened-late", mount.files / "opened-late")
        bucket.put("kept", b"kept")
        with program(OPENS_LATE, bucket / "kept") as opening:
            try:
                assert b"gcs-no-network" in mount.process.stderr.readline()
                assert program("import os, sys; os.unlink(sys.argv[1])", bucket / "kept").wait(30) == 0
                assert not looks(bucket / "kept")
            finally:
                opening.kill()
        looks(bucket / "kept")  # libfuse frees the interrupt of a finished request only with the next request


SAID = 'if [ -n "$(ip route)" ]; then echo "$1 with a network"; else echo "$1 without"; fi'
# Reads and writes while it has no network. The other replica waits until that is done.
CUT = f"""
said() {{ {SAID}; }}
exec 3</gcs/cut/open
echo up
while [ -n "$(ip route)" ]; do sleep 0.05; done
echo down
[ -e /gcs/cut/in ] && ! rm /gcs/cut/in 2>/tmp/problem && cut -d: -f3 /tmp/problem
head -c 5 <&3 >/tmp/open && said "read on"
{{ ls /gcs/cut/below >/tmp/list && said "listed"; }} &
{{ cat /gcs/cut/in >/tmp/in && said "read"; }} &
{{ echo out >/gcs/cut/out && said "wrote"; }} &
wait
cat /tmp/open /tmp/list /tmp/in
"""
OTHER = "i=0; until [ -e /gcs/cut/out ]; do echo $i >/gcs/cut/below/$i; i=$((i+1)); sleep 0.1; done"


# Fails with: gcs_caller_is_cut() that is always false, or true for each that has a network of its own: no call waits, or the
# other replica as well; changed_entry_parse() that looks at no network.
def test_a_replica_without_its_network_waits_for_its_files(new_daemon):
    with new_daemon("--offline", "--stop-grace", "2", "--clock", "steppable") as daemon:
        bucket = Bucket(daemon, "cut")
        for name in ("in", "open", "below/0"):
            bucket.put(name, name.encode().ljust(5))
        rule = order(daemon, "cutNetwork", job="cut", pool="workerpool1", logPattern="^up$", seconds=3600)
        jobs = Vertex(daemon)
        name = jobs.create({"displayName": "cut", "jobSpec": {"workerPoolSpecs": [pool(OTHER), pool(CUT)]}})["name"]
        log = daemon.state_dir / "gcs.log"
        wait_until(lambda: log.exists() and log.read_text().count("gcs-no-network") >= 3, 60, "it waits for all three")
        assert hits(daemon, rule) == 1
        written = len(bucket.names("below/"))
        wait_until(lambda: len(bucket.names("below/")) > written + 2, 30, "the other one goes on")
        assert bucket.get("out") is None
        assert daemon.post("/_trainyard/v1/clock", {"advance": "3600s"}).status == 200
        jobs.until(name, "JOB_STATE_SUCCEEDED")
        assert bucket.get("out") == b"out\n"
        lines = daemon.lines(name.rpartition("/")[2], "workerpool1-0")
        assert lines[:4] == ["up", "down", " Input/output error", "read on without"], lines
        assert sorted(lines[4:7]) == [f"{what} with a network" for what in ("listed", "read", "wrote")], lines
