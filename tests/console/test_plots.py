# SPDX-License-Identifier: Apache-2.0
"""Plots show exactly the values of the API, point by point."""
import json
import math

import pytest

from support.console import FAINT, HOSTILE, NAMELESS, assert_straight, lines_of, opened, pictures, points_of
from support.engine import IMAGE
from support.event_files import event, simple, version
from support.storage import Storage
from support.vertex import Vertex, custom_job


def paths(browser, name, words="path"):
    """The points of each path of a plot, in pixels."""
    return [points_of(path) for path in browser.value("[...document.querySelectorAll('svg[aria-label=\"%s\"] %s')].map((each) => each.getAttribute('d'))" % (name, words))]


def assert_on_axes(browser, plot, points, values):
    """The points of a plot, in pixels, are where the words at its axes say that these (x, y) are."""
    words = browser.value("[...document.querySelectorAll(%s + ' text')].map((each) => [each.textContent, each.getAttribute('text-anchor'), each.x.baseVal[0].value, each.y.baseVal[0].value])" % json.dumps(plot))
    across = sorted((float(word), x) for word, anchor, x, _ in words if anchor == "middle")
    up = sorted((float(word), y - 4) for word, anchor, x, y in words if anchor == "end" and x < 56)
    assert len(points) == len(values) > 0
    for axis, ticks in enumerate((across, up)):
        (low, begins), (high, ends) = ticks[0], ticks[-1]
        assert low < high, (plot, words)
        assert all(abs(at - (begins + (word - low) / (high - low) * (ends - begins))) < 0.2 for word, at in ticks), (plot, ticks)
        for point, value in zip(points, values):
            assert abs(point[axis] - (begins + (value[axis] - low) / (high - low) * (ends - begins))) < 0.2, (plot, axis, point, value)


def short(value):
    """A number as a readout tells it."""
    return f"{float(f'{value:.6g}'):g}"


READOUT = "[...document.querySelectorAll('.readout:not([hidden]) tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()).filter(Boolean))"


def pointed(browser, plot, x, y):
    """Moves the pointer to a place of a plot, in its pixels. Returns the rows of the readout that is seen then."""
    left, top = browser.value(f"(() => {{ const plot = document.querySelector({json.dumps(plot)}); plot.scrollIntoView({{block: 'center'}}); const box = plot.getBoundingClientRect(); return [box.left, box.top]; }})()")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    browser.value("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))")  # what the scrolling hides is hidden
    browser.until(f"{READOUT}.length === 0")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=left + x, y=top + y)
    return browser.until(f"(() => {{ const rows = {READOUT}; return rows.length ? rows : null; }})()")


