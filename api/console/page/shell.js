// SPDX-License-Identifier: Apache-2.0
// A terminal in a replica, as a panel of its job's page.
import {call, send} from "./api.js";
import {el} from "./dom.js";
import "./grid.js";
import "./screen.js";
import "./terminal.js";

const {Terminal, Typing, randomId} = globalThis.shellTerminal;
const HEADER = 8, OUT = 1, EXIT = 3; // bytes before a frame's data; kinds of frames: see api/emulator/job_shell.h

// The frames of an answer as they come: {kind, data}.
async function* frames(answer) {
	let rest = new Uint8Array();

	for (const reader = answer.body.getReader(); ;) {
		const {value, done} = await reader.read();

		if (done)
			return;
		const whole = new Uint8Array(rest.length + value.length);
		let at = 0;

		whole.set(rest);
		whole.set(value, rest.length);
		for (let end; whole.length >= at + HEADER; at = end) {
			end = at + HEADER + new DataView(whole.buffer, at + 4).getUint32(0);
			if (end > whole.length)
				break;
			yield {kind: whole[at], data: whole.subarray(at + HEADER, end)};
		}
		rest = whole.subarray(at);
	}
}

// ask(verb): the address of the job's method. closed(): the panel is gone.
export class ShellPanel {
	constructor({replica, trial, ask, closed}) {
		const again = el("button", {hidden: true, "data-key": "again", on: {click: () => this.open()}}, "Open another one"), place = el("div");

		Object.assign(this, {replica, trial, ask, closed, again});
		this.close = this.close.bind(this);
		this.said = el("span", {class: "soft", role: "status"});
		this.closing = el("button", {on: {click: this.close}, "aria-label": `Close the terminal in ${replica}`}, "Close");
		this.node = el("section", {class: "card shell", "aria-label": `Terminal in ${replica}`}, el("link", {rel: "stylesheet", href: "/_trainyard/console/terminal.css"}),
			el("div", {class: "row"}, el("h2", {}, "Terminal in ", el("span", {class: "mono"}, replica)), this.said, el("span", {class: "grow"}),
				el("span", {class: "soft small"}, el("kbd", {}, "Ctrl"), " ", el("kbd", {}, "F6"), " leaves it"), again, this.closing), place);
		this.session = null;
		// A browser may keep a page that was left, with its requests.
		this.leave = () => this.session?.ended.abort();
		addEventListener("pagehide", this.leave);
		this.terminal = new Terminal(place, {type: (text) => this.session?.typing.type(text), left: () => this.closing.focus(),
			resized: (size) => this.session?.typing.open && this.#post(this.session, "resize", size)});
	}

	async #post({id, typing}, verb, query, piece) {
		await call("POST", `/_trainyard/v1/shells/${id}:${verb}?${new URLSearchParams(query)}`, piece === undefined ? undefined : new Blob([piece]))
			.catch((problem) => { if (typing.open) this.said.textContent = problem.message; });
	}

	// Runs a shell until it ends. What an earlier one has printed stays above.
	async open() {
		const {terminal} = this, {size, screen} = terminal, ended = new AbortController(), id = randomId();
		const session = this.session = {id, ended, typing: new Typing((piece) => this.#post(session, "input", {}, piece))};
		let why = "The shell has ended.", code = null;

		this.again.hidden = true;
		this.said.textContent = "Opening a shell…";
		screen.softReset();
		screen.setPrivateMode(2004, false);
		screen.setPrivateMode(1004, false);
		if (!screen.inMain)
			screen.setPrivateMode(1049, false);
		if (screen.text())
			terminal.write(new TextEncoder().encode("\x1b[m\r\n"));
		terminal.focus();
		try {
			const body = {session: id, replica: this.replica, terminal: true, ...size, ...(this.trial && {trial: Number(this.trial)})};

			for await (const {kind, data} of frames(await send("POST", this.ask(":shell"), body, ended.signal))) {
				if (kind === OUT) {
					terminal.write(data);
				} else if (kind === EXIT) {
					code = new TextDecoder().decode(data);
				} else {
					this.said.textContent = "";
					session.typing.open = true;
					if (terminal.size !== size)
						this.#post(session, "resize", terminal.size);
					session.typing.type("");
				}
			}
			if (code !== null)
				why = `The shell has ended with exit code ${code}.`;
		} catch (problem) {
			why = ended.signal.aborted ? why : problem instanceof TypeError || session.typing.open ? "The connection broke off, and the shell ended with it." : problem.message;
		}
		session.typing.open = false;
		this.said.textContent = why;
		this.again.hidden = false;
	}

	// Its program ends with the request that reads its output.
	close() {
		removeEventListener("pagehide", this.leave);
		this.leave();
		this.terminal.close();
		this.node.remove();
		this.closed();
	}
}
