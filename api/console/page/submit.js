// SPDX-License-Identifier: Apache-2.0
// The dialog that submits a job: its text, the daemon's plan for it, and what would differ in the cloud.
import {call, create as createJob, get} from "./api.js";
import {bytes, el, note} from "./dom.js";
import {namedAnew, parentOf} from "./sent.js";

const PAUSE_MS = 300; // after the last letter
const EXAMPLES = {
	"Custom job": `workerPoolSpecs:
- machineSpec: {machineType: n1-standard-4}
  replicaCount: 1
  containerSpec:
    imageUri: my-image:1
    args: [--epochs=3]
`,
	"Several replicas": `workerPoolSpecs:
- machineSpec: {machineType: n1-standard-4}
  replicaCount: 1
  containerSpec: {imageUri: my-image:1}
- machineSpec: {machineType: n1-standard-4}
  replicaCount: 2
  containerSpec: {imageUri: my-image:1}
`,
	"Tuning job": `maxTrialCount: 10
parallelTrialCount: 2
studySpec:
  metrics: [{metricId: accuracy, goal: MAXIMIZE}]
  parameters:
  - parameterId: learning_rate
    scaleType: UNIT_LOG_SCALE
    doubleValueSpec: {minValue: 0.0001, maxValue: 0.1}
trialJobSpec:
  workerPoolSpecs:
  - machineSpec: {machineType: n1-standard-4}
    replicaCount: 1
    containerSpec: {imageUri: my-image:1}
`,
	"AI Platform": `trainingInput:
  region: us-central1
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: my-image:1}
  args: [--epochs=3]
`,
};

const shell = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function limits({limits: {vcpus, memoryBytes} = {}}) {
	return [vcpus && `${vcpus} vCPUs`, memoryBytes && bytes(memoryBytes)].filter(Boolean).join(", ");
}

function replicaRow(replica) {
	return el("tr", {}, el("td", {class: "mono"}, replica.name), el("td", {},
		el("div", {}, replica.image, el("span", {class: "soft"}, [replica.machineType, replica.acceleratorType && `${replica.acceleratorCount} ${replica.acceleratorType}`, limits(replica)].filter(Boolean).map((each) => ` · ${each}`).join(""))),
		el("div", {class: "mono soft"}, [...replica.command ?? ["(its entry point)"], ...replica.args ?? []].map((word, i) => (i || replica.command ? shell(word) : word)).join(" "))));
}

// Shows the answer of :plan, like `submit --plan` on a terminal.
export function planView(plan) {
	const trials = plan.trialCount ? `Each of ${plan.trialCount} trials, ${plan.parallelTrialCount} at a time:` : "";

	return [el("p", {}, plan.start?.now ? "It starts at once." : plan.start?.text ?? "", " ", trials),
		el("div", {class: "scroll"}, el("table", {class: "plain"}, el("tr", {}, ["Replica", "What it runs"].map((name) => el("th", {scope: "col"}, name))), (plan.replicas ?? []).slice(0, 20).map(replicaRow))),
		(plan.replicas?.length ?? 0) > 20 ? el("p", {class: "soft"}, `and ${plan.replicas.length - 20 + (plan.replicasOmitted ?? 0)} more replicas`) : null,
		plan.differences?.length ? [el("h2", {}, "Unlike in the cloud"), el("ul", {class: "plainlist"}, plan.differences.map((each) => el("li", {}, each.text)))] : null];
}

