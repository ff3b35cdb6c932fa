// SPDX-License-Identifier: Apache-2.0
// The page of what waits for what, and of what this machine has.
import {every, get} from "./api.js";
import {bytes, el, note} from "./dom.js";

const LOOK_MS = 2000;
const POLICIES = {PRETEND: "a job that wants more GPUs than there are runs without", REQUIRE: "such a job is refused", WAIT: "such a job stays queued", SHARE: "jobs share GPUs"};

// "3 of 64" and how full that is.
function gauge(name, used, most, told = String) {
	const share = most ? Math.min(1, used / most) : 0;

	return [el("dt", {}, name), el("dd", {}, el("meter", {min: 0, max: 1, high: 0.9, value: share, "aria-label": name}), ` ${told(used)} of ${told(most)}`)];
}

// Jobs are told by their APIs' names here, "projects/…/customJobs/12".
function link(job) {
	const id = job.job.split("/").pop();

	return el("a", {href: `/_trainyard/console/jobs/-/${id}`}, `${job.displayName ?? id}${job.trial ? `, trial ${job.trial}` : ""}`);
}

export function queuePage(main, {title}) {
	const room = el("div", {class: "card"}), gpus = el("div", {class: "card"}), waits = el("div", {class: "card"});

	async function look() {
		const [queue, devices] = await Promise.all([get("/_trainyard/v1/queue"), get("/_trainyard/v1/gpus")]);
		const has = queue.room ?? {};

		room.replaceChildren(el("h2", {}, "This machine"), el("dl", {class: "facts"}, gauge("Jobs that run", has.jobs ?? 0, has.maxJobs),
			gauge("Containers", has.containers ?? 0, has.maxContainers),
			gauge("CPUs asked for", has.vcpus ?? 0, has.maxVcpus ?? has.hostVcpus), gauge("Memory asked for", Number(has.memoryBytes ?? 0), Number(has.maxMemoryBytes ?? has.hostMemoryBytes), bytes)));
		gpus.replaceChildren(el("h2", {}, "GPUs"), devices.gpus?.length ? el("table", {class: "plain"},
			el("tr", {}, ["GPU", "Held by"].map((name) => el("th", {scope: "col"}, name))),
			devices.gpus.map((gpu) => el("tr", {}, el("td", {class: "mono"}, gpu.id), el("td", {}, gpu.holders?.length
				? gpu.holders.map((holder, i) => [i ? ", " : "", link(holder), ` ${holder.replica ?? ""}`]) : el("span", {class: "soft"}, "nobody")))))
			: el("p", {class: "soft"}, `This machine has none that the engine tells of; ${POLICIES[devices.policy] ?? ""}.`));
		waits.replaceChildren(el("h2", {}, queue.waitingCount ? `${queue.waitingCount} ${queue.waitingCount === 1 ? "job waits" : "jobs wait"}` : "No job waits"), queue.jobs?.length ? el("table", {class: "plain"},
			el("tr", {}, ["Place", "Job", "Waits for", "Priority"].map((name, i) => el("th", {scope: "col", class: i === 3 ? "middle" : null}, name))),
			queue.jobs.map((job) => el("tr", {}, el("td", {}, String(job.place ?? "")), el("td", {}, link(job)),
				el("td", {}, job.startsNow ? "nothing: its turn comes at once" : job.reason ?? "its turn"), el("td", {class: "middle"}, String(job.priority ?? 0))))) : "");
	}

	title("Queue");
	main.replaceChildren(el("div", {class: "cards"}, room, gpus), waits);
	return {close: every(LOOK_MS, () => look().catch((problem) => note(problem.message, true))), keys: {}};
}
