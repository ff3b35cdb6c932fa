// SPDX-License-Identifier: Apache-2.0
// Which parameters of a search are important: how much of the metric's variance each explains.
import {el} from "./dom.js";

const BINS = 4, FEWEST = 8; // groups of a parameter's values; trials that are needed to compare groups

const mean = (numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

// The share of the variance that lies between groups of similar values of the parameter, from 0 to 1; null: too few
// trials.
function share(parameter, trials) {
	const known = trials.filter((trial) => typeof trial.objectiveValue === "number" && trial.parameters[parameter.name] !== undefined);
	const value = (trial) => trial.parameters[parameter.name], groups = new Map();

	if (known.length < FEWEST)
		return null;
	if (!parameter.categories)
		known.sort((a, b) => value(a) - value(b));
	known.forEach((trial, i) => {
		const group = parameter.categories ? value(trial) : Math.floor((i * BINS) / known.length);

		groups.set(group, [...groups.get(group) ?? [], trial.objectiveValue]);
	});
	const middle = mean(known.map((trial) => trial.objectiveValue)), off = (number) => (number - middle) ** 2;
	const whole = known.reduce((sum, trial) => sum + off(trial.objectiveValue), 0);

	return whole ? [...groups.values()].reduce((sum, group) => sum + group.length * off(mean(group)), 0) / whole : 0;
}

// A card with a bar for each parameter, in descending order.
export function mattersCard({study, trials}) {
	const shares = study.parameters.map((parameter) => [parameter.name, share(parameter, trials)]).sort((a, b) => b[1] - a[1]);

	return [el("h2", {}, "What matters"), el("p", {class: "soft small"}, shares.some(([, part]) => part === null) ? `Told from ${FEWEST} trials with a value on.`
		: "How much of the metric's variance each parameter explains alone:"),
	el("dl", {class: "facts bars"}, shares.filter(([, part]) => part !== null).map(([name, part]) => [el("dt", {}, name),
		el("dd", {}, el("meter", {min: 0, max: 1, value: part, "aria-label": name}), ` ${Math.round(part * 100)} %`)]))];
}
