// SPDX-License-Identifier: Apache-2.0
// The page of what queued jobs wait for, and of this machine's resources.
import {get} from "./api.js";
import {ago, bytes, counted, el, note, pullBar, refill, stateMark} from "./dom.js";
import {every} from "./stream.js";
import {searchField, Table} from "./table.js";

const LOOK_MS = 2000, STARTED_MOST = 100, TOP = "/_trainyard/console/";
const POLICIES = {PRETEND: "a job that wants more GPUs than there are runs without", REQUIRE: "such a job is refused", WAIT: "such a job stays queued", SHARE: "jobs share GPUs"};

// "3 of 64", and a bar that shows the ratio.
function gauge(name, used, most, told = String) {
	const share = most ? Math.min(1, used / most) : 0;

	return [el("dt", {}, name), el("dd", {}, el("meter", {min: 0, max: 1, high: 0.9, value: share, "aria-label": name}), ` ${told(used)} of ${told(most)}`)];
}

// What a machine has, or all of them together.
const gauges = (has) => el("dl", {class: "facts"}, gauge("Jobs that run", has.jobs ?? 0, has.maxJobs), gauge("Containers", has.containers ?? 0, has.maxContainers),
	gauge("CPUs asked for", has.vcpus ?? 0, has.maxVcpus ?? has.hostVcpus), gauge("Memory asked for", Number(has.memoryBytes ?? 0), Number(has.maxMemoryBytes ?? has.hostMemoryBytes), bytes));

// In the answers about the queue, job.job is the resource name of the job in its own API: "projects/…/customJobs/12".
const idOf = (job) => job.job.split("/").pop();
const nameOf = (job) => `${job.displayName ?? idOf(job)}${job.trial ? `, trial ${job.trial}` : ""}`;
const addressOf = (job) => `jobs/-/${idOf(job)}`;
const link = (job) => el("a", {href: TOP + addressOf(job)}, nameOf(job));

// Jobs that are prepared come before those that wait.
const COLUMNS = [
	{title: "Place", key: "place", width: "56px", number: true, sort: (row) => row.place ?? 0, cell: (row) => String(row.place ?? "")},
	{title: "State", key: "state", width: "108px", class: "middle", sort: (row) => row.state, cell: (row) => stateMark(row.state)},
	{title: "Job", key: "name", width: "minmax(96px, 2fr)", sort: (row) => row.name.toLowerCase(), cell: (row) => [el("a", {href: TOP + row.link}, row.name), el("span", {class: "under narrow"}, row.pull ? pullBar(row.pull) : row.reason)]},
	{title: "Waits for, or is done", key: "reason", width: "minmax(120px, 4fr)", class: "wide soft", sort: (row) => row.reason, cell: (row) => [
		el("span", {class: row.pull ? null : "two", title: row.reason}, row.reason), row.pull && el("span", {class: "under"}, pullBar(row.pull))]},
	{title: "Since", key: "since", width: "clamp(64px, 10vw, 104px)", number: true, sort: (row) => Date.parse(row.since), cell: (row) => ago(row.since, Date.now())},
	{title: "Priority", key: "priority", width: "64px", class: "middle", number: true, sort: (row) => row.priority, cell: (row) => String(row.priority)},
];

export function queuePage(main, {go, title}) {
	const room = el("div", {class: "card"}), gpus = el("div", {class: "card"}), none = el("p", {class: "soft"}, "Jobs that wait for room, for GPUs or for their turn are listed here, and those whose images are pulled."), heading = el("h2", {}), search = searchField("Search jobs that wait", () => show());
	const table = new Table(COLUMNS, {label: "Jobs that wait", sorted: {key: "place", down: false}, open: (row) => go(row.link)});
	let rows = [];

	function show() {
		const matches = search.matcher();

		search.node.hidden = table.node.hidden = !rows.length;
		none.hidden = rows.length > 0;
		table.set(rows.filter((row) => matches(`${row.name} ${row.reason} ${row.state}`.toLowerCase())));
	}

	async function look() {
		const query = new URLSearchParams({filter: "state=PREPARING OR state=RUNNING", pageSize: STARTED_MOST});
		const [queue, devices, {jobs = []}] = await Promise.all([get("/_trainyard/v1/queue"), get("/_trainyard/v1/gpus"), get(`/_trainyard/v1/jobs?${query}`)]);
		const has = queue.room ?? {}, count = queue.waitingCount ?? 0;
		// Jobs in preparation, and searches with a trial that waits for its image.
		const prepared = jobs.filter((job) => job.state === "PREPARING" || job.progress?.imagePull);

		refill(room, el("h2", {}, queue.nodes ? "All machines" : "This machine"), gauges(has),
			(queue.nodes ?? []).map((node) => [el("h3", {class: "soft small"}, node.node), node.problem ? el("p", {}, node.problem) : gauges(node)]));
		refill(gpus, el("h2", {}, "GPUs"), devices.gpus?.length ? el("table", {class: "plain"},
			el("tr", {}, ["GPU", "Held by"].map((name) => el("th", {scope: "col"}, name))),
			devices.gpus.map((gpu) => el("tr", {}, el("td", {class: "mono"}, gpu.id, gpu.node ? el("span", {class: "soft"}, ` ${gpu.node}`) : null), el("td", {}, gpu.holders?.length
				? gpu.holders.map((holder, i) => [i ? ", " : "", link(holder), ` ${holder.replica ?? ""}`]) : el("span", {class: "soft"}, "free")))))
			: el("p", {class: "soft"}, `The engine reports no GPU on this machine: ${POLICIES[devices.policy] ?? ""}.`));
		heading.textContent = [prepared.length ? `${counted(prepared.length, "job")} ${prepared.length === 1 ? "is" : "are"} prepared` : "",
			count ? `${counted(count, "job")} ${count === 1 ? "waits" : "wait"}` : prepared.length ? "" : "No job waits"].filter(Boolean).join(", ");
		rows = [...prepared.map((job) => ({id: job.name, name: job.displayName ?? job.id, link: `jobs/${encodeURIComponent(job.project)}/${encodeURIComponent(job.id)}`, state: job.state,
			reason: job.reason ?? "", pull: job.progress?.imagePull, since: job.startTime ?? job.createTime, priority: 0})),
		...(queue.jobs ?? []).map((job) => ({id: `${job.job} ${job.trial ?? ""}`, name: nameOf(job), link: addressOf(job), state: "QUEUED", place: job.place,
			reason: job.startsNow ? "nothing: its turn comes at once" : job.reason ?? "its turn", since: job.createTime, priority: job.priority ?? 0}))];
		show();
	}

	title("Queue");
	main.replaceChildren(el("div", {class: "cards texts"}, room, gpus), el("div", {class: "row"}, heading, el("span", {class: "grow"}), search.node), none, table.node);
	const stop = every(LOOK_MS, () => look().catch((problem) => note(problem.message, true)));
	return {close: () => { stop(); table.close(); }, keys: {...search.keys, j: () => table.move(1), k: () => table.move(-1), Enter: () => table.choose()}};
}
