// SPDX-License-Identifier: Apache-2.0
// The lines of a log, in arrays by column: a million objects would keep the garbage collector busy for too long at a
// time.
const ROOM = 4096; // lines, at first

function grown(column) {
	const more = new column.constructor(column.length * 2);

	more.set(column);
	return more;
}

export class Lines {
	constructor() {
		this.texts = [];
		this.kinds = []; // {severity, replica, trial, continues}: what many lines have in common; `continues`: it is not the first line of its entry
		this.known = new Map();
		this.last = -1; // the kind of the line that came last, and the second of its entry, as text and since 1970
		this.second = "";
		this.since = 0;
		this.kind = new Uint32Array(ROOM);
		this.seconds = new Float64Array(ROOM); // since 1970, of the entry
		this.nanos = new Uint32Array(ROOM);
	}

	get length() {
		return this.texts.length;
	}

	kindOf(number) {
		return this.kinds[this.kind[number]];
	}

	// The time in the API's form.
	timeOf(number) {
		return `${new Date(this.seconds[number] * 1000).toISOString().slice(0, 19)}.${String(this.nanos[number]).padStart(9, "0")}Z`;
	}

	// An entry with several lines becomes several lines; only the first has the time.
	add({time, severity, replica, trial, message = ""}) {
		const second = time.slice(0, 19), nanos = Number(time.slice(20, -1).padEnd(9, "0"));

		if (second !== this.second) { // many lines have the same
			this.second = second;
			this.since = Date.parse(`${second}Z`) / 1000;
		}
		if (!message.includes("\n")) {
			this.#push(message, this.#kind(severity, replica, trial, false), this.since, nanos);
			return;
		}
		message.split("\n").forEach((text, i) => {
			if (i === 0 || text)
				this.#push(text, this.#kind(severity, replica, trial, i > 0), this.since, nanos);
		});
	}

	#kind(severity, replica, trial, continues) {
		const last = this.kinds[this.last];

		if (last && last.severity === severity && last.replica === replica && last.trial === trial && last.continues === continues)
			return this.last;
		const name = `${severity} ${replica} ${trial} ${continues}`;

		if (!this.known.has(name))
			this.known.set(name, this.kinds.push({severity, replica, trial, continues}) - 1);
		this.last = this.known.get(name);
		return this.last;
	}

	#push(text, kind, seconds, nanos) {
		const number = this.length;

		if (number === this.kind.length)
			for (const column of ["kind", "seconds", "nanos"])
				this[column] = grown(this[column]);
		this.texts.push(text);
		this.kind[number] = kind;
		this.seconds[number] = seconds;
		this.nanos[number] = nanos;
	}
}
