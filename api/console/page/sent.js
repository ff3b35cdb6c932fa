// SPDX-License-Identifier: Apache-2.0
// What a client sent to create a job, and how clients send it.

// What of an answer is the client's; the rest is the service's own.
const SENT = {
	jobs: ["jobId", "trainingInput", "labels"],
	customJobs: ["displayName", "jobSpec", "labels", "encryptionSpec"],
	hyperparameterTuningJobs: ["displayName", "studySpec", "maxTrialCount", "parallelTrialCount", "maxFailedTrialCount", "trialJobSpec", "labels", "encryptionSpec"],
	trainingPipelines: ["displayName", "inputDataConfig", "trainingTaskDefinition", "trainingTaskInputs", "modelToUpload", "modelId", "parentModel", "labels", "encryptionSpec"],
};

export const nameField = (family) => (family === "jobs" ? "jobId" : "displayName");

// @whole: the job as its own API has it.
export function sentBody(family, whole) {
	return Object.fromEntries(SENT[family].filter((name) => name in whole).map((name) => [name, whole[name]]));
}

// "resnet_20260131_120000" of "resnet" and of "resnet_20260130_080000": letters that both APIs take.
export function namedAnew(name) {
	const now = new Date(), two = (number) => String(number).padStart(2, "0");

	return `${name.replace(/_\d{8}_\d{6}$/, "").slice(0, 80)}_${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}_${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}

// Where jobs of a family are created, below /v1/.
export const parentOf = (family, project, location) => `projects/${project}${family === "jobs" ? "" : `/locations/${location}`}`;