def explained(trials, name):
    """The share of the values' variance that lies between quarters of the trials, sorted by one parameter."""
    known = sorted(trials, key=lambda trial: trial["parameters"][name])
    values = [trial["objectiveValue"] for trial in known]
    middle, groups = sum(values) / len(values), {}
    for i, value in enumerate(values):
        groups.setdefault(i * 4 // len(values), []).append(value)
    between = sum(len(group) * (sum(group) / len(group) - middle) ** 2 for group in groups.values())
    return between / sum((value - middle) ** 2 for value in values)


# Fails with, one by one: a point of each plot that is moved; share() that counts other groups; a band of two deviations.
def assert_study_is_drawn(browser, study, dots):
    """Checks all plots of a search except the slices. @dots: the positions of trials in "Best so far"."""
    trials = sorted(study["trials"], key=lambda trial: trial["trialId"])
    at = [dots[trial["trialId"]] for trial in trials]
    [steps], best = paths(browser, "Best so far", "path.best"), None
    for i, trial in enumerate(trials):
        if best is not None:
            x, y = steps.pop(0)
            assert abs(x - at[i][0]) < 0.1 and abs(y - dots[best["trialId"]][1]) < 0.1
        best = trial if best is None or trial["objectiveValue"] > best["objectiveValue"] else best
        x, y = steps.pop(0)
        assert abs(x - at[i][0]) < 0.1 and abs(y - dots[best["trialId"]][1]) < 0.1
    assert steps == []
    mean, deviation = [trial["belief"]["mean"] for trial in trials], [trial["belief"]["deviation"] for trial in trials]
    [line], [area] = paths(browser, "Best so far", "path.believed"), paths(browser, "Best so far", "path.area")
    numbers = [trial["trialId"] for trial in trials]
    above, below = ([(number, m + sign * d) for number, m, d in zip(numbers, mean, deviation)] for sign in (1, -1))
    bars = browser.value("[...document.querySelectorAll('svg[aria-label=\"Best so far\"] line.band')].map((each) => ['x1', 'y1', 'x2', 'y2'].map((name) => each[name].baseVal.value))")
    assert_on_axes(browser, 'svg[aria-label="Best so far"]', line + area + [bar[:2] for bar in bars] + [bar[2:] for bar in bars], list(zip(numbers, mean)) + above + below[::-1] + below + above)
    # The line of a trial passes through each of its reports; all lines have the same scales.
    curves = paths(browser, "Learning curves")
    reports = [[(each["trainingStep"], each["objectiveValue"]) for each in trial["measurements"]] for trial in study["trials"]]
    assert [len(curve) for curve in curves] == [len(each) for each in reports] == [3] * 8
    assert_straight(sum(curves, []), [(int(step), value) for each in reports for step, value in each])
    assert_on_axes(browser, 'svg[aria-label="Learning curves"]', sum(curves, []), [(int(step), value) for each in reports for step, value in each])
    assert_on_axes(browser, 'svg[aria-label="Best so far"]', at, [(trial["trialId"], trial["objectiveValue"]) for trial in trials])
    # In the parallel coordinates, a trial's line meets each axis at the trial's value.
    lines = paths(browser, "Parameters")
    assert {len({round(x) for x, _ in axis}) for axis in zip(*lines)} == {1}
    assert_straight([(line[0][1], line[1][1]) for line in lines], [(trial["parameters"]["x"], trial["objectiveValue"]) for trial in study["trials"]])
    shares = browser.value("[...document.querySelectorAll('.bars meter')].map((each) => [each.getAttribute('aria-label'), each.value])")
    assert [name for name, _ in shares] == ["x"] and abs(shares[0][1] - explained(trials, "x")) < 1e-6
    assert browser.texts(".bars dd") == [f"{math.floor(100 * shares[0][1] + 0.5)} %"]


# Changes each trial in the answers that the page reads.
STUDY_CHANGED = """const asked = fetch; window.fetch = async (url, more) => {
    const answer = await asked(url, more), told = String(url).includes("/study") && answer.ok ? await answer.json() : null;
    told?.trials.forEach((trial) => { %s });
    return told ? new Response(JSON.stringify(told)) : answer; };"""


def test_a_search_is_drawn_as_it_went(browser, yard):
    report = ('for word in "$@"; do case $word in --x=*) x=${word#--x=};; esac; done; for step in 1 2 3; do '
              'printf \'{"global_step": "%s", "timestamp": 1, "accuracy": "%s", "trial": "1"}\\n\' $step $((x * 10 + step)) >> $CLOUD_ML_HP_METRIC_FILE; done')
    name = "search_of_the_console"
    yard.post(yard.jobs_path, {"jobId": name, "trainingInput": {
        "region": "us-central1", "masterConfig": {"imageUri": IMAGE}, "scaleTier": "CUSTOM", "masterType": "n1-standard-4",
        "args": ["sh", "-c", report, "trainer"], "hyperparameters": {
            "goal": "MAXIMIZE", "hyperparameterMetricTag": "accuracy", "maxTrials": 8, "maxParallelTrials": 8,
            "params": [{"parameterName": "x", "type": "INTEGER", "minValue": 1, "maxValue": 9}]}}})
    yard.until(name, "SUCCEEDED")
    study = yard.get(f"/_trainyard{yard.jobs_path}/{name}/study").json
    # Beliefs of a model are put into the answer: eight trials that start together have none.
    for trial in study["trials"]:
        trial["belief"] = {"mean": trial["objectiveValue"] - 3 + trial["trialId"], "deviation": trial["trialId"] / 4}
    doctor = browser.call("Page.addScriptToEvaluateOnNewDocument", source=STUDY_CHANGED % "trial.belief = {mean: trial.objectiveValue - 3 + trial.trialId, deviation: trial.trialId / 4};")["identifier"]
    values = {trial["trialId"]: trial["objectiveValue"] for trial in study["trials"]}
    opened(browser, yard, f"jobs/{yard.project}/{name}")
    browser.until("document.querySelectorAll('circle.dot').length === 8")
    dots = sorted(browser.value("[...document.querySelectorAll('circle.dot')].map((each) => [Number(each.dataset.trial), each.cx.baseVal.value, each.cy.baseVal.value])"))
    assert [trial for trial, _, _ in dots] == sorted(values)
    (low, y_low), (high, y_high) = ((values[trial], y) for trial, _, y in (max(dots, key=lambda dot: dot[2]), min(dots, key=lambda dot: dot[2])))
    for (_, x, _), (_, after, _) in zip(dots, dots[1:]):
        assert abs((after - x) - (dots[-1][1] - dots[0][1]) / 7) < 0.1
    for trial, _, y in dots:
        assert abs(y - (y_low + (values[trial] - low) / (high - low) * (y_high - y_low))) < 0.1
    assert browser.texts("td strong")[0] == f"{study['best']['trialId']} (best)"
    assert browser.texts(".winner strong")[0] == f"Trial {study['best']['trialId']}"
    assert_study_is_drawn(browser, study, {trial: (x, y) for trial, x, y in dots})
    # Dragging along an axis selects trials.
    best = max(values.values())
    browser.value("(() => { const axis = [...document.querySelectorAll('.handle')].at(-1), box = axis.getBoundingClientRect(); "
                  "axis.dispatchEvent(new PointerEvent('pointerdown', {clientY: box.top, bubbles: true, cancelable: true})); "
                  "for (const type of ['pointermove', 'pointerup']) dispatchEvent(new PointerEvent(type, {clientY: box.top + 6})); })()")
    browser.until_says(f"{sum(value == best for value in values.values())} of 8 trials")
    browser.until_says("What matters")
    pictures(browser, "search")
    # Each slice shows each trial at the values of the API.
    drawn = browser.value("[...document.querySelectorAll('svg[aria-label=\"accuracy over x\"] circle')].map((each) => [each.dataset.trial, each.cx.baseVal.value, each.cy.baseVal.value])")
    assert len(drawn) == 8
    by_x = sorted((trial["parameters"]["x"], trial["objectiveValue"], *next(found[1:] for found in drawn if found[0] == str(trial["trialId"]))) for trial in study["trials"])
    if by_x[0][0] != by_x[-1][0]:
        assert_straight([place[2:] for place in by_x], [place[:2] for place in by_x])
    assert_on_axes(browser, 'svg[aria-label="accuracy over x"]', [place[2:] for place in by_x], [place[:2] for place in by_x])
    # The best trial alone is marked, in each plot that marks it and in the table.
    number = str(study["best"]["trialId"])
    assert browser.value("[...document.querySelectorAll('circle.best')].map((each) => each.dataset.trial)") == [number]
    assert browser.value("[...document.querySelectorAll('path.curve.best')].map((each) => each.dataset.trial ?? each.textContent.match(/\\d+/)[0])") == [number, number]
    # The readouts tell the dot and the curves at the pointer.
    at = next(place[2:] for place in by_x if str(place[2]) and place is by_x[0])
    best_x, best_y = next((x, y) for trial, x, y in dots if str(trial) == number)
    assert pointed(browser, 'svg[aria-label="Best so far"]', best_x + 2, best_y + 2)[:3] == [["Trial", number], ["accuracy", short(study["best"]["objectiveValue"])], ["x", str(study["best"]["parameters"]["x"])]]
    told = pointed(browser, 'svg[aria-label="accuracy over x"]', *at)
    assert (told[1][1], told[2][1]) == (short(by_x[0][1]), str(by_x[0][0]))
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=doctor)
    # A table that has not all trials says so. Fails with: #rows() that leaves the words out.
    many = "if (trial.trialId === 1) for (let i = 0; i < 300; i++) told.trials.push({...trial, trialId: 1000 + i});"
    doctor = browser.call("Page.addScriptToEvaluateOnNewDocument", source=STUDY_CHANGED % many)["identifier"]
    opened(browser, yard, f"jobs/{yard.project}/{name}")
    browser.until_says("The best 200 are listed.")
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=doctor)
    opened(browser, yard, f"jobs/{yard.project}/{name}")
    browser.until("document.querySelector('a[href*=\"trial=\"]') !== null")
    # A click on a trial opens its own page, and from there its part of the log.
    browser.value("document.querySelector('a[href*=\"trial=\"]').click()")
    number = browser.value("new URLSearchParams(location.search).get('trial')")
    browser.until_says(f"{name}, trial {number}", "h1")
    browser.until("document.querySelector('.state.SUCCEEDED') !== null")
    browser.until_says("--x=", "main")
    browser.until("document.querySelectorAll('.replica').length === 1")
    assert "to blame" not in browser.texts(".replica")[0]  # no replica failed
    browser.until("document.querySelectorAll('.line .who').length > 0")
    assert browser.value(f"[...document.querySelectorAll('.line .who')].every((each) => each.textContent.startsWith('{number}/'))")
    pictures(browser, "trial")
    browser.click("Whole page", "a")
    browser.until(f"document.querySelector('select[aria-label=Trial]')?.value === '{number}'")
    browser.until("document.querySelectorAll('.line .who').length > 0")
    assert browser.value(f"[...document.querySelectorAll('.line .who')].every((each) => each.textContent.startsWith('{number}/'))")


