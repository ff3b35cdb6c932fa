/* SPDX-License-Identifier: Apache-2.0 */
/* The gate that injects faults into calls: which calls it affects, by which names, and how. */
#include "api/emulator/faults.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "scheduler/faults/fault_registry.h"
#include "store/jobs/faults.h"
#include "tests/unit/store/store_testing.h"

static atomic_uint passed; /* calls that reached their handler */

static atomic_uint named_jobs; /* of these, with the name of a job in their bodies */

static enum status handle(struct call *call, struct error *err)
{
	(void)err;
	if (call->body)
		named_jobs += json_text_at(call->body, "jobId") != NULL;
	passed++;
	return STATUS_OK;
}

/* Handles a batch: two equal parts, whatever the body has. */
static enum status handle_parts(struct call *call, struct error *err)
{
	enum status rc = STATUS_OK;

	for (int i = 0; i < 2 && !rc; i++) {
		struct inner_answer answer = { 0 };

		rc = call_inner(call, "GET", "/v1/projects/demo/jobs/a", "", NULL, 0, &answer, err);
		inner_answer_deinit(&answer);
	}
	return rc;
}

static const struct field body_fields[] = { { .name = "jobId", .type = FIELD_STRING },
					    { .name = "displayName", .type = FIELD_STRING },
					    { .name = NULL } };
static const struct message body = { .full_name = "Body", .fields = body_fields };
static const struct method_doc named = { .id = "objects.get" };

#define ROW(METHOD, PATH, ...)                                                                               \
	{                                                                                                    \
		.method = (METHOD), .path = (PATH), .handler = handle, __VA_ARGS__                           \
	}

/* Rows like those of the API families with these names. */
static const struct route ml[] = {
	ROW("POST", "/v1/projects/{project}/jobs", .body = &body, .body_root = ""),
	ROW("GET", "/v1/projects/{project}/jobs/{job}"),
	ROW("POST", "/v1/projects/{project}/jobs/{job}:cancel"),
	{ .method = NULL },
};
static const struct route other[] = {
	ROW("GET", "/ui/projects/{project}/locations/{location}/operations/{operation}"),
	ROW("GET", "/_trainyard/v1/projects/{project}/locations/{location}/customJobs/{customJob}/report"),
	{ .method = NULL },
};
static const struct route storage[] = {
	ROW("GET", "/storage/v1/b/{bucket}/o/{object}", .doc = &named),
	ROW("PUT", "/upload/storage/v1/b/{bucket}/o"),
	{ .method = NULL },
};
static const struct route batch[] = {
	{ .method = "POST", .path = "/parts", .handler = handle_parts, .body = &raw_body },
	{ .method = NULL },
};
static const struct route shell[] = { ROW("GET", "/shell/{job}"), { .method = NULL } };
static const struct family families[] = {
	{ .name = "ml", .routes = ml },           { .name = "aiplatform-other", .routes = other },
	{ .name = "storage", .routes = storage }, { .name = "shell", .routes = shell },
	{ .name = "parts", .routes = batch },     { .name = NULL },
};

enum { WAITING_MAX = 64 };

/* An endpoint; its calls pass through a gate. */
struct gated {
	struct bench *bench;
	struct fault_registry *registry;
	struct faults_context context;
	struct call_gate gate;
	struct inner_endpoint *endpoint;
};

static int gated_open(void **state)
{
	struct gated *gated = calloc(1, sizeof(*gated));
	void *bench;

	if (!gated || bench_open(&bench))
		return -1;
	gated->bench = bench;
	*state = gated;
	if (fault_registry_open(gated->bench->store, 1, &gated->registry, NULL))
		return -1;
	gated->context = (struct faults_context){ .store = gated->bench->store,
						  .registry = gated->registry,
						  .clock = &gated->bench->clock,
						  .project_id = "demo",
						  .project_number = "123456",
						  .families = families };
	gated->gate = faults_gate(&gated->context);
	passed = named_jobs = 0;
	return inner_endpoint_open(
		       &(struct listener_options){ .families = families,
						   .gate = &gated->gate,
						   .address = "127.0.0.1",
						   .body_limit_bytes = 10 << 20,
						   .connection_limit = 2 * WAITING_MAX + 1 },
		       &gated->endpoint, NULL) == STATUS_OK
		       ? 0
		       : -1;
}

static int gated_close(void **state)
{
	struct gated *gated = *state;
	void *bench = gated->bench;

	inner_endpoint_close(gated->endpoint);
	fault_registry_free(gated->registry);
	free(gated);
	return bench_close(&bench);
}

