// SPDX-License-Identifier: Apache-2.0
// Asks the daemon, by the same public API that scripts have.

// A link may bring the daemon's token behind "#token=": it stays in this tab, and leaves the address bar.
const brought = new URLSearchParams(location.hash.slice(1)).get("token");
if (brought) {
	sessionStorage.setItem("trainyard-token", brought);
	history.replaceState(null, "", location.pathname + location.search);
}

export class Refused extends Error {
	constructor(status, message) {
		super(message);
		this.status = status;
	}
}

// `body`: a Blob is sent as it is, any other value as JSON.
export async function send(method, path, body, signal, more = {}) {
	const token = sessionStorage.getItem("trainyard-token");
	const whole = body instanceof Blob, headers = {Accept: "application/json", ...more};

	if (token)
		headers.Authorization = `Bearer ${token}`;
	if (body !== undefined)
		headers["Content-Type"] = whole ? body.type || "application/octet-stream" : "application/json";
	const ask = () => fetch(path, {method, headers, signal, body: body === undefined || whole ? body : JSON.stringify(body)});
	// Browsers break off all requests when a network comes or goes, as it does with each job. What changes nothing is asked again.
	const answer = await ask().catch((problem) => (method === "GET" && !signal?.aborted ? ask() : Promise.reject(problem)));

	if (!answer.ok) {
		const told = await answer.json().catch(() => ({}));

		throw new Refused(answer.status, told.error?.message ?? `HTTP status ${answer.status}`);
	}
	return answer;
}

export async function call(method, path, body, signal) {
	return (await send(method, path, body, signal)).json();
}

export const get = (path, signal) => call("GET", path, undefined, signal);

// Arrays of objects as they come, of an answer with one JSON object a line.
export async function* lines(path, signal) {
	const reader = (await send("GET", path, undefined, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";

	for (;;) {
		const {value, done} = await reader.read();

		if (done)
			break;
		const whole = (rest + value).split("\n");
		rest = whole.pop();
		if (whole.length)
			yield whole.filter(Boolean).map((line) => JSON.parse(line));
	}
	if (rest.trim())
		yield [JSON.parse(rest)];
}

// Calls `look` now and every `ms` as long as the tab is seen; a tab in the background asks nothing. Returns what ends it.
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
