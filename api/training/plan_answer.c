/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/plan_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/http/http.h"
#include "api/message/message_write.h"
#include "api/training/context.h"
#include "api/training/preflight.h"
#include "api/training/program.h"
#include "api/training/start_estimate.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/ml_units.h"

/* Choice: once the answer has this many bytes, further replicas are left out, except the first one of each pool. Each
 * replica lists the addresses of all, so the answer grows with the square of their number. */
enum { REPLICAS_BYTES_MAX = 16 << 20 };

/* Whether it is certain that the replica gets no GPU. Its environment then hides all GPUs, as the engine does it
 * (engine.h). */
static bool gets_no_device(const struct plan *plan, const struct start_estimate *start_estimate,
			   enum role role, unsigned index)
{
	if (!start_estimate->assignment)
		return false;
	if (start_estimate->starts_now)
		return json_array_size(assignment_devices(start_estimate->assignment, role, index)) == 0;
	return plan->pools[role].accelerator_count == 0;
}

static enum status replica_write(struct writer *list, const struct plan *plan,
				 const struct start_estimate *start_estimate, enum role role, unsigned index,
				 struct error *err)
{
	struct program program AUTO_PROGRAM = { 0 };
	AUTO(json) json_t *known = NULL;
	AUTO(json) json_t *environment = NULL;
	struct writer answer;
	enum status rc = program_make(plan, role, index, &program, err);

	if (rc)
		return rc;
	known = replica_json(plan, start_estimate->assignment, role, index);
	environment = program_environment(&program);
	if (gets_no_device(plan, start_estimate, role, index))
		json_object_set_new(environment, "NVIDIA_VISIBLE_DEVICES", json_string("void"));
	answer = element_message(list);
	members_value(&answer, known, NULL);
	member_value(&answer, "packageUris", plan->pools[role].package_uris);
	member_value(&answer, "command", program.command);
	member_value(&answer, "args", program.args);
	member_value(&answer, "env", environment);
	message_close(&answer);
	return STATUS_OK;
}

/* Writes one replica after the other, so that at most one is in memory as JSON and as text. */
static enum status replicas_write(struct writer *answer, const struct plan *plan,
				  const struct start_estimate *start_estimate, struct error *err)
{
	struct writer list = member_list(answer, "replicas");
	const size_t begin = answer->text->length;
	int64_t omitted = 0;

	for (int role = 0; role < ROLE_COUNT; role++) {
		for (unsigned i = 0; i < plan->pools[role].count; i++) {
			enum status rc;

			if (i && answer->text->length - begin > REPLICAS_BYTES_MAX) {
				omitted++;
				continue;
			}
			rc = replica_write(&list, plan, start_estimate, (enum role)role, i, err);
			if (rc)
				return rc;
		}
	}
	message_close(&list);
	if (omitted)
		member_int(answer, "replicasOmitted", omitted);
	return STATUS_OK;
}

/* The names that each replica finds in its hosts file; empty if the replicas have no names (replicas_have_names()). */
static json_t *hosts_json(const struct plan *plan)
{
	json_t *names = json_array();
	char name[REPLICA_NAME_MAX];

	for (int role = 0; role < ROLE_COUNT && replicas_have_names(plan); role++) {
		for (unsigned i = 0; i < plan->pools[role].count; i++) {
			replica_address_name(plan, (enum role)role, i, name);
			json_array_append_new(names, json_string(name));
		}
	}
	return names;
}

static json_t *start_order_json(const struct plan *plan)
{
	const char *const *pools = dialect_of(plan)->pools;
	json_t *order = json_array();

	for (int i = 0; i < ROLE_COUNT; i++)
		if (plan->pools[role_start_order[i]].count)
			json_array_append_new(order, json_string(pools[role_start_order[i]]));
	return order;
}

/* Writes a duration as the API spells it: "604800s", "1800.5s"; microseconds are exact. Writes nothing for 0. */
static void duration_write(struct writer *answer, const char *name, int64_t us)
{
	char digits[40];
	int length = snprintf(digits, sizeof(digits), "%" PRId64 ".%06d", us / 1000000, (int)(us % 1000000));

	if (!us)
		return;
	while (digits[length - 1] == '0')
		length--;
	if (digits[length - 1] == '.')
		length--;
	member_printf(answer, name, "%.*ss", length, digits);
}

static void units_write(struct writer *answer, const struct plan *plan, const double *units_per_hour)
{
	if (!units_per_hour)
		return;
	member_value_new(answer, "mlUnitsPerHour", json_real(*units_per_hour));
	if (plan->max_running_us)
		member_value_new(answer, "mlUnitsInMaxRunningTime",
				 json_real(ml_units_consumed(*units_per_hour, plan->max_running_us)));
}

static json_t *deviations_of(const struct training_context *context, const struct plan *plan,
			     const struct start_estimate *start_estimate, const struct plan_report *telling)
{
	json_t *list = deviations_json(plan, start_estimate->assignment, telling->input, telling->namer);

	preflight_report(context, plan, true, list);
	return list;
}

static enum status plan_write(struct text *text, const struct training_context *context,
			      const struct plan *plan, const struct start_estimate *start_estimate,
			      const struct plan_report *telling, struct error *err)
{
	const struct dialect *dialect = dialect_of(plan);
	struct writer answer = message_open(text, NULL);
	enum status rc;

	/* The id is part of each host name and drawn anew for each job. */
	member_text(&answer, telling->name_drawn ? "exampleName" : "name", telling->name);
	member_text(&answer, "exampleClusterId", plan->cluster_id);
	member_value_new(&answer, "start", start_estimate_json(start_estimate));
	member_value_new(&answer, "startOrder", start_order_json(plan));
	if (plan_tunes(plan)) { /* a tuning job: the replicas below are those of one trial */
		member_int(&answer, "trialCount", plan->trial_count);
		member_int(&answer, "parallelTrialCount", plan->parallel_trial_count);
		member_value(&answer, "resumedJobs", plan->resumed_jobs);
	}
	units_write(&answer, plan, telling->units_per_hour);
	duration_write(&answer, dialect->running_limit, plan->max_running_us);
	duration_write(&answer, dialect->wait_limit, plan->max_wait_us);
	member_value_new(&answer, "differences", deviations_of(context, plan, start_estimate, telling));
	member_value_new(&answer, "hosts", hosts_json(plan));
	rc = replicas_write(&answer, plan, start_estimate, err);
	message_close(&answer);
	return rc;
}

enum status plan_answer(struct call *call, const struct plan *plan, const struct plan_report *telling,
			struct error *err)
{
	struct start_estimate start_estimate AUTO_START_ESTIMATE = { 0 };
	enum status rc;

	training_storage_report(call->context, plan);
	rc = start_estimate_make(call->context, plan, NULL, &start_estimate, err);
	return rc ? rc : plan_write(&call->answer, call->context, plan, &start_estimate, telling, err);
}
