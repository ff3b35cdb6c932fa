// SPDX-License-Identifier: Apache-2.0
// Scales and axes of plots. Pure, except for the elements that they make.
import {svg} from "./dom.js";

const LETTER = 7; // pixels, about

const PAPER = 640; // pixels of a plot that is printed, scaled to the sheet: with as many as on a screen its words would be tiny

// Calls draw(width of @node) when that changes, and around a print. Returns what ends it.
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

// A number with four significant digits.
export const short = (value) => (typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value));

// Words with room for so many pixels.
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