# Fails with: parameterScale() that places categories from the end; a slice whose dot or word is moved; a mark that is at another
# trial.
@pytest.mark.long
def test_categories_failures_and_stopped_trials_are_drawn(browser, yard):
    report = ('for word in "$0" "$@"; do case $word in --x=*) x=${word#--x=};; --kind=*) kind=${word#--kind=};; esac; done; [ $CLOUD_ML_TRIAL_ID = 3 ] && exit 1; '
              'printf \'{"global_step": "%s", "timestamp": 1, "score": "%s", "trial": "1"}\\n\' 1 ${#kind}.$x > $CLOUD_ML_HP_METRIC_FILE')
    name, kinds = yard.new_id("categories"), ["relu", "tanhs", "linear"]
    assert yard.post(yard.jobs_path, {"jobId": name, "trainingInput": {
        "region": "us-central1", "masterConfig": {"imageUri": IMAGE}, "scaleTier": "CUSTOM", "masterType": "n1-standard-4", "args": ["sh", "-c", report],
        "hyperparameters": {"goal": "MAXIMIZE", "hyperparameterMetricTag": "score", "maxTrials": 8, "maxParallelTrials": 8, "maxFailedTrials": 8, "algorithm": "GRID_SEARCH",
                            "params": [{"parameterName": "x", "type": "INTEGER", "minValue": 1, "maxValue": 3},
                                       {"parameterName": "kind", "type": "CATEGORICAL", "categoricalValues": kinds}]}}}).status == 200
    yard.until(name, "SUCCEEDED", "FAILED")
    trials = {trial["trialId"]: trial for trial in yard.get(f"/_trainyard{yard.jobs_path}/{name}/study").json["trials"]}
    assert [number for number, trial in trials.items() if trial["outcome"] == "INFEASIBLE"] == [3]
    # Shows the second trial as if it had been stopped.
    doctor = browser.call("Page.addScriptToEvaluateOnNewDocument", source=STUDY_CHANGED % "if (trial.trialId === 2) trial.isTrialStoppedEarly = true;")["identifier"]
    opened(browser, yard, f"jobs/{yard.project}/{name}")
    browser.until("document.querySelectorAll('svg[aria-label=\"score over kind\"] circle').length === 7")
    words = dict(browser.value("[...document.querySelectorAll('svg[aria-label=\"score over kind\"] text')].map((each) => [each.textContent, each.x.baseVal[0].value])"))
    dots = {int(number): (x, y) for number, x, y in browser.value("[...document.querySelectorAll('svg[aria-label=\"score over kind\"] circle')].map((each) => [each.dataset.trial, each.cx.baseVal.value, each.cy.baseVal.value])")}
    assert abs(words["tanhs"] - (words["relu"] + words["linear"]) / 2) < 0.1 and words["relu"] < words["linear"]
    assert set(dots) == set(trials) - {3} and all(abs(dots[number][0] - words[trials[number]["parameters"]["kind"]]) < 0.1 for number in dots)
    assert_straight([(y, y) for _, y in dots.values()], [(trials[number]["objectiveValue"],) * 2 for number in dots])
    # In the parallel coordinates, the words of a category are where its lines meet the axis.
    places = dict(browser.value("[...document.querySelectorAll('svg[aria-label=Parameters] text')].map((each) => [each.textContent, each.y.baseVal[0].value - 4])"))
    lines = zip(browser.value("[...document.querySelectorAll('svg[aria-label=Parameters] path')].map((each) => Number(each.textContent.match(/\\d+/)[0]))"), paths(browser, "Parameters"))
    assert all(abs(line[1][1] - places[trials[number]["parameters"]["kind"]]) < 0.1 for number, line in lines)
    best = "document.querySelector('svg[aria-label=\"Best so far\"]')"
    at = dict(browser.value(f"[...{best}.querySelectorAll('circle.dot')].map((each) => [each.dataset.trial, each.cx.baseVal.value])"))
    [(failed, x)] = browser.value(f"[...{best}.querySelectorAll('.cross')].map((each) => [each.dataset.trial, each.x.baseVal[0].value])")
    assert failed == "3" and abs(x - (at["2"] + at["4"]) / 2) < 0.1
    assert browser.value(f"[...{best}.querySelectorAll('.stopped')].map((each) => each.dataset.trial)") == ["2"] and "stopped early   × failed" in browser.value(f"{best}.textContent")
    assert browser.value("[...document.querySelectorAll('tr')].find((row) => row.cells[0].innerText === '2').cells[2].innerText") == "stopped early"
    pictures(browser, "categories")
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=doctor)


