/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a terminal, its cursor, and operations on them; screen.js parses the control sequences. */
"use strict";

(() => {
const HISTORY_MAX = 2000;

const PLAIN = Object.freeze({ ink: null, ground: null, style: "" });
/* First and last code points. Source: Unicode 15, East Asian Width W and F, and the usual emoji */
const WIDE = [
	[0x1100, 0x115f], [0x2e80, 0x303e], [0x3041, 0x33ff], [0x3400, 0x4dbf], [0x4e00, 0x9fff], [0xa000, 0xa4cf],
	[0xa960, 0xa97f], [0xac00, 0xd7a3], [0xf900, 0xfaff], [0xfe30, 0xfe6f], [0xff00, 0xff60], [0xffe0, 0xffe6],
	[0x1f300, 0x1f64f], [0x1f680, 0x1f6ff], [0x1f900, 0x1f9ff], [0x20000, 0x3fffd],
];
const COMBINING = /^[\p{Mn}\p{Me}\u200b-\u200f\ufe00-\ufe0f]$/u;

function widthOf(character) {
	const code = character.codePointAt(0);
	if (code < 0x300)
		return 1;
	if (COMBINING.test(character))
		return 0;
	return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/* One of the 256 colours as CSS writes it. */
const BASIC = ["#1d2329", "#e0555b", "#6cbf5f", "#d6a742", "#5a9bef", "#c678dd", "#4fb8c4", "#c8ced4",
	"#6b747d", "#ff7b80", "#92e285", "#f2c969", "#86bcff", "#e2a2f4", "#7fdce6", "#ffffff"];

function colour(number) {
	if (number < 16)
		return BASIC[number];
	if (number >= 232) {
		const grey = 8 + (number - 232) * 10;
		return `rgb(${grey},${grey},${grey})`;
	}
	const level = (step) => (step ? 55 + step * 40 : 0);
	const cube = number - 16;
	return `rgb(${level(Math.floor(cube / 36))},${level(Math.floor(cube / 6) % 6)},${level(cube % 6)})`;
}

class Grid {
	constructor(columns, rows) {
		this.columns = columns;
		this.rows = rows;
		this.history = []; /* lines that scrolled off the top, the oldest first */
		this.dropped = 0; /* how many of these were dropped */
		this.clear();
	}

	clear() {
		this.attributes = PLAIN;
		this.blank = PLAIN; /* attributes of blank cells */
		this.main = this.blankLines(this.rows);
		this.lines = this.main;
		this.row = this.column = 0;
		this.top = 0; /* first and last row of the region that scrolls */
		this.bottom = this.rows - 1;
		this.wrapPending = false; /* the last column was written, so the next character begins a new line */
		this.modes = { cursorShown: true, wrap: true, origin: false, insert: false, newline: false,
			applicationCursor: false, bracketedPaste: false, focusTold: false };
		this.tabs = new Set();
		for (let column = 8; column < 1000; column += 8)
			this.tabs.add(column);
		this.last = ""; /* the character printed last */
	}

	/* Full-screen programs use a second buffer of lines. */
	get inMain() {
		return this.lines === this.main;
	}

	/* ---- cells and lines ---- */

	/* Erased cells get the current background colour. */
	blankCell() {
		const { ground } = this.attributes;
		if (this.blank.ground !== ground)
			this.blank = ground ? Object.freeze({ ...PLAIN, ground }) : PLAIN;
		return { text: " ", width: 1, attributes: this.blank };
	}

	blankLine() {
		return Array.from({ length: this.columns }, () => this.blankCell());
	}

	blankLines(count) {
		return Array.from({ length: count }, () => this.blankLine());
	}

	erase(row, from, to) {
		for (let column = Math.max(from, 0); column < Math.min(to, this.columns); column++)
			this.lines[row][column] = this.blankCell();
	}

	/* If half of a wide character was overwritten, the other half is removed. */
	mend(row, column) {
		const line = this.lines[row];
		if (line[column] && line[column].width === 0 && column > 0)
			line[column - 1] = { ...line[column - 1], text: " ", width: 1 };
		if (line[column] && line[column].width === 2 && column + 1 < this.columns)
			line[column + 1] = { ...line[column + 1], text: " ", width: 1 };
	}

	/* Removes lines from the region, from @top on; blank ones are added at its bottom. */
	takeOut(count, top) {
		const gone = this.lines.splice(top, Math.min(count, this.bottom - top + 1));
		this.lines.splice(this.bottom + 1 - gone.length, 0, ...this.blankLines(gone.length));
		return gone;
	}

	scrollUp(count) {
		const gone = this.takeOut(count, this.top);
		if (this.top === 0 && this.inMain)
			gone.forEach((line) => this.keep(line));
	}

	scrollDown(count, top = this.top) {
		const added = Math.min(count, this.bottom - top + 1);
		this.lines.splice(this.bottom + 1 - added, added);
		this.lines.splice(top, 0, ...this.blankLines(added));
	}

	keep(line) {
		this.history.push(line);
		if (this.history.length > HISTORY_MAX) {
			this.history.shift();
			this.dropped++;
		}
	}

	resize(columns, rows) {
		const others = this.inMain ? [this.main] : [this.main, this.lines];
		this.columns = columns;
		for (const lines of others) {
			for (const line of lines) {
				while (line.length < columns)
					line.push(this.blankCell());
				line.length = columns;
			}
			this.fitRows(lines, rows);
		}
		this.rows = rows;
		this.top = 0;
		this.bottom = rows - 1;
		this.row = Math.min(this.row, rows - 1);
		this.column = Math.min(this.column, columns - 1);
		this.wrapPending = false;
	}

	/* Adds or removes lines to make them @rows: removes those below the cursor first, and then those at the top. */
	fitRows(lines, rows) {
		while (lines.length < rows)
			lines.push(this.blankLine());
		while (lines.length > rows) {
			if (lines !== this.lines || this.row < lines.length - 1) {
				lines.pop();
				continue;
			}
			const gone = lines.shift();
			this.row--;
			if (lines === this.main)
				this.keep(gone);
		}
	}

	/* ---- the cursor ---- */

	moveTo(row, column) {
		const [first, last] = this.modes.origin ? [this.top, this.bottom] : [0, this.rows - 1];
		this.row = Math.max(first, Math.min(row, last));
		this.column = Math.max(0, Math.min(column, this.columns - 1));
		this.wrapPending = false;
	}

	/* Up and down stop at the edge of the region they begin in. */
	moveBy(rows, columns) {
		const first = this.row >= this.top ? this.top : 0;
		const last = this.row <= this.bottom ? this.bottom : this.rows - 1;
		this.row = Math.max(first, Math.min(this.row + rows, last));
		this.column = Math.max(0, Math.min(this.column + columns, this.columns - 1));
		this.wrapPending = false;
	}

	lineFeed() {
		this.wrapPending = false;
		if (this.row === this.bottom)
			this.scrollUp(1);
		else if (this.row < this.rows - 1)
			this.row++;
	}

	reverseLineFeed() {
		this.wrapPending = false;
		if (this.row === this.top)
			this.scrollDown(1);
		else if (this.row > 0)
			this.row--;
	}

	tab(count) {
		for (; count > 0; count--) {
			do
				this.column++;
			while (this.column < this.columns && !this.tabs.has(this.column));
		}
		this.column = Math.min(this.column, this.columns - 1);
	}

	tabBack(count) {
		for (; count > 0 && this.column > 0; count--) {
			do
				this.column--;
			while (this.column > 0 && !this.tabs.has(this.column));
		}
	}

	other(wanted) {
		if (wanted === !this.inMain)
			return;
		this.lines = wanted ? this.blankLines(this.rows) : this.main;
	}

	/* ---- text ---- */

	print(character) {
		const width = widthOf(character);
		if (width === 0)
			return this.combine(character);
		if (this.wrapPending && this.modes.wrap) {
			this.column = 0;
			this.lineFeed();
		}
		if (width === 2 && this.column === this.columns - 1) {
			if (!this.modes.wrap || this.columns < 2)
				return;
			this.erase(this.row, this.column, this.columns);
			this.column = 0;
			this.lineFeed();
		}
		this.put(character, width);
		this.last = character;
	}

	put(character, width) {
		const line = this.lines[this.row];
		if (this.modes.insert) {
			line.splice(this.column, 0, ...Array.from({ length: width }, () => this.blankCell()));
			line.length = this.columns;
		}
		for (let i = 0; i < width; i++)
			this.mend(this.row, this.column + i);
		line[this.column] = { text: character, width, attributes: this.attributes };
		if (width === 2)
			line[this.column + 1] = { text: "", width: 0, attributes: this.attributes };
		this.column += width;
		this.wrapPending = this.column >= this.columns;
		this.column = Math.min(this.column, this.columns - 1);
	}

	combine(mark) {
		let column = this.wrapPending ? this.column : this.column - 1;
		if (column >= 0 && this.lines[this.row][column].width === 0)
			column--;
		const cell = column >= 0 ? this.lines[this.row][column] : null;
		if (cell && cell.text.length < 16)
			this.lines[this.row][column] = { ...cell, text: cell.text + mark };
	}

	/* ---- what programs ask for ---- */

	/* In origin mode, rows count from the top of the region. */
	place(row, column) {
		this.moveTo(row + (this.modes.origin ? this.top : 0), column);
	}

	insertCells(count) {
		const line = this.lines[this.row];
		this.mend(this.row, this.column);
		line.splice(this.column, 0, ...Array.from({ length: Math.min(count, this.columns) }, () => this.blankCell()));
		line.length = this.columns;
		this.wrapPending = false;
	}

	deleteCells(count) {
		const line = this.lines[this.row];
		this.mend(this.row, this.column);
		line.splice(this.column, count);
		while (line.length < this.columns)
			line.push(this.blankCell());
		this.wrapPending = false;
	}

	eraseCells(count) {
		this.mend(this.row, this.column);
		this.erase(this.row, this.column, this.column + count);
		this.wrapPending = false;
	}

	insertLines(count) {
		if (this.row >= this.top && this.row <= this.bottom)
			this.scrollDown(count, this.row);
		this.column = 0;
	}

	deleteLines(count) {
		if (this.row >= this.top && this.row <= this.bottom)
			this.takeOut(count, this.row);
		this.column = 0;
	}

	eraseLine(how) {
		this.mend(this.row, this.column);
		this.erase(this.row, how === 0 ? this.column : 0, how === 1 ? this.column + 1 : this.columns);
		this.wrapPending = false;
	}

	eraseDisplay(how) {
		if (how === 3) {
			this.dropped += this.history.length;
			this.history = [];
			return;
		}
		if (how < 2)
			this.eraseLine(how);
		for (let row = 0; row < this.rows; row++)
			if (how === 2 || (how === 0 && row > this.row) || (how === 1 && row < this.row))
				this.erase(row, 0, this.columns);
		this.wrapPending = false;
	}

	repeat(count) {
		for (let i = Math.min(count, this.columns * this.rows); i > 0 && this.last; i--)
			this.print(this.last);
	}

	setRegion(top, bottom) {
		bottom = Math.min(bottom, this.rows);
		if (top >= bottom)
			return;
		this.top = top - 1;
		this.bottom = bottom - 1;
		this.place(0, 0);
	}

	/* ---- what is shown ---- */

	/* A line as runs of cells that look alike, without blank cells at its end: [{ text, attributes, cursor, wide
	 * }] */
	runs(line, cursorColumn) {
		const runs = [];
		let end = line.length;
		while (end - 1 > cursorColumn && line[end - 1].text === " " && line[end - 1].attributes === PLAIN)
			end--;
		for (let column = 0; column < end; column++) {
			const cell = line[column];
			if (cell.width === 0)
				continue;
			const cursor = column === cursorColumn || (cell.width === 2 && column + 1 === cursorColumn);
			const wide = cell.width === 2;
			const before = runs[runs.length - 1];
			if (before && !cursor && !before.cursor && !wide && !before.wide && before.attributes === cell.attributes)
				before.text += cell.text;
			else
				runs.push({ text: cell.text, attributes: cell.attributes, cursor, wide });
		}
		return runs;
	}

	/* The text of all lines, for tests and for copying. */
	text() {
		return this.lines.map((line) => line.map((cell) => cell.text).join("").trimEnd()).join("\n").trimEnd();
	}
}

const exported = { Grid, HISTORY_MAX, PLAIN, colour };

if (typeof module === "undefined")
	globalThis.shellGrid = exported;
else
	module.exports = exported;
})();
