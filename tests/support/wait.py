# SPDX-License-Identifier: Apache-2.0
"""Waits for conditions, so that tests need no fixed delays."""
import time


def wait_until(condition, timeout=30, what=None):
    """Calls condition() until it is true and returns its value; after `timeout` seconds fails with the last one."""
    end = time.monotonic() + timeout
    pause = 0.01
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {what or condition.__doc__ or condition}; last: {value!r}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)
