/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/plan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/plan/accelerator.h"
#include "scheduler/plan/difference.h"

static const char *const role_names[ROLE_COUNT] = {
	[ROLE_MASTER] = "master",
	[ROLE_WORKER] = "worker",
	[ROLE_PS] = "ps",
	[ROLE_EVALUATOR] = "evaluator",
};

/* Counts beyond this never were a plan of ours. */
enum { POOL_COUNT_MAX = 1000000 };

/* The plan's texts and those of a pool: one row is written, read and freed alike. */
struct member {
	const char *name;
	size_t offset;
};

#define PLAN_TEXT(FIELD)                                                                                     \
	{                                                                                                    \
#FIELD, offsetof(struct plan, FIELD)                                                         \
	}
#define POOL_TEXT(FIELD)                                                                                     \
	{                                                                                                    \
#FIELD, offsetof(struct pool, FIELD)                                                         \
	}

static const struct member plan_texts[] = {
	PLAN_TEXT(dialect),         PLAN_TEXT(project),         PLAN_TEXT(project_number),
	PLAN_TEXT(job_id),          PLAN_TEXT(cluster_id),      PLAN_TEXT(region),
	PLAN_TEXT(job_dir),         PLAN_TEXT(input),           PLAN_TEXT(tpu_config),
	PLAN_TEXT(service_account), PLAN_TEXT(runtime_version), PLAN_TEXT(tuning_job_id),
};
static const struct member plan_lists[] = { PLAN_TEXT(resumed_jobs) };
static const struct member pool_texts[] = {
	POOL_TEXT(image),         POOL_TEXT(cloud_image),
	POOL_TEXT(machine_type),  POOL_TEXT(accelerator_type),
	POOL_TEXT(python_module), POOL_TEXT(python),
};
static const struct member pool_lists[] = { POOL_TEXT(command), POOL_TEXT(args), POOL_TEXT(env),
					    POOL_TEXT(package_uris) };

/* Earlier releases kept these with the plan, for all of its pools. */
static const struct member shared_texts[] = { POOL_TEXT(python_module), POOL_TEXT(python) };
static const struct member shared_lists[] = { POOL_TEXT(package_uris) };

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static char **text_of(const void *owner, const struct member *member)
{
	return (char **)((char *)owner + member->offset);
}

static json_t **list_of(const void *owner, const struct member *member)
{
	return (json_t **)((char *)owner + member->offset);
}

const enum role role_start_order[ROLE_COUNT] = { ROLE_PS, ROLE_WORKER, ROLE_EVALUATOR, ROLE_MASTER };

const char *role_name(enum role role)
{
	return role_names[role];
}

bool role_parse(const char *name, enum role *ret_role)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		if (strcmp(role_names[role], name) == 0) {
			*ret_role = (enum role)role;
			return true;
		}
	}
	return false;
}

struct plan *plan_new(void)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->differences = json_array();
	if (plan->differences)
		return plan;
	free(plan);
	return NULL;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < COUNT_OF(plan_texts); i++)
		free(*text_of(plan, &plan_texts[i]));
	for (size_t i = 0; i < COUNT_OF(plan_lists); i++)
		json_decref(*list_of(plan, &plan_lists[i]));
	for (int role = 0; role < ROLE_COUNT; role++) {
		struct pool *pool = &plan->pools[role];

		for (size_t i = 0; i < COUNT_OF(pool_texts); i++)
			free(*text_of(pool, &pool_texts[i]));
		for (size_t i = 0; i < COUNT_OF(pool_lists); i++)
			json_decref(*list_of(pool, &pool_lists[i]));
	}
	json_decref(plan->differences);
	json_decref(plan->search);
	json_decref(plan->study_limits);
	free(plan);
}

bool plan_tunes(const struct plan *plan)
{
	return plan->search && !plan->trial;
}

unsigned plan_replica_count(const struct plan *plan)
{
	return plan_replica_ordinal(plan, ROLE_COUNT, 0);
}

