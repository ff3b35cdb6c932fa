/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the terminal of the web shell without the page: node tests/unit/api/emulator/test_screen.js */
"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const { Screen } = require("../../../../api/emulator/web_shell/screen.js");
const { HISTORY_MAX } = require("../../../../api/emulator/web_shell/grid.js");

function screenOf(text, columns = 10, rows = 4) {
	const answers = [];
	const screen = new Screen(columns, rows, (answer) => answers.push(answer));
	screen.answers = answers;
	write(screen, text);
	return screen;
}

function write(screen, text) {
	screen.write(new TextEncoder().encode(text));
}

const E = "\x1b";
const CASES = [
	// name of the test, printed bytes, shown text, row and column of the cursor
	["text", "abc", "abc", 0, 3],
	["line ends", "a\r\nb\nc", "a\nb\n c", 2, 2],
	["backspace", "abc\b\bX", "aXc", 0, 2],
	["tabs", "a\tb\tc", "a       bc", 0, 9],
	["a long line goes on below", "0123456789ab", "0123456789\nab", 1, 2],
	["the last column waits", "0123456789", "0123456789", 0, 9],
	["the last column waits, then returns", "0123456789\rX", "X123456789", 0, 1],
	["without wrapping", `${E}[?7l0123456789ab`, "012345678b", 0, 9],
	["scrolling", "1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5", 3, 1],
	["places", `${E}[2;3Hx${E}[Hy${E}[4dz`, "y\n  x\n\n z", 3, 2],
	["places out of reach", `${E}[99;99Hx`, "\n\n\n         x", 3, 9],
	["moves", `abc${E}[2Dx${E}[1By${E}[Az`, "axcz\n  y", 0, 4],
	["moves stop at the edges", `${E}[99A${E}[99Dx${E}[99B${E}[99Cy`, "x\n\n\n         y", 3, 9],
	["columns", `abc${E}[2Gx${E}[5\`y`, "axc y", 0, 5],
	["erasing to the end of the line", `abcdef${E}[3D${E}[K`, "abc", 0, 3],
	["erasing to the start of the line", `abcdef${E}[3D${E}[1Kx`, "   xef", 0, 4],
	["erasing the line", `abcdef${E}[2K`, "", 0, 6],
	["erasing below", `1\r\n2\r\n3${E}[2;1H${E}[J`, "1", 1, 0],
	["erasing above", `1\r\n2\r\n3${E}[2;1H${E}[1J`, "\n\n3", 1, 0],
	["erasing all", `1\r\n2${E}[2J`, "", 1, 1],
	["erasing some", `abcdef${E}[H${E}[2X`, "  cdef", 0, 0],
	["inserting", `abc${E}[H${E}[2@`, "  abc", 0, 0],
	["inserting while typing", `abc${E}[H${E}[4hxy${E}[4lz`, "xyzbc", 0, 3],
	["deleting", `abcdef${E}[H${E}[2P`, "cdef", 0, 0],
	["inserting lines", `1\r\n2\r\n3${E}[2H${E}[L`, "1\n\n2\n3", 1, 0],
	["deleting lines", `1\r\n2\r\n3${E}[1H${E}[2M`, "3", 0, 0],
	["a region scrolls by itself", `1\r\n2\r\n3\r\n4${E}[2;3r${E}[3;1H\nx`, "1\n3\nx\n4", 2, 1],
	["a region scrolls back", `1\r\n2\r\n3\r\n4${E}[2;3r${E}[2;1H${E}Mx`, "1\nx\n2\n4", 1, 1],
	["the region as origin", `${E}[2;3r${E}[?6hx${E}[9;1Hy`, "\nx\ny", 2, 1],
	["scrolling up and down", `1\r\n2\r\n3${E}[2S${E}[T`, "\n3", 2, 1],
	["saved and restored", `ab${E}7\r\ncd${E}8x`, "abx\ncd", 0, 3],
	["the other screen", `ab${E}[?1049hcd\r\nef${E}[?1049lx`, "abx", 0, 3],
	["lines and corners", `${E}(0lqk${E}(Bq`, "┌─┐q", 0, 4],
	["shifted sets", `${E})0q\x0eq\x0fq`, "q─q", 0, 3],
	["titles are not shown", `a${E}]0;a title\x07b${E}]2;t${E}\\c`, "abc", 0, 3],
	["other strings are not shown", `a${E}P1$r0m${E}\\b${E}_x${E}\\c`, "abc", 0, 3],
	["unknown sequences are not shown", `a${E}[?12345hb${E}[>4;2mc${E}[1;2yd${E}#3e${E}%Gf`, "abcdef", 0, 6],
	["a sequence that is given up", `a${E}[12\x18b`, "ab", 0, 2],
	["repeated", `a${E}[3b`, "aaaa", 0, 4],
	["wide characters", "日本x", "日本x", 0, 5],
	["a wide character at the edge", "012345678日", "012345678\n日", 1, 2],
	["half a wide character", `日本${E}[2GX`, " X本", 0, 2],
	["combining marks", "e\u0301x", "e\u0301x", 0, 2],
	["marks without end", `x${"\u0301".repeat(99)}y`, `x${"\u0301".repeat(15)}y`, 0, 2],
	["all Es", `${E}#8${E}[2J${E}[Hx`, "x", 0, 1],
	["full reset", `abc${E}[31m${E}[2;3r${E}cx`, "x", 0, 1],
	["tab stops of one's own", `${E}[3g${E}[4G${E}H\ra\tb${E}[Zc`, "a  c", 0, 4],
];