// Opens the dialog. done(path): called with the page of the created job. `text` may be given, with `name`, `project`
// and `location`.
export function submitDialog(done, {text = "", name = "", project = "local-project", location = "us-central1", projects = [], title = "Submit a job"} = {}) {
	const input = (label, value, more = {}) => el("input", {type: "text", value, "aria-label": label, autocomplete: "off", spellcheck: "false", ...more, on: {input: () => soon()}});
	const called = input("Name", name, {placeholder: "as in the text", size: 24}), of = input("Project", project, {size: 16, list: "submit-projects"}), at = input("Region", location, {size: 12});
	const source = el("textarea", {class: "mono", rows: 18, spellcheck: "false", "aria-label": "The job as YAML or JSON", placeholder: "Paste or drop what gcloud takes as --config, or the body of a create, as YAML or JSON", on: {input: () => soon()}});
	const told = el("div", {class: "told", role: "status"}), run = el("button", {class: "main", type: "submit", disabled: true}, "Run");
	const file = el("input", {type: "file", hidden: true, "aria-label": "A file that describes a job", on: {change: () => take(file.files[0])}});
	const form = el("form", {class: "form", method: "dialog", on: {submit: (event) => { event.preventDefault(); create(); }}},
		el("div", {class: "row"}, el("h2", {}, title), el("span", {class: "grow"}), el("span", {class: "soft small"}, "Examples:"),
			Object.entries(EXAMPLES).map(([what, example]) => el("button", {type: "button", class: "low", on: {click: () => { source.value = example; look(); }}}, what)),
			el("button", {type: "button", on: {click: () => file.click()}}, "Open a file"), file),
		el("div", {class: "halves"}, source, told),
		el("div", {class: "row"}, el("label", {}, "Name ", called), el("label", {}, "Project ", of), el("label", {}, "Region ", at),
			el("datalist", {id: "submit-projects"}, projects.map((each) => el("option", {value: each}))), 
			el("div", {class: "row last"}, el("button", {type: "button", on: {click: () => dialog.close()}}, "Close"), run)));
	const dialog = el("dialog", {class: "large", "aria-label": title, on: {close: () => { clearTimeout(timer); dialog.remove(); },
		dragover: (event) => event.preventDefault(), drop: (event) => { event.preventDefault(); take(event.dataTransfer.files[0], event.dataTransfer.getData("text")); }}}, form);
	let timer = 0, turn = 0;

	async function take(dropped, words = "") {
		source.value = dropped ? await dropped.text() : words;
		file.value = "";
		look();
	}

	// The body that creates the job, and the collection.
	async function read() {
		const job = await call("POST", "/_trainyard/v1/jobs:read", {text: source.value, name: called.value.trim(), region: at.value.trim()});

		if (!(job.nameField in job.body))
			job.body[job.nameField] = namedAnew("job");
		return {...job, parent: parentOf(job.collection, encodeURIComponent(of.value.trim()), encodeURIComponent(at.value.trim()))};
	}

	function soon() {
		clearTimeout(timer);
		timer = setTimeout(look, PAUSE_MS);
	}

	// Only the answer for the latest text is shown.
	async function look() {
		const mine = ++turn;
		let shown, good = false;

		clearTimeout(timer);
		if (!source.value.trim()) {
			shown = [el("p", {class: "soft"}, "Here you will see what runs, and what the cloud would do otherwise.")];
		} else {
			try {
				const job = await read();

				shown = planView(await call("POST", `/_trainyard/v1/${job.parent}/${job.collection}:plan`, job.body));
				good = true;
			} catch (problem) {
				shown = [el("p", {class: "bad"}, problem.message)];
			}
		}
		if (mine !== turn)
			return;
		told.replaceChildren(...shown.flat(Infinity).filter(Boolean));
		run.disabled = !good;
	}

	async function create() {
		run.disabled = true;
		try {
			const job = await read(), made = await createJob(`/v1/${job.parent}/${job.collection}`, job.body);
			const id = made.jobId ?? made.name.split("/").pop(), {project: whose} = await get(`/_trainyard/v1/jobs/${encodeURIComponent(id)}?project=${encodeURIComponent(of.value.trim())}`);

			note(`${made.displayName ?? id} is submitted`);
			dialog.close();
			done(`jobs/${whose}/${id}`);
		} catch (problem) {
			note(problem.message, true);
			run.disabled = false;
		}
	}

	source.value = text;
	document.body.append(dialog);
	dialog.showModal();
	(text ? run : source).focus();
	look();
	return {take};
}
