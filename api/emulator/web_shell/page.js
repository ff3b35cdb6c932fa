/* SPDX-License-Identifier: Apache-2.0 */
/* The page around a terminal: output is one long answer, input is sent in requests. */
"use strict";

(() => {
const { Terminal, Typing, randomId } = globalThis.shellTerminal;

const notice = document.getElementById("notice");
let session = null;

const terminal = new Terminal(document.getElementById("terminal"), {
	type: (text) => session?.typing.type(text),
	resized: (size) => session?.open && session.post("resize", size),
	drawn: (screen) => { document.title = screen.title || "Interactive shell"; },
});

async function reasonOf(response) {
	try {
		return (await response.json()).error.message;
	} catch {
		return `The daemon answered ${response.status}.`;
	}
}

class Session {
	constructor() {
		this.id = randomId();
		this.open = false;
		this.left = new AbortController();
		this.typing = new Typing((piece) => this.post("input", {}, piece));
	}

	url(what, more) {
		return `${what}?${new URLSearchParams({ session: this.id, ...more })}`;
	}

	async run() {
		const { size } = terminal;
		notice.textContent = "Opening a shell…";
		const response = await fetch(this.url("output", size), { cache: "no-store", signal: this.left.signal });
		if (!response.ok)
			throw new Error(await reasonOf(response));
		notice.textContent = "";
		this.open = this.typing.open = true;
		if (terminal.size !== size)
			this.post("resize", terminal.size);
		this.typing.type("");
		for (const reader = response.body.getReader(); ;) {
			const { done, value } = await reader.read();
			if (done)
				return;
			terminal.write(value);
		}
	}

	async post(what, more, body) {
		try {
			const response = await fetch(this.url(what, more), { method: "POST", body });
			if (!response.ok && this.open)
				notice.textContent = await reasonOf(response);
		} catch {
			/* the running answer ends as well, and its reader reports that */
		}
	}
}

async function start() {
	let why = "The shell has ended.";
	terminal.clear();
	session = new Session();
	terminal.focus();
	try {
		await session.run();
	} catch (error) {
		why = session.left.signal.aborted ? why : error instanceof TypeError ? "The connection to trainyard was lost." : error.message;
	}
	session.open = session.typing.open = false;
	const again = document.createElement("button");
	again.textContent = "Open another one";
	again.addEventListener("click", start);
	notice.replaceChildren(why, again);
}

/* A browser may keep a page that the user left, with its requests. */
addEventListener("pagehide", () => session.left.abort());
start();
})();
