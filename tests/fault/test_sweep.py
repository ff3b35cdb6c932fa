# SPDX-License-Identifier: Apache-2.0
"""Calls to the engine go wrong once, in every way we know, in the middle of a job's life.

First each cycle runs without faults: that tells which calls it makes, each known by what it asks of which replica. The
first call of its kind is made whatever the times are, so a fault that is put there must be met; others may be.
The short form tries each kind of fault at such a call, drawn by --seed. --cycles N tries N - 1 hundreds more of all the
faults at all the calls, and every one if N is large enough. Several daemons work side by side.

    pytest tests/fault/test_sweep.py --cycles 100                # all of it, hours on a small machine; -s prints each
    pytest tests/fault/test_sweep.py --cycles 100 --part 1/8     # an eighth of it; no fault is in two parts

Fails with: answer_of took half a head for a whole answer: a replica refused, an attempt lost, a tuning job FAILED."""
import dataclasses
import queue
import random
import re
import signal
import threading
import time
import traceback
import zlib

import pytest

from support.engine_cycles import CYCLES
from support.engine_proxy import NO_SPACE, Call, EngineProxy, Fault

LANES, LONG_LANES, MORE = 4, 10, 100
LIMIT_S = 300  # for a cycle: on a busy machine, the engine takes a minute to end a container
WORDS = "quoth the engine"
# Faults of the connection only: the job must not be affected, and no container may be started twice.
PASSING = {"delay": {}, "drop": {}, "drop-after": {}, "truncate": {"after": 1}, "cut-head": {}, "garbage": {},
           "trickle": {}, "away": {}, "busy": {"kind": "refuse", "code": 503, "message": WORDS}}
# Errors that the engine itself reports: the job is retried, or fails with these words. The third: the words if the engine
# really refused the call and the proxy replaced the text of its answer.
LASTING = {"refuse": ({"message": WORDS}, WORDS, WORDS), "full": ({}, NO_SPACE, NO_SPACE),
           "nonsense": ({}, "understood", '"Id": [[['), "other-shape": ({}, "understood", '"Id": 7')}
# The parts of a call's path that differ from run to run.
OF_THE_DAY = re.compile(r"ty-[0-9a-z]+-\d+-|(?:since|until)=[\d.]+|instance%3D[0-9a-z]+|job%3D\d+|[0-9a-f]{64}")


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    """The place of a fault: the nth call of this kind in a cycle. `cut`: counted among the calls that the daemon makes after
    its connections to the engine ended."""
    cycle: str
    method: str
    path: str  # a regular expression
    nth: int
    cut: bool = False

    @property
    def is_certain(self):
        """Whether each run makes this call, that is, the first one of its kind about a container. Others depend on timing:
        how often a container is inspected, which job gets a network that another one has left, and what the daemon lists at
        its start."""
        return self.cut or (self.nth == 1 and self.path.startswith(("^/containers/create", "^/containers/.*")))

    def fault(self, kind):
        return Fault(**{"kind": kind, "method": f"^{self.method}$", "path": self.path, "nth": self.nth,
                        **(PASSING[kind] if kind in PASSING else LASTING[kind][0])})


WHEN_CUT = ("^/_ping", "^/info", "^/events", "^/containers/json", r"^/networks\?filters")


def places_of(name, calls):
    """Converts calls to places."""
    places, counts = [Place(name, "GET", path, 1, cut=True) for path in WHEN_CUT], {}
    for call in calls:
        path = "^" + ".*".join(map(re.escape, OF_THE_DAY.split(call.path))) + "$"
        nth = counts[call.method, path] = counts.get((call.method, path), 0) + 1
        places.append(Place(name, call.method, path, nth))
    return places


def reason_told(kind, calls, message):
    """Whether a failed job's error has the words of the call in which the fault was."""
    return any(LASTING[kind][2 if call.code >= 400 else 1] in message for call in calls if call.fault)


def check_end(cycle, kind, end, calls):
    told = kind in LASTING and reason_told(kind, calls, end.message)
    if kind in LASTING and end.state == "FAILED" and (cycle.ends_as != "FAILED" or told):
        assert told, (end, cycle.told())
        cycle.check_cleared()
    else:
        cycle.check(end, retried=kind in LASTING and cycle.was_retried)


# Fails with: check_end() that takes either words for each call, as it was: the raw ones of an answer that was no refusal.
@pytest.mark.parametrize("kind, code, message, right", [
    ("nonsense", 201, 'its answer was not understood', True), ("nonsense", 201, 'it says {"Id": [[[', False),
    ("nonsense", 404, 'it says {"Id": [[[', True), ("nonsense", 404, 'its answer was not understood', False),
    ("refuse", 0, WORDS, True), ("full", 0, WORDS, False)])
def test_a_reason_is_told_in_the_words_of_the_call(kind, code, message, right):
    calls = [Call(1, "POST", "/networks/create", Fault(kind), code), Call(2, "POST", "/containers/create", None, 409)]
    assert reason_told(kind, calls, message) == right
    assert not reason_told(kind, calls[1:], message)


