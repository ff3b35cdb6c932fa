# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a script of this directory, and prints one line of JSON for each."""
import json
import os
import traceback

# Output of libraries must not be among these lines.
_lines = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def run_named(tests):
    """`tests`: pairs of a name and a function."""
    for name, test in tests:
        error = None
        try:
            test()
        except Exception:  # reported; the next test runs
            error = traceback.format_exc()
        print(json.dumps({"name": name, "error": error}), file=_lines, flush=True)
    os._exit(0)  # does not wait for threads of a library


def run_tests(tests):
    run_named((test.__name__.replace("_", " "), test) for test in tests)