static int64_t order(struct gated *gated, const char *text)
{
	AUTO(json) json_t *canonical = json_loads(text, 0, NULL);
	int64_t id = 0;

	assert_non_null(canonical);
	assert_int_equal(fault_registry_add(gated->registry, canonical, false, &id, NULL), STATUS_OK);
	return id;
}

/* The HTTP status of a GET by the client at the other end of @client_fd. */
static unsigned get_of(struct gated *gated, int client_fd)
{
	struct inner_answer answer = { 0 };
	unsigned status;

	assert_int_equal(
		inner_endpoint_call(gated->endpoint,
				    &(struct inner_endpoint_request){ .method = "GET",
								      .target = "/v1/projects/demo/jobs/a",
								      .head_text = "Host: localhost\n",
								      .client_fd = client_fd },
				    &answer, NULL),
		STATUS_OK);
	status = answer.http_status;
	inner_answer_deinit(&answer);
	return status;
}

/* Makes a call; returns the HTTP status. *ret_text (may be NULL): the answer. */
static unsigned call_on(struct gated *gated, const char *method, const char *target, const char *text,
			char **ret_text)
{
	struct inner_answer answer = { 0 };
	unsigned status;

	assert_int_equal(inner_endpoint_call(gated->endpoint,
					     &(struct inner_endpoint_request){
						     .method = method,
						     .target = target,
						     .head_text = "Host: localhost\n"
								  "Content-Type: application/json\n",
						     .body = text,
						     .body_bytes = text ? strlen(text) : 0 },
					     &answer, NULL),
			 STATUS_OK);
	status = answer.http_status;
	if (ret_text)
		*ret_text = strdup(answer.body.data ? answer.body.data : "");
	inner_answer_deinit(&answer);
	return status;
}

static int64_t stored_injections(struct gated *gated, int64_t id)
{
	struct fault_list list AUTO_FAULT_LIST = { 0 };

	assert_int_equal(fault_list_read(gated->bench->store, &list, NULL), STATUS_OK);
	for (size_t i = 0; i < list.count; i++)
		if (list.faults[i].id == id)
			return list.faults[i].injections;
	return -1;
}

/* Fails with: apis[] without a row; fault_method_write() that does not look for "/_trainyard/"; that takes no name of the
 * row's document, or none of unpublished[]. */
static void calls_are_known_by_their_names(void **state)
{
	static const struct {
		const char *method, *target, *name; /* NULL: no rule can match it */
	} cases[] = {
		{ "POST", "/v1/projects/demo/jobs", "ml.projects.jobs.create" },
		{ "GET", "/v1/projects/demo/jobs/a", "ml.projects.jobs.get" },
		{ "POST", "/v1/projects/demo/jobs/a:cancel", "ml.projects.jobs.cancel" },
		{ "GET", "/ui/projects/demo/locations/l/operations/7",
		  "aiplatform.projects.locations.operations.get" },
		{ "GET", "/_trainyard/v1/projects/demo/locations/l/customJobs/7/report", NULL },
		{ "GET", "/storage/v1/b/b/o/o", "storage.objects.get" },
		{ "PUT", "/upload/storage/v1/b/b/o", "storage.objects.insert" },
		{ "GET", "/shell/a", NULL },
	};
	struct gated *gated = *state;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char rule[256];

		snprintf(rule, sizeof(rule),
			 "{\"fault\": \"httpStatus\", \"httpStatus\": 503, \"method\": \"%s\"}",
			 cases[i].name ? cases[i].name : "*");
		order(gated, rule);
		if (call_on(gated, cases[i].method, cases[i].target, NULL, NULL) !=
		    (cases[i].name ? 503u : 200u))
			fail_msg("%s", cases[i].target);
		assert_int_equal(fault_registry_clear(gated->registry, NULL), STATUS_OK);
	}
	assert_int_equal(passed, 2);
}

/* Fails with: gate_pass() without fault_registry_count(); error_answer() that does not look at its table. */
static void injections_are_answered_and_stored(void **state)
{
	static const struct {
		unsigned http;
		const char *word;
	} statuses[] = { { 429, "RESOURCE_EXHAUSTED" },
			 { 500, "INTERNAL" },
			 { 503, "UNAVAILABLE" },
			 { 504, "DEADLINE_EXCEEDED" } };
	struct gated *gated = *state;

	for (size_t i = 0; i < COUNT_OF(statuses); i++) {
		char rule[256];
		AUTO(string) char *text = NULL;
		int64_t id;

		snprintf(rule, sizeof(rule),
			 "{\"fault\": \"httpStatus\", \"httpStatus\": %u, \"method\": \"ml.*\"}",
			 statuses[i].http);
		id = order(gated, rule);
		assert_int_equal(call_on(gated, "GET", "/v1/projects/demo/jobs/a", NULL, &text),
				 statuses[i].http);
		assert_non_null(strstr(text, statuses[i].word));
		assert_int_equal(stored_injections(gated, id), 1);
		assert_int_equal(call_on(gated, "GET", "/v1/projects/demo/jobs/a", NULL, NULL), 200);
	}
	assert_int_equal(passed, COUNT_OF(statuses));
}

