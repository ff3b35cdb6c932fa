// SPDX-License-Identifier: Apache-2.0
// Asks the daemon, by the same public API that scripts have.

// A session is a cookie that no script reads, and this proof, which is sent with each request. The token itself is kept nowhere.
const PROOF = "trainyard-session", SESSION = "/_trainyard/console/session", BEHIND = "/_trainyard/console/api";

export class Refused extends Error {
	constructor(status, message) {
		super(message);
		this.status = status;
	}
}

async function checked(answer) {
	if (!answer.ok) {
		const told = await answer.json().catch(() => ({}));

		throw new Refused(answer.status, told.error?.message ?? `HTTP status ${answer.status}`);
	}
	return answer;
}

export const signedIn = () => Boolean(localStorage.getItem(PROOF));

// Browsers break off all requests when a network comes or goes, as it does with each job: what may be asked twice is asked again.
const PAUSES_MS = [100, 300, 700, 1500, 3000];

async function again(ask, signal) {
	for (const pause of PAUSES_MS) {
		try {
			return await ask();
		} catch (problem) {
			if (signal?.aborted || problem instanceof Refused)
				throw problem;
		}
		await new Promise((resolve) => setTimeout(resolve, pause));
	}
	return ask();
}

// It changes nothing, or the second time nothing more.
const isRepeatable = (method, path) => method === "GET" || method === "DELETE" || /:(read|plan|cancel)\b/.test(path) || path.startsWith("/upload/");

// headers: the token as Authorization, or a ticket with its attempt.
async function sessionBegin(headers) {
	const {proof} = await again(async () => (await checked(await fetch(SESSION, {method: "POST", headers}))).json());

	if (proof)
		localStorage.setItem(PROOF, proof);
}

export const signIn = (token) => sessionBegin({Authorization: `Bearer ${token}`});

export async function signOut() {
	localStorage.removeItem(PROOF);
	await again(() => fetch(SESSION, {method: "DELETE"}));
}

// A link may bring the token or a ticket for it behind "#". It leaves the address bar before anything else happens.
export let refusal = ""; // why what the link brought was not taken
const brought = new URLSearchParams(location.hash.slice(1)), token = brought.get("token"), ticket = brought.get("ticket");
if (token || ticket) {
	history.replaceState(null, "", location.pathname + location.search);
	const attempt = [...crypto.getRandomValues(new Uint32Array(4))].join("-"); // the same in each repetition: a ticket is good once
	await sessionBegin(token ? {Authorization: `Bearer ${token}`} : {"X-Trainyard-Ticket": ticket, "X-Trainyard-Attempt": attempt}).catch((problem) => { refusal = problem.message; });
}

// `body`: a Blob is sent as it is, any other value as JSON. `read`: reads the answer, which can break off as well.
export async function send(method, path, body, signal, more = {}, read = (answer) => answer) {
	const proof = localStorage.getItem(PROOF);
	const whole = body instanceof Blob, headers = {Accept: "application/json", "X-Trainyard-Console": "1", ...more}; // such reads are not listed among the last requests
	let lost = false;

	if (proof)
		headers["X-Trainyard-Session"] = proof;
	if (body !== undefined)
		headers["Content-Type"] = whole ? body.type || "application/octet-stream" : "application/json";
	const ask = async () => {
		const wasLost = lost;

		lost = true;
		const answer = await fetch((proof ? BEHIND : "") + path, {method, headers, signal, body: body === undefined || whole ? body : JSON.stringify(body)});

		if (answer.status === 401) { // the frame asks for the token, in the place of the page that asked
			dispatchEvent(new Event("trainyard-unknown"));
			return new Promise(() => {});
		}
		if (answer.status === 404 && method === "DELETE" && wasLost) // the request whose answer was lost has deleted it
			return read(new Response("{}"));
		return read(await checked(answer));
	};

	return isRepeatable(method, path) ? again(ask, signal) : ask().catch((problem) => {
		throw problem instanceof TypeError ? new Error("The connection broke off before the answer came. Look whether it was done before you do it again.") : problem;
	});
}

export function call(method, path, body, signal) {
	return send(method, path, body, signal, {}, (answer) => answer.json());
}

export const get = (path, signal) => call("GET", path, undefined, signal);

// Creates a job in a collection, once: when the answer is lost, the job may be there, as one that was not there before.
export async function create(path, body) {
	const newest = async () => Object.values(await get(`${path}?pageSize=100`)).find(Array.isArray) ?? [];
	const nameOf = (job) => job.name ?? job.jobId, known = new Set((await newest()).map(nameOf));
	const isIt = (job) => !known.has(nameOf(job)) && job.displayName === body.displayName && (!body.jobId || job.jobId === body.jobId);
	let lost = false;

	return again(async () => {
		const made = lost && (await newest()).find(isIt);

		lost = true;
		return made || call("POST", path, body);
	});
}

// A task of the browser is short: what takes longer lets others in between, at these times.
const BUSY_MS = 8, SLICE = 500;
let begun = 0; // when others were let in last

export const isBusy = () => performance.now() - begun > BUSY_MS;

export async function letIn() {
	await (globalThis.scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve)));
	begun = performance.now();
}

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
		// What is there already comes without a pause: all of it would be one task.
		for (let i = 0; i < whole.length; i += SLICE) {
			yield whole.slice(i, i + SLICE).filter(Boolean).map((line) => JSON.parse(line));
			if (isBusy())
				await letIn();
		}
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
