/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/ml/ml_testing.h: calls the family's methods as the listener does, by handler or by path, with a store,
 * a clock and a machine of the test. */
#include "api/http/request.h"
#include "api/http/router.h"
#include "api/ml/messages.h"
#include "api/ml/ml.h"
#include "daemon/base/json.h"
#include "scheduler/plan/placement.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/jobs.h"
#include "tests/unit/api/message/json_testing.h"
#include "tests/unit/scheduler/plan/plan_testing.h"
#include "tests/unit/store/store_testing.h"

/* The machine that context.rooms reports. */
struct machine_told {
	struct capacity capacity; /* its host's devices are @device_count ids "0", "1"… */
	struct usage usage;       /* without leases */
	enum status status;       /* the result of the call */
};

static inline struct machine_told machine_told(unsigned cpus, unsigned device_count)
{
	return (struct machine_told){ .capacity = { .host = { .known = true,
							      .cpus = cpus,
							      .memory_bytes = INT64_C(64) << 30,
							      .device_count = device_count },
						    .fit = FIT_HOST,
						    .accelerators = ACCELERATORS_PRETEND,
						    .max_jobs = 4,
						    .max_containers = 4000 } };
}

static inline enum status told_rooms(void *arg, const char *project, struct rooms *ret_rooms,
				     struct error *err)
{
	const struct machine_told *reported = arg;
	struct node_room *node;
	struct host *host;

	(void)project;
	if (reported->status)
		return error_set(err, reported->status, NULL, "The machine does not tell.");
	node = calloc(1, sizeof(*node));
	*node = (struct node_room){ "main", { reported->capacity, reported->usage } };
	*ret_rooms = (struct rooms){ node, 1 };
	host = &node->room.capacity.host;
	host->devices = calloc(host->device_count + 1, sizeof(char *));
	for (size_t i = 0; i < host->device_count; i++)
		assert_true(asprintf(&host->devices[i], "%zu", i) > 0);
	return STATUS_OK;
}

static inline struct ml_context context_on(struct bench *bench, struct machine_told *reported)
{
	return (struct ml_context){ .training = { .store = bench->store,
						  .clock = &bench->clock,
						  .project_id = "demo",
						  .project_number = "123456789012",
						  .rooms = reported ? told_rooms : NULL,
						  .rooms_arg = reported } };
}

/* A plan of one master and @workers, each on an n1-standard-4 with @gpus GPUs of one type. */
static inline struct plan *plan_of(const char *project, const char *job_id, unsigned workers, unsigned gpus)
{
	struct plan *plan = plan_named(project, job_id);

	for (int role = ROLE_MASTER; role <= ROLE_WORKER; role++) {
		struct pool *pool = &plan->pools[role];

		pool->count = role == ROLE_MASTER ? 1 : workers;
		if (!pool->count)
			continue;
		pool->image = strdup("gcr.io/p/i:1");
		pool->machine_type = strdup("n1-standard-4");
		pool->accelerator_type = gpus ? strdup("NVIDIA_TESLA_T4") : NULL;
		pool->accelerator_count = gpus;
	}
	return plan;
}

/* Stores a job with that plan. */
static inline int64_t plan_store(struct bench *bench, const struct plan *plan, const char *input)
{
	AUTO(string) char *plan_text = plan_to_text(plan);
	AUTO(string) char *input_text = quoted(input);
	AUTO(job) struct job *stored = NULL;
	struct job job = job_named(plan->job_id);

	job.project = plan->project;
	job.plan = plan_text;
	job.input = input_text;
	job.priority = plan->priority;
	job.ml_units_per_hour = 2;
	job.traits = plan->search ? JOB_TRAIT_SEARCH : 0;
	assert_int_equal(job_insert(bench->store, &job, NULL, 0, &stored, &bench->err), STATUS_OK);
	return stored->id;
}

/* Calls @handler for the project and job of the path with a canonical body (may be NULL). Returns the answer as JSON;
 * NULL: it failed, and *err has the error. */
static inline json_t *handler_answer(struct ml_context *context, call_handler handler, const char *project,
				     const char *job, json_t *body, struct error *err)
{
	struct call call = { .context = context,
			     .host = "localhost:8090",
			     .body = body,
			     .params = { { "project", project }, { "job", job } },
			     .param_count = job ? 2 : 1 };
	enum status rc = handler(&call, err);
	json_t *answer = NULL;

	if (!rc) {
		assert_false(call.answer.failed);
		answer = json_loads(call.answer.data, JSON_REJECT_DUPLICATES, NULL);
		if (!answer)
			fail_msg("not JSON: %s", call.answer.data);
	}
	text_deinit(&call.answer);
	return answer;
}

static inline enum status call_read(struct call *call, const struct target *target, const char *body,
				    struct error *err)
{
	struct query query = { 0 };
	AUTO(json) json_t *pairs = json_array();
	AUTO(json) json_t *value = body ? json_of(body) : NULL;
	enum status rc = query_parse(target->query, strlen(target->query), &query, err);

	for (size_t i = 0; i < query.count; i++)
		json_array_append_new(pairs, json_pack("[ss]", query.pairs[i].name, query.pairs[i].value));
	query_deinit(&query);
	if (!rc && call->route->query)
		rc = message_read_query(call->route->query, pairs, &call->query, err);
	if (!rc && call->route->body)
		rc = message_read(call->route->body, value, call->route->body_root, &call->body, err);
	return rc;
}

/* Calls the method at @address, which must be in ml_routes, with a body (JSON with ' for ") or NULL. Returns its
 * answer; bench->err has the error. */
static inline enum status ml_call(struct bench *bench, const char *method, const char *address,
				  const char *body, json_t **ret_answer)
{
	struct ml_context context = context_on(bench, NULL);
	const struct family families[] = { { .name = "ml", .routes = ml_routes, .context = &context },
					   { .name = NULL } };
	struct target target = { 0 };
	struct match match;
	struct call call = { .context = &context, .method = method };
	enum status rc;

	error_deinit(&bench->err);
	assert_int_equal(target_parse(address, &target, NULL), STATUS_OK);
	match = router_match(families, method, &target);
	assert_int_equal(match.kind, MATCH_ROUTE);
	call.route = match.route;
	call.param_count = match.param_count;
	memcpy(call.params, match.params, sizeof(call.params));
	rc = call_read(&call, &target, body, &bench->err);
	if (!rc)
		rc = match.route->handler(&call, &bench->err);
	if (!rc)
		*ret_answer = json_loads(call.answer.length ? call.answer.data : "{}", JSON_REJECT_DUPLICATES,
					 NULL);
	json_decref(call.query);
	json_decref(call.body);
	text_deinit(&call.answer);
	target_deinit(&target);
	return rc;
}

static inline void assert_answer(struct bench *bench, const char *method, const char *address,
				 const char *body, const char *expected)
{
	AUTO(json) json_t *answer = NULL;

	if (ml_call(bench, method, address, body, &answer))
		fail_msg("%s %s: %s", method, address, bench->err.text);
	assert_json_text(answer, expected);
}

static inline void assert_no(struct bench *bench, const char *method, const char *address, const char *body,
			     enum status status, const char *field)
{
	AUTO(json) json_t *answer = NULL;
	enum status rc = ml_call(bench, method, address, body, &answer);

	if (rc != status)
		fail_msg("%s %s %s: %s, not %s", method, address, body ? body : "", status_name(rc),
			 status_name(status));
	assert_true(bench->err.violation_count > 0);
	assert_string_equal(bench->err.violations[0].field, field);
}
