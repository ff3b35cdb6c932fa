// SPDX-License-Identifier: Apache-2.0
// The page of faults that are ordered, and of the clock.
import {call, every, get} from "./api.js";
import {ago, confirmed, el, localTime, note} from "./dom.js";

const LOOK_MS = 2000;
const KINDS = ["preempt", "stop", "exit", "oom", "crash", "cutNetwork", "slowNetwork", "stockout", "imagePull", "quota", "httpStatus", "timeout"];
const FIELDS = ["job", "role", "replica", "trial", "logPattern", "afterSeconds", "count", "probability", "exitCode", "seconds", "bytesPerSecond", "method", "status"];
const NUMBERS = new Set(["replica", "trial", "afterSeconds", "count", "probability", "exitCode", "seconds", "bytesPerSecond", "status"]);
const OWN = new Set(["id", "fault", "hits", "createTime", "lastHitTime", "hitTimes"]);

// "worker 1 of my_*, when it prints /saved/"
const told = (rule) => Object.entries(rule).filter(([name]) => !OWN.has(name)).map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`).join("  ");

export function faultsPage(main, {title}) {
	const rules = el("div", {class: "card"}), clock = el("div", {class: "card"});
	const kind = el("select", {"aria-label": "Kind"}, KINDS.map((name) => el("option", {value: name}, name)));
	const field = el("input", {type: "search", "aria-label": "Whom and when", placeholder: "job=my_* role=worker replica=1", list: "fault-fields"});
	let shown = "";

	async function act(what, done) {
		try {
			await what();
			note(done);
			await look();
		} catch (problem) {
			note(problem.message, true);
		}
	}

	function add() {
		const rule = {fault: kind.value};

		for (const word of field.value.match(/\w+=("[^"]*"|\S*)/g) ?? []) {
			const name = word.slice(0, word.indexOf("=")), value = word.slice(word.indexOf("=") + 1).replace(/^"(.*)"$/, "$1");

			rule[name] = NUMBERS.has(name) && value !== "" && !Number.isNaN(Number(value)) ? Number(value) : value;
		}
		return call("POST", "/_trainyard/v1/faults", rule).then(() => { field.value = ""; });
	}

	async function look() {
		const [list, time] = await Promise.all([get("/_trainyard/v1/faults"), get("/_trainyard/v1/clock")]);
		const now = JSON.stringify([list, time.offset, time.steppable]);

		if (now === shown)
			return;
		shown = now;
		rules.replaceChildren(el("h2", {}, "Faults that are ordered"), list.faults?.length ? el("table", {class: "plain"},
			el("tr", {}, ["No.", "Fault", "Whom and when", "Hits", "Ordered", ""].map((name, i) => el("th", {scope: "col", class: i === 4 ? "wide" : null}, name))),
			list.faults.map((rule) => el("tr", {}, el("td", {}, rule.id), el("td", {}, rule.fault), el("td", {class: "mono"}, told(rule)), el("td", {}, String(rule.hits ?? 0)),
				el("td", {class: "wide soft"}, ago(rule.createTime, Date.parse(time.now))),
				el("td", {}, el("button", {on: {click: () => act(() => call("DELETE", `/_trainyard/v1/faults/${rule.id}`), `Fault ${rule.id} is taken back`)}}, "Take back")))))
			: el("p", {class: "soft"}, "None. A rule says what happens, to which job, and when."));
		clock.replaceChildren(el("h2", {}, "The clock"), el("dl", {class: "facts"}, el("dt", {}, "Now"), el("dd", {}, localTime(time.now)), el("dt", {}, "Ahead"), el("dd", {}, time.offset)),
			time.steppable ? el("div", {class: "row"}, [["1 minute", 60], ["1 hour", 3600], ["1 day", 86400], ["7 days", 604800]].map(([name, seconds]) =>
				el("button", {on: {click: async () => {
					if (await confirmed(`Put the clock forward by ${name}? It never goes back.`, "Put it forward"))
						act(() => call("POST", "/_trainyard/v1/clock", {advance: `${seconds}s`}), `The clock is ${name} further`);
				}}}, `+ ${name}`))) : el("p", {class: "soft"}, "It is the machine's own. ", el("code", {}, "serve --clock steppable"), " lets it be put forward."));
	}

	title("Faults");
	main.replaceChildren(rules, el("form", {class: "card row", on: {submit: (event) => { event.preventDefault(); act(add, "The fault is ordered"); }}},
		el("h2", {}, "Order one"), kind, field, el("datalist", {id: "fault-fields"}, FIELDS.map((name) => el("option", {value: `${name}=`}))), el("button", {}, "Order")), clock);
	return {close: every(LOOK_MS, () => look().catch((problem) => note(problem.message, true))), keys: {"/": () => field.focus()}};
}
