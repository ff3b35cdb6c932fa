/* SPDX-License-Identifier: Apache-2.0 */
/* The dialect "aiplatform": names, variables and sentences of Vertex AI. */
#include <stdio.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "scheduler/plan/dialect_parts.h"

/* The roles' names in TensorFlow. */
static const char *const tensorflow_names[ROLE_COUNT] = { "chief", "worker", "ps", "evaluator" };

static bool is_distributed(const struct plan *plan)
{
	return plan_replica_count(plan) > 1;
}

/* The pool's name in the cluster spec. The first pool of a job without other pools may be called "chief"
 * (plan->uses_chief). */
static const char *pool_key(const struct plan *plan, enum role role)
{
	return !is_distributed(plan) && plan->uses_chief ? "chief" : dialect_aiplatform.pools[role];
}

/* The job's text (plan->input) with those characters escaped that the service escapes for HTML. In JSON these
 * characters occur only inside strings, and a text that is escaped already has none of them. */
static char *job_text(const struct plan *plan)
{
	struct text text AUTO_TEXT = { 0 };

	for (const char *at = plan->input ? plan->input : ""; *at; at++) {
		if (strchr("=<>&'", *at))
			text_printf(&text, "\\u%04x", (unsigned)*at);
		else
			text_putc(&text, *at);
	}
	text_puts(&text, "");
	return text_take(&text);
}

/* Makes the value of CLUSTER_SPEC. Takes ownership of @cluster and @task. */
static json_t *specification_make(const struct plan *plan, json_t *cluster, json_t *task)
{
	AUTO(string) char *job = job_text(plan);

	return json_pack("{s:o, s:s, s:o, s:s}", "cluster", cluster, "environment", "cloud", "task", task,
			 "job", job);
}

/* The cluster with every pool of the job, evaluators included. */
static json_t *cluster_make(const struct plan *plan)
{
	json_t *cluster = json_object();

	for (int role = 0; role < ROLE_COUNT; role++)
		if (plan->pools[role].count)
			json_object_set_new(cluster, pool_key(plan, (enum role)role),
					    pool_addresses(plan, (enum role)role));
	return cluster;
}

static char *cluster_spec(const struct plan *plan, enum role role, unsigned index)
{
	AUTO(json) json_t *task = task_make(pool_key(plan, role), index);
	AUTO(json) json_t *whole = NULL;

	task_add_trial(task, plan);
	whole = specification_make(plan, cluster_make(plan), TAKE(task));
	if (is_distributed(plan))
		json_object_set_new(whole, "open_ports", json_pack("[i]", MEETING_PORT));
	return json_dump_compact(whole);
}

/* The cluster for TensorFlow (TF_CONFIG), of which evaluators are never part. */
static json_t *tensorflow_cluster_make(const struct plan *plan)
{
	json_t *cluster = json_object();

	for (int role = 0; role < ROLE_EVALUATOR; role++)
		if (plan->pools[role].count)
			json_object_set_new(cluster, tensorflow_names[role],
					    pool_addresses(plan, (enum role)role));
	return cluster;
}

static char *tf_config(const struct plan *plan, enum role role, unsigned index)
{
	AUTO(json) json_t *task = task_make(tensorflow_names[role], index);
	AUTO(json) json_t *whole = NULL;

	task_add_trial(task, plan);
	task_add_cloud(task, plan);
	whole = specification_make(plan, tensorflow_cluster_make(plan), TAKE(task));
	return json_dump_compact(whole);
}

/* Adds the variables with the directories that programs write to.
 * Source: https://cloud.google.com/vertex-ai/docs/training/code-requirements */
static enum status directories_add(json_t *environment, const struct plan *plan, struct error *err)
{
	static const struct {
		const char *name, *below;
	} directories[] = {
		{ "AIP_MODEL_DIR", "model" },
		{ "AIP_CHECKPOINT_DIR", "checkpoints" },
		{ "AIP_TENSORBOARD_LOG_DIR", "logs" },
	};
	const size_t length = strlen(plan->job_dir);
	const char *slash = length && plan->job_dir[length - 1] == '/' ? "" : "/";
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < sizeof(directories) / sizeof(directories[0]); i++) {
		struct text place AUTO_TEXT = { 0 };

		text_printf(&place, "%s%s%s/", plan->job_dir, slash, directories[i].below);
		rc = variable_add(environment, directories[i].name, place.data, err);
	}
	return rc;
}

