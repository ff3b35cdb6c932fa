// SPDX-License-Identifier: Apache-2.0
// The results of a search for hyperparameters: plots with a common selection of trials, and the table of trials.
import {get} from "./api.js";
import {el, refill, svg} from "./dom.js";
import {mattersCard} from "./matters.js";
import {axes, cut, extent, path, Readout, scale, short, whenWidthChanges, whole} from "./plots.js";

const HEIGHT = 240, BOX = {left: 56, top: 24, bottom: HEIGHT - 40}, SLICES_MOST = 12, ROWS_MOST = 200;
const DIGITS = 6; // of a value that is read out
const LABEL = 10, LABELS = 80; // pixels beside an axis of the parallel coordinates, and for the words there

const better = (study) => (study.metrics[0].minimized ? (a, b) => a < b : (a, b) => a > b);
const measured = (trials) => trials.filter((trial) => typeof trial.objectiveValue === "number");

// A plot is redrawn when the width of its card changes. draw(box, node): returns the elements, and what its readout tells, if
// it has one.
function plot(name, draw, {role = "img", isScattered = false} = {}) {
	const node = svg("svg", {class: "plot", role, "aria-label": name, height: HEIGHT}), readout = role === "img" && new Readout(node, {isScattered});
	const card = el("div", {class: "card"}, el("h2", {}, name), node, readout && readout.tip);
	const redraw = (width = node.clientWidth) => {
		if (!width)
			return;
		const box = {...BOX, right: width - 16}, {drawn, heads = [], curves = []} = draw(box, node);

		node.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
		refill(node, drawn);
		if (readout)
			readout.set({heads, curves, ...box});
	};
	return {card, redraw, close: whenWidthChanges(node, redraw)};
}

const nothing = (words, {left, top}) => ({drawn: [svg("text", {x: left, y: top}, words)]});

// The scale of a parameter's values. Categories have evenly spaced positions, and their names are the ticks.
function parameterScale(parameter, range) {
	if (!parameter.categories)
		return scale([parameter.minimum ?? Math.min(...(parameter.values ?? [0])), parameter.maximum ?? Math.max(...(parameter.values ?? [1]))], range, parameter.scale === "log");
	const place = scale([0, Math.max(1, parameter.categories.length - 1)], range);

	return Object.assign((value) => place(parameter.categories.indexOf(value)), {domain: [0, 1], words: parameter.categories});
}

const stopped = (trial) => (trial.isTrialStoppedEarly ? "stopped" : "");
const endOf = (trial) => (trial.isTrialStoppedEarly ? "stopped early" : (trial.outcome ?? trial.state).toLowerCase());

const hint = (trial, study) => svg("title", {}, [`Trial ${trial.trialId}: ${trial.objectiveValue === undefined ? trial.state : short(trial.objectiveValue)}${stopped(trial) && ", stopped early"}`,
	...study.parameters.map(({name}) => (name in trial.parameters ? `${name} ${short(trial.parameters[name])}` : ""))].filter(Boolean).join("\n"));

