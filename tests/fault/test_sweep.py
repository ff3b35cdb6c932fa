# SPDX-License-Identifier: Apache-2.0
"""Every call to the engine goes wrong once, in every way we know, in the middle of a job's life.

First each cycle runs without faults: that tells how many calls it makes. The faults are then dealt out, shuffled by --seed:
--cycles N tries N handfuls of them, and all there are if N is large enough. Several daemons work side by side.

Broken: answer_of took half a head for a whole answer: a replica refused, an attempt lost, a tuning job FAILED."""
import queue
import random
import threading
import time
import traceback

import pytest

from support.engine_cycles import CYCLES
from support.engine_proxy import NO_SPACE, EngineProxy, Fault

pytestmark = pytest.mark.long

HANDFUL, LANES = 12, 4
WORDS = "quoth the engine"
# What only the connection suffers from: the job does not notice, and no container is started twice.
PASSING = {"delay": {}, "drop": {}, "drop-after": {}, "truncate": {"after": 1}, "cut-head": {}, "garbage": {},
           "trickle": {}, "away": {}, "busy": {"kind": "refuse", "code": 503, "message": WORDS}}
# What the engine says is so: the job is tried again, or fails with these words.
LASTING = {"refuse": ({"message": WORDS}, WORDS), "full": ({}, NO_SPACE), "nonsense": ({}, "understood"),
           "other-shape": ({}, "understood")}


def fault_of(kind, number):
    more = PASSING[kind] if kind in PASSING else LASTING[kind][0]
    return Fault(**{"kind": kind, "number": number, **more})


def check_end(cycle, kind, end):
    """True when it ended as if nothing had been."""
    if kind in LASTING and end.state == "FAILED" and (cycle.ends_as != "FAILED" or LASTING[kind][1] in end.message):
        assert LASTING[kind][1] in end.message, (end, cycle.told())
        cycle.check_cleared()
        return False
    cycle.check(end, retried=kind in LASTING and cycle.was_retried)
    return True


def try_one(daemon, proxy, name, kind, number):
    """How one fault went: nothing, or what is wrong."""
    fault = fault_of(kind, number)
    proxy.watch(fault)
    began = time.monotonic()
    cycle = CYCLES[name](daemon)
    try:
        end = cycle.run(timeout=90)
        check_end(cycle, kind, end)
        assert daemon.get("/healthz").status == 200
        print(f"{name}, {kind} at call {number}: {end.state} after {time.monotonic() - began:.1f} s")
        return fault.hits, None
    except Exception:  # all that is wrong is told at the end
        calls = "\n".join(map(str, proxy.seen()))
        return fault.hits, f"==== {name}, {kind} at call {number}\n{traceback.format_exc()}\n{calls}\n{daemon.log()[-1500:]}"


@pytest.fixture(scope="module")
def lanes(engine, make_daemon):
    """Daemons, each with a way of its own to the engine."""
    made = []
    for _ in range(LANES):
        proxy = EngineProxy(engine)
        daemon = make_daemon("--offline", "--stop-grace", 2)
        daemon.engine = proxy
        made.append((daemon.start(), proxy))
    yield made
    for daemon, proxy in made:
        proxy.watch()
        daemon.stop()
        proxy.close()
        daemon.engine = engine


def side_by_side(lanes, work):
    """Calls each piece of `work` with a free lane's daemon and proxy; what they returned."""
    pieces, results = queue.Queue(), []
    for piece in work:
        pieces.put(piece)

    def serve(daemon, proxy):
        while True:
            try:
                piece = pieces.get_nowait()
            except queue.Empty:
                return
            results.append(piece(daemon, proxy))
    threads = [threading.Thread(target=serve, args=lane) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def count_calls(name, daemon, proxy):
    proxy.watch()
    cycle = CYCLES[name](daemon)
    try:
        cycle.check(cycle.run(timeout=90))
    except AssertionError:
        return name, traceback.format_exc()
    return name, len(proxy.seen())


def test_each_call_of_each_cycle_goes_wrong_in_each_way(lanes, request):
    counts = dict(side_by_side(lanes, [lambda d, p, name=name: count_calls(name, d, p) for name in CYCLES]))
    assert all(isinstance(count, int) and count > 5 for count in counts.values()), counts
    every = [(name, kind, number) for name, count in counts.items() for kind in [*PASSING, *LASTING]
             for number in range(1, count + 1)]
    random.Random(request.config.getoption("--seed")).shuffle(every)
    chosen = every[:HANDFUL * request.config.getoption("--cycles")]
    results = side_by_side(lanes, [lambda d, p, one=one: try_one(d, p, *one) for one in chosen])
    wrong = [problem for _, problem in results if problem]
    hit = sum(1 for hits, _ in results if hits)
    print(f"{len(chosen)} of {len(every)} faults tried, {hit} of them met; calls of a cycle: {counts}")
    assert not wrong, f"{len(wrong)} of {len(results)} went wrong:\n" + "\n".join(wrong)
    assert hit >= len(chosen) * 3 // 4
