/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/plan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/accelerator.h"
#include "scheduler/plan/deviation.h"

static const char *const role_names[ROLE_COUNT] = {
	[ROLE_MASTER] = "master",
	[ROLE_WORKER] = "worker",
	[ROLE_PS] = "ps",
	[ROLE_EVALUATOR] = "evaluator",
};

/* The highest count that a stored plan can have; a text with a higher one is not a plan of ours. */
enum { POOL_COUNT_MAX = 1000000 };

/* The members of the first type are char *, those of the next three json_t *: members_free() and members_copy() rely on
 * this order. */
enum member_type {
	MEMBER_TEXT,
	MEMBER_LIST, /* of strings */
	MEMBER_OBJECT,
	MEMBER_DEVIATIONS, /* the last type that owns memory */
	MEMBER_BOOL,
	MEMBER_INT,
	MEMBER_COUNT,  /* unsigned, up to POOL_COUNT_MAX */
	MEMBER_AMOUNT, /* int64_t, not negative */
};

/* A member of a plan or of a pool: one row serves for writing, reading, copying and freeing. Members that are NULL,
 * false or 0 are not written. */
struct member {
	const char *name;
	enum member_type type;
	size_t offset;
};

#define PLAN(TYPE, FIELD)                                                                                    \
	{                                                                                                    \
		.name = #FIELD, .type = MEMBER_##TYPE, .offset = offsetof(struct plan, FIELD)                \
	}
#define POOL(TYPE, FIELD)                                                                                    \
	{                                                                                                    \
		.name = #FIELD, .type = MEMBER_##TYPE, .offset = offsetof(struct pool, FIELD)                \
	}
#define END_OF_MEMBERS                                                                                       \
	{                                                                                                    \
		.name = NULL                                                                                 \
	}

static const struct member plan_members[] = {
	PLAN(TEXT, dialect),
	PLAN(TEXT, project),
	PLAN(TEXT, project_number),
	PLAN(TEXT, job_id),
	PLAN(TEXT, cluster_id),
	PLAN(TEXT, region),
	PLAN(TEXT, job_dir),
	PLAN(TEXT, input),
	PLAN(TEXT, tpu_config),
	PLAN(TEXT, service_account),
	PLAN(TEXT, runtime_version),
	PLAN(TEXT, tuning_job_id),
	PLAN(BOOL, uses_chief),
	PLAN(BOOL, never_retries),
	PLAN(BOOL, restarts_whole),
	PLAN(BOOL, mounts_gcs),
	PLAN(BOOL, preemptible),
	PLAN(INT, priority),
	PLAN(AMOUNT, max_running_us),
	PLAN(AMOUNT, max_wait_us),
	{ .name = "differences", .type = MEMBER_DEVIATIONS, .offset = offsetof(struct plan, deviations) },
	PLAN(OBJECT, search),
	PLAN(OBJECT, study_limits),
	PLAN(LIST, resumed_jobs),
	PLAN(AMOUNT, objects_since),
	PLAN(BOOL, limits_each_trial),
	PLAN(COUNT, trial_count),
	PLAN(COUNT, parallel_trial_count),
	PLAN(COUNT, failed_trial_count),
	PLAN(COUNT, trial),
	END_OF_MEMBERS,
};
static const struct member pool_members[] = {
	POOL(COUNT, count),
	POOL(TEXT, image),
	POOL(TEXT, cloud_image),
	POOL(TEXT, machine_type),
	POOL(TEXT, accelerator_type),
	POOL(COUNT, accelerator_count),
	POOL(TEXT, python_module),
	POOL(TEXT, python),
	POOL(LIST, command),
	POOL(LIST, args),
	POOL(LIST, env),
	POOL(LIST, package_uris),
	END_OF_MEMBERS,
};

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
	struct plan *plan = memory_calloc(1, sizeof(*plan));

	plan->deviations = json_array();
	return plan;
}

static void members_free(void *owner, const struct member *member)
{
	for (; member->name; member++) {
		void *const *at = (void *const *)((char *)owner + member->offset);

		if (member->type == MEMBER_TEXT)
			free(*at);
		else if (member->type <= MEMBER_DEVIATIONS) /* a json_t *; later types own no memory */
			json_decref(*at);
	}
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	members_free(plan, plan_members);
	for (int role = 0; role < ROLE_COUNT; role++)
		members_free(&plan->pools[role], pool_members);
	free(plan);
}

static void members_copy(void *owner, const struct member *member)
{
	for (; member->name; member++) {
		void **at = (void **)((char *)owner + member->offset);

		if (member->type == MEMBER_TEXT && *at)
			*at = memory_strdup(*at);
		else if (member->type <= MEMBER_DEVIATIONS)
			*at = json_deep_copy(*at);
	}
}

struct plan *plan_copy(const struct plan *plan)
{
	struct plan *copy = memory_calloc(1, sizeof(*copy));

