// SPDX-License-Identifier: Apache-2.0
// The log of a job: any number of lines, of which only those that are seen are in the document.
import {parts, plain} from "./ansi.js";
import {Refused, get, isBusy, letIn, lines} from "./api.js";
import {el, note} from "./dom.js";
import {jobPath} from "./job.js";

const LINE = 18, BESIDE = 20, SLICE = 500; // pixels; lines beside the view; lines looked through before it is asked whether that takes long
const DRAW_MS = 100; // so often at most is drawn what comes
const MOST = 15e6; // pixels that an element may be high in every browser; of more lines the scroll bar goes by larger steps
const clock = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false});
const BAD = ["ERROR", "CRITICAL", "ALERT", "EMERGENCY"], WARNS = [...BAD, "WARNING"];
const RETRY_MS = 2000, SOON_MS = 200; // the first time, what broke it off is over soon

export class LogView {
	constructor(job, {follow = true, changed = () => {}} = {}) {
		this.job = job;
		this.lines = [];
		this.seen = []; // numbers of the lines that fit
		this.looked = 0; // how many lines have been asked whether they fit
		this.at = null;
		this.wanted = null;
		this.changed = changed;
		this.replicas = new Set();
		this.trials = new Set();
		this.fits = () => true;
		this.mark = null;
		this.following = follow;
		this.top = 0; // where the view was when it was scrolled last
		this.frame = 0;
		this.soon = 0;
		this.drawn = 0; // when
		this.cursor = null; // where the log is read on, and how many lines have come since
		this.behind = 0;
		this.whole = false; // the job has ended, and all of its log is here
		this.closed = false;
		this.reading = null; // ends the request that reads it
		this.broken = 0; // how often it broke off since something came
		this.shown = () => this.#look();
		this.space = el("div");
		this.node = el("div", {class: "lines", tabindex: 0, role: "log", "aria-label": "Log", "aria-live": "off", on: {scroll: () => this.#scrolled()}}, this.space);
		this.resized = new ResizeObserver(() => this.#later());
		this.resized.observe(this.node);
		document.addEventListener("visibilitychange", this.shown);
		this.#look();
	}

	close() {
		this.closed = true;
		document.removeEventListener("visibilitychange", this.shown);
		clearTimeout(this.retry);
		clearTimeout(this.soon);
		this.reading?.abort();
		this.resized.disconnect();
		cancelAnimationFrame(this.frame);
	}

	// A tab in the background reads nothing. The log goes on where it was left, by the last cursor and the lines since.
	#look() {
		clearTimeout(this.retry);
		if (document.hidden)
			this.reading?.abort();
		else if (!this.closed && !this.whole && (!this.reading || this.reading.signal.aborted))
			this.#read();
	}

	async #read() {
		const reading = this.reading = new AbortController();
		const onward = this.cursor === null ? "" : `&cursor=${encodeURIComponent(this.cursor)}&skip=${this.behind}`;

		try {
			for await (const batch of lines(`${jobPath(this.job, ":log")}&follow=true&cursors=true${onward}`, reading.signal))
				if (this.reading === reading) { // else it was read on meanwhile, from before these lines
					this.broken = 0;
					this.#take(batch);
				}
		} catch (problem) {
			if (reading.signal.aborted)
				return;
			if (this.broken++ || problem instanceof Refused)
				note(`The log broke off: ${problem.message}`, true);
			if (problem instanceof Refused && problem.status === 404)
				this.whole = true;
			else if (problem instanceof Refused) // no such cursor any more
				this.#clear();
		}
		reading.abort();
		this.changed();
		if (!this.whole)
			this.retry = setTimeout(() => this.#look(), this.broken === 1 ? SOON_MS : RETRY_MS);
	}

	#clear() {
		this.lines = [];
		this.cursor = null;
		this.filter(this.fits, this.mark);
	}

	#take(batch) {
		for (const entry of batch) {
			if (entry.cursor !== undefined || entry.end) {
				this.whole = Boolean(entry.end);
				this.cursor = entry.cursor ?? this.cursor;
				this.behind = entry.skip ?? 0;
				continue;
			}
			this.behind++;
			this.replicas.add(entry.replica);
			if (entry.trial)
				this.trials.add(entry.trial);
			// A message of several lines is several rows, of which the first has the time.
			const {time, severity, replica, trial, message = ""} = entry, texts = message.includes("\n") ? message.split("\n") : [message];

			texts.forEach((text, i) => {
				if (i === 0 || text)
					this.lines.push({time: i ? "" : time, when: time, severity, replica, trial, text});
			});
		}
		this.soon ||= setTimeout(() => {
			this.soon = 0;
			this.#later();
		}, Math.max(0, this.drawn + DRAW_MS - performance.now()));
	}

	// Shows the lines that fit; @mark: a regular expression whose matches are marked.
	filter(fits, mark = null) {
		this.fits = fits;
		this.mark = mark;
		this.seen = [];
		this.looked = 0;
		this.#later();
	}

	#later() {
		this.frame ||= requestAnimationFrame(() => {
			this.frame = 0;
			this.#fit().then(() => {
				if (this.closed)
					return;
				this.#drawAll();
				if (this.seeks)
					this.firstError();
			});
		});
	}

	// Looks through the lines that have not been looked at. A later filter begins anew, and this one ends.
	async #fit() {
		const {fits} = this;

		while (this.fits === fits && this.looked < this.lines.length) {
			const end = Math.min(this.lines.length, this.looked + SLICE);

			for (; this.looked < end; this.looked++)
				if (fits(this.lines[this.looked]))
					this.seen.push(this.looked);
			if (isBusy()) {
				this.changed();
				await letIn();
			}
		}
	}

	#drawAll() {
		const height = Math.min(MOST, this.seen.length * LINE);

		this.drawn = performance.now();
		this.space.style.height = `${height}px`;
		if (this.node.scrollTop > height - this.node.clientHeight)
			this.space.replaceChildren(); // rows that are left hold the view where no line is any more
		if (this.wanted !== null && this.seen.includes(this.wanted)) {
			this.#show(this.wanted);
			this.wanted = null;
		} else if (this.following) {
			this.node.scrollTop = this.node.scrollHeight;
		}
		this.#draw();
		this.changed();
	}

	// How many pixels of lines one of the scroll bar is.
	#scale() {
		const view = this.node.clientHeight, all = this.seen.length * LINE;

		return all > MOST ? (all - view) / (MOST - view) : 1;
	}

	// Only who scrolls up wants to stay there: lines that come move the end, not the view.
	#scrolled() {
		const atEnd = this.node.scrollTop + this.node.clientHeight >= this.node.scrollHeight - 2 * LINE;
		const following = atEnd || (this.following && this.node.scrollTop >= this.top);

		this.top = this.node.scrollTop;
		if (this.following !== following) {
			this.following = following;
			this.changed();
		}
		this.#draw();
	}

	#draw() {
		const {scrollTop, clientHeight} = this.node, top = scrollTop * this.#scale();
		const first = Math.max(0, Math.floor(top / LINE) - BESIDE);
		const end = Math.min(this.seen.length, Math.ceil((top + clientHeight) / LINE) + BESIDE);

		this.space.replaceChildren(...this.seen.slice(first, end).map((number, i) => this.#row(number, (first + i) * LINE - top + scrollTop)));
	}

	#row(number, top) {
		const line = this.lines[number];
		const row = el("div", {class: `line ${line.severity} ${line.replica === "service" ? "service" : ""} ${number === this.at ? "at" : ""}`, "data-line": number,
			on: {click: () => { this.at = number; history.replaceState(null, "", `${location.pathname}${location.search}#L${number + 1}`); this.#draw(); }}},
			el("time", {}, line.time ? clock.format(new Date(line.time)) + line.time.slice(19, 23) : " ".repeat(12)),
			el("span", {class: "who"}, line.trial ? `${line.trial}/${line.replica}` : line.replica),
			el("span", {}, parts(line.text).map((part) => el("span", {class: part.classes.join(" ") || null}, this.#marked(part.text)))));

		row.style.top = `${top}px`;
		return row;
	}

	#marked(text) {
		const made = [];
		let at = 0;

		for (const found of this.mark ? text.matchAll(this.mark) : []) {
			if (!found[0])
				break;
			made.push(text.slice(at, found.index), el("mark", {}, found[0]));
			at = found.index + found[0].length;
		}
		return [...made, text.slice(at)];
	}

	#show(number) {
		const place = this.seen.indexOf(number);

		this.at = number;
		this.following = false;
		this.node.scrollTop = Math.max(0, (place * LINE - this.node.clientHeight / 3) / this.#scale());
	}

	goTo(number) {
		this.seeks = false;
		this.wanted = number;
		this.following = false;
		this.#later();
	}

	follow(on = true) {
		this.seeks = false;
		this.following = on;
		this.#later();
	}

	// While lines still come, or have not been looked through, it is the first that is found.
	firstError() {
		const found = this.seen.find((number) => BAD.includes(this.lines[number].severity)), sought = this.seeks;
		const isAll = this.whole && this.looked === this.lines.length;

		this.seeks = found === undefined && !isAll;
		if (found !== undefined)
			this.goTo(found);
		else if (isAll)
			note("There is no error in these lines");
		else if (!sought)
			note("There is no error in these lines so far: the first one is shown when it comes");
	}

	text() {
		return this.seen.map((number) => this.lines[number]).map((line) => `${line.time || " ".repeat(30)} ${line.severity} ${line.replica} ${plain(line.text)}\n`);
	}
}

function pattern(text, regular) {
	return text ? new RegExp(regular ? text : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi") : null;
}

// What an input of a date and a time shows of "2026-01-31T12:00:00Z".
function localOf(time) {
	const date = new Date(time ?? NaN), two = (number) => String(number).padStart(2, "0");

	return Number.isNaN(date.getTime()) ? "" : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function logPage(main, {title, words: [project, id]}) {
	const address = new URLSearchParams(location.search);
	const count = el("span", {class: "soft small", role: "status"});
	const search = el("input", {type: "search", placeholder: "Search   /", "aria-label": "Search the log", value: address.get("q") ?? "", on: {input: () => refilter()}});
	const regular = el("button", {"aria-pressed": String(address.get("regex") === "1"), title: "As a regular expression", on: {click: () => { regular.setAttribute("aria-pressed", regular.getAttribute("aria-pressed") === "false"); refilter(); }}}, ".*");
	const trial = el("select", {"aria-label": "Trial", hidden: true, on: {change: () => refilter()}}, el("option", {value: ""}, "All trials"));
	const replica = el("select", {"aria-label": "Replica", on: {change: () => refilter()}}, el("option", {value: ""}, "All replicas"));
	const severity = el("select", {"aria-label": "Severity", on: {change: () => refilter()}},
		[["", "All severities"], ["warn", "Warnings and errors"], ["bad", "Errors"]].map(([value, name]) => el("option", {value, selected: value === address.get("severity")}, name)));
	const moment = (label, name) => el("input", {type: "datetime-local", step: 1, "aria-label": label, title: label, value: localOf(address.get(name)), on: {change: () => refilter()}});
	const from = moment("From", "from"), until = moment("Until", "until");
	const follow = el("button", {"aria-pressed": "true", on: {click: () => view.follow(!view.following)}}, "Follow");
	const view = new LogView({id, project}, {changed});
	const line = /^#L(\d+)$/.exec(location.hash);

	function changed() {
		follow.setAttribute("aria-pressed", String(view.following));
		count.textContent = view.seen.length === view.lines.length ? `${view.lines.length} lines` : `${view.seen.length} of ${view.lines.length} lines`;
		trial.hidden = trial.options.length < 2 && !view.trials.size;
		for (const number of view.trials)
			if (![...trial.options].some((option) => option.value === number))
				trial.append(el("option", {value: number}, `Trial ${number}`));
		for (const name of view.replicas)
			if (![...replica.options].some((option) => option.value === name))
				replica.append(el("option", {value: name}, name));
	}

	function refilter() {
		const levels = {warn: WARNS, bad: BAD}[severity.value];
		let mark;

		try {
			mark = pattern(search.value, regular.getAttribute("aria-pressed") === "true");
			search.setCustomValidity("");
		} catch (problem) {
			search.setCustomValidity(problem.message);
			search.reportValidity();
			return;
		}
		// Times of entries are texts of one form, which compare as times do: as far as seconds.
		const [first, last] = [from, until].map((input) => (input.value ? new Date(input.value).toISOString().slice(0, 19) : ""));
		const kept = new URLSearchParams(Object.entries({q: search.value, regex: mark && regular.getAttribute("aria-pressed") === "true" ? "1" : "", trial: trial.value, replica: replica.value,
			severity: severity.value, from: first && `${first}Z`, until: last && `${last}Z`}).filter(([, value]) => value));

		history.replaceState(null, "", location.pathname + (kept.size ? `?${kept}` : "") + location.hash);
		view.filter((each) => (!first || each.when.slice(0, 19) >= first) && (!last || each.when.slice(0, 19) <= last) && (!trial.value || each.trial === trial.value) && (!replica.value || each.replica === replica.value) && (!levels || levels.includes(each.severity)) &&
			(!mark || plain(each.text).search(mark) >= 0), mark);
	}

	function download() {
		const link = el("a", {href: URL.createObjectURL(new Blob(view.text(), {type: "text/plain"})), download: `${id}.log`});

		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 1000);
	}

	view.node.classList.add("fills");
	for (const [select, name, words] of [[trial, "trial", "Trial "], [replica, "replica", ""]])
		if (address.get(name))
			select.append(el("option", {value: address.get(name), selected: true}, words + address.get(name)));
	if (address.size)
		refilter();
	if (line)
		view.goTo(Number(line[1]) - 1);
	title(`Log of ${id}`);
	const name = el("a", {href: `/_trainyard/console/jobs/${encodeURIComponent(project)}/${encodeURIComponent(id)}`}, id);

	get(jobPath({id, project})).then((job) => {
		name.textContent = job.displayName ?? id;
		title(`Log of ${name.textContent}`);
	}, (problem) => note(problem.message, true));
	main.replaceChildren(el("div", {class: "row"}, el("h1", {}, name), el("span", {class: "soft"}, "log")),
		el("div", {class: "row"}, search, regular, trial, replica, severity, el("label", {class: "row soft small"}, "from", from), el("label", {class: "row soft small"}, "until", until), el("button", {on: {click: () => view.firstError()}}, "First error"), follow,
			el("button", {on: {click: download}}, "Download"), el("span", {class: "grow"}), count), view.node);
	return {close: () => view.close(), keys: {"/": () => search.focus(), f: () => view.follow(!view.following), e: () => view.firstError()}};
}
