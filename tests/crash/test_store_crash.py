# SPDX-License-Identifier: Apache-2.0
"""The store is killed at every change of a file that it makes: store_crash.c does it, hundreds of times in a cycle.

Seen to catch, each within a sweep:
Broken: a COMMIT between a change of a job and the lines that tell of it -> one is there without the other
Broken: state.db with synchronous = NORMAL -> after a power loss an answered step is gone
Broken: the batch that lets the outbox forget lines with synchronous = NORMAL -> a power loss takes a service line
Broken: a COMMIT between the lines of a batch and their positions -> the position is behind what is stored
"""
import pathlib
import re
import subprocess

from support.daemon import program


def test_no_change_of_a_file_is_a_wrong_moment_to_be_killed(pytestconfig):
    cycles, seed = pytestconfig.getoption("--cycles"), pytestconfig.getoption("--seed")
    every = 1 if cycles > 1 else 9  # the long form leaves none out
    crash = pathlib.Path(program()).parent / "tests/crash/store_crash"
    done = subprocess.run([crash, "--cycles", str(cycles), "--seed", str(seed), "--every", str(every)], text=True,
                          capture_output=True, timeout=600 * cycles)
    print(done.stdout)
    assert done.returncode == 0, done.stderr[-8000:] + done.stdout
    kills, sweeps = map(int, re.match(r"(\d+) kills survived, .* in (\d+) sweeps; \d+ facts checked; 0 failed",
                                      done.stdout).groups())
    # A cycle of both scripts makes some 900 changes.
    assert sweeps == 2 * cycles and kills > 700 * cycles / every, done.stdout
