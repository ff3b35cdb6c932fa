// SPDX-License-Identifier: Apache-2.0
// The page of one job: the reason of its state, its timeline, what it runs, and its log.
import {Refused, call, create, get} from "./api.js";
import {clusterView} from "./cluster.js";
import {ago, confirmed, copyButton, duration, el, facts, localTime, note, pullBar, refill, stateMark} from "./dom.js";
import {FAMILIES} from "./jobs.js";
import {LogView} from "./log.js";
import {nameField, namedAnew, resent, sentBody} from "./sent.js";
import {ShellPanel} from "./shell.js";
import {storageAddress} from "./storage.js";
import {every} from "./stream.js";
import {StudyView} from "./study.js";
import {submitDialog} from "./submit.js";
import {Timeline} from "./timeline.js";

const ENDED = ["SUCCEEDED", "FAILED", "CANCELLED"];
const LOOK_MS = 1500;

// The project "-" stands for any project.
export const jobPath = (job, verb = "") => `/_trainyard/v1/jobs/${encodeURIComponent(job.short ?? job.id)}${verb}?${job.project === "-" ? "" : `project=${encodeURIComponent(job.project)}`}`;

// Runs the same job again under a new name.
async function rerun(job) {
	const body = sentBody(job.family, await get(`/v1/${job.name}`)), member = nameField(job.family);

	body[member] = namedAnew(body[member] ?? "job");
	const made = await create(`/v1/${job.name.slice(0, job.name.lastIndexOf("/"))}`, body);
	return made.jobId ?? made.name.split("/").pop();
}

const SECRET = /SECRET|TOKEN|PASSW|CREDENTIAL|(API|ACCESS|PRIVATE)_?KEY/i;

// A variable whose name suggests a secret shows its value only after a click, so that nobody else reads it on the
// screen.
function variable([name, value]) {
	const shown = el("span", {}, value);
	const hidden = SECRET.test(name) && value ? el("button", {class: "small", "aria-label": `Show ${name}`, on: {click: () => hidden.replaceWith(shown)}}, "••••••••") : null;

	return [el("dt", {class: "mono"}, name), el("dd", {class: "mono"}, hidden ?? shown)];
}

// Each text in a JSON value that is a path in storage, with the name of its member.
function places(value, name = "") {
	if (typeof value === "string")
		return value.startsWith("gs://") ? [[name, value]] : [];
	return value && typeof value === "object" ? Object.entries(value).flatMap(([member, each]) => places(each, Array.isArray(value) ? name : member)) : [];
}

// A link from an address in storage to the page of its folder; for an object, of the folder that contains it.
function placeLink(address) {
	const [bucket, ...path] = address.slice("gs://".length).split("/"), last = path.at(-1) ?? "";
	const folder = last.includes(".") ? path.slice(0, -1).map((each) => `${each}/`).join("") : path.filter(Boolean).map((each) => `${each}/`).join("");

	return el("a", {href: storageAddress(bucket, folder)}, address);
}

// Shows one of the texts [[client, text]…] at a time, with a tab for each client. @kept: an object that remembers the
// chosen client when the view is made again.
function resentView(texts, kept) {
	const text = el("pre", {}), copy = el("span");
	const tabs = texts.map(([name, each]) => el("button", {"aria-pressed": "false", on: {click: () => choose(name, each)}}, name));

	function choose(name, each) {
		kept.client = name;
		tabs.forEach((tab) => tab.setAttribute("aria-pressed", String(tab.textContent === name)));
		text.textContent = each;
		copy.replaceChildren(copyButton(each));
	}
	choose(...texts.find(([name]) => name === kept.client) ?? texts[0]);
	return [el("div", {class: "row"}, el("div", {class: "chips"}, tabs), el("span", {class: "grow"}), copy), text];
}

// Makes a job of one trial of a search, from the timeline and the search's report.
function trialJob(search, trial, told) {
	const states = (told.events ?? []).filter((event) => event.kind === "STATE"), state = states.at(-1)?.state ?? "QUEUED", ended = ENDED.includes(state);
	const blamed = (told.events ?? []).filter((event) => event.blamed).map((event) => event.text);

	return {...search, state, displayName: `${search.displayName ?? search.id}, trial ${trial}`, createTime: told.events?.[0]?.time ?? search.createTime,
		startTime: states.find((event) => event.state !== "QUEUED")?.time, endTime: ended ? states.at(-1).time : undefined, reason: state === "FAILED" ? blamed.join("\n") : undefined};
}