def event_file(tag, values, first=0):
    began = 1_700_000_000.0
    return version(began) + b"".join(event(began + 10 * (first + i), first + i, simple(tag, value)) for i, value in enumerate(values))


def ran(yard, bucket, name, files):
    """An ended job, and event files in its directory."""
    body = custom_job("exit 0", name=name)
    body["jobSpec"]["baseOutputDirectory"] = {"outputUriPrefix": f"gs://{bucket}/{name}"}
    job = Vertex(yard).create(body)["name"]
    for path, data in files.items():
        assert Storage(yard, bucket).put(f"{name}/logs/{path}", data).status == 200
    Vertex(yard).until(job, "JOB_STATE_SUCCEEDED")
    return f"{yard.project}/{job.rpartition('/')[2]}"


def test_scalars_of_several_jobs_are_drawn_over_each_other(browser, yard):
    loss = [8.0, 4.0, 2.0, 1.0, 0.5]
    bucket = yard.new_id("curves").replace("_", "-")
    first = ran(yard, bucket, "curve-one", {"train/events.out.tfevents.1": event_file("loss", loss), "eval/events.out.tfevents.1": event_file("loss", [6.0, 3.0]),
                                            "train/events.out.tfevents.2": event_file(HOSTILE, [1.0, 2.0])})
    second = ran(yard, bucket, "curve-two", {"train/events.out.tfevents.1": event_file("loss", [9.0, 7.0, 5.0])})
    opened(browser, yard, f"metrics?jobs={first}")
    browser.until("document.querySelectorAll('[data-tag=loss] path.line').length === 2")
    assert [run for run, _ in lines_of(browser, "loss")] == ["logs/eval", "logs/train"]
    assert_straight(dict(lines_of(browser, "loss"))["logs/train"], list(enumerate(loss)))
    assert_on_axes(browser, "[data-tag=loss] svg", dict(lines_of(browser, "loss"))["logs/train"], list(enumerate(loss)))
    # The legend has the last value of each curve, and its step.
    assert browser.texts("[data-tag=loss] .legend li") == ["logs/eval\n3\nat 1", "logs/train\n0.5\nat 4"]
    assert browser.texts("h2")[:2] == [HOSTILE, "loss"] and browser.value("document.querySelectorAll('main img, main script').length") == 0
    browser.value("(() => { const add = document.querySelector('select[aria-label=\"Add a job\"]'); add.value = %s; add.dispatchEvent(new Event('change')); })()" % json.dumps(second))
    browser.until("document.querySelectorAll('[data-tag=loss] path.line').length === 3")
    # Fails with: look() that names the buttons for the eye alone.
    browser.until("[...document.querySelectorAll('.chips button')].map((each) => each.getAttribute('aria-label')).join() === 'Leave out curve-one,Leave out curve-two'")
    assert "curve-two" in " ".join(browser.texts(".legend li")) and second.split("/")[1] in browser.value("decodeURIComponent(location.search)")
    # Fails with: a scale that fits the first curve alone.
    assert all(24 - 0.1 <= y <= 200 + 0.1 for _, points in lines_of(browser, "loss") for _, y in points)
    # All curves have the same scales: the second job's curve passes through its own values.
    (_, train), (_, other) = lines_of(browser, "loss")[1:]
    assert_straight(train[:1] + other[1:], [(0, 8.0), (1, 7.0), (2, 5.0)])
    # TensorBoard's smoothing, computed by its formula.
    browser.value("(() => { const smooth = document.querySelector('input[type=range]'); smooth.value = 0.5; smooth.dispatchEvent(new Event('input')); })()")
    browser.until("document.querySelectorAll('[data-tag=loss] path.raw').length === 3")
    last, smooth = 0.0, []
    for i, value in enumerate(loss):
        last = last / 2 + value / 2
        smooth.append((i, last / (1 - 0.5 ** (i + 1))))
    assert_straight(lines_of(browser, "loss")[1][1], smooth)
    # The raw values are drawn behind the smoothed ones. Each curve has its own colour, also in the legend.
    raw = points_of(browser.value("document.querySelectorAll('[data-tag=loss] path.raw')[1].getAttribute('d')"))
    assert_on_axes(browser, "[data-tag=loss] svg", raw, list(enumerate(loss)))
    colours = browser.value("['path.line', 'path.raw', '.swatch'].map((each) => [...document.querySelectorAll(`[data-tag=loss] ${each}`)].map((found) => [...found.classList].find((name) => /^c\\d$/.test(name))))")
    assert colours[0] == colours[1] == colours[2] and len(set(colours[0])) == 3
    assert browser.value(NAMELESS) == [] and browser.value(FAINT) == []
    pictures(browser, "metrics")
    # Relative time and a logarithmic scale: the same points at other positions. Fails with: scale() that ignores `log`; places()
    # that gives steps.
    told = yard.get(f"/_trainyard/v1/jobs/{first.split('/')[1]}:scalars", project=yard.project).json["curves"]
    train = next(curve for curve in told if curve["tag"] == "loss" and curve["run"] == "logs/train")
    assert train["values"] == loss
    for by, xs in (("time", train["seconds"]), ("since", [each - train["seconds"][0] for each in train["seconds"]])):
        opened(browser, yard, f"metrics?jobs={first}&by={by}&log=1")
        browser.until("document.querySelectorAll('[data-tag=loss] path.line').length === 2")
        assert_straight(dict(lines_of(browser, "loss"))["logs/train"], list(zip(xs, map(math.log, loss))))


