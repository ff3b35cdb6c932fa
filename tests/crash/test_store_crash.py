# SPDX-License-Identifier: Apache-2.0
"""The store is killed at every change of a file that it makes: store_crash.c does it, hundreds of times in a cycle.

Seen to catch, each within a sweep:
Fails with: a COMMIT between a change of a job and the lines that tell of it -> one is there without the other
Fails with: a COMMIT between a change of a job and the hits of fault rules in it, or a hit and its rule's count -> the same
Fails with: state.db with synchronous = NORMAL -> after a power loss an answered step is gone
Fails with: the batch that lets the outbox forget lines with synchronous = NORMAL -> a power loss takes a service line
Fails with: a generation of objects promised without a synced commit -> after a power loss the ones to come are earlier
Fails with: a COMMIT between the lines of a batch and their positions -> the position is behind what is stored
"""
import pathlib
import re
import subprocess

import pytest

from support.daemon import program


def store_crash(*options):
    return subprocess.run([pathlib.Path(program()).parent / "tests/crash/store_crash", *options], text=True, capture_output=True)


# Fails with: as it was: what it did not know or could not read was passed over, and `--cycles 0` survived nothing in 0 sweeps.
@pytest.mark.parametrize("words", [["--cycles=3"], ["--cycles"], ["--cycles", "0"], ["--cycles", "3x"], ["--turns", "3"],
                                   ["--seed", "-1"], ["--every", "0"]])
def test_a_count_that_is_not_understood_is_refused(words):
    done = store_crash(*words)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("usage: store_crash "), done


def test_no_change_of_a_file_is_a_wrong_moment_to_be_killed(pytestconfig):
    cycles, seed = pytestconfig.getoption("--cycles"), pytestconfig.getoption("--seed")
    every = 1 if cycles > 1 else 9  # the long form tries every change
    done = store_crash("--cycles", str(cycles), "--seed", str(seed), "--every", str(every))
    print(done.stdout)
    assert done.returncode == 0, done.stderr[-8000:] + done.stdout
    kills, sweeps = map(int, re.match(r"(\d+) kills survived, .* in (\d+) sweeps; \d+ facts checked; 0 failed",
                                      done.stdout).groups())
    # One cycle of both scripts makes about 900 changes.
    assert sweeps == 2 * cycles and kills > 700 * cycles / every, done.stdout