// With ?trial=, the page of a search shows one of its trials.
export function jobPage(main, {go, title, words: [project, id]}) {
	const key = {id, project}, trial = new URLSearchParams(location.search).get("trial");
	const top = `/_trainyard/console/jobs/${encodeURIComponent(project)}/${encodeURIComponent(id)}`;
	const head = el("div", {class: "card"}), why = el("div", {class: "card why", hidden: true});
	const times = el("div", {class: "card"}, el("h2", {}, "What happened")), replicas = el("div", {class: "card", hidden: true}), opened = el("div", {class: "panels"});
	const variables = el("details", {class: "card", hidden: true}), stored = el("div", {class: "card", hidden: true});
	const about = el("div", {class: "card"}), runs = el("div", {class: "card", hidden: true}), unlike = el("div", {class: "card", hidden: true});
	const sent = el("details", {class: "card"}, el("summary", {}, "As it was sent"));
	const choice = {}, timeline = new Timeline(), shells = new Map(); // terminals by replica
	const log = new LogView(key);
	let job = null, shown = "", asked = false, study = null, known = null, timed = null;

	if (trial)
		log.filter((lines, number) => lines.kindOf(number).trial === trial);
	times.append(timeline.node);
	log.node.style.flex = "none";
	log.node.style.height = "360px";
	title(id);
	main.replaceChildren(head, why, times, replicas, opened, el("div", {class: "cards texts"}, about, stored, runs, unlike),
		el("div", {class: "row"}, el("h2", {}, "Log"), el("span", {class: "grow"}), el("a", {href: `${top}/log${trial ? `?trial=${encodeURIComponent(trial)}` : ""}`}, "Whole page")), log.node, variables, sent);

	async function act(what, done) {
		try {
			await what();
			note(done);
			await look();
		} catch (problem) {
			note(problem.message, true);
		}
	}

	async function change() {
		const body = sentBody(job.family, await get(`/v1/${job.name}`)), member = nameField(job.family);

		body[member] = namedAnew(body[member] ?? "job");
		submitDialog(go, {title: `Change and run ${job.displayName ?? job.id}`, text: JSON.stringify(body, null, 2), project: job.project, location: job.location});
	}

	function actions() {
		if (trial)
			return el("div", {class: "row actions"}, el("a", {class: "button", href: top}, "The search"));
		const name = job.displayName ?? job.id;

		return el("div", {class: "row actions"},
			el("a", {class: "button", href: `/_trainyard/console/metrics?${new URLSearchParams({jobs: `${job.project}/${job.id}`})}`}, "Metrics"),
			el("button", {on: {click: () => act(async () => go(`jobs/${project}/${await rerun(job)}`), `${name} is submitted again`)}}, "Run again"),
			el("button", {on: {click: () => change().catch((problem) => note(problem.message, true))}}, "Change and run"),
			ENDED.includes(job.state) || job.state === "CANCELLING" ? null
				: el("button", {class: "danger", on: {click: () => act(() => call("POST", `/v1/${job.name}:cancel`, {}), `${name} is cancelled`)}}, "Cancel"),
			job.family !== "jobs" && ENDED.includes(job.state) ? el("button", {class: "danger", on: {click: async () => {
				if (await confirmed(`Delete ${name} and its log?`, "Delete"))
					act(async () => { await call("DELETE", `/v1/${job.name}`); go(""); }, `${name} is deleted`);
			}}}, "Delete") : null);
	}

	function draw(told) {
		const end = Date.parse(job.endTime ?? "") || Date.now(), begun = Date.parse(job.startTime ?? "");

		refill(head, el("div", {class: "row"}, el("h1", {}, job.displayName ?? job.id), stateMark(job.state), el("span", {class: "grow"}), actions()),
			el("div", {class: "soft"}, [FAMILIES[job.family], job.location, job.project, job.id].filter(Boolean).join(" · ")));
		const [words, ...lines] = (job.reason ?? "").split("\n"); // of a job that failed, what its replica said last

		why.hidden = !job.reason;
		why.classList.toggle("waits", !ENDED.includes(job.state));
		refill(why, el("h2", {}, job.state === "FAILED" ? "Why it failed" : ENDED.includes(job.state) ? "Why it ended" : "What it waits for"), words, lines.length ? el("div", {class: job.state === "FAILED" ? "mono" : null}, lines.join("\n")) : null, job.progress?.imagePull ? el("div", {}, pullBar(job.progress.imagePull)) : null,
			job.state === "QUEUED" ? el("div", {}, el("a", {href: "/_trainyard/console/queue"}, "The queue")) : null);
		refill(about, el("h2", {}, "The job"), facts([["Created", `${localTime(job.createTime)} (${ago(job.createTime, Date.now())})`],
			["Started", localTime(job.startTime)], ["Ended", localTime(job.endTime)], ["Ran for", begun ? duration(end - begun) : ""],
			["Attempt", told?.attempt > 1 ? String(told.attempt) : ""], ["GPUs", job.gpuCount ? String(job.gpuCount) : ""],
			["Labels", Object.entries(job.labels ?? {}).map(([name, value]) => `${name}=${value}`).join(", ")]]));
		if (!told)
			return;
		timeline.set(job, told);
		timed = told;
		cluster();
	}

	function cluster() {
		replicas.hidden = !timed?.replicas?.length;
		refill(replicas, el("h2", {}, "Replicas"), replicas.hidden ? [] : clusterView(job, timed, known, shell));
	}

	// One terminal for each replica.
	function shell(replica) {
		let panel = shells.get(replica);

		if (!panel) {
			panel = new ShellPanel({replica, trial, ask: (verb) => jobPath(key, verb), closed: () => shells.delete(replica)});
			shells.set(replica, panel);
			opened.append(panel.node);
			panel.open();
		}
		panel.node.scrollIntoView({block: "nearest"});
		panel.terminal.focus();
	}

	function environment(pools) {
		variables.hidden = !Object.keys(pools).length;
		variables.replaceChildren(el("summary", {}, "Environment"), ...Object.entries(pools).flatMap(([pool, values]) => [
			el("h3", {class: "soft small"}, `${pool}, its first replica`), el("dl", {class: "facts"}, Object.entries(values).map(variable))]));
	}

	// Data that do not change while the job runs; read again when its state has changed.
	async function details() {
		const place = job.family === "jobs" ? `projects/${job.project}/jobs/${job.id}` : job.name;
		const [report, whole] = await Promise.all([get(`/_trainyard/v1/${place}/report`).catch(() => null), get(`/v1/${job.name}`).catch(() => null)]);

		const mine = trial ? report?.trials?.find((each) => String(each.trialId) === trial) : report;
		runs.hidden = !Object.keys(mine?.commandLines ?? {}).length;
		runs.replaceChildren(el("h2", {}, "What it runs"), ...Object.entries(mine?.commandLines ?? {}).flatMap(([pool, line]) => [el("div", {class: "soft small"}, pool), el("pre", {}, line)]));
		known = mine?.replicas ?? null;
		cluster();
		environment(report?.environments ?? {});
		const found = new Map([...places(whole), ...Object.values(report?.environments ?? {}).flatMap((each) => places(each))].map(([name, address]) => [address, name]));
		stored.hidden = !found.size;
		stored.replaceChildren(el("h2", {}, "In storage"), facts([...found].map(([address, name]) => [name, placeLink(address)])));
		unlike.hidden = !report?.differences?.length;
		unlike.replaceChildren(el("h2", {}, "Unlike in the cloud"), el("ul", {class: "plainlist"}, (report?.differences ?? []).map((each) => el("li", {}, each.text))));
		sent.hidden = Boolean(trial) || !whole;
		if (trial)
			return;
		if (!study && (whole?.studySpec || whole?.trainingInput?.hyperparameters)) {
			study = new StudyView(job);
			times.after(study.node);
			await study.look().catch(() => null);
		}
		if (whole)
			sent.replaceChildren(el("summary", {}, "As it was sent, for each client"), ...resentView([...resent(job.family, sentBody(job.family, whole), job.project, job.location, window.location.origin),
				["The whole job", `${JSON.stringify(whole, null, 2)}\n`]], choice));
	}

	async function look() {
		const found = await get(jobPath(key));

		if (found.id !== id && found.job !== id) // a pipeline is found by the id of its job, too
			throw new Error(`There is no job ${id}.`);
		const told = await (trial ? get(`${jobPath(key, ":timeline")}&trial=${encodeURIComponent(trial)}`) : get(jobPath(key, ":timeline")).catch(() => null));
		const changed = JSON.stringify([found, told]), now = trial ? trialJob(found, trial, told) : found;

		if (job?.state !== now.state)
			asked = false;
		job = now;
		title(job.displayName ?? job.id);
		if (changed !== shown || !ENDED.includes(job.state))
			draw(told);
		shown = changed;
		if (study)
			await study.look().catch(() => null);
		if (!asked) {
			asked = true;
			await details();
		}
	}
	const stop = every(LOOK_MS, () => look().catch((problem) => {
		if (!job) {
			main.replaceChildren(el("div", {class: "card empty"}, el("h1", {}, problem.message), el("a", {href: "/_trainyard/console/"}, "All jobs")));
		} else if (problem instanceof Refused && problem.status === 404) {
			main.prepend(el("p", {class: "card", role: "alert"}, "This job was deleted. The page shows what was last known of it. ", el("a", {href: "/_trainyard/console/"}, "All jobs")));
			stop();
		}
	}));

	return {close: () => { stop(); timeline.close(); log.close(); study?.close(); shells.forEach((each) => each.close()); }, keys: {f: () => log.follow(), e: () => log.firstError()}};
}
