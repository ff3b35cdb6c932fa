// SPDX-License-Identifier: Apache-2.0
// The page of all jobs.
import {plain} from "./ansi.js";
import {call} from "./api.js";
import {ago, confirmed, copyButton, counted, duration, el, keepInAddress, note, pullBar, refill, stateMark} from "./dom.js";
import {follow} from "./stream.js";
import {submitDialog} from "./submit.js";
import {searchField, Table} from "./table.js";

const STATES = ["QUEUED", "PREPARING", "RUNNING", "CANCELLING", "SUCCEEDED", "FAILED", "CANCELLED"];
const OPEN = STATES.slice(0, 4);
const DRAW_MS = 200; // so often at most is drawn what comes
export const FAMILIES = {jobs: "AI Platform", customJobs: "Custom job", hyperparameterTuningJobs: "Tuning job", trainingPipelines: "Pipeline"};

// All jobs, kept up to date by the daemon's stream of changes.
class Jobs {
	constructor(changed) {
		this.byUid = new Map();
		this.stale = null; // uids from before all jobs are told anew
		this.position = "";
		this.whole = false;
		this.stop = follow(() => `/_trainyard/v1/jobs:watch?${new URLSearchParams({position: this.position})}`, (batch) => {
			batch.forEach((line) => this.#take(line));
			if (batch.some((line) => !line.progress)) // what a job does is drawn with the clock
				changed();
		}, (problem) => note(problem.message, true));
	}

	#take({all, uid, job, progress, removed, position}) {
		if (all)
			this.stale = new Set(this.byUid.keys());
		this.stale?.delete(uid);
		if (job)
			this.byUid.set(uid, Object.assign(job, {short: job.id, id: job.name, created: Date.parse(job.createTime), words:
				[job.displayName, job.id, job.project, job.location, job.reason, ...Object.entries(job.labels ?? {}).flat()].join(" ").toLowerCase()}));
		if (progress && this.byUid.has(uid))
			this.byUid.get(uid).progress = progress;
		if (removed)
			this.byUid.delete(uid);
		if (position) {
			this.stale?.forEach((each) => this.byUid.delete(each));
			this.stale = null;
			this.position = position;
			this.whole = true;
		}
	}

	all() {
		return [...this.byUid.values()];
	}
}

const started = (job) => Date.parse(job.startTime ?? "") || 0;
const lasted = (job) => (started(job) ? (Date.parse(job.endTime ?? "") || Date.now()) - started(job) : -1);

const reasonLines = (job) => (job.reason ?? "").split("\n").filter((line) => line.trim());

// The first line of the reason and, below it, the last one, which is the relevant one of a traceback. Without a reason:
// what the job does.
function reason(job) {
	const lines = reasonLines(job), {lastLine, imagePull} = job.progress ?? {};
	const under = imagePull ? pullBar(imagePull) : lines.length > 1 ? lines.at(-1) : null;

	if (!lines.length && lastLine)
		return el("span", {class: "two mono", title: "The last line of its log"}, plain(lastLine));
	return [el("span", {class: under ? null : "two", title: job.reason}, lines[0] ?? ""), under && el("span", {class: "under"}, under)];
}

// The reason in one line, shown below the job's name if the window is too narrow for the column of reasons.
const briefly = (job) => (job.progress?.imagePull ? pullBar(job.progress.imagePull) : reasonLines(job).at(-1) ?? plain(job.progress?.lastLine ?? ""));

const columns = (cancel) => [
	{title: "State", key: "state", width: "108px", cell: (job) => stateMark(job.state), sort: (job) => STATES.indexOf(job.state)},
	{title: "Job", key: "name", width: "minmax(80px, 2fr)", sort: (job) => (job.displayName ?? job.short).toLowerCase(), cell: (job) => [
		el("a", {href: `/_trainyard/console/jobs/${job.project}/${job.short}`}, job.displayName ?? job.short),
		el("span", {class: `under ${briefly(job) ? "roomy" : ""}`}, [FAMILIES[job.family], job.location, job.project].filter(Boolean).join(" · ")), el("span", {class: "under narrow"}, briefly(job))]},
	{title: "Reason, or last line", key: "reason", width: "minmax(120px, 3fr)", class: "wide soft", cell: reason, sort: (job) => job.reason ?? ""},
	{title: "Created", key: "age", width: "clamp(64px, 10vw, 104px)", number: true, cell: (job) => ago(job.createTime, Date.now()), sort: (job) => job.created},
	{title: "Ran for", key: "duration", width: "80px", class: "middle", number: true, cell: (job) => (lasted(job) < 0 ? "" : duration(lasted(job))), sort: lasted},
	{title: "Replicas", key: "replicas", width: "64px", class: "wide", number: true, cell: (job) => String(job.replicaCount ?? ""), sort: (job) => job.replicaCount ?? 0},
	{title: "GPUs", key: "gpus", width: "48px", class: "wide", number: true, optional: true, cell: (job) => String(job.gpuCount ?? ""), sort: (job) => job.gpuCount ?? 0},
	{title: "", label: "What can be done", key: "do", width: "72px", class: "middle", number: true, sort: () => 0, cell: (job) => (OPEN.includes(job.state) && job.state !== "CANCELLING"
		? el("button", {class: "danger small", "aria-label": `Cancel ${job.displayName ?? job.short}`, on: {click: () => cancel(job)}}, "Cancel") : "")},
];

