// SPDX-License-Identifier: Apache-2.0
// The frame of all pages: chooses the page for an address, and has the header and the keys.
import {get, signOut, signedIn} from "./api.js";
import {el, note} from "./dom.js";
import {faultsPage} from "./faults.js";
import {jobPage} from "./job.js";
import {jobsPage} from "./jobs.js";
import {logPage} from "./log.js";
import {metricsPage} from "./metrics.js";
import {queuePage} from "./queue.js";
import {requestsPage} from "./requests.js";
import {signInPage} from "./signin.js";
import {storagePage} from "./storage.js";
import {every, letIn} from "./stream.js";

const TOP = "/_trainyard/console/";
// The first row that matches the address is the page. `name`: its link in the header; `under`: the page whose link is
// highlighted instead.
const PAGES = [
	{at: /^$/, page: jobsPage, name: "Jobs", link: ""},
	{at: /^jobs\/([^/]+)\/([^/]+)$/, page: jobPage, under: "Jobs"},
	{at: /^jobs\/([^/]+)\/([^/]+)\/log$/, page: logPage, under: "Jobs"},
	{at: /^metrics$/, page: metricsPage, name: "Metrics", link: "metrics"},
	{at: /^queue$/, page: queuePage, name: "Queue", link: "queue"},
	{at: /^storage$/, page: storagePage, name: "Storage", link: "storage"},
	{at: /^faults$/, page: faultsPage, name: "Faults", link: "faults"},
	{at: /^requests$/, page: requestsPage, name: "Requests", link: "requests"},
];
const KEYS = [["/", "search"], ["j k", "down, up"], ["Enter", "open"], ["g", "all jobs"], ["n", "submit a job"], ["f", "follow the log"], ["e", "first error of the log"], ["?", "these keys"]];

const main = document.getElementById("main"), leave = document.getElementById("leave");
let current = null;

// The segments of an address, decoded once: "%2541" becomes "%41". null: they cannot be decoded.
function wordsOf(found, path) {
	try {
		return path.match(found.at).slice(1).map(decodeURIComponent);
	} catch {
		return null;
	}
}

function show() {
	const path = location.pathname.slice(TOP.length);
	const page = PAGES.find((each) => each.at.test(path)), words = page && wordsOf(page, path), found = words && page;

	current?.close();
	leave.hidden = !signedIn();
	document.getElementById("nav").replaceChildren(...PAGES.filter((each) => each.name).map((each) =>
		el("a", {href: TOP + each.link, "aria-current": each === found ? "page" : each.name === found?.under ? "true" : null}, each.name)));
	if (!found) {
		main.replaceChildren(el("div", {class: "card empty"}, el("h1", {}, "There is no such page"), el("a", {href: TOP}, "All jobs")));
		current = {close: () => {}, keys: {}};
		return;
	}
	current = found.page(main, {go, title, words});
}

function title(text) {
	document.title = `${text} · trainyard`;
	main.setAttribute("aria-label", text); // which go() gives the focus to
}

function go(path) {
	history.pushState(null, "", TOP + path);
	show();
	main.focus();
}

function help() {
	const dialog = el("dialog", {"aria-label": "Keys", on: {close: () => dialog.remove(), click: () => dialog.close()}}, el("h2", {}, "Keys"),
		el("dl", {class: "facts"}, KEYS.map(([key, does]) => [el("dt", {}, key.split(" ").map((each) => el("kbd", {}, each))), el("dd", {}, does)])));

	document.body.append(dialog);
	dialog.showModal();
}

addEventListener("popstate", show);
// api.js reports each request that was refused for lack of a token. A page that polls causes many such reports, so all
// but the first are ignored while the sign-in page is shown.
addEventListener("trainyard-unknown", () => {
	if (current?.asks)
		return;
	current?.close();
	leave.hidden = true;
	current = {...signInPage(main, {title, done: show}), asks: true};
});
leave.addEventListener("click", () => signOut().then(show, (problem) => note(problem.message, true)));
addEventListener("click", (event) => {
	const link = event.target.closest("a[href]");

	if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || link.origin !== location.origin || !link.pathname.startsWith(TOP) || link.hash)
		return;
	event.preventDefault();
	go(link.pathname.slice(TOP.length) + link.search);
});
addEventListener("keydown", (event) => {
	if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
		return;
	if (event.target.closest("input, textarea, select")) {
		if (event.key === "Escape")
			event.target.blur();
		return;
	}
	const does = current.keys[event.key] ?? {"?": help, g: () => go("")}[event.key];
	if (does && !(event.key === "Enter" && event.target.closest("a, button"))) {
		event.preventDefault();
		does();
	}
});

let told = "";
every(5000, async () => {
	const health = await get("/healthz").catch((problem) => ({problem: problem.message}));
	const text = health.problem ? "The daemon does not answer" : health.status === "ok" ? "" : health.reason ?? "The engine does not answer";

	document.getElementById("engine").replaceChildren(
		el("span", {class: `state ${text ? "FAILED" : "SUCCEEDED"}`, title: text || health.engine?.detail || ""}, text ? "Engine" : "Engine"),
		el("span", {class: "words"}, health.version ? `trainyard ${health.version}` : ""));
	if (text && text !== told)
		note(text, true);
	told = text;
});
sessionStorage.removeItem("lost"); // all files are there: see index.html
await letIn(); // the scripts were one task, the page is another
show();
