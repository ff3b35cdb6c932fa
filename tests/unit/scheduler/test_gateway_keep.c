/* SPDX-License-Identifier: Apache-2.0 */
/* When a job's gateway is opened and closed, what its replicas are given, and what is logged for the job. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>

#include "scheduler/plan/assignment.h"
#include "tests/unit/scheduler/scheduler_testing.h"

/* Calls of the engine and of the gateway, in their order. */
static struct {
	pthread_mutex_t lock;
	struct text text;
	unsigned failures; /* number of openings that are still to fail */
	unsigned attempt;  /* the attempt for which a gateway was last opened */
	uint16_t port;     /* port of the next opening, if it may be any */
} journal = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void note(void *arg, const char *what)
{
	(void)arg;
	pthread_mutex_lock(&journal.lock);
	text_printf(&journal.text, "%s ", what);
	pthread_mutex_unlock(&journal.lock);
}

static enum status gateway_open(void *arg, const struct gateway_request *request,
				struct gateway_address *ret_place, struct error *err)
{
	char what[64];
	bool fails;

	assert_string_equal(request->device, "ty-net");
	assert_int_equal(request->address, 0x0ad50101);
	assert_non_null(request->plan);
	snprintf(what, sizeof(what), "open:%u", request->port);
	note(arg, what);
	pthread_mutex_lock(&journal.lock);
	journal.attempt = request->attempt;
	fails = journal.failures > 0;
	journal.failures -= fails;
	*ret_place = (struct gateway_address){ .port = request->port ? request->port : journal.port };
	pthread_mutex_unlock(&journal.lock);
	return fails ? error_set(err, STATUS_UNAVAILABLE, NULL, "no such device") : STATUS_OK;
}

static void gateway_close(void *arg, int64_t job)
{
	(void)job;
	note(arg, "close");
}

static void journal_expect(const char *wanted)
{
	AUTO(string) char *text = NULL;

	pthread_mutex_lock(&journal.lock);
	text = strdup(journal.text.data ? journal.text.data : "");
	pthread_mutex_unlock(&journal.lock);
	if (!strstr(text, wanted))
		fail_msg("\"%s\" is not in: %s", wanted, text);
}

static unsigned journal_count(const char *what)
{
	unsigned count = 0;

	pthread_mutex_lock(&journal.lock);
	for (const char *at = journal.text.data; at && (at = strstr(at, what)); at += strlen(what))
		count++;
	pthread_mutex_unlock(&journal.lock);
	return count;
}

static void journal_await(const char *what, unsigned times)
{
	for (int i = 0; i < WAIT_MS && journal_count(what) < times; i++)
		usleep(1000);
	assert_int_equal(journal_count(what), times);
}

static int gateway_setup(void **state)
{
	struct bench *bench;

	bench_setup(state);
	bench = *state;
	daemon_stop(bench);
	bench->gateway = (struct gateway_ops){ gateway_open, gateway_close, NULL };
	text_deinit(&journal.text);
	journal.text = (struct text){ 0 };
	journal.failures = 0;
	journal.port = 4711;
	fake_engine_on_call(bench->fake, note, NULL);
	daemon_start(bench);
	return 0;
}

static void surroundings_expect(struct bench *bench, const struct replica_key *key, const char *part,
				bool there)
{
	AUTO(string) char *text = fake_engine_surroundings(bench->fake, key);

	if (!!strstr(text, part) != there)
		fail_msg("%s is%s in: %s", part, there ? " not" : "", text);
}

/* How often the job's stored report has this text. */
static unsigned deviations_stored(struct bench *bench, int64_t id, const char *part)
{
	AUTO(job) struct job *job = NULL;
	unsigned count = 0;

	assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
	for (const char *at = job->assignment; at && (at = strstr(at, part)); at++)
		count++;
	return count;
}

static void it_is_opened_before_replicas_are_made_and_closed_before_the_network_goes(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "good", 1, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0), worker = key_of(id, ROLE_WORKER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	surroundings_expect(bench, &master, "STORAGE_EMULATOR_HOST=http://10.213.1.1:4711\n", true);
	surroundings_expect(bench, &worker, "GCE_METADATA_HOST=10.213.1.1:4711\n", true);
	surroundings_expect(bench, &worker, "metadata.google.internal:10.213.1.1\n", true);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	journal_expect("create_network ");
	journal_expect("open:0 create_replica create_replica start_replica");
	journal_expect("close remove_network ");
	assert_int_equal(journal_count("open:"), 1);
}