/* Fails with: project_of() that takes the number as it is; called_find() that reads no body. */
static void calls_say_whom_they_are_about(void **state)
{
	static const struct {
		const char *peer, *target, *text;
		bool injection;
	} cases[] = {
		{ "\"project\": \"demo\"", "/v1/projects/demo/jobs", "{}", true },
		{ "\"project\": \"demo\"", "/v1/projects/123456/jobs", "{}", true },
		{ "\"project\": \"demo\"", "/v1/projects/other/jobs", "{}", false },
		{ "\"job\": \"a*\"", "/v1/projects/demo/jobs", "{\"jobId\": \"abc\"}", true },
		{ "\"job\": \"a*\"", "/v1/projects/demo/jobs", "{\"jobId\": \"b\"}", false },
		{ "\"job\": \"My ?ob\"", "/v1/projects/demo/jobs", "{\"displayName\": \"My job\"}", true },
		{ "\"job\": \"a*\"", "/v1/projects/demo/jobs/abc:cancel", NULL, true },
		{ "\"job\": \"a*\"", "/v1/projects/demo/jobs/b:cancel", NULL, false },
	};
	struct gated *gated = *state;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char rule[256];

		snprintf(rule, sizeof(rule),
			 "{\"fault\": \"httpStatus\", \"httpStatus\": 503, \"method\": \"*\", %s}",
			 cases[i].peer);
		order(gated, rule);
		if ((call_on(gated, "POST", cases[i].target, cases[i].text, NULL) == 503) !=
		    cases[i].injection)
			fail_msg("%s: %s", cases[i].peer, cases[i].target);
		assert_int_equal(fault_registry_clear(gated->registry, NULL), STATUS_OK);
	}
}

/* Fails with: creation_of() that knows each method; quota_answer() that returns STATUS_OK, or tells no project. */
static void a_quota_refuses_what_makes_a_job_alone(void **state)
{
	struct gated *gated = *state;
	AUTO(string) char *text = NULL;

	order(gated, "{\"fault\": \"quota\"}");
	assert_int_equal(call_on(gated, "POST", "/v1/projects/demo/jobs/a:cancel", NULL, NULL), 200);
	assert_int_equal(call_on(gated, "POST", "/v1/projects/demo/jobs", "{}", &text), 429);
	assert_non_null(strstr(text, "Job submission requests"));
	assert_non_null(strstr(text, "project:demo"));
}

/* An inner endpoint has no connection that could be cut, so its caller gets an error. Fails with: order_carry_out() that
 * lets a call pass that has no seconds; due_await() that does not ask call_closing(): it waits for ever. */
static void late_calls_are_done_and_lost_ones_are_not(void **state)
{
	struct gated *gated = *state;

	order(gated, "{\"fault\": \"timeout\", \"method\": \"ml.*\"}");
	assert_int_equal(call_on(gated, "GET", "/v1/projects/demo/jobs/a", NULL, NULL), 503);
	assert_int_equal(passed, 0);
	inner_endpoint_end(gated->endpoint); /* a waiting call must return at once: the bench's clock never advances */
	order(gated, "{\"fault\": \"timeout\", \"method\": \"ml.*\", \"seconds\": 3600}");
	assert_int_equal(call_on(gated, "GET", "/v1/projects/demo/jobs/a", NULL, NULL), 200);
	assert_int_equal(passed, 1);
}

/* Fails with: due_await() that does not ask call_client_gone(), or call_client_gone() without the door's socket: the call
 * waits for ever, as the bench's clock stands. */
static void who_gives_up_is_not_waited_for(void **state)
{
	struct gated *gated = *state;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	close(ends[1]);
	order(gated, "{\"fault\": \"timeout\", \"method\": \"ml.*\", \"seconds\": 3600}");
	assert_int_equal(get_of(gated, ends[0]), 499);
	assert_int_equal(passed, 0);
	assert_int_equal(inner_endpoint_waiting(gated->endpoint), 0);
	close(ends[0]);
}

static void *late_main(void *arg)
{
	return (void *)(uintptr_t)get_of(arg, 0);
}

/* Fails with: call_wait_begin() without its limit: the call too many waits as the others do; due_await() that does not ask
 * fault_registry_has(): all wait for ever. */