for (const [name, input, shown, row, column] of CASES) {
	test(name, () => {
		const screen = screenOf(input);
		assert.strictEqual(screen.text(), shown);
		assert.deepStrictEqual([screen.row, screen.column], [row, column]);
	});
	test(`${name}, byte by byte`, () => {
		const screen = screenOf("");
		for (const byte of new TextEncoder().encode(input))
			screen.write(Uint8Array.of(byte));
		assert.strictEqual(screen.text(), shown);
	});
}

test("colours and styles", () => {
	const cases = [
		["1;31", { ink: "#e0555b", ground: null, style: "bold" }],
		["1;31;0", { ink: null, ground: null, style: "" }],
		["", { ink: null, ground: null, style: "" }],
		["38;5;16;48;5;231", { ink: "rgb(0,0,0)", ground: "rgb(255,255,255)", style: "" }],
		["38;2;1;2;999", { ink: "rgb(1,2,255)", ground: null, style: "" }],
		["38:2::1:2:3;4", { ink: "rgb(1,2,3)", ground: null, style: "underline" }],
		["7;9;27", { ink: null, ground: null, style: "strike" }],
		["97;100;39", { ink: null, ground: "#6b747d", style: "" }],
		["38;5", { ink: "#1d2329", ground: null, style: "" }],
	];
	for (const [parameters, attributes] of cases)
		assert.deepEqual({ ...screenOf(`\x1b[${parameters}mx`).lines[0][0].attributes }, attributes, parameters);
});

test("runs of cells that look alike", () => {
	const screen = screenOf("a\x1b[1mbc\x1b[0md");
	assert.deepEqual(screen.runs(screen.lines[0], 4).map((run) => [run.text, run.cursor]),
		[["a", false], ["bc", false], ["d", false], [" ", true]]);
	write(screen, "\x1b[41m\x1b[K");
	assert.strictEqual(screen.runs(screen.lines[0], -1).at(-1).text, "      ");
	assert.deepEqual(screen.runs(screen.lines[1], -1), []);
});

test("what the terminal is asked it answers", () => {
	assert.deepEqual(screenOf(`ab${E}[6n${E}[5n${E}[c${E}[>c`).answers,
		["\x1b[1;3R", "\x1b[0n", "\x1b[?1;2c", "\x1b[>0;276;0c"]);
});

test("modes that the keyboard asks for", () => {
	assert.strictEqual(screenOf(`${E}[?1h${E}[?2004h`).modes.applicationCursor, true);
	assert.strictEqual(screenOf(`${E}[?1;2004h${E}[?1;2004l`).modes.bracketedPaste, false);
	assert.strictEqual(screenOf(`${E}[?25l`).modes.cursorShown, false);
});

test("lines that scroll out are kept, up to a bound, but not those of full-screen programs", () => {
	const screen = screenOf("");
	for (let i = 0; i < HISTORY_MAX + 10; i++)
		write(screen, `${i}\r\n`);
	assert.strictEqual(screen.history.length, HISTORY_MAX);
	assert.strictEqual(screen.history.length + screen.dropped, HISTORY_MAX + 10 - 3);
	write(screen, `${E}[?1049h${"x\r\n".repeat(20)}`);
	assert.strictEqual(screen.history.length + screen.dropped, HISTORY_MAX + 10 - 3);
	write(screen, `${E}[?1049l${E}[H${E}[3M`);
	assert.strictEqual(screen.history.length, HISTORY_MAX);
	assert.strictEqual(screen.history.length + screen.dropped, HISTORY_MAX + 10 - 3);
	write(screen, `${E}[3J`);
	assert.strictEqual(screen.history.length, 0);
});

test("a title loses what controls", () => {
	assert.strictEqual(screenOf(`${E}]0;safe\x00<b>${E}\\`).title, "safe");
	assert.strictEqual(screenOf(`${E}]0;${"x".repeat(9999)}\x07`).title, "");
});

test("a new size keeps what is shown", () => {
	const screen = screenOf("1\r\n2\r\n3\r\n4 and more");
	screen.resize(3, 2);
	assert.strictEqual(screen.text(), "3\n4 a");
	assert.deepStrictEqual([screen.row, screen.column, screen.history.length], [1, 2, 2]);
	screen.resize(20, 6);
	write(screen, "\r\nx");
	assert.strictEqual(screen.text(), "3\n4 a\nx");
});

test("any bytes at all do no harm", () => {
	let seed = 1;
	const random = (limit) => (seed = (seed * 1103515245 + 12345) % 2147483648) % limit;
	const screen = screenOf("");
	for (let i = 0; i < 200000; i++) {
		screen.write(Uint8Array.of(random(4) ? random(256) : [0x1b, 0x5b, 0x3b, 0x48][random(4)]));
		if (random(1000) === 0)
			screen.resize(1 + random(30), 1 + random(20));
		assert.ok(screen.row >= 0 && screen.row < screen.rows && screen.column >= 0 && screen.column < screen.columns);
		assert.strictEqual(screen.lines.length, screen.rows);
	}
	for (const line of screen.lines)
		assert.strictEqual(line.length, screen.columns);
});