static void a_daemon_that_begins_anew_opens_it_where_the_containers_expect_it(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "adopted", 1, 0);
	struct replica_key worker = key_of(id, ROLE_WORKER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	daemon_stop(bench);
	journal.port = 4712;
	daemon_start(bench);
	fake_engine_up(bench->fake);
	fake_engine_snatch(bench->fake, &worker);
	worker.restart = 1;
	surroundings_expect(bench, &worker, "STORAGE_EMULATOR_HOST=http://10.213.1.1:4711\n", true);
	journal_expect("open:4711 ");
	assert_int_equal(journal_count("open:0"), 1);
}

/* Fails with: opening_failed() that gives up at once. */
static void a_place_that_is_taken_is_tried_again(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "patient", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	daemon_stop(bench);
	journal.failures = 1;
	daemon_start(bench);
	fake_engine_up(bench->fake);
	journal_await("open:4711", 2);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(deviations_stored(bench, id, "gateway-missing"), 0);
}

static void a_job_goes_on_without_one_and_says_so(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "alone", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	journal.failures = 1;
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	surroundings_expect(bench, &master, "STORAGE_EMULATOR_HOST", false);
	line_await(bench, "alone",
		   "The replicas cannot reach trainyard's storage and metadata: no such device.\n");
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	job_check(bench, id, JOB_SUCCEEDED, NULL);
	assert_int_equal(deviations_stored(bench, id, "gateway-missing"), 1);
	assert_int_equal(journal_count("open:"), 1);
}

/* Fails with: give_up() without its look at the differences. */
static void another_daemon_does_not_say_it_again(void **state)
{
	static const char line[] = "The replicas cannot reach trainyard's storage and metadata: ";
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "quiet", 1, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0), worker = key_of(id, ROLE_WORKER, 0);
	AUTO(string) char *log = NULL;
	const char *first;

	journal.failures = 1;
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	daemon_stop(bench);
	journal.failures = 1;
	daemon_start(bench);
	fake_engine_up(bench->fake);
	fake_engine_snatch(bench->fake, &worker);
	journal_await("open:0 ", 2);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	log = service_log(bench, "quiet");
	first = strstr(log, line);
	assert_non_null(first);
	assert_null(strstr(first + 1, line));
	assert_int_equal(deviations_stored(bench, id, "gateway-missing"), 1);
}

/* Fails with: job_run_begin_attempt() that leaves it open: it was not told of the attempt. */
static void another_attempt_has_the_same_one(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "again", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	fake_engine_exit(bench->fake, &master, 139);
	master.attempt = 2;
	surroundings_expect(bench, &master, "http://10.213.1.1:4711\n", true);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	assert_int_equal(journal_count("open:"), 2);
	assert_int_equal(journal_count("open:4711"), 1);
	assert_int_equal(journal.attempt, 2);
}

static void an_engine_that_comes_back_is_asked_for_the_same_place(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "back", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_down(bench->fake, "gone");
	fake_engine_up(bench->fake);
	journal_await("open:4711 ", 1);
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	assert_int_equal(journal_count("close"), 2); /* before the network is removed, and at the job's end */
}

static void a_call_to_the_cloud_is_told_once_for_each_host(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "caller", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);
	AUTO(string) char *log = NULL;
	char host[32];

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	scheduler_cloud_tried(bench->scheduler, id, "gcr.io");
	scheduler_cloud_tried(bench->scheduler, id, "gcr.io");
	line_await(bench, "caller",
		   "The program called gcr.io, which is not emulated: the call goes to the real service. "
		   "`serve --route NAME=URL` leads a name to an emulator.\n");
	daemon_stop(bench);
	bench->cut_off = true;
	daemon_start(bench);
	fake_engine_up(bench->fake);
	scheduler_cloud_tried(bench->scheduler, id, "gcr.io");
	scheduler_cloud_tried(bench->scheduler, id, "");
	scheduler_cloud_tried(bench->scheduler, id, "");
	line_await(
		bench, "caller",
		"The program tried to reach a host that it did not name, which is cut off (--egress none). "
		"In the cloud this works.\n");
	assert_int_equal(deviations_stored(bench, id, "cloud-tried"), 3);
	daemon_stop(bench);
	daemon_start(bench);
	fake_engine_up(bench->fake);
	for (unsigned i = 0; i < 30; i++) {
		snprintf(host, sizeof(host), "h%u.example", i);
		scheduler_cloud_tried(bench->scheduler, id, host);
	}
	scheduler_cloud_tried(bench->scheduler, id, "gcr.io");
	scheduler_cloud_tried(bench->scheduler, id + 1, "gcr.io"); /* the job does not exist */
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	assert_int_equal(deviations_stored(bench, id, "cloud-tried"), 16);
	log = service_log(bench, "caller");
	assert_non_null(strstr(log, "reach gcr.io"));
	assert_null(strstr(strstr(log, "reach gcr.io") + 1, "reach gcr.io"));
}