unsigned plan_replica_ordinal(const struct plan *plan, enum role role, unsigned index)
{
	unsigned ordinal = index;

	for (int before = 0; before < (int)role; before++)
		ordinal += plan->pools[before].count;
	return ordinal;
}

bool pool_is_launched(const struct pool *pool)
{
	return pool->python_module;
}

const char *plan_log_job_id(const struct plan *plan)
{
	return plan->tuning_job_id ? plan->tuning_job_id : plan->job_id;
}

unsigned pool_gpu_count(const struct pool *pool)
{
	if (!pool->count || !pool->accelerator_type || accelerator_is_tpu(pool->accelerator_type))
		return 0;
	return pool->accelerator_count;
}

unsigned plan_accelerator_count(const struct plan *plan)
{
	uint64_t count = 0;

	for (int role = 0; role < ROLE_COUNT; role++)
		count += (uint64_t)plan->pools[role].count * pool_gpu_count(&plan->pools[role]);
	return count < UINT_MAX ? (unsigned)count : UINT_MAX;
}

/* Absent members stay out of the text. */
static bool texts_write(json_t *object, const void *owner, const struct member *members, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *text = *text_of(owner, &members[i]);

		if (text && json_object_set_new(object, members[i].name, json_string(text)))
			return false;
	}
	return true;
}

static bool lists_write(json_t *object, const void *owner, const struct member *members, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_t *list = *list_of(owner, &members[i]);

		if (list && json_object_set(object, members[i].name, list))
			return false;
	}
	return true;
}

static json_t *pool_write(const struct pool *pool)
{
	AUTO(json) json_t *object = json_pack("{s:i}", "count", (int)pool->count);

	if (!object || !texts_write(object, pool, pool_texts, COUNT_OF(pool_texts)) ||
	    !lists_write(object, pool, pool_lists, COUNT_OF(pool_lists)))
		return NULL;
	if (pool->accelerator_count &&
	    json_object_set_new(object, "accelerator_count", json_integer(pool->accelerator_count)))
		return NULL;
	return TAKE(object);
}

static bool pools_write(json_t *object, const struct plan *plan)
{
	json_t *pools = json_object();

	if (json_object_set_new(object, "pools", pools))
		return false;
	for (int role = 0; role < ROLE_COUNT; role++)
		if (plan->pools[role].count &&
		    json_object_set_new(pools, role_names[role], pool_write(&plan->pools[role])))
			return false;
	return true;
}

static const struct {
	const char *name;
	size_t offset;
} trial_counts[] = {
	{ "trial_count", offsetof(struct plan, trial_count) },
	{ "parallel_trial_count", offsetof(struct plan, parallel_trial_count) },
	{ "failed_trial_count", offsetof(struct plan, failed_trial_count) },
	{ "trial", offsetof(struct plan, trial) },
};

static unsigned *count_of(const struct plan *plan, size_t index)
{
	return (unsigned *)(void *)((char *)plan + trial_counts[index].offset);
}

/* Plans that tune nothing say nothing of it. */
static bool search_write(json_t *object, const struct plan *plan)
{
	if ((plan->search && json_object_set(object, "search", plan->search)) ||
	    (plan->study_limits && json_object_set(object, "study_limits", plan->study_limits)) ||
	    (plan->objects_since &&
	     json_object_set_new(object, "objects_since", json_integer(plan->objects_since))) ||
	    (plan->limits_each_trial && json_object_set_new(object, "limits_each_trial", json_true())))
		return false;
	for (size_t i = 0; i < COUNT_OF(trial_counts); i++)
		if (*count_of(plan, i) &&
		    json_object_set_new(object, trial_counts[i].name, json_integer(*count_of(plan, i))))
			return false;
	return true;
}

