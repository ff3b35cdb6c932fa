// SPDX-License-Identifier: Apache-2.0
// Scales, axes and the readout of plots. Scales are pure.
import {el, svg} from "./dom.js";

const LETTER = 7; // pixels, about

const PAPER = 640; // pixels of a plot that is printed, scaled to the sheet: with as many as on a screen its words would be tiny

// Calls draw(width) when the width of @node changes, and before and after printing. Returns a function that stops this.
export function whenWidthChanges(node, draw) {
	const redraw = ({type}) => draw(type === "beforeprint" ? PAPER : node.clientWidth), resized = new ResizeObserver(() => redraw({}));

	resized.observe(node);
	for (const type of ["beforeprint", "afterprint"])
		addEventListener(type, redraw);
	return () => {
		resized.disconnect();
		for (const type of ["beforeprint", "afterprint"])
			removeEventListener(type, redraw);
	};
}

// Maps [from, to] to [start, end]; logarithmic if asked for and possible.
export function scale([from, to], [start, end], log = false) {
	const at = log && from > 0 ? Math.log : (value) => value;
	const [low, high] = at(from) === at(to) ? [at(from) - 0.5, at(to) + 0.5] : [at(from), at(to)];

	return Object.assign((value) => start + ((at(value) - low) / (high - low)) * (end - start), {domain: [from, to], log: at === Math.log});
}

// Makes a scale of whole numbers, whose ticks are whole as well.
export const whole = (found) => Object.assign(found, {whole: true});

// Some round values in the domain of a scale.
export function ticks({domain: [from, to], log, whole: isWhole}, count = 5) {
	if (log) {
		const powers = [];

		for (let power = Math.ceil(Math.log10(from) - 1e-9); power <= Math.log10(to) + 1e-9; power++)
			powers.push(10 ** power);
		return powers.length > 1 ? powers : [from, to];
	}
	const rough = (to - from) / count, unit = 10 ** Math.floor(Math.log10(rough || 1));
	const step = [1, 2, 2.5, 5, 10].map((each) => each * unit).find((each) => each >= rough && (!isWhole || Number.isInteger(each))) ?? unit;
	const found = [];

	for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++)
		found.push(i * step);
	return found;
}

// The text of a number with at most @digits significant digits; of any other value, its usual text.
export const short = (value, digits = 4) => (typeof value === "number" ? String(Number(value.toPrecision(digits))) : String(value));

// Shortens a text that is wider than @pixels, and ends it with "…".
export const cut = (words, pixels) => (words.length * LETTER <= pixels ? words : `${words.slice(0, Math.max(1, Math.floor(pixels / LETTER) - 1))}…`);

// @told: the text of a value of x.
export function axes(x, y, {left, top, right, bottom}, names, told = short) {
	return [
		...ticks(y, 4).map((value) => [svg("line", {class: "grid", x1: left, x2: right, y1: y(value), y2: y(value)}),
			svg("text", {x: left - 8, y: y(value) + 4, "text-anchor": "end"}, short(value))]).flat(),
		...ticks(x, 6).map((value) => svg("text", {x: x(value), y: bottom + 16, "text-anchor": "middle"}, told(value))),
		svg("text", {x: left, y: top - 8}, names.y), svg("text", {x: right, y: bottom + 32, "text-anchor": "end"}, names.x)];
}

export const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

export const extent = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);

const NEAR = 8, ASIDE = 16, EDGE = 8; // curves that a readout tells of; pixels between it and the pointer, and the window's edge
const nearest = (all, distance) => all.reduce((best, each) => (distance(each) < distance(best) ? each : best));
let shown = null; // the readout that is seen: one at a time