	*copy = *plan;
	members_copy(copy, plan_members);
	for (int role = 0; role < ROLE_COUNT; role++)
		members_copy(&copy->pools[role], pool_members);
	return copy;
}

void plan_text_set(char **text, const char *value)
{
	char *copy = memory_strdup(value);

	free(*text);
	*text = copy;
}

void plan_list_set(json_t **list, const json_t *value)
{
	json_decref(*list);
	*list = json_copy((json_t *)value);
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

static json_t *member_write(const struct member *member, const void *at)
{
	switch (member->type) {
	case MEMBER_TEXT:
		return *(char *const *)at ? json_string(*(char *const *)at) : NULL;
	case MEMBER_LIST:
	case MEMBER_OBJECT:
	case MEMBER_DEVIATIONS:
		return json_incref(*(json_t *const *)at);
	case MEMBER_BOOL:
		return *(const bool *)at ? json_true() : NULL;
	case MEMBER_INT:
		return *(const int *)at ? json_integer(*(const int *)at) : NULL;
	case MEMBER_COUNT:
		return *(const unsigned *)at ? json_integer(*(const unsigned *)at) : NULL;
	case MEMBER_AMOUNT:
		break;
	}
	return *(const int64_t *)at ? json_integer(*(const int64_t *)at) : NULL;
}

static json_t *members_write(const void *owner, const struct member *member)
{
	json_t *object = json_object();

	for (; member->name; member++) {
		json_t *value = member_write(member, (const char *)owner + member->offset);

		if (value)
			json_object_set_new(object, member->name, value);
	}
	return object;
}

char *plan_to_text(const struct plan *plan)
{
	AUTO(json) json_t *object = members_write(plan, plan_members);
	json_t *pools = json_object();

	json_object_set_new(object, "pools", pools);
	for (int role = 0; role < ROLE_COUNT; role++)
		if (plan->pools[role].count)
			json_object_set_new(pools, role_names[role],
					    members_write(&plan->pools[role], pool_members));
	return json_dump_compact(object);
}

static enum status text_fault(const char *what, struct error *err)
{
	return error_set(err, STATUS_INTERNAL, NULL, "stored plan cannot be read: %s", what);
}

static bool is_list_of_strings(const json_t *value)
{
	size_t index;
	const json_t *element;

	json_array_foreach((json_t *)value, index, element) {
		if (!json_is_string(element))
			return false;
	}
	return json_is_array(value);
}

/* False: the value is not valid for the member. */
static bool member_read(json_t *value, const struct member *member, void *at)
{
	const json_int_t number = json_integer_value(value);

	switch (member->type) {
	case MEMBER_TEXT:
		plan_text_set(at, json_string_value(value));
		return *(char **)at;
	case MEMBER_LIST:
	case MEMBER_OBJECT:
	case MEMBER_DEVIATIONS:
		json_decref(*(json_t **)at);
		*(json_t **)at = json_incref(value);
		return member->type == MEMBER_LIST     ? is_list_of_strings(value)
		       : member->type == MEMBER_OBJECT ? json_is_object(value)
						       : deviations_valid(value);
	case MEMBER_BOOL:
		*(bool *)at = json_is_true(value);
		return json_is_boolean(value);
	case MEMBER_INT:
		*(int *)at = (int)number;
		return json_is_integer(value) && number >= INT_MIN && number <= INT_MAX;
	case MEMBER_COUNT:
		*(unsigned *)at = (unsigned)number;
		return json_is_integer(value) && number >= 0 && number <= POOL_COUNT_MAX;
	case MEMBER_AMOUNT:
		break;
	}
	*(int64_t *)at = number;
	return json_is_integer(value) && number >= 0;
}

static enum status members_read(const json_t *object, const struct member *member, void *owner,
				struct error *err)
{
	for (; member->name; member++) {
		json_t *value = json_object_get(object, member->name);

		if (value && !member_read(value, member, (char *)owner + member->offset))
			return text_fault(member->name, err);
	}
	return STATUS_OK;
}

static enum status pools_read(const json_t *pools, struct plan *plan, struct error *err)
{
	const char *name;
	json_t *object;

	json_object_foreach((json_t *)pools, name, object) {
		enum role role = ROLE_MASTER;
		enum status rc = role_parse(name, &role)
					 ? members_read(object, pool_members, &plan->pools[role], err)
					 : text_fault(name, err);

		if (!rc && !plan->pools[role].count)
			rc = text_fault("count", err);
		if (rc)
			return rc;
	}
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
	rc = members_read(object, plan_members, plan, err);
	if (!rc)
		rc = pools_read(json_object_get(object, "pools"), plan, err);
	if (rc)
		return rc;
	if (!plan->dialect || !plan->project || !plan->job_id || !plan->cluster_id)
		return text_fault("a name is missing", err);
	*ret_plan = TAKE(plan);
	return STATUS_OK;
}