char *plan_to_text(const struct plan *plan)
{
	AUTO(json)
	json_t *object = json_pack(
		"{s:b, s:b, s:b, s:b, s:i, s:I, s:I, s:O}", "uses_chief", plan->uses_chief, "never_retries",
		plan->never_retries, "restarts_whole", plan->restarts_whole, "mounts_gcs", plan->mounts_gcs,
		"priority", plan->priority, "max_running_us", (json_int_t)plan->max_running_us, "max_wait_us",
		(json_int_t)plan->max_wait_us, "differences", plan->differences);

	if (!object || (plan->preemptible && json_object_set_new(object, "preemptible", json_true())) ||
	    !texts_write(object, plan, plan_texts, COUNT_OF(plan_texts)) ||
	    !lists_write(object, plan, plan_lists, COUNT_OF(plan_lists)) || !search_write(object, plan) ||
	    !pools_write(object, plan))
		return NULL;
	return json_dump_compact(object);
}

static enum status text_fault(const char *what, struct error *err)
{
	return error_set(err, STATUS_INTERNAL, NULL, "stored plan cannot be read: %s", what);
}

static enum status texts_read(const json_t *object, void *owner, const struct member *members, size_t count,
			      struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_object_get(object, members[i].name);
		char **text = text_of(owner, &members[i]);

		if (!value)
			continue;
		if (!json_is_string(value))
			return text_fault(members[i].name, err);
		free(*text);
		*text = strdup(json_string_value(value));
		if (!*text)
			return error_no_memory(err);
	}
	return STATUS_OK;
}

static bool is_list_of_strings(const json_t *value)
{
	size_t index;
	const json_t *element;

	if (!json_is_array(value))
		return false;
	json_array_foreach((json_t *)value, index, element) {
		if (!json_is_string(element))
			return false;
	}
	return true;
}

static enum status list_read(const json_t *object, const char *name, json_t **ret_list, struct error *err)
{
	json_t *value = json_object_get(object, name);

	if (!value)
		return STATUS_OK;
	if (!is_list_of_strings(value))
		return text_fault(name, err);
	json_decref(*ret_list);
	*ret_list = json_incref(value);
	return STATUS_OK;
}

static enum status lists_read(const json_t *object, void *owner, const struct member *members, size_t count,
			      struct error *err)
{
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < count; i++)
		rc = list_read(object, members[i].name, list_of(owner, &members[i]), err);
	return rc;
}

/* Releases that knew no differences kept their texts alone. */
static enum status notices_read(const json_t *notices, json_t *differences, struct error *err)
{
	size_t index;
	json_t *text;

	if (!notices)
		return STATUS_OK;
	if (!is_list_of_strings(notices))
		return text_fault("notices", err);
	json_array_foreach((json_t *)notices, index, text) {
		if (json_array_append_new(differences, json_pack("{s:s, s:s, s:O}", "kind", "WITHOUT_EFFECT",
								 "code", "notice", "text", text)))
			return error_no_memory(err);
	}
	return STATUS_OK;
}

static enum status differences_read(const json_t *object, struct plan *plan, struct error *err)
{
	json_t *value = json_object_get(object, "differences");

	if (!value)
		return notices_read(json_object_get(object, "notices"), plan->differences, err);
	if (!differences_valid(value))
		return text_fault("differences", err);
	json_decref(plan->differences);
	plan->differences = json_incref(value);
	return STATUS_OK;
}

static enum status pool_read(const json_t *object, struct pool *pool, struct error *err)
{
	int64_t count = json_int_at(object, "count", 0);
	int64_t accelerator_count = json_int_at(object, "accelerator_count", 0);
	enum status rc;

	if (count < 1 || count > POOL_COUNT_MAX || accelerator_count < 0 ||
	    accelerator_count > POOL_COUNT_MAX)
		return text_fault("count", err);
	pool->count = (unsigned)count;
	pool->accelerator_count = (unsigned)accelerator_count;
	rc = texts_read(object, pool, pool_texts, COUNT_OF(pool_texts), err);
	return rc ? rc : lists_read(object, pool, pool_lists, COUNT_OF(pool_lists), err);
}

static enum status pools_read(const json_t *pools, struct plan *plan, struct error *err)
{
	const char *name;
	json_t *object;