/* PyTorch Lightning takes the ranks as ranks of nodes only if KUBERNETES_PORT is set; otherwise each node takes itself
 * for the first one.
 * Source: https://github.com/cellarium-ai/cellarium-ml/issues/56, where Lightning took a job for one of Kubeflow, and
 * https://github.com/Lightning-AI/pytorch-lightning/issues/13374 (read 2026-11-22)
 * Choice: an address without a listener, and no other variable of Kubernetes: with KUBERNETES_SERVICE_HOST libraries
 * would look for the API of Kubernetes. */
#define KUBERNETES_PORT "tcp://127.0.0.1:443"

static enum status distribution_add(json_t *environment, const struct plan *plan, enum role role,
				    unsigned index, struct error *err)
{
	AUTO(string) char *config = tf_config(plan, role, index);
	enum status rc = variable_add(environment, "TF_CONFIG", config, err);

	if (!rc)
		rc = variable_add(environment, "KUBERNETES_PORT", KUBERNETES_PORT, err);
	return rc ? rc : ranks_add(environment, plan, role, index, err);
}

static enum status environment(const struct plan *plan, enum role role, unsigned index, json_t *environment,
			       struct error *err)
{
	AUTO(string) char *cluster = cluster_spec(plan, role, index);
	const struct {
		const char *name, *value;
	} variables[] = {
		{ "CLUSTER_SPEC", cluster },
		{ "CLOUD_ML_PROJECT_ID", plan->project_number ? plan->project_number : plan->project },
		{ "CLOUD_ML_REGION", plan->region ? plan->region : "" },
		{ "CLOUD_ML_JOB_ID", plan->job_id },
	};
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < sizeof(variables) / sizeof(variables[0]); i++)
		rc = variable_add(environment, variables[i].name, variables[i].value, err);
	if (!rc && is_distributed(plan))
		rc = distribution_add(environment, plan, role, index, err);
	if (!rc && plan->job_dir)
		rc = directories_add(environment, plan, err);
	return rc || !plan->trial ? rc : trial_variables_add(environment, plan, err);
}

static const char *const nothing[] = { NULL };

const struct dialect dialect_aiplatform = {
	.name = "aiplatform",
	.pools = { "workerpool0", "workerpool1", "workerpool2", "workerpool3" },
	.nouns = { "replica of workerpool0", "replica of workerpool1", "replica of workerpool2",
		   "replica of workerpool3" },
	.task_infix = "-",
	.sentence_infix = "-",
	.names_alone = true,
	.environment = environment,
	.cluster_spec = cluster_spec,
	.tf_config = tf_config,
	/* Choice: a client's own variables replace the service's, except the variables by which replicas find each
	 * other. */
	.reserved = (const char *const[]){ "CLUSTER_SPEC", "TF_CONFIG", NULL },
	.launcher_words =
		(const char *const[]){ "--specification=CLUSTER_SPEC", "--wrapper=run_module.py", NULL },
	.trial_dir_end = "/",
	.expands = true,
	.admitted = (const char *const[]){ "Vertex AI is setting up this job.", NULL },
	.starting =
		(const char *const[]){ "Waiting for training program to start.", "Job is preparing.", NULL },
	.ending = nothing,
	.ended = nothing,
	.wraps_lines = true,
	/* Choice: the documented sentence, with code 3. Another observed sentence, with code 8, is "Replicas low on
	 * memory: workerpool0. Specify a machine with larger memory and try again."; it names neither the replica nor its
	 * exit status. */
	.out_of_memory = "ran out of memory",
	.internal_error = "Internal error occurred for the current attempt. ",
	.internal_attempts = 3,
	.running_limit = "timeout",
	.wait_limit = "maxWaitDuration",
	.service_agent = "gcp-sa-aiplatform-cc.iam.gserviceaccount.com",
};
