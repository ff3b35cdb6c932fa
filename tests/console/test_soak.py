# SPDX-License-Identifier: Apache-2.0
"""Four tabs that stay open while jobs come and go and one writes a log: neither the tabs nor the daemon, one without
sanitizers, grow with it.

    pytest tests/console/test_soak.py --long                 # a minute
    pytest tests/console/test_soak.py --long --minutes 60    # an hour; -s prints what was seen
"""
import contextlib
import time

import pytest

from support.browser import Browser, chromium
from support.console import opened
from support.daemon import plain_program, script
from support.vertex import Vertex, custom_job
from support.vitals import memory_kib, thirds

LINES_A_SECOND, LOOKS_A_MINUTE = 20, 12
# Limits of the growth after the middle third: caches may still fill in that time. Log lines stay in their tab and are counted
# separately.
TAB_KIB, LINE_BYTES, DAEMON_KIB, NODES, LISTENERS = 2048, 160, 4096, 300, 300


def held(browser):
    """(KiB of the scripts' heap, nodes, listeners, lines of its log) after a garbage collection."""
    browser.call("HeapProfiler.collectGarbage")
    counts = {each["name"]: each["value"] for each in browser.call("Performance.getMetrics")["metrics"]}
    browser.events = []
    shown = browser.value("document.querySelector('[role=status].soft')?.innerText ?? ''").split()
    lines = int(shown[-2]) if shown[-1:] == ["lines"] else 0
    return counts["JSHeapUsedSize"] / 1024, counts["Nodes"], counts["JSEventListeners"], lines


@pytest.mark.long
@pytest.mark.skipif(not chromium(), reason="there is no chromium")
def test_four_tabs_are_flat(new_daemon, tmp_path, request):
    yard = new_daemon("--offline", "--stop-grace", "2", "--max-active-jobs", "1", binary=plain_program()).start()
    minutes = max(1, request.config.getoption("--minutes"))
    vertex, writes = Vertex(yard), yard.create(script(f"i=0; while :; do echo line $i; i=$((i+1)); usleep {1_000_000 // LINES_A_SECOND}; done"))
    yard.until(writes, "RUNNING")
    key = f"jobs/{yard.project}/{writes}"
    seen, daemon = {path: [] for path in ("", f"{key}/log", "queue", "requests")}, []
    with contextlib.ExitStack() as stack:
        tabs = {path: stack.enter_context(Browser(tmp_path / f"tab{i}")) for i, path in enumerate(seen)}
        for path, tab in tabs.items():
            tab.call("Performance.enable")
            opened(tab, yard, path)
        ends, look = time.monotonic() + 60 * minutes, 0
        while time.monotonic() < ends:
            name = vertex.create({**custom_job("exit 0"), "displayName": "comes and goes"})["name"]
            assert yard.post(f"/v1/{name}:cancel", {}).status == 200
            vertex.until(name, "JOB_STATE_CANCELLED")
            assert yard.request("DELETE", f"/v1/{name}").status == 200
            if time.monotonic() >= look:
                look = time.monotonic() + 60 / LOOKS_A_MINUTE
                daemon.append(memory_kib(yard))
                for path, tab in tabs.items():
                    seen[path].append(held(tab))
    yard.cancel(writes)
    yard.until(writes, "CANCELLED")
    print(f"\ndaemon: {' '.join(f'{kib:.0f}' for kib in thirds(daemon))} KiB in the first, middle and last third of {minutes:g} minutes")
    grown = [("daemon", *thirds(daemon)[1:], DAEMON_KIB)]
    for path, looks in seen.items():
        lines = [each[3] for each in looks]
        heap = [kib - count * LINE_BYTES / 1024 for (kib, *_), count in zip(looks, lines)]
        rest = [thirds(column) for column in (heap, [each[1] for each in looks], [each[2] for each in looks])]
        print(f"tab /{path}: KiB {' '.join(f'{kib:.0f}' for kib in rest[0])} ({lines[-1]} lines), nodes {rest[1]}, listeners {rest[2]}")
        grown += [(path, *values[1:], limit) for values, limit in zip(rest, (TAB_KIB, NODES, LISTENERS))]
    assert [each for each in grown if each[2] > each[1] + each[3]] == []
