# SPDX-License-Identifier: Apache-2.0
"""Plots: what they draw is what the API tells, point by point."""
import json

from support.console import FAINT, HOSTILE, NAMELESS, assert_straight, lines_of, opened, pictures
from support.engine import IMAGE
from support.event_files import event, simple, version
from support.storage import Storage
from support.vertex import Vertex, custom_job


def test_a_search_is_drawn_as_it_went(browser, yard):
    report = ('for word in "$@"; do case $word in --x=*) x=${word#--x=};; esac; done; for step in 1 2 3; do '
              'printf \'{"global_step": "%s", "timestamp": 1, "accuracy": "%s", "trial": "1"}\\n\' $step $((x * 10 + step)) >> $CLOUD_ML_HP_METRIC_FILE; done')
    name = "search_of_the_console"
    yard.post(yard.jobs_path, {"jobId": name, "trainingInput": {
        "region": "us-central1", "masterConfig": {"imageUri": IMAGE}, "scaleTier": "CUSTOM", "masterType": "n1-standard-4",
        "args": ["sh", "-c", report, "trainer"], "hyperparameters": {
            "goal": "MAXIMIZE", "hyperparameterMetricTag": "accuracy", "maxTrials": 5, "maxParallelTrials": 5,
            "params": [{"parameterName": "x", "type": "INTEGER", "minValue": 1, "maxValue": 9}]}}})
    yard.until(name, "SUCCEEDED")
    study = yard.get(f"/_trainyard{yard.jobs_path}/{name}/study").json
    values = {trial["trialId"]: trial["objectiveValue"] for trial in study["trials"]}
    opened(browser, yard, f"jobs/{yard.project}/{name}")
    browser.until("document.querySelectorAll('circle.dot').length === 5")
    dots = sorted(browser.value("[...document.querySelectorAll('circle.dot')].map((each) => [Number(each.textContent.match(/\\d+/)[0]), each.cx.baseVal.value, each.cy.baseVal.value])"))
    assert [trial for trial, _, _ in dots] == sorted(values)
    (low, y_low), (high, y_high) = ((values[trial], y) for trial, _, y in (max(dots, key=lambda dot: dot[2]), min(dots, key=lambda dot: dot[2])))
    for (_, x, _), (_, after, _) in zip(dots, dots[1:]):
        assert abs((after - x) - (dots[-1][1] - dots[0][1]) / 4) < 0.1
    for trial, _, y in dots:
        assert abs(y - (y_low + (values[trial] - low) / (high - low) * (y_high - y_low))) < 0.1
    assert browser.texts("strong")[0] == f"{study['best']['trialId']} (best)"
    # The line of a trial goes through each of its reports.
    curves = browser.value("[...document.querySelectorAll('svg[aria-label=\"Learning curves\"] path')].map((each) => each.getAttribute('d').split('L').length)")
    assert curves == [3] * 5
    # Dragging along an axis chooses trials.
    best = max(values.values())
    browser.value("(() => { const axis = [...document.querySelectorAll('.handle')].at(-1), box = axis.getBoundingClientRect(); "
                  "axis.dispatchEvent(new PointerEvent('pointerdown', {clientY: box.top, bubbles: true, cancelable: true})); "
                  "for (const type of ['pointermove', 'pointerup']) dispatchEvent(new PointerEvent(type, {clientY: box.top + 6})); })()")
    browser.until_says(f"{sum(value == best for value in values.values())} of 5 trials")
    browser.until_says("What matters")
    pictures(browser, "search")
    # Each slice has each trial where the API's numbers say.
    drawn = browser.value("[...document.querySelectorAll('svg[aria-label=\"accuracy over x\"] circle')].map((each) => [each.dataset.trial, each.cx.baseVal.value, each.cy.baseVal.value])")
    assert len(drawn) == 5
    by_x = sorted((trial["parameters"]["x"], trial["objectiveValue"], *next(found[1:] for found in drawn if found[0] == str(trial["trialId"]))) for trial in study["trials"])
    if by_x[0][0] != by_x[-1][0]:
        assert_straight([place[2:] for place in by_x], [place[:2] for place in by_x])
    # A trial leads to its own page, and from there to its part of the log.
    browser.value("document.querySelector('a[href*=\"trial=\"]').click()")
    number = browser.value("new URLSearchParams(location.search).get('trial')")
    browser.until_says(f"{name}, trial {number}", "h1")
    browser.until("document.querySelector('.state.SUCCEEDED') !== null")
    browser.until_says("--x=", "main")
    browser.until("document.querySelectorAll('.replica').length === 1")
    assert "to blame" not in browser.texts(".replica")[0]  # it ended well
    browser.until("document.querySelectorAll('.line .who').length > 0")
    assert browser.value(f"[...document.querySelectorAll('.line .who')].every((each) => each.textContent.startsWith('{number}/'))")
    pictures(browser, "trial")
    browser.click("Whole page", "a")
    browser.until(f"document.querySelector('select[aria-label=Trial]')?.value === '{number}'")
    browser.until("document.querySelectorAll('.line .who').length > 0")
    assert browser.value(f"[...document.querySelectorAll('.line .who')].every((each) => each.textContent.startsWith('{number}/'))")


def event_file(tag, values, first=0):
    began = 1_700_000_000.0
    return version(began) + b"".join(event(began + 10 * (first + i), first + i, simple(tag, value)) for i, value in enumerate(values))


def ran(yard, bucket, name, files):
    """A job that is over, and event files in its directory."""
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
    assert browser.texts("h2")[:2] == [HOSTILE, "loss"] and browser.value("document.querySelectorAll('main img, main script').length") == 0
    browser.value("(() => { const add = document.querySelector('select[aria-label=\"Add a job\"]'); add.value = %s; add.dispatchEvent(new Event('change')); })()" % json.dumps(second))
    browser.until("document.querySelectorAll('[data-tag=loss] path.line').length === 3")
    assert "curve-two" in " ".join(browser.texts(".legend li")) and second.split("/")[1] in browser.value("decodeURIComponent(location.search)")
    # Broken: a scale that fits the first curve alone.
    assert all(24 - 0.1 <= y <= 200 + 0.1 for _, points in lines_of(browser, "loss") for _, y in points)
    # All on one scale: the second job's curve goes through its own values there.
    (_, train), (_, other) = lines_of(browser, "loss")[1:]
    assert_straight(train[:1] + other[1:], [(0, 8.0), (1, 7.0), (2, 5.0)])
    # TensorBoard's smoothing, by its formula.
    browser.value("(() => { const smooth = document.querySelector('input[type=range]'); smooth.value = 0.5; smooth.dispatchEvent(new Event('input')); })()")
    browser.until("document.querySelectorAll('[data-tag=loss] path.raw').length === 3")
    last, smooth = 0.0, []
    for i, value in enumerate(loss):
        last = last / 2 + value / 2
        smooth.append((i, last / (1 - 0.5 ** (i + 1))))
    assert_straight(lines_of(browser, "loss")[1][1], smooth)
    assert browser.value(NAMELESS) == [] and browser.value(FAINT) == []
    pictures(browser, "metrics")
