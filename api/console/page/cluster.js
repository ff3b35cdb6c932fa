// SPDX-License-Identifier: Apache-2.0
// A picture of a job's replicas on their network: each with its address, GPUs and state, and the effects of faults on
// it.
import {bytes, el} from "./dom.js";

const ENDS = {LOST: "lost", REFUSED: "refused by the engine", BROKEN: "could not start"};
const STOPPED = [137, 143]; // the exit codes of SIGKILL and SIGTERM
const SHOWN = 48; // replicas of a pool; further ones only if there is something to tell of them

export function endWords(replica) {
	if (!replica.ended)
		return "";
	if (replica.outOfMemory)
		return "out of memory";
	return replica.end === "EXIT" ? `exit code ${replica.exitCode}` : ENDS[replica.end] ?? replica.end;
}

// Whether the job's end stopped the replica by a signal. @end: the event of its end, or undefined.
export function wasStopped(end, told) {
	const decided = (told.events ?? []).findLast((event) => event.kind === "DECIDED" && event.state !== "PREPARING");

	return Boolean(decided && end && !end.blamed && STOPPED.includes(end.exitCode) && Date.parse(end.time) >= Date.parse(decided.time));
}

// [a state's class, the state in words]
function standing(replica, told, job) {
	const good = replica.end === "EXIT" && !replica.exitCode;

	if (wasStopped((told.events ?? []).findLast((event) => event.kind === "REPLICA_ENDED" && event.replica === replica.replica), told))
		return ["CANCELLED", "stopped with the job"];

	if (replica.ended)
		return [good ? "SUCCEEDED" : "FAILED", endWords(replica)];
	if (["SUCCEEDED", "FAILED", "CANCELLED"].includes(job.state))
		return ["CANCELLED", "stopped with the job"];
	return job.state === "RUNNING" ? ["RUNNING", "runs"] : [job.state, job.state === "QUEUED" ? "waits" : job.state.toLowerCase()];
}

// The faults that affect the replica's network now, without the faults of its earlier containers.
const linksOf = (replica, told, job) => (job.state !== "RUNNING" || replica.ended ? [] : (told.faults ?? []).filter((fault) => fault.lasts && fault.replica === replica.replica &&
	fault.attempt === told.attempt && (fault.restart ?? 0) === (replica.restarts ?? 0)));

function linkWords(fault) {
	const until = fault.endTime ? ` until ${new Date(fault.endTime).toLocaleTimeString(undefined, {hour12: false})}` : "";

	return (fault.fault === "cutNetwork" ? "cut off from its network" : `slowed to ${bytes(fault.bytesPerSecond)} a second`) + until;
}

function box(replica, known, told, job, shell) {
	const [mark, words] = standing(replica, told, job), links = linksOf(replica, told, job);
	const link = links.some((fault) => fault.fault === "cutNetwork") ? "cut" : links.length ? "slowed" : replica.ended || job.state !== "RUNNING" ? "off" : "";
	const limits = known?.limits ?? {};

	return el("li", {class: `replica ${link}`, "data-replica": replica.replica},
		el("div", {class: "row"}, el("strong", {class: "mono"}, replica.replica), el("span", {class: `state ${mark}`}, words), replica.blamed && mark === "FAILED" ? el("strong", {}, "(to blame)") : null,
			mark === "RUNNING" ? el("button", {class: "small last", "aria-label": `Shell in ${replica.replica}`, on: {click: () => shell(replica.replica)}}, "Shell") : null),
		known?.addressName ? el("div", {class: "mono soft", title: "The name by which the others reach it"}, known.addressName) : null,
		el("div", {class: "soft small"}, [known?.machineType, limits.vcpus && `${limits.vcpus} vCPUs`, limits.memoryBytes && bytes(limits.memoryBytes),
			known?.devices?.length ? `GPU ${known.devices.join(", ")}` : known?.acceleratorType && `${known.acceleratorCount} ${known.acceleratorType}`].filter(Boolean).join(" · ")),
		replica.restarts ? el("div", {class: "small"}, `started anew ${replica.restarts === 1 ? "once" : `${replica.restarts} times`}`) : null,
		links.map((fault) => el("div", {class: "small link"}, linkWords(fault))));
}

// The name of the pool: "worker" of "worker-replica-0", "workerpool1" of "workerpool1-0".
const poolOf = (name) => name.replace(/-?(replica-)?\d+$/, "") || name;

// @told: the timeline; @known: the report's replicas, or null. shell(replica): opens a terminal in it.
export function clusterView(job, told, known, shell) {
	const byName = new Map((known ?? []).map((each) => [each.name, each])), pools = new Map();

	for (const replica of told.replicas ?? []) {
		const pool = poolOf(replica.replica);

		pools.set(pool, [...pools.get(pool) ?? [], replica]);
	}
	return [...pools].flatMap(([pool, replicas]) => {
		const seen = replicas.filter((replica, i) => i < SHOWN || replica.ended || replica.restarts || linksOf(replica, told, job).length);

		return [el("h3", {class: "soft small"}, `${pool}: ${replicas.length} ${replicas.length === 1 ? "replica" : "replicas"}`),
			el("ul", {class: "network", "aria-label": pool}, seen.map((replica) => box(replica, byName.get(replica.replica), told, job, shell))),
			seen.length < replicas.length ? el("div", {class: "soft small"}, `and ${replicas.length - seen.length} more of which there is nothing to tell`) : null];
	}).concat(told.faults?.length ? [el("h3", {class: "soft small"}, "Faults that were ordered"), el("ul", {class: "plainlist"}, told.faults.slice(-20).map((fault) => el("li", {}, fault.text)))] : []).filter(Boolean);
}
