/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/plan_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/http/http.h"
#include "api/training/context.h"
#include "api/training/program.h"
#include "api/training/start_estimate.h"
#include "daemon/base/json.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/ml_units.h"

/* Choice: each replica is told whole, but no more of them once the answer is that long: each is told the addresses
 * of all, so the answer grows with the square of their number. The first of each pool is always there. */
enum { REPLICAS_BYTES_MAX = 16 << 20 };

/* Takes @value. False when memory ran out. */
static bool member_write(struct text *text, const char *name, json_t *value)
{
	if (!value)
		return false;
	text_printf(text, "%s\"%s\":", text->length > 1 ? "," : "", name);
	json_write(text, value);
	json_decref(value);
	return true;
}

/* {"NAME": "value"} of an array of "NAME=value". */
static json_t *environment_json(const json_t *environment)
{
	AUTO(json) json_t *object = json_object();
	const json_t *variable;
	size_t i;

	json_array_foreach(environment, i, variable) {
		const char *text = json_string_value(variable);
		const char *equals = strchr(text, '=');
		AUTO(string) char *name = strndup(text, (size_t)(equals - text));

		if (!name || json_object_set_new(object, name, json_string(equals + 1)))
			return NULL;
	}
	return TAKE(object);
}

/* Whether the replica is known to get no GPU: then its environment says so, in the engine's words (engine.h). */
static bool gets_no_device(const struct plan *plan, const struct start_estimate *start_estimate,
			   enum role role, unsigned index)
{
	if (!start_estimate->assignment)
		return false;
	if (start_estimate->starts_now)
		return json_array_size(assignment_devices(start_estimate->assignment, role, index)) == 0;
	return plan->pools[role].accelerator_count == 0;
}

static enum status whole_replica_json(const struct plan *plan, const struct start_estimate *start_estimate,
				      enum role role, unsigned index, json_t **ret_object, struct error *err)
{
	char host_name[REPLICA_NAME_MAX], address_name[REPLICA_NAME_MAX];
	struct program program AUTO_PROGRAM = { 0 };
	AUTO(json) json_t *told = NULL;
	AUTO(json) json_t *rest = NULL;
	AUTO(json) json_t *object = NULL;
	enum status rc = program_make(plan, role, index, &program, err);

	if (rc)
		return rc;
	replica_host_name(plan, role, index, host_name);
	replica_address_name(plan, role, index, address_name);
	object = replica_json(plan, start_estimate->assignment, role, index);
	told = environment_json(program.environment);
	if (told && gets_no_device(plan, start_estimate, role, index) &&
	    json_object_set_new(told, "NVIDIA_VISIBLE_DEVICES", json_string("void")))
		return error_no_memory(err);
	rest = json_pack("{s:s, s:s, s:O*, s:O*, s:O*, s:O}", "hostName", host_name, "addressName",
			 address_name, "packageUris", plan->pools[role].package_uris, "command",
			 program.command, "args", program.args, "env", told);
	if (!object || !rest || json_object_update(object, rest))
		return error_no_memory(err);
	*ret_object = TAKE(object);
	return STATUS_OK;
}

/* One replica after the other, so that no more than one is held twice. */
static enum status replicas_write(struct text *text, const struct plan *plan,
				  const struct start_estimate *start_estimate, struct error *err)
{
	const size_t begin = text->length;
	unsigned omitted = 0;

	text_puts(text, ",\"replicas\":[");
	for (int role = 0; role < ROLE_COUNT; role++) {
		for (unsigned i = 0; i < plan->pools[role].count; i++) {
			AUTO(json) json_t *object = NULL;
			enum status rc;

			if (i && text->length - begin > REPLICAS_BYTES_MAX) {
				omitted++;
				continue;
			}
			rc = whole_replica_json(plan, start_estimate, (enum role)role, i, &object, err);
			if (rc)
				return rc;
			if (text->length && text->data[text->length - 1] != '[')
				text_putc(text, ',');
			json_write(text, object);
		}
	}
	text_putc(text, ']');
	if (omitted)
		text_printf(text, ",\"replicasOmitted\":%u", omitted);
	return STATUS_OK;
}

