/* SPDX-License-Identifier: Apache-2.0 */
/* The dialect "ml": names, variables and sentences of AI Platform Training. */
#include "daemon/base/json.h"
#include "scheduler/plan/dialect_parts.h"

/* The pools of the cluster spec with their addresses, without evaluators. A job with one replica names itself 127.0.0.1. */
static json_t *cluster_members(const struct plan *plan, const char *master_name)
{
	json_t *cluster = json_object();

	if (!replicas_have_names(plan)) {
		json_object_set_new(cluster, master_name, json_pack("[s]", "127.0.0.1:2222"));
		return cluster;
	}
	json_object_set_new(cluster, master_name, pool_addresses(plan, ROLE_MASTER));
	if (plan->pools[ROLE_PS].count)
		json_object_set_new(cluster, "ps", pool_addresses(plan, ROLE_PS));
	if (plan->pools[ROLE_WORKER].count)
		json_object_set_new(cluster, "worker", pool_addresses(plan, ROLE_WORKER));
	return cluster;
}

static char *specification_text(const struct plan *plan, enum role role, unsigned index,
				const char *master_name, bool names_cloud)
{
	AUTO(json) json_t *cluster = cluster_members(plan, master_name);
	AUTO(json) json_t *task = task_make(role == ROLE_MASTER ? master_name : role_name(role), index);
	AUTO(json) json_t *whole = NULL;

	if (names_cloud && plan_replica_count(plan) > 1)
		task_add_cloud(task, plan);
	task_add_trial(task, plan);
	/* "job" is a text here, not an object, as observed in custom containers. */
	whole = json_pack("{s:O, s:s, s:O, s:s}", "cluster", cluster, "environment", "cloud", "task", task,
			  "job", plan->input);
	return json_dump_compact(whole);
}

static char *cluster_spec(const struct plan *plan, enum role role, unsigned index)
{
	return specification_text(plan, role, index, "master", false);
}

static char *tf_config(const struct plan *plan, enum role role, unsigned index)
{
	return specification_text(plan, role, index, plan->uses_chief ? "chief" : "master", true);
}

static enum status metric_tag_add(json_t *environment, const struct plan *plan, struct error *err)
{
	const json_t *metric = json_array_get(json_object_get(plan->search, "metrics"), 0);
	const char *tag = json_text_at(metric, "name");

	return variable_add(environment, "CLOUD_ML_HP_METRIC_TAG", tag ? tag : "", err);
}

/* Whether the job gets PyTorch's variables for ranks: every job of custom containers with workers.
 * Source: https://cloud.google.com/ai-platform/training/docs/distributed-pytorch (read 2026-11-22), for jobs of one
 * master and workers.
 * Choice: all custom containers get them: Google's images of PyTorch are custom containers, and any other may be built on
 * them. The port is that of Vertex AI. */
static bool has_ranks(const struct plan *plan)
{
	return !plan->runtime_version && plan->pools[ROLE_WORKER].count;
}

static enum status environment(const struct plan *plan, enum role role, unsigned index, json_t *environment,
			       struct error *err)
{
	AUTO(string) char *cluster = cluster_spec(plan, role, index);
	AUTO(string) char *config = tf_config(plan, role, index);
	const struct {
		const char *name, *value;
	} variables[] = {
		{ "CLUSTER_SPEC", cluster },         { "TF_CONFIG", config },
		{ "CLOUD_ML_JOB_ID", plan->job_id }, { "CLOUD_ML_PROJECT_ID", plan->project },
		{ "CLOUD_ML_JOB", plan->input },     { "TPU_CONFIG", plan->tpu_config },
	};
	/* The first variable is for custom containers only, the last one (TPU_CONFIG) only for a master with a value for
	 * it. */
	const size_t first = plan->runtime_version ? 1 : 0;
	const size_t count =
		sizeof(variables) / sizeof(variables[0]) - (role != ROLE_MASTER || !plan->tpu_config);
	enum status rc = STATUS_OK;

	for (size_t i = first; !rc && i < count; i++)
		rc = variable_add(environment, variables[i].name, variables[i].value, err);
	if (!rc && has_ranks(plan))
		rc = ranks_add(environment, plan, role, index, err);
	if (!rc && plan->trial)
		rc = metric_tag_add(environment, plan, err);
	return rc || !plan->trial ? rc : trial_variables_add(environment, plan, err);
}

static const char *const nothing[] = { NULL };

const struct dialect dialect_ml = {
	.name = "ml",
	.pools = { "master", "worker", "ps", "evaluator" },
	.nouns = { "master", "worker", "parameter server", "evaluator" },
	.task_infix = "-replica-",
	.sentence_infix = " ",
	.environment = environment,
	.cluster_spec = cluster_spec,
	.tf_config = tf_config,
	.reserved = nothing,
	.launcher_words = nothing,
	.job_dir_flag = "--job-dir",
	.trial_dir_end = "",
	.admitted = (const char *const[]){ "Waiting for job to be provisioned.", "Job is preparing.", NULL },
	.starting = (const char *const[]){ "Waiting for training program to start.", NULL },
	.ending = (const char *const[]){ "Tearing down training program.", NULL },
	.ended = (const char *const[]){ "Finished tearing down training program.", NULL },
	.names_signals = true,
	.out_of_memory = "ran out-of-memory",
	.internal_error = "",
	.internal_attempts = 4,
	.running_limit = "maxRunningTime",
	.wait_limit = "maxWaitTime",
	.service_agent = "cloud-ml.google.com.iam.gserviceaccount.com",
};
