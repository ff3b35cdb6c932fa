# SPDX-License-Identifier: Apache-2.0
"""Four tabs that stay open while jobs come and go and one writes a log: neither the tabs nor the daemon grow with it.

    pytest tests/console/test_soak.py --long                 # a minute
    pytest tests/console/test_soak.py --long --minutes 60    # an hour; -s prints what was seen
"""
import contextlib
import time

import pytest

from support.browser import Browser, chromium
from support.console import opened
from support.daemon import script
from support.vertex import Vertex, custom_job
from support.vitals import memory_kib, thirds

LINES_A_SECOND, LOOKS_A_MINUTE = 20, 12
# Beyond the middle third, for an hour: what the heaps have still to fill. Lines of a log stay in their tab, and are counted apart.
TAB_KIB, LINE_BYTES, DAEMON_KIB, NODES, LISTENERS = 2048, 160, 2048, 300, 300


def held(browser):
    """(KiB of the heap that scripts hold, nodes, listeners, lines of its log) once what is not reached any more is gone."""
    browser.call("HeapProfiler.collectGarbage")
    counts = {each["name"]: each["value"] for each in browser.call("Performance.getMetrics")["metrics"]}
    browser.events = []
    shown = browser.value("document.querySelector('[role=status].soft')?.innerText ?? ''").split()
    lines = int(shown[-2]) if shown[-1:] == ["lines"] else 0
    return counts["JSHeapUsedSize"] / 1024, counts["Nodes"], counts["JSEventListeners"], lines


# Broken: refresh() that keeps the rows that it replaces; a page's close() without its ResizeObserver; Jobs that keeps removed ones.
@pytest.mark.long
@pytest.mark.skipif(not chromium(), reason="there is no chromium")
def test_four_tabs_are_flat(narrow_yard, tmp_path, request):
    minutes = max(1, request.config.getoption("--minutes"))
    vertex, writes = Vertex(narrow_yard), narrow_yard.create(script(f"i=0; while :; do echo line $i; i=$((i+1)); usleep {1_000_000 // LINES_A_SECOND}; done"))
    narrow_yard.until(writes, "RUNNING")
    key = f"jobs/{narrow_yard.project}/{writes}"
    seen, daemon = {path: [] for path in ("", f"{key}/log", "queue", "requests")}, []
    with contextlib.ExitStack() as stack:
        tabs = {path: stack.enter_context(Browser(tmp_path / f"tab{i}")) for i, path in enumerate(seen)}
        for path, tab in tabs.items():
            tab.call("Performance.enable")
            opened(tab, narrow_yard, path)
        ends, look = time.monotonic() + 60 * minutes, 0
        while time.monotonic() < ends:
            name = vertex.create({**custom_job("exit 0"), "displayName": "comes and goes"})["name"]
            assert narrow_yard.post(f"/v1/{name}:cancel", {}).status == 200
            vertex.until(name, "JOB_STATE_CANCELLED")
            assert narrow_yard.request("DELETE", f"/v1/{name}").status == 200
            if time.monotonic() >= look:
                look = time.monotonic() + 60 / LOOKS_A_MINUTE
                daemon.append(memory_kib(narrow_yard))
                for path, tab in tabs.items():
                    seen[path].append(held(tab))
    narrow_yard.cancel(writes)
    narrow_yard.until(writes, "CANCELLED")
    print(f"\ndaemon: {' '.join(f'{kib:.0f}' for kib in thirds(daemon))} KiB in the first, middle and last third of {minutes:g} minutes")
    _, middle, last = thirds(daemon)
    assert last <= middle + DAEMON_KIB, daemon
    for path, looks in seen.items():
        lines = [each[3] for each in looks]
        heap = [kib - count * LINE_BYTES / 1024 for (kib, *_), count in zip(looks, lines)]
        rest = [thirds(column) for column in (heap, [each[1] for each in looks], [each[2] for each in looks])]
        print(f"tab /{path}: KiB {' '.join(f'{kib:.0f}' for kib in rest[0])} ({lines[-1]} lines), nodes {rest[1]}, listeners {rest[2]}")
        for (_, middle, last), limit in zip(rest, (TAB_KIB, NODES, LISTENERS)):
            assert last <= middle + limit, (path, looks)
