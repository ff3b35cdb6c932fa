// SPDX-License-Identifier: Apache-2.0
// Reads answers that do not end, such as a log or the changes of jobs, and polls others. Both stop while the tab is in
// the background.
import {Refused, send} from "./api.js";

// Long work is interrupted every BUSY_MS, to let other tasks of the page run. The browser hands over up to 2 MiB of an
// answer at once; the time is checked after each PART characters of that.
const BUSY_MS = 5, PART = 16 * 1024;
const SOON_MS = 200, RETRY_MS = 2000; // pauses after a first failure, which is usually over soon, and after later ones
let begun = 0; // when others were let in last

export const isBusy = () => performance.now() - begun > BUSY_MS;

export async function letIn() {
	await (globalThis.scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve)));
	begun = performance.now();
}

// Yields arrays of objects as they arrive, from an answer with one JSON object on each line.
export async function* lines(path, signal) {
	const reader = (await send("GET", path, undefined, signal)).body.getReader(), decoder = new TextDecoder();
	let text = "";

	for (;;) {
		const {value, done} = await reader.read();

		if (done)
			break;
		text += decoder.decode(value, {stream: true});
		// Data that are there already arrive without a pause, so all of them would be one long task.
		for (let at = 0, end = text.indexOf("\n"); ;) {
			const batch = [], from = at;

			for (; end >= 0 && at - from < PART; at = end + 1, end = text.indexOf("\n", at))
				if (end > at)
					batch.push(JSON.parse(text.slice(at, end)));
			if (at === from) {
				text = text.slice(at);
				break;
			}
			if (batch.length)
				yield batch;
			if (isBusy())
				await letIn();
		}
	}
	if (text.trim())
		yield [JSON.parse(text)];
}

// Follows an answer of lines. where(): the URL that continues after the last line that was taken. take(batch): returns
// whether that was everything. broke(problem, isRefused): called when the connection broke twice in a row or the
// request was refused; may return that this is the end. Returns a function that stops it.
export function follow(where, take, broke) {
	let reading = null, timer = 0, failed = 0, over = false;

	async function read() {
		const mine = reading = new AbortController();

		try {
			for await (const batch of lines(where(), mine.signal)) {
				if (reading !== mine) // it was ended meanwhile, and is read on from before these lines
					return;
				failed = 0;
				over = Boolean(take(batch));
			}
		} catch (problem) {
			if (reading !== mine)
				return;
			if (failed++ || problem instanceof Refused)
				over = Boolean(broke(problem, problem instanceof Refused));
		}
		reading = null;
		if (!over)
			timer = setTimeout(look, failed === 1 ? SOON_MS : RETRY_MS);
	}

	function look() {
		clearTimeout(timer);
		if (over || document.hidden) {
			reading?.abort();
			reading = null;
		} else if (!reading) {
			read();
		}
	}

	document.addEventListener("visibilitychange", look);
	look();
	return () => {
		over = true;
		look();
		document.removeEventListener("visibilitychange", look);
	};
}

// Calls `look` now and every `ms` while the tab is visible. Returns a function that stops it.
export function every(ms, look) {
	let timer = 0, ended = false, busy = false;
	const turn = async () => {
		clearTimeout(timer);
		if (ended || busy || document.hidden)
			return;
		busy = true;
		await look();
		busy = false;
		if (!ended)
			timer = setTimeout(turn, ms);
	};

	document.addEventListener("visibilitychange", turn);
	turn();
	return () => {
		ended = true;
		clearTimeout(timer);
		document.removeEventListener("visibilitychange", turn);
	};
}