static void so_many_wait_and_no_longer_than_their_rule_is_there(void **state)
{
	static pthread_t waiting[WAITING_MAX];
	struct gated *gated = *state;
	void *status;

	order(gated, "{\"fault\": \"timeout\", \"method\": \"ml.*\", \"seconds\": 3600, \"count\": 1000}");
	for (size_t i = 0; i < COUNT_OF(waiting); i++)
		assert_int_equal(pthread_create(&waiting[i], NULL, late_main, gated), 0);
	while (inner_endpoint_waiting(gated->endpoint) < WAITING_MAX)
		usleep(1000);
	assert_int_equal(get_of(gated, 0), 503);
	assert_int_equal(fault_registry_clear(gated->registry, NULL), STATUS_OK);
	for (size_t i = 0; i < COUNT_OF(waiting); i++) {
		assert_int_equal(pthread_join(waiting[i], &status), 0);
		assert_int_equal((uintptr_t)status, 200);
	}
	assert_int_equal(inner_endpoint_waiting(gated->endpoint), 0);
}

/* Fails with: exchange_run() that does not look at the part's cut: it is answered 503, and the next part is done. */
static void a_part_without_an_answer_is_the_end_of_its_batch(void **state)
{
	struct gated *gated = *state;

	order(gated, "{\"fault\": \"timeout\", \"method\": \"ml.*\"}");
	assert_int_equal(call_on(gated, "POST", "/parts", "", NULL), 503);
	assert_int_equal(passed, 0);
}

/* A body so large that only one of its size is parsed at a time. */
static char *large_body(void)
{
	enum { LARGE_BYTES = 2 << 20 };
	char *text = malloc(LARGE_BYTES + 1);

	assert_non_null(text);
	memset(text, ' ', LARGE_BYTES);
	text[LARGE_BYTES] = '\0';
	memcpy(text, "{\"jobId\": \"large\"", 17);
	text[LARGE_BYTES - 1] = '}';
	return text;
}

struct late_post {
	struct gated *gated;
	const char *target, *text;
};

static void *post_main(void *arg)
{
	const struct late_post *post = arg;

	return (void *)(uintptr_t)call_on(post->gated, "POST", post->target, post->text, NULL);
}

/* Fails with: call_delay() without call_wait_begin(): the second call waits for the first; turn_of() that looks for no outer
 * exchange: likewise behind the batch; gate_pass_read() that does not read the call again: the handler has no body. */
static void late_calls_hold_up_no_others(void **state)
{
	struct gated *gated = *state;
	AUTO(string) char *text = large_body();
	const struct late_post cases[] = { { gated, "/v1/projects/demo/jobs", text },
					   { gated, "/parts", text } };
	pthread_t late;
	void *status;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		passed = named_jobs = 0;
		order(gated, "{\"fault\": \"timeout\", \"method\": \"ml.*\", \"seconds\": 3600}");
		assert_int_equal(pthread_create(&late, NULL, post_main, (void *)&cases[i]), 0);
		while (!inner_endpoint_waiting(gated->endpoint))
			usleep(1000);
		assert_int_equal(call_on(gated, "POST", "/v1/projects/demo/jobs", text, NULL), 200);
		assert_int_equal(passed, 1);
		assert_int_equal(fault_registry_clear(gated->registry, NULL), STATUS_OK);
		assert_int_equal(pthread_join(late, &status), 0);
		assert_int_equal((uintptr_t)status, 200);
		assert_int_equal(passed, i ? 3 : 2);
		assert_int_equal(named_jobs, i ? 1 : 2);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_are_known_by_their_names, gated_open, gated_close),
		cmocka_unit_test_setup_teardown(injections_are_answered_and_stored, gated_open, gated_close),
		cmocka_unit_test_setup_teardown(calls_say_whom_they_are_about, gated_open, gated_close),
		cmocka_unit_test_setup_teardown(a_quota_refuses_what_makes_a_job_alone, gated_open,
						gated_close),
		cmocka_unit_test_setup_teardown(late_calls_are_done_and_lost_ones_are_not, gated_open,
						gated_close),
		cmocka_unit_test_setup_teardown(who_gives_up_is_not_waited_for, gated_open, gated_close),
		cmocka_unit_test_setup_teardown(a_part_without_an_answer_is_the_end_of_its_batch, gated_open,
						gated_close),
		cmocka_unit_test_setup_teardown(late_calls_hold_up_no_others, gated_open, gated_close),
		cmocka_unit_test_setup_teardown(so_many_wait_and_no_longer_than_their_rule_is_there,
						gated_open, gated_close),
	};

	alarm(60); /* ends the test if a call waits for ever */
	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
