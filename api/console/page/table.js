// SPDX-License-Identifier: Apache-2.0
// A table of any number of rows, of which only the visible ones are in the document.
import {el, keepInAddress, swap} from "./dom.js";

const ROW = 48, BESIDE = 6; // pixels; rows kept above and below the view
const AT = "row-at"; // the id of the row that the keys are at: a page has one table

// The search field of a page, and the key that moves the focus to it. matcher(): returns a function that tells whether
// a text in lower case has all words of the field.
export function searchField(label, changed, placeholder = "Search") {
	const node = el("input", {type: "search", placeholder: `${placeholder}   /`, "aria-label": label, value: new URLSearchParams(location.search).get("q") ?? "",
		on: {input: () => { keepInAddress({q: node.value}); changed(); }}});

	return {node, keys: {"/": () => node.focus()}, matcher() {
		const words = node.value.toLowerCase().split(/\s+/).filter(Boolean);

		return (text) => words.every((word) => text.includes(word));
	}};
}

// columns: [{title, key, width, class, number, cell(row), sort(row)}]; without a title: {label}, and no sorting.
// optional: hidden while sort() of all rows is 0. open(row): called for Enter or a click. Each row has an id.
export class Table {
	constructor(columns, {label, open, sorted}) {
		this.columns = columns;
		this.open = open;
		this.rows = [];
		this.all = [];
		this.at = null;
		this.sorted = sorted;
		this.shown = new Map();
		this.heads = columns.map((column) => this.#head(column));
		this.space = el("div", {class: "tspace", role: "rowgroup"});
		this.body = el("div", {class: "tbody", role: "presentation", tabindex: -1, on: {scroll: () => this.#draw()}}, this.space);
		this.node = el("div", {class: "table fills", role: "grid", tabindex: 0, "aria-label": label, on: {keydown: (event) => this.#key(event)}},
			el("div", {class: "thead", role: "row", "aria-rowindex": 1}, this.heads), this.body);
		this.resized = new ResizeObserver(() => this.#layout());
		this.resized.observe(this.body);
	}

	close() {
		this.resized.disconnect();
	}

	#head(column) {
		const turn = () => {
			this.sorted = {key: column.key, down: this.sorted.key === column.key ? !this.sorted.down : Boolean(column.number)};
			this.set(this.all);
		};

		return el("div", {class: `${column.class ?? ""} ${column.number ? "number" : ""}`, role: "columnheader", "aria-label": column.title ? null : column.label},
			column.title ? el("button", {on: {click: turn}}, column.title) : null);
	}

	// The style sheet hides columns for which the width has no room.
	#layout() {
		const seen = this.columns.filter((_, i) => getComputedStyle(this.heads[i]).display !== "none");

		this.node.style.setProperty("--columns", seen.map((column) => column.width).join(" "));
		this.#draw();
	}

	// Shows these rows; rows that are the same objects as before are not drawn again.
	set(rows) {
		const {key, down} = this.sorted, column = this.columns.find((each) => each.key === key), sign = down ? -1 : 1;

		this.all = rows;
		this.#leaveOut(rows);
		this.rows = rows.map((row) => [column.sort(row), row]).sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0)).map(([, row]) => row);
		this.columns.forEach((each, i) => this.heads[i].setAttribute("aria-sort", each.key !== key ? "none" : down ? "descending" : "ascending"));
		this.node.setAttribute("aria-rowcount", this.rows.length + 1);
		this.space.style.height = `${this.rows.length * ROW}px`;
		this.#draw();
	}

	#leaveOut(rows) {
		const before = this.columns.map((each) => each.gone);

		this.columns.forEach((each, i) => {
			each.gone = Boolean(each.optional) && rows.every((row) => !each.sort(row));
			this.heads[i].hidden = each.gone;
		});
		if (this.columns.some((each, i) => each.gone !== before[i])) {
			this.refresh();
			this.#layout();
		}
	}

	#draw() {
		const first = Math.max(0, Math.floor(this.body.scrollTop / ROW) - BESIDE);
		const end = Math.min(this.rows.length, Math.ceil((this.body.scrollTop + this.body.clientHeight) / ROW) + BESIDE);
		const kept = new Map();

		for (let i = first; i < end; i++) {
			const row = this.rows[i], old = this.shown.get(row.id);
			const node = old?.row === row ? this.#placed(old.node, row, i) : old ? swap(old.node, this.#placed(this.#row(row), row, i)) : this.#placed(this.#row(row), row, i);

			if (!old)
				this.space.append(node);
			kept.set(row.id, {row, node, i});
		}
		for (const [id, {node}] of this.shown)
			if (!kept.has(id))
				node.remove();
		this.shown = kept;
	}

	#placed(node, row, i) {
		const isAt = row.id === this.at;

		node.style.top = `${i * ROW}px`;
		node.setAttribute("aria-rowindex", i + 2);
		node.setAttribute("aria-selected", String(isAt));
		node.classList.toggle("at", isAt);
		if (isAt)
			node.id = AT;
		else
			node.removeAttribute("id");
		return node;
	}

	#row(row) {
		return el("div", {class: "trow", role: "row", "data-id": row.id, on: {click: (event) => event.target.closest("a, button") || this.open(row)}},
			this.columns.map((column) => el("div", {class: `cell ${column.class ?? ""} ${column.number ? "number" : ""}`, role: "gridcell", hidden: column.gone}, column.cell(row))));
	}

	// Draws the cells of all visible rows again, because times in them change.
	refresh() {
		for (const [id, {row, node, i}] of this.shown)
			this.shown.set(id, {row, i, node: swap(node, this.#placed(this.#row(row), row, i))});
	}

	move(step) {
		const from = this.rows.findIndex((row) => row.id === this.at);
		const to = Math.min(this.rows.length - 1, Math.max(0, from < 0 ? 0 : from + step));

		if (!this.rows.length)
			return;
		this.at = this.rows[to].id;
		this.node.setAttribute("aria-activedescendant", AT);
		this.body.scrollTop = Math.min(to * ROW, Math.max(this.body.scrollTop, (to + 1) * ROW - this.body.clientHeight));
		this.#draw();
	}

	#key(event) {
		if (event.target.closest("a, button"))
			return;
		const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity};

		if (event.key in steps)
			this.move(steps[event.key]);
		else if (event.key === "Enter")
			this.choose();
		else
			return;
		event.preventDefault();
	}

	choose() {
		const row = this.rows.find((each) => each.id === this.at);

		if (row)
			this.open(row);
	}
}
