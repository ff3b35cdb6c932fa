/* SPDX-License-Identifier: Apache-2.0 */
/* Interprets the output of a program: bytes become lines of cells (grid.js). Independent of the page.
 *
 * Interprets what programs send with TERM=xterm. Sources: ECMA-48 (5th edition); the VT100 user guide;
 * https://invisible-island.net/xterm/ctlseqs/ctlseqs.html (read 2026-11-20) */
"use strict";

(() => {
const { Grid, PLAIN, colour } = typeof module === "undefined" ? globalThis.shellGrid : require("./grid.js");

/* longer ones are not from a program that uses the terminal: a binary file is being printed */
const SEQUENCE_MAX = 4096;

/* The special graphics set of the VT100, from "`" on: lines and corners. */
const LINE_DRAWING = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";

const STYLES = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 8: "hidden", 9: "strike" };
const STYLE_ENDS = { 22: ["bold", "dim"], 23: ["italic"], 24: ["underline"], 27: ["inverse"], 28: ["hidden"], 29: ["strike"] };

class Screen extends Grid {
	/* @answer is called with the terminal's own replies to the program (the cursor's position and so on). */
	constructor(columns, rows, answer) {
		super(columns, rows);
		this.answer = answer;
		this.decoder = new TextDecoder("utf-8");
		this.title = "";
		this.reset();
	}

	reset() {
		this.clear();
		this.saved = { main: null, other: null };
		this.sets = ["B", "B"]; /* the character sets; "0": lines and corners */
		this.set = 0;
		this.parse = this.parseText;
		this.sequence = "";
	}

	/* ---- the stream ---- */

	/* @bytes: Uint8Array; may end inside a sequence or a character. */
	write(bytes) {
		for (const character of this.decoder.decode(bytes, { stream: true }))
			this.take(character);
	}

	take(character) {
		const code = character.codePointAt(0);
		if (this.parse === this.parseString)
			this.parseString(character);
		else if (code < 0x20)
			this.control(code);
		else if (code !== 0x7f && (code < 0x80 || code > 0x9f))
			this.parse(character);
	}

	control(code) {
		switch (code) {
		case 0x08:
			this.column = Math.max(0, this.column - (this.wrapPending ? 0 : 1));
			this.wrapPending = false;
			break;
		case 0x09:
			this.tab(1);
			break;
		case 0x0a: case 0x0b: case 0x0c:
			if (this.modes.newline)
				this.column = 0;
			this.lineFeed();
			break;
		case 0x0d:
			this.column = 0;
			this.wrapPending = false;
			break;
		case 0x0e:
			this.set = 1;
			break;
		case 0x0f:
			this.set = 0;
			break;
		case 0x18: case 0x1a:
			this.parse = this.parseText;
			break;
		case 0x1b:
			this.parse = this.parseEscape;
			this.sequence = "";
			break;
		}
	}

	parseText(character) {
		const code = character.codePointAt(0);
		if (this.sets[this.set] === "0" && code >= 0x60 && code <= 0x7e)
			character = LINE_DRAWING[code - 0x60];
		this.print(character);
	}

	parseEscape(character) {
		this.parse = this.parseText;
		if (character === "[")
			this.parse = this.parseControlSequence;
		else if ("]PX^_".includes(character))
			this.parse = this.parseString;
		else if (character >= " " && character <= "/")
			this.parse = this.parseEscape;
		if (this.parse !== this.parseText) {
			this.sequence += character;
			if (this.sequence.length > 4)
				this.parse = this.parseText;
			return;
		}
		this.escape(this.sequence, character);
	}

	escape(intermediate, final) {
		if (intermediate === "(" || intermediate === ")") {
			this.sets[intermediate === "(" ? 0 : 1] = final;
			return;
		}
		if (intermediate === "#" && final === "8")
			return this.fill("E");
		if (intermediate !== "")
			return;
		switch (final) {
		case "7": return this.save();
		case "8": return this.restore();
		case "D": return this.lineFeed();
		case "E": this.column = 0; return this.lineFeed();
		case "H": this.tabs.add(this.column); return;
		case "M": return this.reverseLineFeed();
		case "c": return this.reset();
		}
	}

	fill(character) {
		for (const line of this.lines)
			for (let column = 0; column < this.columns; column++)
				line[column] = { text: character, width: 1, attributes: PLAIN };
	}

	/* A string such as a title, ended by BEL or ESC \. */
	parseString(character) {
		const ended = character === "\x07" || character === "\x18" || character === "\x1a" ||
			(character === "\\" && this.sequence.endsWith("\x1b"));
		if (!ended && this.sequence.length < SEQUENCE_MAX) {
			this.sequence += character;
			return;
		}
		this.parse = this.parseText;
		const title = /^\][02];([^\x00-\x1f\x7f]*)/.exec(this.sequence);
		if (ended && title)
			this.title = title[1].slice(0, 200);
	}

	parseControlSequence(character) {
		if (character < "@") {
			this.sequence += character;
			if (this.sequence.length > SEQUENCE_MAX)
				this.parse = this.parseText;
			return;
		}
		this.parse = this.parseText;
		const match = /^\[([<-?]*)([0-9:;]*)([ -/]*)$/.exec(this.sequence);
		if (match)
			this.controlSequence(match[1], match[2], match[3] + character);
	}

	controlSequence(mark, parameters, final) {
		const values = parameters.split(";").map((text) => Math.min(parseInt(text, 10) || 0, 9999));
		const count = values[0] || 1;
		if (mark === "?")
			return this.privateSequence(values, final);
		if (mark === ">" && final === "c")
			return this.answer("\x1b[>0;276;0c");
		if (mark !== "")
			return;
		switch (final) {
		case "@": return this.insertCells(count);
		case "A": return this.moveBy(-count, 0);
		case "B": case "e": return this.moveBy(count, 0);
		case "C": case "a": return this.moveBy(0, count);
		case "D": return this.moveBy(0, -count);
		case "E": this.column = 0; return this.moveBy(count, 0);
		case "F": this.column = 0; return this.moveBy(-count, 0);
		case "G": case "`": return this.moveTo(this.row, count - 1);
		case "H": case "f": return this.place(count - 1, (values[1] || 1) - 1);
		case "I": return this.tab(Math.min(count, this.columns));
		case "J": return this.eraseDisplay(values[0]);
		case "K": return this.eraseLine(values[0]);
		case "L": return this.insertLines(count);
		case "M": return this.deleteLines(count);
		case "P": return this.deleteCells(count);
		case "S": return this.scrollUp(count);
		case "T": return this.scrollDown(count);
		case "X": return this.eraseCells(count);
		case "Z": return this.tabBack(count);
		case "b": return this.repeat(count);
		case "c": return values[0] === 0 ? this.answer("\x1b[?1;2c") : undefined;
		case "d": return this.place(count - 1, this.column);
		case "g": return values[0] === 3 ? this.tabs.clear() : void this.tabs.delete(this.column);
		case "h": case "l": return this.setModes(values, final === "h");
		case "m": return this.setAttributes(parameters);
		case "n": return this.report(values[0]);
		case "r": return this.setRegion(values[0] || 1, values[1] || this.rows);
		case "s": return this.save();
		case "u": return this.restore();
		case "!p": return this.softReset();
		}
	}

	privateSequence(values, final) {
		if (final === "h" || final === "l")
			for (const value of values)
				this.setPrivateMode(value, final === "h");
		else if (final === "n" && values[0] === 6)
			this.report(6);
		else if (final === "J")
			this.eraseDisplay(values[0]);
		else if (final === "K")
			this.eraseLine(values[0]);
	}

	softReset() {
		this.attributes = PLAIN;
		this.modes.cursorShown = this.modes.wrap = true;
		this.modes.origin = this.modes.insert = this.modes.applicationCursor = false;
		this.sets = ["B", "B"];
		this.set = 0;
		this.top = 0;
		this.bottom = this.rows - 1;
	}

	setModes(values, on) {
		if (values.includes(4))
			this.modes.insert = on;
		if (values.includes(20))
			this.modes.newline = on;
	}

	setPrivateMode(value, on) {
		switch (value) {
		case 1: this.modes.applicationCursor = on; break;
		case 6: this.modes.origin = on; this.place(0, 0); break;
		case 7: this.modes.wrap = on; break;
		case 25: this.modes.cursorShown = on; break;
		case 47: case 1047: this.other(on); break;
		case 1004: this.modes.focusTold = on; break;
		case 1048: on ? this.save() : this.restore(); break;
		case 1049:
			if (on)
				this.save();
			this.other(on);
			if (!on)
				this.restore();
			break;
		case 2004: this.modes.bracketedPaste = on; break;
		}
	}

	save() {
		this.saved[this.inMain ? "main" : "other"] = { row: this.row, column: this.column,
			attributes: this.attributes, sets: [...this.sets], set: this.set, origin: this.modes.origin,
			wrapPending: this.wrapPending };
	}

	restore() {
		const saved = this.saved[this.inMain ? "main" : "other"] || { row: 0, column: 0, attributes: PLAIN,
			sets: ["B", "B"], set: 0, origin: false, wrapPending: false };
		this.attributes = saved.attributes;
		this.sets = [...saved.sets];
		this.set = saved.set;
		this.modes.origin = saved.origin;
		this.moveTo(saved.row, saved.column);
		this.wrapPending = saved.wrapPending;
	}

	report(what) {
		if (what === 5)
			this.answer("\x1b[0n");
		else if (what === 6)
			this.answer(`\x1b[${this.row + 1 - (this.modes.origin ? this.top : 0)};${this.column + 1}R`);
	}

	setAttributes(parameters) {
		/* 38:2::r:g:b is equivalent to 38;2;r;g;b. */
		const values = parameters.replace(/([34]8):2:[0-9]*:([0-9]+:[0-9]+:[0-9]+)/g, "$1:2:$2")
			.split(/[;:]/).map((text) => parseInt(text, 10) || 0);
		let next = { ...this.attributes };
		const styles = new Set(next.style.split(" ").filter(Boolean));
		for (let i = 0; i < values.length; i++) {
			const value = values[i];
			if (value === 0) {
				next = { ...PLAIN };
				styles.clear();
			} else if (STYLES[value]) {
				styles.add(STYLES[value]);
			} else if (STYLE_ENDS[value]) {
				STYLE_ENDS[value].forEach((style) => styles.delete(style));
			} else if (value === 38 || value === 48) {
				const name = value === 38 ? "ink" : "ground";
				if (values[i + 1] === 5) {
					next[name] = colour(Math.min(values[i + 2] || 0, 255));
					i += 2;
				} else if (values[i + 1] === 2) {
					const parts = [2, 3, 4].map((at) => Math.min(values[i + at] || 0, 255));
					next[name] = `rgb(${parts})`;
					i += 4;
				}
			} else {
				this.setBasicColour(next, value);
			}
		}
		next.style = [...styles].sort().join(" ");
		this.attributes = Object.freeze(next);
	}

	setBasicColour(attributes, value) {
		if (value >= 30 && value <= 37)
			attributes.ink = colour(value - 30);
		else if (value === 39)
			attributes.ink = null;
		else if (value >= 40 && value <= 47)
			attributes.ground = colour(value - 40);
		else if (value === 49)
			attributes.ground = null;
		else if (value >= 90 && value <= 97)
			attributes.ink = colour(value - 82);
		else if (value >= 100 && value <= 107)
			attributes.ground = colour(value - 92);
	}
}

if (typeof module === "undefined")
	globalThis.shellScreen = { Screen };
else
	module.exports = { Screen };
})();
