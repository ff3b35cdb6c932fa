/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal in a page: shows a screen (screen.js), and reports typed and pasted text. The page transports the
 * bytes. */
"use strict";

(() => {
const { Screen } = globalThis.shellScreen;

const RESIZE_DELAY_MS = 150;

/* ---- drawing ---- */

function element(tag, attributes) {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes))
		made.setAttribute(name, value);
	return made;
}

function spanOf(run) {
	const span = document.createElement("span");
	const { ink, ground, style } = run.attributes;
	const styles = style.split(" ").filter(Boolean);
	const inverse = styles.includes("inverse");
	span.textContent = run.text;
	span.className = styles.filter((name) => name !== "inverse").map((name) => `t-${name}`)
		.concat(run.cursor ? ["t-cursor"] : [], run.wide ? ["t-wide"] : []).join(" ");
	const front = inverse ? ground || "var(--t-ground)" : ink;
	const back = inverse ? ink || "var(--t-ink)" : ground;
	if (front)
		span.style.color = front;
	if (back)
		span.style.backgroundColor = back;
	return span;
}

function lineOf(screen, line, cursorColumn) {
	const div = element("div", { class: "t-line" });
	div.append(...screen.runs(line, cursorColumn).map(spanOf));
	return div;
}

/* ---- keys ---- */

/* Source: xterm's control sequences, "PC-Style Function Keys" */
const KEYS = {
	ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D", Home: "H", End: "F",
	F1: "P", F2: "Q", F3: "R", F4: "S",
};
const NUMBERED = { Insert: 2, Delete: 3, PageUp: 5, PageDown: 6, F5: 15, F6: 17, F7: 18, F8: 19, F9: 20, F10: 21, F11: 23, F12: 24 };
const SIMPLE = { Enter: "\r", Backspace: "\x7f", Tab: "\t", Escape: "\x1b" };

