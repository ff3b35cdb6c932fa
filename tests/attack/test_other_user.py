# SPDX-License-Identifier: Apache-2.0
"""Another user of the machine, without any rights here, cannot keep a daemon from starting."""
import contextlib
import os
import re
import shutil
import subprocess
import sys

import pytest

from support.daemon import Daemon, program

ATTACKER = 4343

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"),
                                reason="to be another user takes root and setpriv")

HOLD = """import socket, sys
held = [socket.socket(socket.AF_UNIX, kind) for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_SEQPACKET)]
for one in held:
    one.bind("\\0trainyard/" + sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def held(instance):
    """A process of that user that holds the abstract socket name of an instance."""
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    with subprocess.Popen(["setpriv", f"--reuid={ATTACKER}", f"--regid={ATTACKER}", "--clear-groups", python, "-c", HOLD, instance],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.stdin.close()


def clean(*words):
    done = subprocess.run([program(), "clean", *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done
    return done.stderr


@pytest.mark.parametrize("options", [(), ("--token-file",)], ids=["open", "token"])
def test_a_name_held_by_another_user_keeps_no_daemon_from_starting(idle_engine, tmp_path, options):
    """Fails with: instance_lock_open() with INSTANCE_ALONE."""
    token = tmp_path / "token"
    token.write_text("attack-token-0123456789\n")
    token.chmod(0o600)
    daemon = Daemon(tmp_path, idle_engine, "--offline", *options, *[str(token)] * len(options)).start()
    instance = daemon.read_instance()
    daemon.stop()
    with held(instance) as holder:
        daemon.start()
        assert re.search(rf'warning instance-name-held instance={instance} holder="process {holder.pid} \(python[0-9.]*\) of user '
                         rf'{ATTACKER}"', daemon.log()), daemon.log()
    # It has chosen another name, by which it is found when the holder is gone. Fails with: name_bind() without a spare name.
    by_name = ["--instance", instance, "--engine", idle_engine.host, "--state-dir", tmp_path / "none"]
    assert f"process {daemon.pid} (trainyard) of user 0" in clean(*by_name)
    daemon.stop()


def test_clean_names_the_holder_and_can_be_forced(idle_engine, tmp_path):
    """Fails with: options_read() that does not take --force; holder_refuse() without a word of the holder."""
    daemon = Daemon(tmp_path, idle_engine, "--offline").start()
    of = ["--state-dir", daemon.state_dir, "--engine", idle_engine.host]
    daemon.stop()
    with held(daemon.read_instance()) as holder:
        said = clean(*of)
        assert re.search(rf"process {holder.pid} \(python[0-9.]*\) of user {ATTACKER}; .*--force", said), said
        # The command continues, without a running daemon to ask.
        assert idle_engine.path in clean(*of, "--force")
        # The other user does not hold the lock of the state directory.
        daemon.start()
        assert f"in use by process {daemon.pid}" in clean(*of, "--force")
        daemon.stop()
