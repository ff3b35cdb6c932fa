// SPDX-License-Identifier: Apache-2.0
// The page of fault rules and of the clock. The form has the fields that the discovery document lists for a fault, except
// those that the chosen kind of fault does not take.
import {call, get} from "./api.js";
import {ago, el, localTime, note, refill} from "./dom.js";
import {every} from "./stream.js";
import {searchField} from "./table.js";

const LOOK_MS = 2000;
const NUMBERS = {integer: true, number: true};
const API = "/_trainyard/v1/faults";
const RULE = ["id", "fault", "hits", "createTime", "lastHitTime"]; // what a rule is told with beside what it fits

// "604800s" for "7d", "90m", "3600" and the like; null: not a duration.
export function seconds(text) {
	const found = /^(\d+(?:\.\d+)?)\s*([smhd]?)$/.exec(text.trim());

	return found ? `${Number(found[1]) * {"": 1, s: 1, m: 60, h: 3600, d: 86400}[found[2]]}s` : null;
}

export function faultsPage(main, {title}) {
	const search = searchField("Search rules", () => show()), listed = el("div", {class: "scroll"});
	const rules = el("div", {class: "card"}, el("div", {class: "row"}, el("h2", {}, "Rules"), el("span", {class: "grow"}), search.node), listed), form = el("form", {class: "card form", hidden: true}), clock = el("form", {class: "card form"});
	const by = el("input", {type: "text", "aria-label": "By how much the clock is put forward", placeholder: "7d, 90m, 30s", size: 12});
	let faults = [];

	async function act(what, done) {
		try {
			await what();
			note(done);
			await look();
		} catch (problem) {
			note(problem.message, true);
		}
	}

	function rule(each) {
		return el("tr", {}, el("td", {class: "words"}, `${each.id} `, el("span", {class: "mono"}, each.fault),
			el("div", {class: "mono soft"}, Object.entries(each).filter(([name]) => !RULE.includes(name)).map(([name, value]) => `${name}=${value}`).join(" "))),
			el("td", {class: "once"}, Number(each.hits) ? [String(each.hits), el("div", {class: "soft small"}, ago(each.lastHitTime, Date.now()))] : "none yet"),
			el("td", {class: "number"}, el("button", {"aria-label": `Take back rule ${each.id}`, on: {click: () => act(() => call("DELETE", `${API}/${each.id}`), `Rule ${each.id} is taken back`)}}, "Take back")));
	}

	function show() {
		const matches = search.matcher(), seen = faults.filter((each) => matches(JSON.stringify(each).toLowerCase()));

		search.node.hidden = !faults.length;
		refill(listed, seen.length ? el("table", {class: "plain"}, el("tr", {}, ["Rule", "Hits", ""].map((name) => el("th", {scope: "col", "aria-label": name ? null : "What can be done"}, name))), seen.map(rule))
			: el("p", {class: "soft"}, faults.length ? "No rule has these words." : "No fault is ordered: jobs and calls are left alone."));
	}

	async function look() {
		const [found, time] = await Promise.all([get(API), get("/_trainyard/v1/clock")]);

		faults = found.faults;
		show();
		now.textContent = `${localTime(time.now)}${time.offset === "0s" ? "" : `, ${time.offset} ahead`}`;
		real.hidden = time.steppable;
		step.hidden = !time.steppable;
	}

	const now = el("strong", {}), real = el("p", {class: "soft"}, "It is the real one. With serve --clock steppable it can be put forward."), step = el("div", {class: "row", hidden: true}, by, el("button", {}, "Put forward"));
	clock.append(el("h2", {}, "The daemon's clock"), now, real, step);
	clock.addEventListener("submit", (event) => {
		const advance = seconds(by.value);

		event.preventDefault();
		if (advance)
			act(() => call("POST", "/_trainyard/v1/clock", {advance}), `The clock is put forward by ${by.value}`);
		else
			note("A time is a number with s, m, h or d", true);
	});

	async function formMake() {
		const [described, listed] = await Promise.all([get("/discovery/v1/apis/trainyard/v1/rest"), get("/_trainyard/v1/faultKinds")]);
		const properties = Object.entries(described.schemas.Fault.properties).filter(([, each]) => !each.readOnly);
		const refused = Object.fromEntries(listed.faultKinds.map((kind) => [kind.fault, kind.refusedFields]));
		const fields = properties.map(([name, each]) => {
			const input = each.enum ? el("select", {name}, each.enum.map((value, i) => (value.endsWith("_UNSPECIFIED") ? null : el("option", {value, title: each.enumDescriptions?.[i] ?? ""}, value))))
				: el("input", {name, type: "text", inputmode: NUMBERS[each.type] || each.format === "int64" ? "decimal" : null, autocomplete: "off"});

			return el("label", {}, el("span", {class: "mono"}, name), input, el("span", {class: "soft small"}, each.description));
		});

		form.append(el("h2", {}, "Order a fault"), el("div", {class: "fields"}, fields), el("div", {class: "row"}, el("button", {}, "Add the rule")));
		form.hidden = false;
		const fit = () => properties.forEach(([name], i) => { fields[i].hidden = refused[form.elements.fault.value]?.includes(name) ?? false; });

		fit();
		form.addEventListener("change", fit);
		form.addEventListener("reset", () => setTimeout(fit));
		form.addEventListener("submit", (event) => {
			const body = {};

			event.preventDefault();
			for (const [i, [name, each]] of properties.entries()) {
				const value = form.elements[name].value.trim();

				if (value && !fields[i].hidden)
					body[name] = NUMBERS[each.type] && Number.isFinite(Number(value)) ? Number(value) : value;
			}
			act(async () => { await call("POST", API, body); form.reset(); }, "The rule holds");
		});
	}

	title("Faults and clock");
	main.replaceChildren(el("div", {class: "cards texts"}, rules, clock), form);
	formMake().catch((problem) => note(problem.message, true));
	return {close: every(LOOK_MS, () => look().catch((problem) => note(problem.message, true))), keys: search.keys};
}
