// SPDX-License-Identifier: Apache-2.0
// The log of a job: any number of lines, of which only the visible ones are in the document.
import {parts, plain} from "./ansi.js";
import {get} from "./api.js";
import {counted, el, keepInAddress, note} from "./dom.js";
import {jobPath} from "./job.js";
import {Lines} from "./lines.js";
import {follow, isBusy, letIn} from "./stream.js";

const LINE = 18, BESIDE = 20, SLICE = 500; // pixels; lines beside the view; lines looked through before it is asked whether that takes long
const DRAW_MS = 100; // so often at most is drawn what comes
const MOST = 15e6; // pixels that an element may be high in every browser; of more lines the scroll bar goes by larger steps
const clock = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false});
const BAD = ["ERROR", "CRITICAL", "ALERT", "EMERGENCY"], WARNS = [...BAD, "WARNING"];

// On a narrow screen, this part of a replica's name and the fractions of seconds are left out.
const MIDDLE = "-replica";
const nameOf = ({trial, replica}) => (trial ? `${trial}/${replica}` : replica).split(MIDDLE);

export class LogView {
	constructor(job, {changed = () => {}} = {}) {
		this.lines = new Lines();
		this.changed = changed;
		this.following = true;
		this.at = null; // the line that is marked
		this.wanted = null; // the line that is to be marked once it is here
		this.seeks = false; // the first error is to be marked once it is here
		this.top = 0; // where the view was when it was scrolled last, and when it was drawn last
		this.shown = 0;
		this.kinds = 0; // that its columns have room for
		this.frame = 0;
		this.soon = 0;
		this.drawn = 0; // when
		this.cursor = null; // where the log is read on, and how many lines have come since
		this.behind = 0;
		this.whole = false; // the job has ended, and all of its log is here
		this.closed = false;
		this.space = el("div");
		this.node = el("div", {class: "lines", tabindex: 0, role: "log", "aria-label": "Log", "aria-live": "off", on: {scroll: () => this.#scrolled()}}, this.space);
		this.resized = new ResizeObserver(() => this.#later());
		this.resized.observe(this.node);
		this.filter(() => true);
		this.stop = follow(() => `${jobPath(job, ":log")}&follow=true&cursors=true${this.cursor === null ? "" : `&cursor=${encodeURIComponent(this.cursor)}&skip=${this.behind}`}`,
			(batch) => this.#take(batch), (problem, isRefused) => this.#broke(problem, isRefused));
	}

	close() {
		this.closed = true;
		this.stop();
		clearTimeout(this.soon);
		this.resized.disconnect();
		cancelAnimationFrame(this.frame);
	}

	#broke(problem, isRefused) {
		this.whole = isRefused && problem.status === 404;
		if (!this.whole) // its page says that there is no such job
			note(`The log broke off: ${problem.message}`, true);
		if (isRefused && !this.whole) { // no such cursor any more
			this.lines = new Lines();
			this.cursor = null;
			this.filter(this.fits, this.mark);
		}
		this.changed();
		return this.whole;
	}

	#take(batch) {
		for (const entry of batch)
			if (entry.cursor !== undefined || entry.end) {
				this.whole = Boolean(entry.end);
				this.cursor = entry.cursor ?? this.cursor;
				this.behind = entry.skip ?? 0;
			} else {
				this.behind++;
				this.lines.add(entry);
			}
		if (this.kinds !== this.lines.kinds.length) { // a column for the longest name
			this.kinds = this.lines.kinds.length;
			for (const [room, middle] of [["--who", MIDDLE], ["--who-short", ""]])
				this.node.style.setProperty(room, `${Math.min(24, Math.max(8, ...this.lines.kinds.map((kind) => nameOf(kind).join(middle).length)))}ch`);
		}
		this.soon ||= setTimeout(() => {
			this.soon = 0;
			this.#later();
		}, Math.max(0, this.drawn + DRAW_MS - performance.now()));
		if (this.whole)
			this.changed();
		return this.whole;
	}

	// Shows only the lines for which fits(lines, number) is true. @mark: a regular expression whose matches are
	// highlighted.
	filter(fits, mark = null) {
		this.fits = fits;
		this.mark = mark;
		this.seen = []; // numbers of the lines that fit
		this.error = null; // the first error of them
		this.looked = 0; // how many lines have been asked whether they fit
		this.#later();
	}

	#later() {
		this.frame ||= requestAnimationFrame(() => {
			this.frame = 0;
			this.#fit().then(() => this.closed || this.#drawAll());
		});
	}

	// Tests the lines that were not tested yet. A later call of filter() ends this, and the tests begin again.
	async #fit() {
		const {fits, lines} = this;

		while (this.fits === fits && this.looked < lines.length) {
			const end = Math.min(lines.length, this.looked + SLICE);

			for (; this.looked < end; this.looked++)
				if (fits(lines, this.looked)) {
					this.seen.push(this.looked);
					if (this.error === null && BAD.includes(lines.kindOf(this.looked).severity))
						this.error = this.looked;
				}
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
		if (this.seeks)
			this.#seek();
		const place = this.wanted === null ? -1 : bisect(this.seen, this.wanted);
		if (this.seen[place] === this.wanted) {
			this.at = this.wanted;
			this.wanted = null;
			this.following = false;
			this.node.scrollTop = Math.max(0, (place * LINE - this.node.clientHeight / 3) / this.#scale());
		} else if (this.following) {
			this.node.scrollTop = this.node.scrollHeight;
		}
		this.#draw();
		this.changed();
	}

	// How many pixels of lines correspond to one pixel of the scroll bar.
	#scale() {
		const view = this.node.clientHeight, all = this.seen.length * LINE;

		return all > MOST ? (all - view) / (MOST - view) : 1;
	}

	// If the user has scrolled up, new lines do not move the view.
	#scrolled() {
		const atEnd = this.node.scrollTop + this.node.clientHeight >= this.node.scrollHeight - 2 * LINE;
		const following = atEnd || (this.following && this.node.scrollTop >= this.top);

		this.top = this.node.scrollTop;
		if (this.following !== following) {
			this.following = following;
			this.changed();
		}
		if (this.top !== this.shown) // not by the view itself, which has drawn what is there
			this.#draw();
	}

	#draw() {
		const {scrollTop, clientHeight} = this.node, top = scrollTop * this.#scale();

		this.shown = scrollTop;
		const first = Math.max(0, Math.floor(top / LINE) - BESIDE);
		const end = Math.min(this.seen.length, Math.ceil((top + clientHeight) / LINE) + BESIDE);

		this.space.replaceChildren(...this.seen.slice(first, end).map((number, i) => this.#row(number, (first + i) * LINE - top + scrollTop)));
	}

	#row(number, top) {
		const kind = this.lines.kindOf(number), {severity, replica, continues} = kind, time = this.lines.timeOf(number), [name, index] = nameOf(kind);
		const row = el("div", {class: `line ${severity} ${replica === "service" ? "service" : ""} ${number === this.at ? "at" : ""}`, "data-line": number,
			on: {click: () => { this.#mark(number); this.#draw(); }}},
			el("time", {}, continues ? " ".repeat(8) : clock.format(new Date(time)), el("span", {class: "middle"}, continues ? " ".repeat(4) : time.slice(19, 23))),
			el("span", {class: "who"}, name, index === undefined ? null : [el("span", {class: "middle"}, MIDDLE), index]),
			el("span", {}, parts(this.lines.texts[number]).map((part) => el("span", {class: part.classes.join(" ") || null}, this.#marked(part.text)))));

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

	goTo(number) {
		this.seeks = false;
		this.wanted = number;
		this.following = false;
		this.#later();
	}

	// Highlights the next or previous shown line; the first time, the first visible one.
	move(step) {
		const scale = this.#scale(), first = Math.ceil(this.node.scrollTop * scale / LINE), place = this.at === null ? first - step : bisect(this.seen, this.at);
		const to = Math.min(this.seen.length - 1, Math.max(0, place + step));

		if (!this.seen.length)
			return;
		this.seeks = false;
		this.following = false;
		this.#mark(this.seen[to]);
		this.node.scrollTop = Math.min(to * LINE / scale, Math.max(this.node.scrollTop, ((to + 1) * LINE - this.node.clientHeight) / scale));
		this.#draw();
		this.changed();
	}

	// Makes the line the current one, and puts it into the address of the page, so that a link leads to it.
	#mark(number) {
		this.at = number;
		history.replaceState(null, "", `${location.pathname}${location.search}#L${number + 1}`);
	}

	follow(on = true) {
		this.seeks = false;
		this.following = on;
		this.#later();
	}

	firstError() {
		this.seeks = true;
		this.#later();
	}

	// Called when all present lines were tested. If more are to come, the first error is the next one that arrives.
	#seek() {
		const isAll = this.whole && this.looked === this.lines.length;

		if (this.error !== null)
			this.wanted = this.error;
		else if (isAll)
			note("There is no error in these lines");
		else if (this.seeks !== "told")
			note("There is no error in these lines so far: the first one is shown when it comes");
		this.seeks = this.error === null && !isAll && "told";
	}

	text() {
		return this.seen.map((number) => {
			const {severity, replica, continues} = this.lines.kindOf(number);

			return `${continues ? " ".repeat(30) : this.lines.timeOf(number)} ${severity} ${replica} ${plain(this.lines.texts[number])}\n`;
		});
	}
}

// The position of @number in the ascending @numbers, or where it would be inserted.
function bisect(numbers, number) {
	let low = 0;

	for (let high = numbers.length; low < high;) {
		const middle = (low + high) >> 1;

		[low, high] = numbers[middle] < number ? [middle + 1, high] : [low, middle];
	}
	return low;
}

function pattern(text, regular) {
	return text ? new RegExp(regular ? text : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi") : null;
}

const addressTime = (seconds) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;

// The value of a datetime-local input for "2026-01-31T12:00:00Z".
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
	let kinds = 0; // how many kinds of lines the choices have

	function changed() {
		follow.setAttribute("aria-pressed", String(view.following));
		count.textContent = (view.seen.length === view.lines.length ? "" : `${view.seen.length} of `) + counted(view.lines.length, "line");
		for (kinds = Math.min(kinds, view.lines.kinds.length); kinds < view.lines.kinds.length; kinds++) {
			const {trial: number, replica: name} = view.lines.kinds[kinds];

			offer(replica, name, name);
			if (number)
				offer(trial, number, `Trial ${number}`);
		}
		trial.hidden = trial.options.length < 2;
	}

	function offer(select, value, name) {
		if (![...select.options].some((option) => option.value === value))
			select.append(el("option", {value}, name));
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
		const [first, last] = [from, until].map((input) => (input.value ? new Date(input.value) / 1000 : null));

		keepInAddress({q: search.value, regex: mark && regular.getAttribute("aria-pressed") === "true" ? "1" : "", trial: trial.value, replica: replica.value,
			severity: severity.value, from: first && addressTime(first), until: last && addressTime(last)});
		view.filter((lines, number) => {
			const kind = lines.kindOf(number), seconds = lines.seconds[number];

			return (first === null || seconds >= first) && (last === null || seconds <= last) && (!trial.value || kind.trial === trial.value) && (!replica.value || kind.replica === replica.value)
				&& (!levels || levels.includes(kind.severity)) && (!mark || plain(lines.texts[number]).search(mark) >= 0);
		}, mark);
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
	// On a narrow screen the filters are collapsed, unless one is set.
	const unfold = el("button", {class: "unfolds", "aria-expanded": "false", on: {click: () => unfold.setAttribute("aria-expanded", String(tools.classList.toggle("unfolded")))}}, "Choices");
	const tools = el("div", {class: "row folds"}, search, regular, unfold, [trial, replica, severity, el("label", {class: "row soft small"}, "from", from), el("label", {class: "row soft small"}, "until", until)].map((each) => { each.classList.add("fold"); return each; }));

	if (["trial", "replica", "severity", "from", "until"].some((each) => address.get(each)))
		unfold.click();
	main.replaceChildren(el("div", {class: "row"}, el("h1", {}, name), el("span", {class: "soft"}, "log"), el("span", {class: "grow"}), count, el("button", {on: {click: download}}, "Download"),
		el("button", {on: {click: () => view.firstError()}}, "First error"), follow), tools, view.node);
	return {close: () => view.close(), keys: {"/": () => search.focus(), f: () => view.follow(!view.following), e: () => view.firstError(), j: () => view.move(1), k: () => view.move(-1)}};
}