/* The names that each replica finds in its hosts file; none for one that is alone. */
static json_t *hosts_json(const struct plan *plan)
{
	AUTO(json) json_t *names = json_array();
	char name[REPLICA_NAME_MAX];

	for (int role = 0; role < ROLE_COUNT && replicas_have_names(plan); role++) {
		for (unsigned i = 0; i < plan->pools[role].count; i++) {
			replica_address_name(plan, (enum role)role, i, name);
			if (json_array_append_new(names, json_string(name)))
				return NULL;
		}
	}
	return TAKE(names);
}

static json_t *start_order_json(const struct plan *plan)
{
	const char *const *pools = dialect_of(plan)->pools;
	AUTO(json) json_t *order = json_array();

	for (int i = 0; i < ROLE_COUNT; i++)
		if (plan->pools[role_start_order[i]].count &&
		    json_array_append_new(order, json_string(pools[role_start_order[i]])))
			return NULL;
	return TAKE(order);
}

/* "604800s", "1800.5s", as durations are spelled in the API; microseconds are exact. */
static json_t *duration_json(int64_t us)
{
	char digits[40];
	int length = snprintf(digits, sizeof(digits), "%" PRId64 ".%06d", us / 1000000, (int)(us % 1000000));

	while (digits[length - 1] == '0')
		length--;
	if (digits[length - 1] == '.')
		length--;
	return json_sprintf("%.*ss", length, digits);
}

/* By the names of the family's own fields. */
static bool limits_write(struct text *text, const struct plan *plan)
{
	const struct dialect *dialect = dialect_of(plan);

	return (!plan->max_running_us ||
		member_write(text, dialect->running_limit, duration_json(plan->max_running_us))) &&
	       (!plan->max_wait_us ||
		member_write(text, dialect->wait_limit, duration_json(plan->max_wait_us)));
}

static bool units_write(struct text *text, const struct plan *plan, const double *units_per_hour)
{
	if (!units_per_hour)
		return true;
	return member_write(text, "mlUnitsPerHour", json_real(*units_per_hour)) &&
	       (!plan->max_running_us ||
		member_write(text, "mlUnitsInMaxRunningTime",
			     json_real(ml_units_consumed(*units_per_hour, plan->max_running_us))));
}

/* What is told below is one trial of several. */
static bool trials_write(struct text *text, const struct plan *plan)
{
	if (!plan_tunes(plan))
		return true;
	return member_write(text, "trialCount", json_integer(plan->trial_count)) &&
	       member_write(text, "parallelTrialCount", json_integer(plan->parallel_trial_count)) &&
	       (!plan->resumed_jobs || member_write(text, "resumedJobs", json_incref(plan->resumed_jobs)));
}

static enum status plan_write(struct text *text, const struct plan *plan,
			      const struct start_estimate *start_estimate, const struct plan_telling *telling,
			      struct error *err)
{
	enum status rc;

	text_putc(text, '{');
	/* The id is part of each host name and drawn anew for each job. */
	if (!member_write(text, telling->name_drawn ? "exampleName" : "name", json_string(telling->name)) ||
	    !member_write(text, "exampleClusterId", json_string(plan->cluster_id)) ||
	    !member_write(text, "start", start_estimate_json(start_estimate)) ||
	    !member_write(text, "startOrder", start_order_json(plan)) || !trials_write(text, plan) ||
	    !units_write(text, plan, telling->units_per_hour) || !limits_write(text, plan) ||
	    !member_write(
		    text, "differences",
		    differences_json(plan, start_estimate->assignment, telling->input, telling->namer)) ||
	    !member_write(text, "hosts", hosts_json(plan)))
		return error_no_memory(err);
	rc = replicas_write(text, plan, start_estimate, err);
	if (rc)
		return rc;
	text_putc(text, '}');
	return STATUS_OK;
}

enum status plan_answer(struct call *call, const struct plan *plan, const struct plan_telling *telling,
			struct error *err)
{
	struct start_estimate start_estimate AUTO_OUTLOOK = { 0 };
	enum status rc = training_storage_tell(call->context, plan, err);

	if (!rc)
		rc = start_estimate_make(call->context, plan, NULL, &start_estimate, err);
	return rc ? rc : plan_write(&call->answer, plan, &start_estimate, telling, err);
}