export class StudyView {
	constructor(job) {
		this.place = job.family === "jobs" ? `projects/${job.project}/jobs/${job.id}` : job.name;
		this.id = job.id;
		this.node = el("div", {class: "cards"});
		this.ranges = new Map(); // of the parallel coordinates: what of an axis is chosen
		this.plots = [plot("Best so far", (box) => this.#best(box), {isScattered: true}), plot("Learning curves", (box) => this.#curves(box)),
			plot("Parameters", (box, node) => this.#parallel(box, node), {role: "group"})];
		this.page = `/_trainyard/console/jobs/${encodeURIComponent(job.project)}/${encodeURIComponent(job.id)}`;
		this.matters = el("div", {class: "card"});
		this.winner = el("div", {class: "card winner across"});
		this.table = el("div", {class: "card across"});
		this.node.append(this.winner, ...this.plots.map((each) => each.card), this.matters, this.table);
		this.text = "";
	}

	close() {
		this.plots.forEach((each) => each.close());
	}

	async look() {
		const told = await get(`/_trainyard/v1/${this.place}/study`), text = JSON.stringify(told);

		if (text === this.text)
			return;
		this.text = text;
		this.told = told;
		if (!this.slices) {
			this.slices = told.study.parameters.slice(0, SLICES_MOST).map((parameter) => plot(`${told.study.metrics[0].name} over ${parameter.name}`, (box) => this.#slice(parameter, box), {isScattered: true}));
			this.table.before(...this.slices.map((each) => each.card));
			this.plots.push(...this.slices);
		}
		refill(this.matters, mattersCard(told));
		this.#draw();
	}

	// The best trial. If no trial has a value, there is nothing to plot.
	#winner() {
		const {study, trials, best} = this.told, trial = trials.find((each) => each.trialId === best?.trialId), metric = study.metrics[0].name;
		const isMeasured = trials.some((each) => typeof each.objectiveValue === "number" || each.measurements?.length);

		[...this.plots.map((each) => each.card), this.matters].forEach((card) => { card.hidden = !isMeasured; });
		refill(this.winner, el("h2", {}, trial ? "Best trial" : "No trial has a value yet"), trial ? el("div", {class: "row"},
			el("a", {href: `${this.page}?trial=${trial.trialId}`}, el("strong", {}, `Trial ${trial.trialId}`)), el("span", {}, `${metric} `, el("strong", {class: "mono"}, short(trial.objectiveValue))),
			el("span", {class: "soft mono"}, study.parameters.filter(({name}) => name in trial.parameters).map(({name}) => `${name} ${short(trial.parameters[name])}`).join(", ")))
			: el("p", {class: "soft"}, `A trial has one once it has reported ${metric}. A trial's page has its part of the log.`));
	}

	#draw() {
		this.#winner();
		this.plots.forEach((each) => each.redraw());
		this.#rows();
	}

	#chosen(trial) {
		return [...this.ranges].every(([name, [from, to]]) => {
			const at = this.places?.get(name)?.(trial);

			return at !== undefined && at >= from - 1 && at <= to + 1; // pixels
		});
	}

	#isBest(trial) {
		return trial.trialId === this.told.best?.trialId;
	}

	#best({left, top, right, bottom}) {
		const {study, trials} = this.told ?? {study: null, trials: []}, done = measured(trials);

		if (!done.length)
			return nothing("No trial has ended with a value yet", {left, top});
		const wins = better(study), believed = trials.filter((trial) => trial.belief).sort((a, b) => a.trialId - b.trialId);
		const x = whole(scale([1, Math.max(2, ...trials.map((trial) => trial.trialId))], [left + 8, right]));
		const y = scale(extent([...done.map((trial) => trial.objectiveValue), ...believed.flatMap(({belief: {mean, deviation}}) => [mean - deviation, mean + deviation])]), [bottom, top]);
		const steps = [];
		let best = null;

		for (const trial of [...done].sort((a, b) => a.trialId - b.trialId)) {
			if (best !== null)
				steps.push([x(trial.trialId), y(best)]);
			best = best === null || wins(trial.objectiveValue, best) ? trial.objectiveValue : best;
			steps.push([x(trial.trialId), y(best)]);
		}
		return {...this.#dots(done, done.map((trial) => x(trial.trialId)), y), drawn: [axes(x, y, {left, top, right, bottom}, {x: "trial", y: study.metrics[0].name}),
			believed.length > 1 ? [svg("path", {class: "area", d: `${path([...believed.map(({trialId, belief: {mean, deviation}}) => [x(trialId), y(mean + deviation)]),
				...[...believed].reverse().map(({trialId, belief: {mean, deviation}}) => [x(trialId), y(mean - deviation)])])}Z`}, svg("title", {}, "What the model believes: its mean, and one standard deviation to each side")),
			svg("path", {class: "believed", d: path(believed.map(({trialId, belief: {mean}}) => [x(trialId), y(mean)]))})] : null,
			believed.map(({trialId, belief: {mean, deviation}}) => svg("line", {class: "band", x1: x(trialId), x2: x(trialId), y1: y(mean - deviation), y2: y(mean + deviation)})),
			svg("path", {class: "best", d: path(steps)}),
			done.map((trial) => svg("circle", {class: `dot ${this.#chosen(trial) ? "" : "faint"} ${stopped(trial)}`, "data-trial": trial.trialId, cx: x(trial.trialId), cy: y(trial.objectiveValue), r: 4})),
			trials.filter((trial) => trial.outcome === "INFEASIBLE").map((trial) => svg("text", {class: "cross", "data-trial": trial.trialId, x: x(trial.trialId), y: bottom, "text-anchor": "middle"}, "×", hint(trial, study))),
			svg("text", {x: right, y: top - 8, "text-anchor": "end"}, [trials.some(stopped) ? "○ stopped early" : "", trials.some((trial) => trial.outcome === "INFEASIBLE") ? "× failed" : ""].filter(Boolean).join("   "))]};
	}

	// What the readout of a plot with a dot for each trial tells.
	#dots(trials, xs, y) {
		const {study} = this.told, names = study.parameters.map(({name}) => name);

		return {heads: ["Trial", study.metrics[0].name, ...names, "State"], curves: [{xs, ys: trials.map((trial) => y(trial.objectiveValue)), told: (i) =>
			[String(trials[i].trialId), short(trials[i].objectiveValue, DIGITS), ...names.map((name) => short(trials[i].parameters[name] ?? "", DIGITS)), endOf(trials[i])]}]};
	}

	// The metric for each value of one parameter.
	#slice(parameter, {left, top, right, bottom}) {
		const {study, trials} = this.told, done = measured(trials).filter((trial) => trial.parameters[parameter.name] !== undefined);

		if (!done.length)
			return nothing("No trial has ended with a value yet", {left, top});
		const x = parameterScale(parameter, [left + 8, right - 8]), y = scale(extent(done.map((trial) => trial.objectiveValue)), [bottom, top]);

		return {...this.#dots(done, done.map((trial) => x(trial.parameters[parameter.name])), y), drawn: [x.words ? [axes(x, y, {left, top, right, bottom}, {x: parameter.name, y: study.metrics[0].name}).filter((node) => node.getAttribute("text-anchor") !== "middle"),
			x.words.map((word) => svg("text", {x: x(word), y: bottom + 16, "text-anchor": "middle"}, cut(word, (right - left) / x.words.length)))]
			: axes(x, y, {left, top, right, bottom}, {x: parameter.name, y: study.metrics[0].name}),
		[...done].sort((a, b) => this.#isBest(a) - this.#isBest(b)).map((trial) => svg("circle", {class: `slice ${this.#chosen(trial) ? "" : "faint"} ${stopped(trial)} ${this.#isBest(trial) ? "best" : ""}`, "data-trial": trial.trialId,
			cx: x(trial.parameters[parameter.name]), cy: y(trial.objectiveValue), r: this.#isBest(trial) ? 6 : 4}))]};
	}

	#curves({left, top, right, bottom}) {
		const {study, trials} = this.told ?? {trials: []}, curved = trials.filter((trial) => trial.measurements?.some((each) => typeof each.objectiveValue === "number"));

		if (!curved.length)
			return nothing("No trial has reported yet", {left, top});
		const points = curved.map((trial) => trial.measurements.filter((each) => typeof each.objectiveValue === "number"));
		const x = whole(scale(extent(points.flat().map((each) => each.trainingStep ?? 0)), [left + 8, right])), y = scale(extent(points.flat().map((each) => each.objectiveValue)), [bottom, top]);

		const curves = curved.map((trial, i) => ({trial, xs: points[i].map((each) => x(each.trainingStep ?? 0)), ys: points[i].map((each) => y(each.objectiveValue)), told: (at) =>
			[String(trial.trialId), short(points[i][at].objectiveValue, DIGITS), String(points[i][at].trainingStep ?? 0)]}));

		return {heads: ["Trial", study.metrics[0].name, "Step"], curves: curves.filter(({trial}) => this.#chosen(trial)), drawn: [axes(x, y, {left, top, right, bottom}, {x: "step", y: study.metrics[0].name}),
			curves.map(({trial, xs, ys}) => svg("path", {class: `curve ${this.#chosen(trial) ? "" : "faint"} ${stopped(trial)} ${this.#isBest(trial) ? "best" : ""}`, "data-trial": trial.trialId,
				d: path(xs.map((each, i) => [each, ys[i]]))}))]};
	}

	// A vertical axis for each parameter and for the metric. Dragging along an axis selects trials; a click on it
	// ends that.
	#parallel({top, right, bottom}, node) {
		const {study, trials} = this.told ?? {trials: []}, done = measured(trials);

		if (!done.length)
			return nothing("No trial has ended with a value yet", {left: LABEL, top});
		const names = [...study.parameters.map(({name}) => name), study.metrics[0].name];
		const at = scale([0, names.length - 1], [LABEL, right - LABELS]), room = Math.min(LABELS, at(1) - at(0) - 2 * LABEL);
		const ys = study.parameters.map((parameter) => parameterScale(parameter, [bottom, top]));

		ys.push(scale(extent(done.map((trial) => trial.objectiveValue)), [bottom, top]));
		this.places = new Map(names.map((name, i) => [name, (trial) => {
			const value = i < study.parameters.length ? trial.parameters[name] : trial.objectiveValue;

			return value === undefined ? undefined : ys[i](value);
		}]));
		const brush = (name, i) => (event) => {
			const point = (each) => Math.min(bottom, Math.max(top, (each.clientY - node.getBoundingClientRect().top) * HEIGHT / node.clientHeight));
			const from = point(event);
			const move = (each) => {
				this.ranges.set(name, [Math.min(from, point(each)), Math.max(from, point(each))]);
				this.#draw();
			};
			const end = (each) => {
				if (Math.abs(point(each) - from) < 4) {
					this.ranges.delete(name);
					this.#draw();
				}
				removeEventListener("pointermove", move);
			};

			event.preventDefault();
			addEventListener("pointermove", move);
			addEventListener("pointerup", end, {once: true});
		};

		// The arrow keys select a fifth of an axis and move it; Escape ends the selection.
		const keys = (name) => (event) => {
			const size = (bottom - top) / 5, [at] = this.ranges.get(name) ?? [null];
			const next = {ArrowUp: at === null ? top : Math.max(top, at - size / 2), ArrowDown: at === null ? bottom - size : Math.min(bottom - size, at + size / 2)}[event.key];

			if (next === undefined && event.key !== "Escape")
				return;
			event.preventDefault();
			next === undefined ? this.ranges.delete(name) : this.ranges.set(name, [next, next + size]);
			this.#draw();
		};
		const shareOf = (name) => (this.ranges.has(name) ? Math.round(100 * (bottom - (this.ranges.get(name)[0] + this.ranges.get(name)[1]) / 2) / (bottom - top)) : 50);

		return {drawn: [done.map((trial) => svg("path", {class: `curve ${this.#chosen(trial) ? "" : "faint"} ${this.#isBest(trial) ? "best" : ""}`,
			d: path(names.flatMap((name, i) => { const y = this.places.get(name)(trial); return y === undefined ? [] : [[at(i), y]]; }))}, hint(trial, study))),
		names.map((name, i) => [svg("line", {class: "axis", x1: at(i), x2: at(i), y1: top, y2: bottom}),
			this.ranges.has(name) ? svg("rect", {class: "brush", x: at(i) - 6, width: 12, y: this.ranges.get(name)[0], height: this.ranges.get(name)[1] - this.ranges.get(name)[0]}) : null,
			svg("rect", {class: "handle", x: at(i) - 12, width: 24, y: top, height: bottom - top, "data-axis": name, tabindex: 0, role: "slider", "aria-orientation": "vertical",
				"aria-label": `Trials by ${name}: the arrows choose, Escape shows all`, "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": shareOf(name), "aria-valuetext": this.ranges.has(name) ? null : "all",
				on: {pointerdown: brush(name, i), keydown: keys(name)}}, svg("title", {}, `Drag along ${name} to choose trials`)),
			svg("text", {class: "name", x: at(i), y: bottom + 32, "text-anchor": i ? "middle" : "start"}, cut(name, room + 2 * LABEL)),
			(ys[i].words ?? ys[i].domain.map((each) => short(each))).map((word) => svg("text", {x: at(i) + LABEL, y: (ys[i].words ? ys[i](word) : ys[i](Number(word))) + 4}, cut(short(word), room)))].flat().filter(Boolean))]};
	}

	#rows() {
		const {study, trials, best} = this.told, names = study.parameters.map(({name}) => name), wins = better(study);
		const seen = trials.filter((trial) => !this.ranges.size || this.#chosen(trial)).sort((a, b) => {
			if (a.objectiveValue === undefined || b.objectiveValue === undefined)
				return (a.objectiveValue === undefined) - (b.objectiveValue === undefined) || b.trialId - a.trialId;
			return a.objectiveValue === b.objectiveValue ? a.trialId - b.trialId : wins(a.objectiveValue, b.objectiveValue) ? -1 : 1;
		});

		refill(this.table, el("h2", {}, this.ranges.size ? `${seen.length} of ${trials.length} trials` : `${trials.length} of ${this.told.trialCount} trials`),
			el("div", {class: "scrolls", role: "region", "aria-label": "Trials"}, el("table", {class: "plain"}, el("tr", {}, ["Trial", study.metrics[0].name, "State", ...names].map((name) => el("th", {scope: "col"}, name))),
				seen.slice(0, ROWS_MOST).map((trial) => el("tr", {}, el("td", {}, el("a", {href: `${this.page}?trial=${trial.trialId}`, title: "Its page"}, trial.trialId === best?.trialId ? el("strong", {}, `${trial.trialId} (best)`) : String(trial.trialId))),
					el("td", {class: "mono"}, trial.objectiveValue === undefined ? "" : short(trial.objectiveValue)), el("td", {}, endOf(trial)),
					names.map((name) => el("td", {class: "mono"}, name in trial.parameters ? short(trial.parameters[name]) : "")))))),
			seen.length > ROWS_MOST ? el("p", {class: "soft"}, `The best ${ROWS_MOST} are listed. All of them: trainyard study ${this.id} --csv`) : "");
	}
}
