// SPDX-License-Identifier: Apache-2.0
// The request with which a job was created, and how to send it again with each client.

// The members of an answer that came from the client; the service added the others.
const SENT = {
	jobs: ["jobId", "trainingInput", "labels"],
	customJobs: ["displayName", "jobSpec", "labels", "encryptionSpec"],
	hyperparameterTuningJobs: ["displayName", "studySpec", "maxTrialCount", "parallelTrialCount", "maxFailedTrialCount", "trialJobSpec", "labels", "encryptionSpec"],
	trainingPipelines: ["displayName", "inputDataConfig", "trainingTaskDefinition", "trainingTaskInputs", "modelToUpload", "modelId", "parentModel", "labels", "encryptionSpec"],
};

export const nameField = (family) => (family === "jobs" ? "jobId" : "displayName");

// @whole: the job in the form of its own API.
export function sentBody(family, whole) {
	return Object.fromEntries(SENT[family].filter((name) => name in whole).map((name) => [name, whole[name]]));
}

// A new name: "resnet_20260131_120000" for "resnet" or "resnet_20260130_080000"; it has only letters that both APIs
// accept.
export function namedAnew(name) {
	const now = new Date(), two = (number) => String(number).padStart(2, "0");

	return `${name.replace(/_\d{8}_\d{6}$/, "").slice(0, 80)}_${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}_${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}

// The collection in which jobs of a family are created, below /v1/.
export const parentOf = (family, project, location) => `projects/${project}${family === "jobs" ? "" : `/locations/${location}`}`;

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
const python = (value) => JSON.stringify(value);
const labels = (body) => (body.labels ? ` --labels=${quoted(Object.entries(body.labels).map(([name, value]) => `${name}=${value}`).join(","))}` : "");
const file = (value) => `cat >job.json <<'END'\n${JSON.stringify(value, null, 2)}\nEND\n`;

// The file for gcloud's --config, and the command; null: gcloud cannot create this job.
function gcloud(family, body, project, location) {
	const flags = `--project=${quoted(project)} --region=${quoted(family === "jobs" ? body.trainingInput?.region ?? "us-central1" : location)}`;
	const called = ` --display-name=${quoted(body.displayName ?? "")}${labels(body)} --config=job.json`;
	const commands = {
		jobs: () => [{trainingInput: body.trainingInput}, `gcloud ai-platform jobs submit training ${quoted(body.jobId)} ${flags}${labels(body)} --config=job.json`],
		customJobs: () => [body.jobSpec, `gcloud ai custom-jobs create ${flags}${called}`],
		hyperparameterTuningJobs: () => [{studySpec: body.studySpec, trialJobSpec: body.trialJobSpec},
			`gcloud ai hp-tuning-jobs create ${flags} --max-trial-count=${body.maxTrialCount} --parallel-trial-count=${body.parallelTrialCount}${called}`],
	};
	const [config, command] = commands[family]?.() ?? [];

	return command ? `eval "$(trainyard env)"\n${file(config)}${command}\n` : null;
}

const KINDS = {customJobs: ["create_custom_job", "custom_job", "CustomJob"], hyperparameterTuningJobs: ["create_hyperparameter_tuning_job", "hyperparameter_tuning_job", "HyperparameterTuningJob"],
	trainingPipelines: ["create_training_pipeline", "training_pipeline", "TrainingPipeline"]};

function pythonText(family, body, parent, origin) {
	const text = `BODY = r'''\n${JSON.stringify(body, null, 2).replaceAll("'", "\\u0027")}\n'''`;

	if (family === "jobs")
		return `import json\n\nfrom google.auth.credentials import AnonymousCredentials\nfrom googleapiclient.discovery import build\n\n${text}\n`
			+ `ml = build("ml", "v1", credentials=AnonymousCredentials(), client_options={"api_endpoint": ${python(`${origin}/`)}})\n`
			+ `print(ml.projects().jobs().create(parent=${python(parent)}, body=json.loads(BODY)).execute())\n`;
	const [method, member, type] = KINDS[family], client = family === "trainingPipelines" ? "PipelineServiceClient" : "JobServiceClient";

	return `from google.auth.credentials import AnonymousCredentials\nfrom google.cloud import aiplatform_v1\n\n${text}\n`
		+ `client = aiplatform_v1.${client}(transport="rest", credentials=AnonymousCredentials(), client_options={"api_endpoint": ${python(origin)}})\n`
		+ `print(client.${method}(parent=${python(parent)}, ${member}=aiplatform_v1.${type}.from_json(BODY)).name)\n`;
}

// [[client, text]…]: how to send @body again with each client.
export function resent(family, body, project, location, origin) {
	const parent = parentOf(family, project, location);

	return [["JSON", `${JSON.stringify(body, null, 2)}\n`], ["gcloud", gcloud(family, body, project, location)],
		["curl", `curl ${quoted(`${origin}/v1/${parent}/${family}`)} -H 'Content-Type: application/json' -d @- <<'END'\n${JSON.stringify(body, null, 2)}\nEND\n`],
		["Python", pythonText(family, body, parent, origin)]].filter(([, text]) => text);
}