# Fails with: a readout that takes the first point; that tells the smoothed value as the value; arrow keys that stay; a readout that is kept when the pointer leaves.
def test_the_values_under_the_pointer_are_told(browser, yard):
    bucket = yard.new_id("readout").replace("_", "-")
    loss, other = [8.0, 4.0, 2.0, 1.0, 0.123456789], [6.0, 3.0, 2.5]
    job = ran(yard, bucket, "read-out", {"train/events.out.tfevents.1": event_file("loss", loss), "eval/events.out.tfevents.1": event_file("loss", other)})
    opened(browser, yard, f"metrics?jobs={job}")
    browser.until("document.querySelectorAll('[data-tag=loss] path.line').length === 2")
    plot, drawn = "[data-tag=loss] svg", dict(lines_of(browser, "loss"))
    seconds = next(curve["seconds"] for curve in yard.get(f"/_trainyard/v1/jobs/{job.split('/')[1]}:scalars", project=yard.project).json["curves"] if curve["run"] == "logs/train")
    clock = browser.value(f"{seconds}.map((each) => new Date(each * 1000).toLocaleString(undefined, {{hour12: false}}))")
    for step, (x, y) in enumerate(drawn["logs/train"]):
        train, held = ["logs/train", short(loss[step]), str(step), clock[step], f"{10 * step}s"], min(step, 2)
        test = ["logs/eval", short(other[held]), str(held), clock[held], f"{10 * held}s"]
        rows = pointed(browser, plot, x + 3, y)
        assert rows[0] == ["Value", "Step", "Time", "After"] and sorted(rows[1:]) == [test, train], (step, rows)
        assert browser.texts(".readout .at td:nth-child(2)") == ["logs/train"]
    # The marks are on the points that are told.
    marks = browser.value("[...document.querySelectorAll('[data-tag=loss] .read circle')].map((each) => [each.cx.baseVal.value, each.cy.baseVal.value])")
    assert all(min(math.dist(mark, point) for mark in marks) < 0.1 for point in (drawn["logs/train"][-1], drawn["logs/eval"][-1]))
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    browser.until(f"{READOUT}.length === 0")
    # With the keyboard: the newest values first, then one step back. A screen reader hears the same.
    browser.press("Tab")
    browser.value(f"document.querySelector({json.dumps(plot)}).focus()")
    browser.until(f"{READOUT}.some((row) => row[0] === 'logs/train' && row[2] === '4')")
    browser.press("ArrowLeft")
    browser.until(f"{READOUT}.some((row) => row[0] === 'logs/train' && row[1] === '1' && row[2] === '3')")
    assert "logs/train, Value 1, Step 3" in browser.value(f"document.querySelector({json.dumps(plot)}).getAttribute('aria-valuetext')")
    browser.press("Escape")
    browser.until(f"{READOUT}.length === 0")
    # Smoothed values have a column of their own. On a narrow screen the readout is within the window.
    browser.look(360, 740)
    browser.value("(() => { const smooth = document.querySelector('input[type=range]'); smooth.value = 0.5; smooth.dispatchEvent(new Event('input')); })()")
    browser.until("document.querySelectorAll('[data-tag=loss] path.raw').length === 2 && document.querySelector('[data-tag=loss] svg').viewBox.baseVal.width < 360")
    rows = pointed(browser, plot, dict(lines_of(browser, "loss"))["logs/train"][1][0], 100)
    assert rows[0][0] == "Smoothed" and next(row for row in rows if row[0] == "logs/train")[1:4] == [short((8 / 4 + 4 / 2) / 0.75), "4", "1"]
    # Numbers are not broken into several lines. Fails with: cells that wrap anywhere.
    assert browser.value("[...document.querySelectorAll('.readout:not([hidden]) tr')].every((row) => row.getClientRects()[0].height < 20)")
    assert browser.value("(() => { const box = document.querySelector('.readout:not([hidden])').getBoundingClientRect(); return box.left >= 0 && box.right <= 360 && box.bottom <= 740; })()")
    browser.look(1280, 800)
