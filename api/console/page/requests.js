// SPDX-License-Identifier: Apache-2.0
// The page of the last requests of clients.
import {ago, counted, el, note} from "./dom.js";
import {every, lines} from "./stream.js";
import {Table} from "./table.js";

const LOOK_MS = 2000;
const ms = (request) => Number.parseFloat(request.duration ?? "0") * 1000;

const COLUMNS = [
	{title: "Status", key: "status", width: "56px", cell: (request) => el("span", {class: `state ${request.status < 400 ? "SUCCEEDED" : "FAILED"}`}, String(request.status)), sort: (request) => request.status},
	{title: "Method", key: "api", width: "minmax(120px, 3fr)", sort: (request) => request.api ?? request.path, cell: (request) => [
		el("span", {}, request.api ?? `${request.method} ${request.path}`), el("span", {class: "under"}, request.reason ?? `${request.method} ${request.path}`)]},
	{title: "Client", key: "client", width: "minmax(80px, 2fr)", class: "wide soft", cell: (request) => request.userAgent ?? request.client ?? "", sort: (request) => request.userAgent ?? ""},
	{title: "Took", key: "took", width: "72px", number: true, class: "middle", cell: (request) => `${ms(request).toFixed(ms(request) < 10 ? 1 : 0)} ms`, sort: ms},
	{title: "When", key: "when", width: "104px", number: true, cell: (request) => ago(request.time, Date.now()), sort: (request) => Date.parse(request.time)},
];

export function requestsPage(main, {title}) {
	const search = el("input", {type: "search", placeholder: "Search   /", "aria-label": "Search requests", on: {input: () => show()}});
	const refused = el("button", {"aria-pressed": "false", on: {click: () => { refused.setAttribute("aria-pressed", refused.getAttribute("aria-pressed") === "false"); show(); }}}, "Refused only");
	const count = el("span", {class: "soft small", role: "status"});
	const table = new Table(COLUMNS, {label: "Requests", sorted: {key: "when", down: true}, open: () => {}});
	let requests = [];

	function show() {
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), on = (button) => button.getAttribute("aria-pressed") === "true";
		const seen = requests.filter((request) => (!on(refused) || request.status >= 400) && words.every((word) => request.words.includes(word)));

		count.textContent = (seen.length === requests.length ? "" : `${seen.length} of `) + counted(requests.length, "request");
		table.set(seen);
	}

	async function look() {
		const found = [];

		for await (const batch of lines("/_trainyard/v1/requests"))
			found.push(...batch);
		requests = found.map((request, i) => Object.assign(request, {id: `${request.time} ${i}`, words: JSON.stringify(request).toLowerCase()}));
		show();
	}

	title("Requests");
	main.replaceChildren(el("div", {class: "row"}, search, refused, el("span", {class: "grow"}), count), table.node);
	const stop = every(LOOK_MS, () => look().catch((problem) => note(problem.message, true)));
	return {close: () => { stop(); table.close(); }, keys: {"/": () => search.focus(), j: () => table.move(1), k: () => table.move(-1)}};
}
