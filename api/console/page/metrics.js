// SPDX-License-Identifier: Apache-2.0
// The page of values that jobs wrote for TensorBoard or reported to a search: a plot for each tag, with the curves of
// several jobs.
import {get} from "./api.js";
import {duration, el, keepInAddress, note, svg} from "./dom.js";
import {jobPath} from "./job.js";
import {axes, extent, path, Readout, scale, short, whole} from "./plots.js";
import {every} from "./stream.js";
import {searchField} from "./table.js";

const HEIGHT = 240, BOX = {left: 56, top: 24, bottom: HEIGHT - 40}, LOOK_MS = 4000, JOBS_MOST = 10, NEWEST = 200;
const DIGITS = 6; // of a value that is read out
const ENDED = ["SUCCEEDED", "FAILED", "CANCELLED"];

// TensorBoard's smoothing: an exponential mean whose beginning is not drawn to zero.
// Source: tensorboard/components/vz_line_chart2/line-chart.ts in https://github.com/tensorflow/tensorboard (read 2026-11-26)
export function smoothed(values, weight) {
	if (!(weight > 0) || values.every((value) => value === values[0]))
		return values;
	let last = 0, share = 1;

	return values.map((value) => {
		last = last * weight + (1 - weight) * value;
		share *= weight;
		return last / (1 - share);
	});
}

// {job, run, tag, steps, seconds, values} for the values that the job wrote, and for those that its trials reported.
async function curvesOf({project, id}) {
	const job = await get(jobPath({project, id})), told = await get(jobPath({project, id}, ":scalars"));
	const name = job.displayName ?? job.id, place = job.family === "jobs" ? `projects/${job.project}/jobs/${job.id}` : job.name;
	const curves = (told.curves ?? []).map((curve) => ({...curve, job: name, run: curve.run ?? ""}));

	if (job.family === "hyperparameterTuningJobs" || job.family === "jobs") {
		const {study, trials} = await get(`/_trainyard/v1/${place}/study`).catch(() => ({study: null, trials: []}));

		for (const trial of trials ?? []) {
			const reports = (trial.measurements ?? []).filter((each) => typeof each.objectiveValue === "number");

			if (reports.length)
				curves.push({job: name, run: `trial ${trial.trialId}`, tag: study.metrics[0].name, steps: reports.map((each) => each.trainingStep ?? 0),
					seconds: reports.map((each) => Date.parse(trial.startTime ?? job.startTime) / 1000 + Number(String(each.elapsedTime ?? 0).replace("s", ""))), values: reports.map((each) => each.objectiveValue)});
		}
	}
	return {job, name, curves, remarks: told.remarks ?? [], directory: told.directory};
}