/* The bytes for a key, or null if the browser handles it. */
function keyText(event, modes) {
	const modifier = 1 + event.shiftKey + 2 * event.altKey + 4 * event.ctrlKey;
	if (event.isComposing || event.metaKey)
		return null;
	if (event.key in KEYS) {
		if (modifier > 1)
			return `\x1b[1;${modifier}${KEYS[event.key]}`;
		const functionKey = event.key[0] === "F";
		return (modes.applicationCursor || functionKey ? "\x1bO" : "\x1b[") + KEYS[event.key];
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

/* Ctrl+C copies while text is selected; Ctrl+V pastes. */
function controlText(event) {
	const key = event.key.toUpperCase();
	if (key === "V" || (key === "C" && !getSelection().isCollapsed))
		return null;
	if (key >= "@" && key <= "_")
		return String.fromCharCode(key.charCodeAt(0) - 0x40);
	return { " ": "\0", "2": "\0", "/": "\x1f", "?": "\x7f" }[key] ?? null;
}

/* ---- the terminal ---- */

class Terminal {
	/* Fills @node. type(text): text was typed. resized({ columns, rows }): the size has changed. drawn(screen): the
	 * screen was drawn. left(): the user has left the terminal with Ctrl+F6, the only key that is not sent to the
	 * program. */
	constructor(node, { type, resized, drawn = () => {}, left = () => {} }) {
		Object.assign(this, { node, type, resized, drawn, left });
		this.history = element("div", { "aria-hidden": "true" });
		this.shown = element("div", { role: "log", "aria-live": "off" });
		this.measure = element("span", { class: "t-measure", "aria-hidden": "true" });
		this.measure.textContent = "M".repeat(20);
		this.keyboard = element("textarea", { class: "t-keyboard", "aria-label": "Terminal input; Ctrl+F6 leaves it",
			autocapitalize: "off", autocomplete: "off", autocorrect: "off", spellcheck: "false" });
		node.classList.add("terminal");
		node.append(this.history, this.shown, this.measure, this.keyboard);
		this.#listen();
		this.clear();
	}

	close() {
		clearTimeout(this.resizing);
		this.observer.disconnect();
	}

	/* An empty screen of the size that fits. */
	clear() {
		this.size = this.#sizeNow();
		this.screen = new Screen(this.size.columns, this.size.rows, (text) => this.type(text));
		this.kept = 0; /* lines of history drawn so far, including dropped ones */
		this.history.replaceChildren();
		this.#soon();
	}

	write(bytes) {
		this.screen.write(bytes);
		this.#soon();
	}

	focus() {
		this.keyboard.focus({ preventScroll: true });
	}

	#soon() {
		if (!this.due)
			requestAnimationFrame(() => this.#draw());
		this.due = true;
	}

	#draw() {
		const { screen, node } = this;
		const atEnd = node.scrollHeight - node.scrollTop - node.clientHeight < 40;
		this.due = false;
		this.#drawHistory();
		this.history.hidden = !screen.inMain;
		this.shown.replaceChildren(...screen.lines.map((line, row) =>
			lineOf(screen, line, screen.modes.cursorShown && row === screen.row ? screen.column : -1)));
		this.drawn(screen);
		if (atEnd)
			node.scrollTop = node.scrollHeight;
	}

	#drawHistory() {
		const { screen, history } = this;
		const total = screen.dropped + screen.history.length;
		if (total < this.kept)
			this.kept = screen.dropped;
		for (let at = Math.max(this.kept, screen.dropped); at < total; at++)
			history.append(lineOf(screen, screen.history[at - screen.dropped], -1));
		while (history.childElementCount > screen.history.length)
			history.firstElementChild.remove();
		this.kept = total;
	}

	/* The columns and rows that fit. */
	#sizeNow() {
		const letter = this.measure.getBoundingClientRect();
		const style = getComputedStyle(this.node);
		const inside = (side, first, second) => side - parseFloat(style[first]) - parseFloat(style[second]);
		const columns = Math.floor(inside(this.node.clientWidth, "paddingLeft", "paddingRight") / (letter.width / 20));
		const rows = Math.floor(inside(this.node.clientHeight, "paddingTop", "paddingBottom") / (parseFloat(style.fontSize) * 1.25));
		const within = (value, least) => Math.max(least, Math.min(value || least, 500));
		return { columns: within(columns, 20), rows: within(rows, 5) };
	}

	#fit() {
		const size = this.#sizeNow();
		if (size.columns === this.screen.columns && size.rows === this.screen.rows)
			return;
		this.size = size;
		this.screen.resize(size.columns, size.rows);
		this.#soon();
		this.resized(size);
	}

	#take() {
		const text = this.keyboard.value;
		this.keyboard.value = "";
		if (text)
			this.type(text.replace(/\r?\n/g, "\r"));
	}

	#key(event) {
		event.stopPropagation(); /* the page around it handles keys, too */
		if (event.key === "F6" && event.ctrlKey) {
			event.preventDefault();
			this.keyboard.blur();
			this.left();
			return;
		}
		const text = keyText(event, this.screen.modes);
		if (text === null)
			return;
		event.preventDefault();
		this.type(text);
	}

	#paste(event) {
		/* Pasted text must not contain the sequence that ends a paste. */
		const text = event.clipboardData.getData("text/plain").replace(/\r?\n/g, "\r").replace(/\x1b/g, "");
		event.preventDefault();
		this.type(this.screen.modes.bracketedPaste ? `\x1b[200~${text}\x1b[201~` : text);
	}

	#listen() {
		const { node, keyboard } = this;
		keyboard.addEventListener("keydown", (event) => this.#key(event));
		keyboard.addEventListener("input", (event) => event.isComposing || this.#take());
		keyboard.addEventListener("compositionend", () => this.#take());
		keyboard.addEventListener("paste", (event) => this.#paste(event));
		for (const [name, mark] of [["focus", "I"], ["blur", "O"]])
			keyboard.addEventListener(name, () => {
				node.classList.toggle("t-focused", mark === "I");
				if (this.screen.modes.focusTold)
					this.type(`\x1b[${mark}`);
			});
		node.addEventListener("mouseup", () => getSelection().isCollapsed && this.focus());
		this.observer = new ResizeObserver(() => {
			clearTimeout(this.resizing);
			this.resizing = setTimeout(() => this.#fit(), RESIZE_DELAY_MS);
		});
		this.observer.observe(node);
	}
}

/* Sends typed text piece by piece, which keeps its order. send(piece): resolves once the piece has arrived. */
class Typing {
	constructor(send) {
		this.send = send;
		this.text = "";
		this.open = false; /* nothing is sent before */
		this.sending = false;
	}

	async type(text) {
		this.text += text;
		if (this.sending || !this.open)
			return;
		this.sending = true;
		while (this.text && this.open) {
			/* a piece ends with a whole character */
			const most = 16384, splits = this.text.codePointAt(most - 1) > 0xffff;
			const piece = this.text.slice(0, splits ? most - 1 : most);
			this.text = this.text.slice(piece.length);
			await this.send(piece);
		}
		this.sending = false;
	}
}

/* The id of a session. */
function randomId() {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

globalThis.shellTerminal = { Terminal, Typing, randomId };
})();
