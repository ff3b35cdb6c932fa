// SPDX-License-Identifier: Apache-2.0
// The page of the last requests of clients.
import {ago, counted, el, facts, localTime, note} from "./dom.js";
import {every, lines} from "./stream.js";
import {searchField, Table} from "./table.js";

const LOOK_MS = 2000;
const ms = (request) => Number.parseFloat(request.duration ?? "0") * 1000;

const took = (request) => `${ms(request).toFixed(ms(request) < 10 ? 1 : 0)} ms`;

const COLUMNS = [
	{title: "Status", key: "status", width: "56px", cell: (request) => el("span", {class: `state ${request.status < 400 ? "SUCCEEDED" : "FAILED"}`}, String(request.status)), sort: (request) => request.status},
	{title: "Method", key: "api", width: "minmax(120px, 3fr)", sort: (request) => request.api ?? request.path, cell: (request) => [
		el("span", {}, request.api ?? `${request.method} ${request.path}`), el("span", {class: "under"}, request.reason ?? `${request.method} ${request.path}`)]},
	{title: "Client", key: "client", width: "minmax(80px, 2fr)", class: "wide soft", cell: (request) => request.userAgent ?? request.client ?? "", sort: (request) => request.userAgent ?? ""},
	{title: "Took", key: "took", width: "72px", number: true, class: "middle", cell: took, sort: ms},
	{title: "When", key: "when", width: "clamp(64px, 10vw, 104px)", number: true, cell: (request) => ago(request.time, Date.now()), sort: (request) => Date.parse(request.time)},
];

export function requestsPage(main, {title}) {
	const search = searchField("Search requests", () => show());
	const refused = el("button", {"aria-pressed": "false", on: {click: () => { refused.setAttribute("aria-pressed", refused.getAttribute("aria-pressed") === "false"); show(); }}}, "Refused only");
	const count = el("span", {class: "soft small", role: "status"});
	const table = new Table(COLUMNS, {label: "Requests", sorted: {key: "when", down: true}, open: (request) => {
		look.hidden = false;
		look.replaceChildren(el("h2", {}, request.api ?? "No method of an API"), facts([["Asked for", `${request.method} ${request.path}`], ["Status", String(request.status)], ["Reason", request.reason],
			["Client", request.userAgent], ["From", request.client], ["Took", took(request)], ["When", localTime(request.time)]]));
	}});
	const look = el("div", {class: "card", hidden: true}); // all of one request, whose reason may be long
	let requests = [];

	function show() {
		const matches = search.matcher(), isRefused = refused.getAttribute("aria-pressed") === "true";
		const seen = requests.filter((request) => (!isRefused || request.status >= 400) && matches(request.words));

		count.textContent = (seen.length === requests.length ? "" : `${seen.length} of `) + counted(requests.length, "request");
		table.set(seen);
	}

	async function ask() {
		const found = [];

		for await (const batch of lines("/_trainyard/v1/requests"))
			found.push(...batch);
		requests = found.map((request, i) => Object.assign(request, {id: `${request.time} ${i}`, words: JSON.stringify(request).toLowerCase()}));
		show();
	}

	title("Requests");
	main.replaceChildren(el("div", {class: "row"}, search.node, refused, el("span", {class: "grow"}), count), table.node, look);
	const stop = every(LOOK_MS, () => ask().catch((problem) => note(problem.message, true)));
	return {close: () => { stop(); table.close(); }, keys: {...search.keys, j: () => table.move(1), k: () => table.move(-1), Enter: () => table.choose()}};
}
