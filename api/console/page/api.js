// SPDX-License-Identifier: Apache-2.0
// Calls the daemon by the same public API that scripts use.

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

// Browsers abort all requests when a network is made or removed, as with each job. Requests that change nothing, or
// have no further effect when repeated, are repeated after these pauses. ask(lost): whether the answer to an earlier
// try was lost, so that the change may have been made already.
const PAUSES_MS = [100, 300, 700, 1500, 3000];

async function repeated(ask, signal) {
	for (let turn = 0; ; turn++) {
		try {
			return await ask(turn > 0);
		} catch (problem) {
			if (signal?.aborted || problem instanceof Refused || turn === PAUSES_MS.length)
				throw problem;
		}
		await new Promise((resolve) => setTimeout(resolve, PAUSES_MS[turn]));
	}
}

const isRepeatable = (method, path) => method === "GET" || method === "DELETE" || /:(read|plan|cancel|input)\b/.test(path) || path.startsWith("/upload/");

// headers: the token as Authorization, or a ticket with its attempt.
async function sessionBegin(headers) {
	const {proof} = await repeated(async () => (await checked(await fetch(SESSION, {method: "POST", headers}))).json());

	if (proof)
		localStorage.setItem(PROOF, proof);
}

export const signIn = (token) => sessionBegin({Authorization: `Bearer ${token}`});

export async function signOut() {
	localStorage.removeItem(PROOF);
	await repeated(() => fetch(SESSION, {method: "DELETE"}));
}

// A link may have the token, or a ticket for it, after "#". It is removed from the address bar before anything else
// happens.
export let refusal = ""; // why the token or ticket of the link was refused; "": it was not
const brought = new URLSearchParams(location.hash.slice(1)), token = brought.get("token"), ticket = brought.get("ticket");
if (token || ticket) {
	history.replaceState(null, "", location.pathname + location.search);
	const attempt = [...crypto.getRandomValues(new Uint32Array(4))].join("-"); // the same in each repetition: a ticket is good once
	await sessionBegin(token ? {Authorization: `Bearer ${token}`} : {"X-Trainyard-Ticket": ticket, "X-Trainyard-Attempt": attempt}).catch((problem) => { refusal = problem.message; });
}

// Makes one request. `body`: a Blob is sent as it is, any other value as JSON. `read`: reads the answer, during which
// the connection can break as well.
async function ask(method, path, {body, signal, headers = {}, read, lost = false, keepalive = false}) {
	const proof = localStorage.getItem(PROOF), whole = body === undefined || body instanceof Blob;
	const answer = await fetch((proof ? BEHIND : "") + path, {method, signal, keepalive, body: whole ? body : JSON.stringify(body), headers: {
		Accept: "application/json",
		"X-Trainyard-Console": "1", // reads with it are not listed among the last requests
		...(proof && {"X-Trainyard-Session": proof}),
		...(body !== undefined && {"Content-Type": whole ? body.type || "application/octet-stream" : "application/json"}),
		...headers}});

	if (answer.status === 401) { // the frame asks for the token, in the place of the page that asked
		dispatchEvent(new Event("trainyard-unknown"));
		return new Promise(() => {});
	}
	if (answer.status === 404 && method === "DELETE" && lost) // the request whose answer was lost has deleted it
		return read(new Response("{}"));
	return read(await checked(answer));
}

export async function send(method, path, body, signal, headers = {}, read = (answer) => answer) {
	const rest = {body, signal, headers, read};

	if (isRepeatable(method, path))
		return repeated((lost) => ask(method, path, {...rest, lost}), signal);
	return ask(method, path, rest).catch((problem) => {
		throw problem instanceof TypeError ? new Error("The connection broke off before the answer came. Look whether it was done before you do it again.") : problem;
	});
}

const json = (answer) => answer.json();

export function call(method, path, body, signal) {
	return send(method, path, body, signal, {}, json);
}

// For a request while the page is being closed: it is sent even after that.
export const lastWord = (path) => ask("POST", path, {keepalive: true, read: json}).catch(() => null);

export const get = (path, signal) => call("GET", path, undefined, signal);

// Creates a job in a collection, exactly once: if the answer is lost, looks for a job that was not in the collection
// before.
export async function create(path, body) {
	const listed = (page) => Object.values(page).find(Array.isArray) ?? [], newest = `${path}?pageSize=100`;
	const nameOf = (job) => job.name ?? job.jobId, known = new Set(listed(await get(newest)).map(nameOf));
	const isIt = (job) => !known.has(nameOf(job)) && job.displayName === body.displayName && (!body.jobId || job.jobId === body.jobId);

	return repeated(async (lost) => {
		const made = lost && listed(await ask("GET", newest, {read: json})).find(isIt);

		return made || ask("POST", path, {body, read: json});
	});
}
