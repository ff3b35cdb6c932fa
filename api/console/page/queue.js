// SPDX-License-Identifier: Apache-2.0
// The page of what waits for what, and of what this machine has.
import {get} from "./api.js";
import {ago, bytes, el, note, pullBar, refill} from "./dom.js";
import {every} from "./stream.js";

const LOOK_MS = 2000, STARTED_MOST = 100;
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
	const room = el("div", {class: "card"}), gpus = el("div", {class: "card"}), waits = el("div", {class: "card"}), prepared = el("div", {class: "card", hidden: true});

	// Jobs that are prepared, and searches with a trial that waits for its image.
	async function preparing() {
		const query = new URLSearchParams({filter: "state=PREPARING OR state=RUNNING", pageSize: STARTED_MOST});
		const jobs = ((await get(`/_trainyard/v1/jobs?${query}`)).jobs ?? []).filter((job) => job.state === "PREPARING" || job.progress?.imagePull);

		prepared.hidden = !jobs.length;
		refill(prepared, el("h2", {}, jobs.length === 1 ? "1 job is prepared" : `${jobs.length} jobs are prepared`), el("table", {class: "plain"},
			el("tr", {}, ["Job", "Since", "What is done"].map((name) => el("th", {scope: "col"}, name))),
			jobs.map((job) => el("tr", {}, el("td", {}, el("a", {href: `/_trainyard/console/jobs/${encodeURIComponent(job.project)}/${encodeURIComponent(job.id)}`}, job.displayName ?? job.id)),
				el("td", {}, ago(job.startTime, Date.now())), el("td", {class: "words"}, job.progress?.imagePull ? [pullBar(job.progress.imagePull), " "] : null, job.reason ?? "")))));
	}

	async function look() {
		const [queue, devices] = await Promise.all([get("/_trainyard/v1/queue"), get("/_trainyard/v1/gpus")]);
		const has = queue.room ?? {};

		refill(room, el("h2", {}, "This machine"), el("dl", {class: "facts"}, gauge("Jobs that run", has.jobs ?? 0, has.maxJobs),
			gauge("Containers", has.containers ?? 0, has.maxContainers),
			gauge("CPUs asked for", has.vcpus ?? 0, has.maxVcpus ?? has.hostVcpus), gauge("Memory asked for", Number(has.memoryBytes ?? 0), Number(has.maxMemoryBytes ?? has.hostMemoryBytes), bytes)));
		refill(gpus, el("h2", {}, "GPUs"), devices.gpus?.length ? el("table", {class: "plain"},
			el("tr", {}, ["GPU", "Held by"].map((name) => el("th", {scope: "col"}, name))),
			devices.gpus.map((gpu) => el("tr", {}, el("td", {class: "mono"}, gpu.id), el("td", {}, gpu.holders?.length
				? gpu.holders.map((holder, i) => [i ? ", " : "", link(holder), ` ${holder.replica ?? ""}`]) : el("span", {class: "soft"}, "nobody")))))
			: el("p", {class: "soft"}, `The engine reports no GPU on this machine: ${POLICIES[devices.policy] ?? ""}.`));
		refill(waits, el("h2", {}, queue.waitingCount ? `${queue.waitingCount} ${queue.waitingCount === 1 ? "job waits" : "jobs wait"}` : "No job waits"), queue.jobs?.length ? el("table", {class: "plain"},
			el("tr", {}, ["Place", "Job", "Waits for", "Priority"].map((name, i) => el("th", {scope: "col", class: i === 3 ? "middle" : null}, name))),
			queue.jobs.map((job) => el("tr", {}, el("td", {}, String(job.place ?? "")), el("td", {}, link(job)),
				el("td", {class: "words"}, job.startsNow ? "nothing: its turn comes at once" : job.reason ?? "its turn"), el("td", {class: "middle"}, String(job.priority ?? 0))))) : "");
	}

	title("Queue");
	main.replaceChildren(el("div", {class: "cards texts"}, room, gpus), prepared, waits);
	return {close: every(LOOK_MS, () => Promise.all([look(), preparing()]).catch((problem) => note(problem.message, true))), keys: {}};
}