export function metricsPage(main, {title}) {
	const address = new URLSearchParams(location.search);
	const wanted = {jobs: (address.get("jobs") ?? "").split(",").filter(Boolean), smooth: Number(address.get("smooth") ?? 0), by: address.get("by") ?? "step", log: address.get("log") === "1"};
	const smooth = el("input", {type: "range", min: 0, max: 0.99, step: 0.01, value: wanted.smooth, "aria-label": "Smoothing", on: {input: () => { wanted.smooth = Number(smooth.value); draw(); }}});
	const much = el("output", {class: "mono"});
	const by = el("select", {"aria-label": "Over", on: {change: () => { wanted.by = by.value; draw(); }}}, [["step", "Over steps"], ["time", "Over time"], ["since", "Since each began"]].map(([value, words]) => el("option", {value, selected: value === wanted.by}, words)));
	const log = el("button", {"aria-pressed": String(wanted.log), title: "Logarithmic values", on: {click: () => { wanted.log = !wanted.log; log.setAttribute("aria-pressed", String(wanted.log)); draw(); }}}, "log");
	const search = searchField("Search tags", () => draw(), "Tags");
	const add = el("select", {"aria-label": "Add a job", on: {change: () => { wanted.jobs.push(add.value); changed(); }}});
	const chosen = el("div", {class: "chips", role: "group", "aria-label": "Jobs"}), cards = el("div", {class: "cards"}), empty = el("div", {class: "card empty", hidden: true});
	const plots = new Map(), known = new Map(), runs = new Map(); // tag: its card; key of a job: what it has; run: the classes of its colour and dashes
	let others = "";

	const resized = new ResizeObserver(() => draw());

	function colourOf(curve) {
		const key = `${curve.job}\n${curve.run}`;

		if (!runs.has(key))
			runs.set(key, `c${runs.size % 8} d${Math.floor(runs.size / 8) % 3}`);
		return runs.get(key);
	}

	// The x coordinate of each point.
	function places(curve) {
		return wanted.by === "step" ? curve.steps : wanted.by === "time" ? curve.seconds : curve.seconds.map((each) => each - curve.seconds[0]);
	}

	const xWords = {step: "step", time: "time", since: "seconds"};

	const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString(undefined, {hour12: false});
	const nameOf = (curve) => [known.size > 1 ? curve.job : "", curve.run].filter(Boolean).join(", ") || curve.job;

	// What the readout tells of a curve: its value, and when it was written.
	function told(curve, ys, i) {
		const {steps, seconds, values} = curve, today = new Date(seconds[i] * 1000).toDateString() === new Date().toDateString();

		return [nameOf(curve), wanted.smooth ? short(ys[i], DIGITS) : null, short(values[i], DIGITS), String(steps[i]), today ? clock(seconds[i]) : new Date(seconds[i] * 1000).toLocaleString(undefined, {hour12: false}),
			duration((seconds[i] - seconds[0]) * 1000)].filter((word) => word !== null);
	}

	function plotDraw(tag, curves, {node, legend, readout}) {
		const width = node.clientWidth || node.parentNode.clientWidth - 32 || 400, box = {...BOX, right: width - 16};
		const shown = curves.filter((curve) => curve.values.length).map((curve) => ({curve, xs: places(curve), ys: smoothed(curve.values, wanted.smooth)}));

		node.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
		if (!shown.length) {
			node.replaceChildren(svg("text", {x: BOX.left, y: BOX.top}, "No finite value yet"));
			readout.set({heads: [], curves: []});
			return;
		}
		const wholeY = extent(shown.flatMap(({curve, ys}) => (wanted.smooth ? [...ys, ...curve.values] : ys)));
		const x = (wanted.by === "step" ? whole : (each) => each)(scale(extent(shown.flatMap(({xs}) => xs)), [box.left + 8, box.right])), y = scale(wholeY, [box.bottom, box.top], wanted.log);
		const drawn = shown.map(({curve, xs, ys}) => ({curve, colour: colourOf(curve), xs: xs.map(x), ys: ys.map(y), told: (i) => told(curve, ys, i)}));
		const line = (xs, ys) => path(xs.map((each, i) => [each, ys[i]]));

		node.replaceChildren(...[axes(x, y, box, {x: xWords[wanted.by], y: ""}, wanted.by === "time" ? clock : short), drawn.flatMap(({curve, colour, xs, ys}) => [
			wanted.smooth ? svg("path", {class: `curve raw ${colour}`, d: line(xs, curve.values.map(y))}) : null,
			svg("path", {class: `curve line ${colour}`, d: line(xs, ys), "data-run": curve.run}),
			xs.length === 1 ? svg("circle", {class: `point ${colour}`, cx: xs[0], cy: ys[0], r: 3}) : null])].flat(Infinity).filter(Boolean));
		readout.set({heads: ["", wanted.smooth ? "Smoothed" : null, "Value", "Step", "Time", "After"].filter((head) => head !== null), curves: drawn, ...box});
		legend.replaceChildren(...shown.slice(0, 20).map(({curve, ys}) => el("li", {}, el("span", {class: `swatch ${colourOf(curve)}`}), el("span", {class: "grow"}, nameOf(curve)),
			el("span", {class: "mono"}, short(ys.at(-1))), el("span", {class: "soft small"}, `at ${short(curve.steps.at(-1))}`, curve.notFiniteCount ? `, ${curve.notFiniteCount} not finite` : ""))),
		shown.length > 20 ? el("li", {class: "soft"}, `and ${shown.length - 20} more`) : "");
	}

	function cardOf(tag) {
		if (!plots.has(tag)) {
			const node = svg("svg", {class: "plot", role: "img", "aria-label": tag, height: HEIGHT}), legend = el("ul", {class: "legend"}), readout = new Readout(node);
			const card = el("div", {class: "card", "data-tag": tag}, el("h2", {}, tag), node, readout.tip, legend);

			resized.observe(card);
			plots.set(tag, {card, node, legend, readout});
		}
		return plots.get(tag);
	}

	function draw() {
		const curves = wanted.jobs.flatMap((key) => known.get(key)?.curves ?? []), matches = search.matcher();
		const tags = [...new Set(curves.map((curve) => curve.tag))].filter((tag) => matches(tag.toLowerCase())).sort();

		keepInAddress({jobs: wanted.jobs.join(","), smooth: wanted.smooth, by: wanted.by === "step" ? "" : wanted.by, log: wanted.log ? "1" : ""});
		much.textContent = wanted.smooth.toFixed(2);
		const nodes = tags.map((tag) => cardOf(tag).card);
		if (nodes.length !== cards.children.length || nodes.some((node, i) => cards.children[i] !== node))
			cards.replaceChildren(...nodes);
		tags.forEach((tag) => plotDraw(tag, curves.filter((curve) => curve.tag === tag), cardOf(tag)));
		empty.hidden = tags.length > 0 || !others || (wanted.jobs.length > 0 && !known.size);
		empty.replaceChildren(...!wanted.jobs.length ? others === "[]" ? [el("h1", {}, "No jobs yet"), el("a", {href: "/_trainyard/console/"}, "How to run one")] : [el("p", {}, "Choose the jobs whose metrics are to be seen.")] : curves.length ? [el("p", {}, "No tag has these words.")] : [
			el("p", {}, "These jobs have written no scalars. A program writes them with TensorBoard's writers below its job's directory:"),
			el("pre", {}, "writer = SummaryWriter(os.environ.get(\"AIP_TENSORBOARD_LOG_DIR\", \"/gcs/my-bucket/logs\"))\nwriter.add_scalar(\"loss\", loss, step)"),
			[...known.values()].filter(({directory}) => !directory).map(({name}) => el("p", {class: "soft"}, `${name} names no directory: baseOutputDirectory, or jobDir.`))].flat());
	}

	function changed() {
		chosen.hidden = !wanted.jobs.length;
		chosen.replaceChildren(...wanted.jobs.map((key) => el("button", {"aria-label": `Leave out ${known.get(key)?.name ?? key}`, on: {click: () => { wanted.jobs = wanted.jobs.filter((each) => each !== key); known.delete(key); changed(); }}}, `${known.get(key)?.name ?? key.split("/")[1]} ×`)));
		draw();
		look().catch((problem) => note(problem.message, true));
	}

	async function look() {
		const listed = (await get(`/_trainyard/v1/jobs?pageSize=${NEWEST}`)).jobs ?? [];
		const rest = listed.map((job) => [`${job.project}/${job.id}`, job.displayName ?? job.id]).filter(([key]) => !wanted.jobs.includes(key));

		if (JSON.stringify(rest) !== others) {
			add.replaceChildren(el("option", {value: "", disabled: true, selected: true}, "Add a job"), ...rest.map(([value, name]) => el("option", {value}, name)));
			others = JSON.stringify(rest);
		}
		for (const key of wanted.jobs.slice(0, JOBS_MOST)) {
			const [project, id] = key.split("/"), before = known.get(key);

			if (before && ENDED.includes(before.job.state))
				continue;
			known.set(key, await curvesOf({project, id}));
			if (!before)
				for (const remark of known.get(key).remarks)
					note(`${known.get(key).name}: ${remark}`);
		}
		chosen.querySelectorAll("button").forEach((button, i) => {
			const name = known.get(wanted.jobs[i])?.name ?? wanted.jobs[i];

			button.textContent = `${name} ×`;
			button.setAttribute("aria-label", `Leave out ${name}`);
		});
		draw();
	}

	title("Metrics");
	main.replaceChildren(el("div", {class: "row"}, search.node, add, el("span", {class: "grow"}), el("label", {class: "row"}, "Smoothing", smooth, much), by, log), chosen, empty, cards);
	changed();
	const stop = every(LOOK_MS, () => look().catch((problem) => note(problem.message, true)));

	return {close: () => { stop(); resized.disconnect(); }, keys: search.keys};
}