def try_one(daemon, proxy, kind, place):
    """Tries one fault. Returns how often it was met, and what went wrong."""
    fault = place.fault(kind)
    proxy.watch(fault)
    began = time.monotonic()
    cycle = CYCLES[place.cycle](daemon)
    try:
        cycle.begin()
        if place.cut:
            proxy.cut()
        end = cycle.run_on(LIMIT_S)
        check_end(cycle, kind, end, proxy.seen())
        assert fault.hits or not place.is_certain, "it was not met"
        assert daemon.get("/healthz").status == 200
        print(f"{kind} at {place}: {end.state} after {time.monotonic() - began:.1f} s", flush=True)
        return fault.hits, None
    except Exception:
        calls = "\n".join(map(str, proxy.seen()))
        return fault.hits, f"==== {kind} at {place}\n{traceback.format_exc()}\n{calls}\n{daemon.log()[-1500:]}"


@pytest.fixture(scope="module")
def lanes(engine, make_daemon, request):
    """Daemons that each have a proxy of their own to the engine."""
    made = []
    for _ in range(LANES if request.config.getoption("--cycles") == 1 else LONG_LANES):
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
    """Calls each item of `work` with the daemon and proxy of a free lane; returns their results, and what went wrong. After
    an interruption no further items are started, and the running ones end with their daemons."""
    pieces, results, interrupted = queue.Queue(), [], threading.Event()
    for piece in work:
        pieces.put(piece)

    def serve(daemon, proxy):
        while not interrupted.is_set():
            try:
                piece = pieces.get_nowait()
            except queue.Empty:
                return
            result = piece(daemon, proxy)
            results.append(result)
            if result[1] and not interrupted.is_set():
                print(result[1], flush=True)  # in the long form, the summary at the end is far from here
    threads = [threading.Thread(target=serve, args=lane) for lane in lanes]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        interrupted.set()
        raise
    assert len(results) == len(work), "a lane ended before its work did"
    return results


# Fails with: side_by_side() without its count, as it was: what that lane had left undone was not missed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_lane_that_ends_before_its_work_is_missed():
    with pytest.raises(AssertionError, match="a lane ended"):
        side_by_side([(None, None)], [lambda daemon, proxy: daemon.job("any")])


# Fails with: side_by_side() that does not tell its lanes, as it was: the second piece was begun, too.
def test_lanes_of_an_interrupted_sweep_begin_nothing_more():
    begun, stopped = [], threading.Event()

    def interrupt(*_):
        raise KeyboardInterrupt

    def first(daemon, proxy):
        begun.append(threading.current_thread())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
        return None, f"its daemon was stopped: {stopped.wait(60)}"

    def second(daemon, proxy):
        begun.append("the second")
        return None, None
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            side_by_side([(None, None)], [first, second])
    finally:
        signal.signal(signal.SIGUSR1, before)
    stopped.set()
    begun[0].join()
    assert len(begun) == 1


def calls_of(name, daemon, proxy):
    """The places of a cycle without faults, or what went wrong in it."""
    proxy.watch()
    cycle = CYCLES[name](daemon)
    try:
        cycle.check(cycle.run(LIMIT_S))
    except Exception:
        return [], traceback.format_exc()
    return places_of(name, proxy.seen()), None


def choose(places, dice, more):
    """The faults to try: each kind once at a call that is certain, then `more` others."""
    kinds = [*LASTING, *PASSING]  # faults with retries are first, since they take longest
    certain = sorted(place for place in places if place.is_certain)
    chosen = [(kind, dice.choice(certain)) for kind in kinds]
    rest = sorted({(kind, place) for kind in kinds for place in places} - set(chosen))
    dice.shuffle(rest)
    return chosen + rest[:more], len(kinds) * len(places)


def test_calls_of_each_cycle_go_wrong_in_each_way(lanes, seed, cycles, request):
    found = side_by_side(lanes, [lambda d, p, name=name: calls_of(name, d, p) for name in CYCLES])
    assert not any(wrong for _, wrong in found), "\n".join(filter(None, (wrong for _, wrong in found)))
    chosen, all_there_are = choose([place for places, _ in found for place in places], random.Random(seed), MORE * (cycles - 1))
    part, parts = request.config.getoption("--part")
    chosen = [one for one in chosen if zlib.crc32(repr(one).encode()) % parts == part - 1]
    assert chosen, "there are not so many faults to share"
    results = side_by_side(lanes, [lambda d, p, one=one: try_one(d, p, *one) for one in chosen])
    wrong = [problem for _, problem in results if problem]
    print(f"{len(chosen)} of {all_there_are} faults tried, {sum(bool(hits) for hits, _ in results)} of them met")
    assert not wrong, f"{len(wrong)} of {len(results)} went wrong:\n" + "\n".join(wrong)