	json_object_foreach((json_t *)pools, name, object) {
		enum role role;
		enum status rc = role_parse(name, &role) ? pool_read(object, &plan->pools[role], err)
							 : text_fault(name, err);

		if (rc)
			return rc;
	}
	return STATUS_OK;
}

/* What the plan itself says of its packages. A pool of such a text says nothing. */
static enum status shared_read(const json_t *object, struct plan *plan, struct error *err)
{
	enum status rc = STATUS_OK;

	for (int role = 0; !rc && role < ROLE_COUNT; role++) {
		struct pool *pool = &plan->pools[role];

		if (!pool->count || pool->python_module)
			continue;
		rc = texts_read(object, pool, shared_texts, COUNT_OF(shared_texts), err);
		if (!rc)
			rc = lists_read(object, pool, shared_lists, COUNT_OF(shared_lists), err);
	}
	return rc;
}

static enum status search_read(const json_t *object, struct plan *plan, struct error *err)
{
	json_t *search = json_object_get(object, "search");
	json_t *limits = json_object_get(object, "study_limits");

	if (search && !json_is_object(search))
		return text_fault("search", err);
	if (limits && !json_is_object(limits))
		return text_fault("study_limits", err);
	plan->search = json_incref(search);
	plan->study_limits = json_incref(limits);
	plan->objects_since = json_int_at(object, "objects_since", 0);
	plan->limits_each_trial = json_true_at(object, "limits_each_trial");
	for (size_t i = 0; i < COUNT_OF(trial_counts); i++) {
		const int64_t count = json_int_at(object, trial_counts[i].name, 0);

		if (count < 0 || count > POOL_COUNT_MAX)
			return text_fault(trial_counts[i].name, err);
		*count_of(plan, i) = (unsigned)count;
	}
	return STATUS_OK;
}

static enum status numbers_read(const json_t *object, struct plan *plan, struct error *err)
{
	int64_t priority = json_int_at(object, "priority", 0);

	plan->max_running_us = json_int_at(object, "max_running_us", 0);
	plan->max_wait_us = json_int_at(object, "max_wait_us", 0);
	if (priority < INT32_MIN || priority > INT32_MAX || plan->max_running_us < 0 || plan->max_wait_us < 0)
		return text_fault("limits", err);
	plan->priority = (int)priority;
	plan->uses_chief = json_true_at(object, "uses_chief");
	plan->never_retries = json_true_at(object, "never_retries");
	plan->restarts_whole = json_true_at(object, "restarts_whole");
	plan->mounts_gcs = json_true_at(object, "mounts_gcs");
	plan->preemptible = json_true_at(object, "preemptible");
	return STATUS_OK;
}

enum status plan_search_from_text(const char *text, json_t **ret_search, struct error *err)
{
	AUTO(json) json_t *object = NULL;
	enum status rc = json_parse_own(text, &object, err);

	if (!rc)
		*ret_search = json_incref(json_object_get(object, "search"));
	return rc;
}

enum status plan_from_text(const char *text, struct plan **ret_plan, struct error *err)
{
	AUTO(json) json_t *object = NULL;
	AUTO(plan) struct plan *plan = NULL;
	enum status rc = json_parse_own(text, &object, err);

	if (rc)
		return rc;
	plan = plan_new();
	if (!plan)
		return error_no_memory(err);
	rc = texts_read(object, plan, plan_texts, COUNT_OF(plan_texts), err);
	if (!rc)
		rc = lists_read(object, plan, plan_lists, COUNT_OF(plan_lists), err);
	if (!rc)
		rc = differences_read(object, plan, err);
	if (!rc)
		rc = numbers_read(object, plan, err);
	if (!rc)
		rc = search_read(object, plan, err);
	if (!rc)
		rc = pools_read(json_object_get(object, "pools"), plan, err);
	if (!rc)
		rc = shared_read(object, plan, err);
	if (rc)
		return rc;
	if (!plan->dialect || !plan->project || !plan->job_id || !plan->cluster_id)
		return text_fault("a name is missing", err);
	*ret_plan = TAKE(plan);
	return STATUS_OK;
}