const FIRST = [["Run an image:", "trainyard run my-image:1 -- --epochs=3"], ["Lead gcloud and Google's libraries here:", 'eval "$(trainyard env)"'], ["Then create a job as in the cloud:",
	`gcloud ai custom-jobs create --region us-central1 --display-name first \\
    --worker-pool-spec=machine-type=n1-standard-4,replica-count=1,container-image-uri=my-image:1`]];

export function jobsPage(main, {go, title}) {
	const address = new URLSearchParams(location.search);
	const wanted = {family: address.get("family") ?? "", states: new Set((address.get("state") ?? "").split(",").filter(Boolean))};
	const chips = el("div", {class: "chips", role: "group", "aria-label": "States"});
	const search = searchField("Search jobs", () => show());
	const family = el("select", {"aria-label": "Kind", on: {change: () => { wanted.family = family.value; show(); }}},
		el("option", {value: ""}, "All kinds"), Object.entries(FAMILIES).map(([value, name]) => el("option", {value, selected: value === wanted.family}, name)));
	const count = el("span", {class: "soft small", role: "status"});
	const table = new Table(columns(cancel), {label: "Jobs", sorted: {key: "age", down: true}, open: (job) => go(`jobs/${job.project}/${job.short}`)});
	const empty = el("div", {class: "card empty", hidden: true}, el("h1", {}, "No jobs yet"),
		FIRST.map(([words, command]) => [el("p", {class: "soft"}, words), el("div", {class: "command"}, el("pre", {}, command), copyButton(command))]));
	let soon = 0, drawn = -DRAW_MS, dialog = null;

	async function cancel(job) {
		const name = job.displayName ?? job.short;

		if (!await confirmed(`Cancel ${name}?`, "Cancel the job"))
			return;
		await call("POST", `/v1/${job.name}:cancel`, {}).then(() => note(`${name} is cancelled`), (problem) => note(problem.message, true));
	}

	// The project that was used last is the default.
	function submit() {
		const all = jobs.all().sort((a, b) => b.created - a.created);

		dialog = submitDialog(go, {project: all[0]?.project, location: all.find((job) => job.location)?.location, projects: [...new Set(all.map((job) => job.project))]});
	}

	function show() {
		const every = jobs.all(), matches = search.matcher();
		const fit = every.filter((job) => (!wanted.family || job.family === wanted.family) && matches(job.words));
		const seen = fit.filter((job) => !wanted.states.size || wanted.states.has(job.state));
		const counts = new Map(STATES.map((state) => [state, 0]));

		keepInAddress({family: wanted.family, state: [...wanted.states].join(",")});
		fit.forEach((job) => counts.set(job.state, counts.get(job.state) + 1));
		refill(chips, [...counts]
			.filter(([state, number]) => number || wanted.states.has(state)).map(([state, number]) => el("button", {"data-key": state, "aria-pressed": String(wanted.states.has(state)), on: {click: () => {
				wanted.states.has(state) ? wanted.states.delete(state) : wanted.states.add(state);
				show();
			}}}, `${state[0]}${state.slice(1).toLowerCase()} ${number}`)));
		count.textContent = (seen.length === every.length ? "" : `${seen.length} of `) + counted(every.length, "job");
		empty.hidden = !jobs.whole || every.length > 0;
		table.node.hidden = !empty.hidden;
		table.set(seen);
	}
	const jobs = new Jobs(() => {
		soon ||= setTimeout(() => {
			soon = 0;
			drawn = performance.now();
			show();
		}, Math.max(0, drawn + DRAW_MS - performance.now()));
	});

	title("Jobs");
	main.replaceChildren(el("div", {class: "row"}, search.node, family, chips, el("div", {class: "row last"}, count, el("button", {on: {click: submit}}, "Submit a job"))), empty, table.node);
	// A file that is dropped on the page is opened in the dialog for submitting.
	const over = (event) => { if (!document.querySelector("dialog[open]")) event.preventDefault(); };
	const drop = (event) => {
		if (document.querySelector("dialog[open]") || !event.dataTransfer.files.length)
			return;
		event.preventDefault();
		submit();
		dialog.take(event.dataTransfer.files[0]);
	};
	addEventListener("dragover", over);
	addEventListener("drop", drop);
	const clock = setInterval(() => table.refresh(), 1000);

	return {
		close: () => { jobs.stop(); clearInterval(clock); clearTimeout(soon); table.close(); removeEventListener("dragover", over); removeEventListener("drop", drop); },
		keys: {...search.keys, n: submit, j: () => table.move(1), k: () => table.move(-1), Enter: () => table.choose()},
	};
}