// Tells the values under the pointer: of each curve, the point nearest along x, and of those the NEAR nearest ones; of
// single dots (@isScattered), the nearest one. The arrow keys move through the points. `tip` belongs beside @node.
export class Readout {
	constructor(node, {isScattered = false} = {}) {
		this.node = node;
		this.isScattered = isScattered;
		this.at = null; // pixels of the plot
		this.tip = el("div", {class: "readout", hidden: true, "aria-hidden": "true"});
		const point = (event) => {
			const {left, top, width} = node.getBoundingClientRect(), size = node.viewBox.baseVal.width / width;

			this.#move({x: (event.clientX - left) * size, y: (event.clientY - top) * size});
		};
		const on = {pointermove: point, pointerdown: point, keydown: (event) => this.#key(event), blur: () => this.hide(), pointerleave: (event) => event.pointerType === "mouse" && this.hide(),
			focus: () => node.matches(":focus-visible") && this.#step({key: "End"})};

		for (const [name, does] of Object.entries(on))
			node.addEventListener(name, does);
	}

	// To be called after @node was drawn. curves: [{colour, xs, ys, told(i)}], in pixels; told: the words for one point,
	// one for each of @heads.
	set({heads, curves, top, bottom}) {
		Object.assign(this, {heads, curves, top, bottom});
		this.points = curves.flatMap(({xs, ys}) => Array.from(xs, (x, i) => ({x, y: ys[i]})));
		this.stops = [...new Set(this.points.map(({x}) => x))].sort((a, b) => a - b);
		for (const [name, value] of Object.entries(this.stops.length ? {role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": this.stops.length - 1} : {role: "img"}))
			this.node.setAttribute(name, value);
		if (!this.stops.length)
			this.node.removeAttribute("tabindex");
		this.#draw();
	}

	hide() {
		this.#move(null);
	}

	#move(at) {
		this.at = at;
		this.#draw();
	}

	// Left and right go to the next x that has a point, up and down through the points there.
	#step({key}) {
		const {stops, points} = this, from = this.at ?? {x: stops.at(-1), y: this.top}, before = stops.findLast((x) => x < from.x - 0.01), after = stops.find((x) => x > from.x + 0.01);
		const x = {ArrowLeft: before, ArrowRight: after, Home: stops[0], End: stops.at(-1)}[key] ?? nearest(stops, (each) => Math.abs(each - from.x));
		const here = points.filter((each) => each.x === x), beyond = here.filter(({y}) => (key === "ArrowUp" ? y < from.y - 0.01 : key === "ArrowDown" && y > from.y + 0.01));

		this.#move(nearest(beyond.length ? beyond : here, (each) => Math.abs(each.y - from.y)));
	}

	#key(event) {
		const isStep = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key);

		if (!this.stops.length || event.ctrlKey || event.metaKey || event.altKey || !(isStep || (event.key === "Escape" && this.at)))
			return;
		event.preventDefault();
		isStep ? this.#step(event) : this.hide();
	}

	#near() {
		const {x, y} = this.at, far = (each) => Math.hypot(each.x - x, each.y - y), along = (each) => Math.abs(each.x - x);
		const found = this.curves.filter(({xs}) => xs.length).map((curve) =>
			nearest(Array.from(curve.xs, (each, i) => ({curve, i, x: each, y: curve.ys[i]})), this.isScattered ? far : along));

		return found.sort((a, b) => far(a) - far(b)).slice(0, this.isScattered ? 1 : NEAR);
	}

	#draw() {
		const near = this.at && this.stops.length ? this.#near() : [], [first] = near;

		this.mark?.remove();
		this.tip.hidden = !first;
		if (!first) {
			shown = shown === this ? null : shown;
			return;
		}
		if (shown !== this)
			shown?.hide();
		shown = this;
		this.mark = svg("g", {class: "read"}, this.isScattered ? null : svg("line", {class: "axis", x1: first.x, x2: first.x, y1: this.top, y2: this.bottom}),
			near.map((each) => svg("circle", {class: `point ${each.curve.colour ?? ""}`, cx: each.x, cy: each.y, r: each === first && !this.isScattered ? 5 : this.isScattered ? 8 : 3})));
		this.node.append(this.mark);
		const rows = [...near].sort((a, b) => a.y - b.y).map((each) => ({each, words: each.curve.told(each.i)}));

		const more = this.curves.length - near.length, swatch = ({colour}) => el("td", {}, el("span", {class: `swatch ${colour ?? ""}`}));

		this.tip.replaceChildren(el("table", {}, this.isScattered ? rows[0].words.map((word, i) => el("tr", {}, el("th", {}, this.heads[i]), el("td", {}, word)))
			: [el("tr", {}, el("th"), this.heads.map((head) => el("th", {}, head))),
				rows.map(({each, words}) => el("tr", {class: each === first ? "at" : null}, swatch(each.curve), words.map((word) => el("td", {}, word)))),
				more > 0 && el("tr", {class: "soft"}, el("td"), el("td", {colspan: this.heads.length}, `and ${more} more`))]));
		this.node.setAttribute("aria-valuenow", this.stops.indexOf(first.x));
		this.node.setAttribute("aria-valuetext", rows.map(({words}) => words.map((word, i) => `${this.heads[i]} ${word}`.trim()).join(", ")).join("; "));
		this.#place();
	}

	// Beside the pointer if there is room, else below the plot.
	#place() {
		const box = this.node.getBoundingClientRect(), size = box.width / this.node.viewBox.baseVal.width, {offsetWidth: width, offsetHeight: height} = this.tip;
		const x = box.left + this.at.x * size, isRight = x + ASIDE + width <= innerWidth - EDGE, isLeft = !isRight && x - ASIDE - width >= EDGE;
		const left = isRight ? x + ASIDE : isLeft ? x - ASIDE - width : Math.max(EDGE, innerWidth - EDGE - width);

		this.tip.style.left = `${left}px`;
		this.tip.style.top = `${Math.max(EDGE, Math.min(innerHeight - EDGE - height, isRight || isLeft ? box.top + this.at.y * size - height / 2 : box.bottom))}px`;
	}
}

addEventListener("scroll", ({target}) => target.contains(shown?.node ?? null) && shown.hide(), true);
addEventListener("pointerdown", ({target}) => shown?.node.contains(target) || shown?.hide(), true);
