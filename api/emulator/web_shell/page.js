/* SPDX-License-Identifier: Apache-2.0 */
/* The page around a terminal: what is printed comes as one long answer, what is typed goes in requests. */
"use strict";

(() => {
const { Screen } = globalThis.shellScreen;

const RESIZE_DELAY_MS = 150;

const element = (id) => document.getElementById(id);
const terminal = element("terminal"), history = element("history"), shown = element("screen");
const keyboard = element("keyboard"), notice = element("notice");

/* ---- drawing ---- */

function spanOf(run) {
	const span = document.createElement("span");
	const { ink, ground, style } = run.attributes;
	const styles = style.split(" ").filter(Boolean);
	const inverse = styles.includes("inverse");
	span.textContent = run.text;
	span.className = styles.filter((name) => name !== "inverse")
		.concat(run.cursor ? ["cursor"] : [], run.wide ? ["wide"] : []).join(" ");
	const front = inverse ? ground || "var(--ground)" : ink;
	const back = inverse ? ink || "var(--ink)" : ground;
	if (front)
		span.style.color = front;
	if (back)
		span.style.backgroundColor = back;
	return span;
}

function lineOf(screen, line, cursorColumn) {
	const div = document.createElement("div");
	div.className = "line";
	div.append(...screen.runs(line, cursorColumn).map(spanOf));
	return div;
}

class Drawing {
	constructor(screen) {
		this.screen = screen;
		this.kept = 0; /* lines of history drawn so far, the dropped ones included */
		this.due = false;
		history.replaceChildren();
	}

	soon() {
		if (!this.due)
			requestAnimationFrame(() => this.draw());
		this.due = true;
	}

	draw() {
		const { screen } = this;
		const atEnd = terminal.scrollHeight - terminal.scrollTop - terminal.clientHeight < 40;
		this.due = false;
		this.drawHistory();
		history.hidden = !screen.inMain;
		shown.replaceChildren(...screen.lines.map((line, row) =>
			lineOf(screen, line, screen.modes.cursorShown && row === screen.row ? screen.column : -1)));
		document.title = screen.title || "Interactive shell";
		if (atEnd)
			terminal.scrollTop = terminal.scrollHeight;
	}

	drawHistory() {
		const { screen } = this;
		const total = screen.dropped + screen.history.length;
		if (total < this.kept)
			this.kept = screen.dropped;
		for (let at = Math.max(this.kept, screen.dropped); at < total; at++)
			history.append(lineOf(screen, screen.history[at - screen.dropped], -1));
		while (history.childElementCount > screen.history.length)
			history.firstElementChild.remove();
		this.kept = total;
	}
}

/* Columns and rows that fit. */
function sizeNow() {
	const letter = element("measure").getBoundingClientRect();
	const style = getComputedStyle(terminal);
	const inside = (side, first, second) => side - parseFloat(style[first]) - parseFloat(style[second]);
	const columns = Math.floor(inside(terminal.clientWidth, "paddingLeft", "paddingRight") / (letter.width / 20));
	const rows = Math.floor(inside(terminal.clientHeight, "paddingTop", "paddingBottom") /
		(parseFloat(style.fontSize) * 1.25));
	const within = (value, least) => Math.max(least, Math.min(value || least, 500));
	return { columns: within(columns, 20), rows: within(rows, 5) };
}

/* ---- talking ---- */

function randomId() {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function reasonOf(response) {
	try {
		return (await response.json()).error.message;
	} catch {
		return `The daemon answered ${response.status}.`;
	}
}

/* As much of @text as one request may have, in whole characters. */
function pieceOf(text) {
	const most = 16384, splits = text.codePointAt(most - 1) > 0xffff;
	return text.slice(0, splits ? most - 1 : most);
}

class Session {
	constructor() {
		this.id = randomId();
		this.size = sizeNow();
		this.screen = new Screen(this.size.columns, this.size.rows, (text) => this.type(text));
		this.drawing = new Drawing(this.screen);
		this.typed = "";
		this.sending = false;
		this.open = false;
	}

	url(what, more) {
		return `${what}?${new URLSearchParams({ session: this.id, ...more })}`;
	}

	async run() {
		notice.textContent = "Opening a shell…";
		const response = await fetch(this.url("output", this.size), { cache: "no-store" });
		if (!response.ok)
			throw new Error(await reasonOf(response));
		notice.textContent = "";
		this.open = true;
		this.resize();
		this.send();
		for (const reader = response.body.getReader(); ;) {
			const { done, value } = await reader.read();
			if (done)
				return;
			this.screen.write(value);
			this.drawing.soon();
		}
	}

	type(text) {
		this.typed += text;
		this.send();
	}

	/* One request at a time: what is typed keeps its order. */
	async send() {
		if (this.sending || !this.open)
			return;
		this.sending = true;
		while (this.typed && this.open) {
			const piece = pieceOf(this.typed);
			this.typed = this.typed.slice(piece.length);
			await this.post("input", {}, piece);
		}
		this.sending = false;
	}

	async post(what, more, body) {
		try {
			const response = await fetch(this.url(what, more), { method: "POST", body });
			if (!response.ok && this.open)
				notice.textContent = await reasonOf(response);
		} catch {
			/* the answer that is being read ends as well, and says it */
		}
	}

	resize() {
		const size = sizeNow();
		if (size.columns === this.screen.columns && size.rows === this.screen.rows)
			return;
		this.size = size;
		this.screen.resize(size.columns, size.rows);
		this.drawing.soon();
		if (this.open)
			this.post("resize", size);
	}
}

let session = null;

async function start() {
	let why = "The shell has ended.";
	session = new Session();
	keyboard.focus();
	try {
		await session.run();
	} catch (error) {
		why = error instanceof TypeError ? "The connection to trainyard was lost." : error.message;
	}
	session.open = false;
	const again = document.createElement("button");
	again.textContent = "Open another one";
	again.addEventListener("click", start);
	notice.replaceChildren(why, again);
}

/* ---- typing ---- */

/* Source: xterm's control sequences, "PC-Style Function Keys" */
const KEYS = {
	ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D", Home: "H", End: "F",
	F1: "P", F2: "Q", F3: "R", F4: "S",
};
const NUMBERED = { Insert: 2, Delete: 3, PageUp: 5, PageDown: 6, F5: 15, F6: 17, F7: 18, F8: 19, F9: 20, F10: 21, F11: 23, F12: 24 };
const SIMPLE = { Enter: "\r", Backspace: "\x7f", Tab: "\t", Escape: "\x1b" };

/* What a key sends, or null when the browser is to do with it what it does. */
function keyText(event) {
	const modifier = 1 + event.shiftKey + 2 * event.altKey + 4 * event.ctrlKey;
	if (event.isComposing || event.metaKey)
		return null;
	if (event.key in KEYS) {
		if (modifier > 1)
			return `\x1b[1;${modifier}${KEYS[event.key]}`;
		const functionKey = event.key[0] === "F";
		return (session.screen.modes.applicationCursor || functionKey ? "\x1bO" : "\x1b[") + KEYS[event.key];
	}
	if (event.key in NUMBERED)
		return `\x1b[${NUMBERED[event.key]}${modifier > 1 ? `;${modifier}` : ""}~`;
	if (event.key === "Tab" && event.shiftKey)
		return "\x1b[Z";
	if (event.key in SIMPLE)
		return (event.altKey ? "\x1b" : "") + SIMPLE[event.key];
	return [...event.key].length === 1 ? characterText(event) : null;
}

function characterText(event) {
	const altGraph = event.getModifierState("AltGraph");
	if (event.ctrlKey && !event.shiftKey && !altGraph)
		return controlText(event);
	if (event.altKey && !event.ctrlKey && !altGraph && event.key.charCodeAt(0) < 0x80)
		return "\x1b" + event.key;
	return null;
}

/* Ctrl+C copies while something is selected; Ctrl+V pastes. */
function controlText(event) {
	const key = event.key.toUpperCase();
	if (key === "V" || (key === "C" && !getSelection().isCollapsed))
		return null;
	if (key >= "@" && key <= "_")
		return String.fromCharCode(key.charCodeAt(0) - 0x40);
	return { " ": "\0", "2": "\0", "/": "\x1f", "?": "\x7f" }[key] ?? null;
}

keyboard.addEventListener("keydown", (event) => {
	const text = keyText(event);
	if (text === null)
		return;
	event.preventDefault();
	session.type(text);
});

function typedTake() {
	const text = keyboard.value;
	keyboard.value = "";
	if (text)
		session.type(text.replace(/\r?\n/g, "\r"));
}

keyboard.addEventListener("input", (event) => {
	if (!event.isComposing)
		typedTake();
});
keyboard.addEventListener("compositionend", typedTake);

keyboard.addEventListener("paste", (event) => {
	/* Nothing that is pasted may look like the end of what is pasted. */
	const text = event.clipboardData.getData("text/plain").replace(/\r?\n/g, "\r").replace(/\x1b/g, "");
	event.preventDefault();
	session.type(session.screen.modes.bracketedPaste ? `\x1b[200~${text}\x1b[201~` : text);
});

for (const [name, mark] of [["focus", "I"], ["blur", "O"]])
	keyboard.addEventListener(name, () => {
		terminal.classList.toggle("focused", mark === "I");
		if (session && session.screen.modes.focusTold)
			session.type(`\x1b[${mark}`);
	});

terminal.addEventListener("mouseup", () => {
	if (getSelection().isCollapsed)
		keyboard.focus({ preventScroll: true });
});

let resizing = 0;
addEventListener("resize", () => {
	clearTimeout(resizing);
	resizing = setTimeout(() => session.resize(), RESIZE_DELAY_MS);
});

start();
})();