/* Fails with: call_failed() that compares whole texts; without HOSTS_MAX. */
static void a_call_that_failed_is_told_once_for_each_host(void **state)
{
	struct bench *bench = *state;
	int64_t id = bench_submit(bench, "caller", 0, 0);
	struct replica_key master = key_of(id, ROLE_MASTER, 0);
	AUTO(string) char *log = NULL;
	char host[32];

	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	scheduler_call_failed(bench->scheduler, id, "pubsub.googleapis.com", "leads nowhere: refused.");
	scheduler_call_failed(bench->scheduler, id, "pubsub.googleapis.com", "leads nowhere: timed out.");
	line_await(bench, "caller", "The program called pubsub.googleapis.com, which leads nowhere: refused.\n");
	for (unsigned i = 0; i < 30; i++) {
		snprintf(host, sizeof(host), "h%u.example", i);
		scheduler_call_failed(bench->scheduler, id, host, "leads nowhere.");
	}
	scheduler_call_failed(bench->scheduler, id + 1, "pubsub.googleapis.com", ""); /* the job does not exist */
	fake_engine_exit(bench->fake, &master, 0);
	idle_await(bench);
	assert_int_equal(deviations_stored(bench, id, "call-failed"), 16);
	log = service_log(bench, "caller");
	assert_null(strstr(log, "timed out"));
}

static void what_every_replica_is_given_is_told(void **state)
{
	struct bench *bench = *state;
	struct replica_key master;
	int64_t id;

	daemon_stop(bench);
	bench->adc = "/home/me/adc.json";
	bench->wheels = "/home/me/wheels";
	bench->cut_off = true;
	daemon_start(bench);
	id = bench_submit(bench, "given", 0, 0);
	master = key_of(id, ROLE_MASTER, 0);
	fake_engine_up(bench->fake);
	surroundings_expect(bench, &master, "/home/me/adc.json:/trainyard/adc.json:ro\n", true);
	surroundings_expect(bench, &master, "GOOGLE_APPLICATION_CREDENTIALS=/trainyard/adc.json\n", true);
	surroundings_expect(bench, &master, "/home/me/wheels", false); /* jobs without Python packages */
	assert_int_equal(deviations_stored(bench, id, "adc-given"), 1);
	assert_int_equal(deviations_stored(bench, id, "cut-off"), 1);
	line_await(bench, "given", "developer's own credentials (--adc)");
}

/* Reports beyond the scheduler's capacity are dropped; here it does not even run. */
static void a_program_that_calls_in_a_loop_costs_no_memory(void **state)
{
	struct bench *bench = *state;
	struct mallinfo2 before;

	scheduler_stop(bench->scheduler);
	scheduler_cloud_tried(bench->scheduler, 1, "gcr.io");
	before = mallinfo2();
	for (unsigned i = 0; i < 10000; i++)
		scheduler_cloud_tried(bench->scheduler, 1, "gcr.io");
	assert_true(mallinfo2().uordblks < before.uordblks + 100000);
}

#define GATEWAY_TEST(test) cmocka_unit_test_setup_teardown(test, gateway_setup, bench_teardown)

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		GATEWAY_TEST(it_is_opened_before_replicas_are_made_and_closed_before_the_network_goes),
		GATEWAY_TEST(a_daemon_that_begins_anew_opens_it_where_the_containers_expect_it),
		GATEWAY_TEST(a_place_that_is_taken_is_tried_again),
		GATEWAY_TEST(a_job_goes_on_without_one_and_says_so),
		GATEWAY_TEST(another_daemon_does_not_say_it_again),
		GATEWAY_TEST(another_attempt_has_the_same_one),
		GATEWAY_TEST(an_engine_that_comes_back_is_asked_for_the_same_place),
		GATEWAY_TEST(a_call_to_the_cloud_is_told_once_for_each_host),
		GATEWAY_TEST(a_call_that_failed_is_told_once_for_each_host),
		GATEWAY_TEST(what_every_replica_is_given_is_told),
		GATEWAY_TEST(a_program_that_calls_in_a_loop_costs_no_memory),
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (sodium_init() < 0)
		return 1;
	failed = cmocka_run_group_tests_name("gateway_keep", tests, NULL, NULL);
	text_deinit(&journal.text);
	return failed;
}
