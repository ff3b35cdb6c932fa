// SPDX-License-Identifier: Apache-2.0
// The terminal of a replica, as a panel of the job's page.
import {call, lastWord, Refused, send} from "./api.js";
import {el} from "./dom.js";
import "./grid.js";
import "./screen.js";
import "./terminal.js";

const {Terminal, Typing, randomId} = globalThis.shellTerminal;
const KEEP_S = 60, HEADER = 8, OUT = 1, EXIT = 3; // bytes before a frame's data; kinds of frames: see api/emulator/job_shell.h

// Yields the frames of an answer as they arrive: {kind, data}.
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

const shells = (id, verb, query = {}) => `/_trainyard/v1/shells/${id}:${verb}?${new URLSearchParams(query)}`;

// A program in a replica. It continues while the connection is lost, and is ended after KEEP_S seconds of that.
class Session {
	// open(session): the request that starts it. Callbacks: out(bytes); opened(lost): input is accepted, and lost
	// bytes of its output are missing; broke(problem).
	constructor({open, out, opened, broke}) {
		Object.assign(this, {open, out, opened, broke, id: randomId(), ended: new AbortController(), over: false, code: null, read: 0, typed: 0});
		this.typing = new Typing((piece) => this.#type(new Blob([piece])));
	}

	// Resolves at the end of the program, to the text that is shown about its end.
	async run() {
		let ask = () => this.open(this), lost = 0; // since when

		for (;;) {
			try {
				await this.#take(await ask(), () => { lost = 0; });
				break;
			} catch (problem) {
				lost ||= performance.now();
				this.over = this.ended.signal.aborted || !this.typing.open || problem instanceof Refused || performance.now() - lost > KEEP_S * 1000;
				if (this.over)
					return this.#ends(this.ended.signal.aborted || (this.typing.open && problem instanceof Refused) ? "The shell has ended."
						: this.typing.open ? "The connection broke off for too long, and the shell has ended." : problem.message);
				this.broke(problem);
				ask = () => send("GET", shells(this.id, "output", {offset: this.read}), undefined, this.ended.signal);
			}
		}
		return this.#ends(this.code === null ? "The shell has ended." : `The shell has ended with exit code ${this.code}.`);
	}

	#ends(why) {
		this.over = true;
		this.typing.open = false;
		return why;
	}

	async #take(answer, came) {
		for await (const {kind, data} of frames(answer)) {
			came();
			if (kind === OUT) {
				this.read += data.length;
				this.out(data);
			} else if (kind === EXIT) {
				this.code = new TextDecoder().decode(data);
			} else {
				const at = Number(new TextDecoder().decode(data)), gone = at - this.read;

				this.read = at;
				this.typing.open = true;
				this.opened(gone);
				this.typing.type("");
			}
		}
	}

	// Sends typed input exactly once, even if connections break.
	async #type(piece) {
		while (!this.over) {
			try {
				await call("POST", shells(this.id, "input", {offset: this.typed}), piece);
				this.typed += piece.size;
				return;
			} catch (problem) {
				this.broke(problem);
				if (problem instanceof Refused)
					return;
			}
		}
	}

	resize(size) {
		if (this.typing.open)
			call("POST", shells(this.id, "resize", size)).catch(this.broke);
	}

	end() {
		if (!this.over)
			lastWord(shells(this.id, "end"));
		this.ended.abort();
	}
}

// ask(verb): the URL of the job's method. closed(): the panel was closed.
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
		// A browser may keep a page that the user left, with its requests.
		this.leave = () => this.session?.end();
		addEventListener("pagehide", this.leave);
		this.terminal = new Terminal(place, {type: (text) => this.session?.typing.type(text), left: () => this.closing.focus(), resized: (size) => this.session?.resize(size)});
	}

	// Runs a shell until it ends. The output of an earlier one remains above.
	async open() {
		const {terminal} = this, {size, screen} = terminal, print = (text) => terminal.write(new TextEncoder().encode(text));
		const session = this.session = new Session({
			open: ({id, ended}) => send("POST", this.ask(":shell"), {session: id, replica: this.replica, terminal: true, keepSeconds: KEEP_S, ...size, ...(this.trial && {trial: Number(this.trial)})}, ended.signal),
			out: (bytes) => terminal.write(bytes),
			opened: (lost) => {
				this.said.textContent = "";
				if (lost)
					print(`\x1b[m\r\n(${lost} bytes were lost with the connection)\r\n`);
				if (terminal.size !== size)
					session.resize(terminal.size);
			},
			broke: (problem) => { this.said.textContent = problem instanceof Refused ? problem.message : "The connection is lost and is opened again…"; },
		});

		this.again.hidden = true;
		this.said.textContent = "Opening a shell…";
		screen.softReset();
		screen.setPrivateMode(2004, false);
		screen.setPrivateMode(1004, false);
		if (!screen.inMain)
			screen.setPrivateMode(1049, false);
		if (screen.text())
			print("\x1b[m\r\n");
		terminal.focus();
		this.said.textContent = await session.run();
		this.again.hidden = false;
	}

	close() {
		removeEventListener("pagehide", this.leave);
		this.leave();
		this.terminal.close();
		this.node.remove();
		this.closed();
	}
}
