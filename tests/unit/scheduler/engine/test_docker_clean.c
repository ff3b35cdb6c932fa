/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_clean.c with an engine that is busy, slow to remove, or unreachable. */
#include "scheduler/engine/docker_clean.h"
#include "tests/unit/scheduler/engine/docker_testing.h"

#define CONTAINER(id, instance)                                                                              \
	"{\"Id\":\"" id "\",\"Names\":[\"/ty-" instance                                                      \
	"-1-master-0-a1\"],\"State\":\"running\",\"Created\":5,"                                             \
	"\"Labels\":{\"trainyard.instance\":\"" instance "\",\"trainyard.job_id\":\"j\"}}"
#define NETWORK(id, instance)                                                                                \
	"{\"Id\":\"" id "\",\"Name\":\"ty-" instance "-1\",\"Created\":\"1970-01-01T00:00:07Z\","            \
	"\"Labels\":{\"trainyard.instance\":\"" instance "\"}}"

#define MARKER(more)                                                                                         \
	"{\"Name\":\"ty-t-daemon\",\"Labels\":{\"trainyard.instance\":\"t\"" more "}}"

struct report {
	struct lab *lab;
	struct text text; /* "+id" for each removed object, "-id why" for each that was not removed */
};

static void report_deinit(struct report *report)
{
	text_deinit(&report->text);
}

#define AUTO_REPORT __attribute__((cleanup(report_deinit)))

static void reported(void *arg, const struct orphan *item, const char *problem)
{
	struct report *report = arg;

	if (problem)
		text_printf(&report->text, "-%s %s\n", item->id, problem);
	else
		text_printf(&report->text, "+%s\n", item->id);
	if (item->kind == ORPHAN_CONTAINER)
		assert_false(was_asked(report->lab, "DELETE /networks"));
}

static enum status clean(struct lab *lab, struct report *report, struct error *err)
{
	char host[80];

	report->lab = lab;
	snprintf(host, sizeof(host), "unix://%s", lab->path);
	return docker_sweep(host, "t", &(struct sweep_report){ reported, report }, err);
}

static enum status list(struct lab *lab, const char *instance, struct orphans *ret_list, struct error *err)
{
	char host[80];

	snprintf(host, sizeof(host), "unix://%s", lab->path);
	return docker_list(host, instance, ret_list, err);
}

/* Labels decide, whatever the engine's filter returns. Fails with: others_drop() left out: a foreign container was listed,
 * and removed by the test below. */
static void a_list_has_what_is_the_instances_alone(void **state)
{
	struct lab *lab = *state;
	struct orphans AUTO_ORPHANS all = { 0 }, AUTO_ORPHANS mine = { 0 };

	rule_set(lab, 0,
		 (struct rule){ "GET /containers/json?all=1&filters=", 200,
				"[" CONTAINER("c1", "u") "," CONTAINER("c2", "t") ",7,{}," CONTAINER(
					"../etc", "t") "]" });
	rule_set(lab, 1, (struct rule){ "GET /networks?filters=", 200, "[" NETWORK("a1", "t") "]" });
	assert_int_equal(list(lab, NULL, &all, NULL), STATUS_OK);
	assert_int_equal(all.count, 3);
	assert_string_equal(all.items[0].id, "c2");
	assert_true(all.items[0].runs);
	assert_int_equal(all.items[0].created_s, 5);
	assert_string_equal(all.items[1].id, "a1");
	assert_int_equal(all.items[1].created_s, 7);
	assert_string_equal(all.items[2].instance, "u");
	assert_int_equal(list(lab, "t", &mine, NULL), STATUS_OK);
	assert_int_equal(mine.count, 2);
	assert_true(was_asked(lab, "trainyard.instance%3Dt"));
}

/* Fails with: networks in the same go as containers: a1 was asked for first. */
static void containers_go_before_their_networks(void **state)
{
	struct lab *lab = *state;
	struct report AUTO_REPORT report = { 0 };

	rule_set(lab, 0,
		 (struct rule){ "GET /containers/json?all=1", 200,
				"[" CONTAINER("c1", "t") "," CONTAINER("c2", "u") "]", .times = 1 });
	rule_set(lab, 1, (struct rule){ "GET /networks", 200, "[" NETWORK("a1", "t") "]", .times = 1 });
	rule_set(lab, 2, (struct rule){ "DELETE /containers/c1?force=1&v=1 ", 204 });
	rule_set(lab, 3, (struct rule){ "DELETE /networks/a1 ", 204 });
	assert_int_equal(clean(lab, &report, NULL), STATUS_OK);
	assert_string_equal(report.text.data, "+c1\n+a1\n");
	assert_false(was_asked(lab, "/c2"));
}

/* Fails with: docker_sweep() without elsewhere_check(). */
static void nothing_of_a_daemon_elsewhere_is_removed(void **state)
{
	struct lab *lab = *state;
	struct report AUTO_REPORT report = { 0 };
	struct error AUTO_ERROR err = { 0 };

	rule_set(lab, 0,
		 (struct rule){ "GET /volumes/ty-t-daemon", 200,
				"{\"Labels\":{\"trainyard.place\":\"there\",\"trainyard.host\":\"far\"}}" });
	rule_set(lab, 1, (struct rule){ "DELETE", 204 });
	rule_set(lab, 2, (struct rule){ "GET /networks", 200, "[" NETWORK("a1", "t") "]", .times = 1 });
	assert_int_equal(clean(lab, &report, &err), STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, "(its host name is far): stop that daemon first"));
	assert_int_equal(report.text.length, 0);
	rule_set(lab, 0,
		 (struct rule){ "GET /volumes/ty-t-daemon", 200,
				MARKER(",\"trainyard.place\":\"there\""), .times = 1 });
	assert_int_equal(clean(lab, &report, NULL), STATUS_OK);
	assert_string_equal(report.text.data, "+ty-t-daemon\n+a1\n");
}

#define VOLUMES "GET /volumes?filters="
#define CLAIM   "{\"Name\":\"ty-t-gpu-0a\",\"Labels\":{\"trainyard.instance\":\"t\",\"trainyard.gpus\":\"0\"}}"

/* Volumes of a daemon that was killed on this machine. Fails with: list_add() without volumes: "the engine has nothing of
 * it"; a volume of that name without our label went. */
static void volumes_without_a_daemon_are_listed_and_removed(void **state)
{
	struct lab *lab = *state;
	struct report AUTO_REPORT report = { 0 };
	struct orphans AUTO_ORPHANS found = { 0 };

	rule_set(lab, 0, (struct rule){ "DELETE /volumes/ty-t-", 204 });
	rule_set(lab, 1, (struct rule){ VOLUMES, 200, "{\"Volumes\":[{\"Name\":\"ty-t-daemon\",\"Labels\":{}}]}" });
	assert_int_equal(clean(lab, &report, NULL), STATUS_OK);
	assert_int_equal(rule_asked(lab, 0), 0);
	rule_set(lab, 1, (struct rule){ VOLUMES, 200, "{\"Volumes\":[" CLAIM "," MARKER("") "]}" });
	assert_int_equal(list(lab, "t", &found, NULL), STATUS_OK);
	assert_int_equal(found.count, 2);
	assert_string_equal(orphan_kind_names[found.items[0].kind], "volume");
	assert_string_equal(found.items[0].name, "ty-t-daemon");
	orphans_deinit(&found);
	assert_int_equal(list(lab, NULL, &found, NULL), STATUS_OK);
	assert_int_equal(found.count, 2);
	rule_set(lab, 1, (struct rule){ VOLUMES, 200, "{\"Volumes\":[" CLAIM "," MARKER("") "]}", .times = 1 });
	rule_set(lab, 2, (struct rule){ VOLUMES, 200, "{\"Volumes\":null}" });
	assert_int_equal(clean(lab, &report, NULL), STATUS_OK);
	/* Volumes are removed at the same time: the answers come in any order. */
	assert_int_equal(report.text.length, strlen("+ty-t-daemon\n+ty-t-gpu-0a\n"));
	assert_non_null(strstr(report.text.data, "+ty-t-daemon\n"));
	assert_non_null(strstr(report.text.data, "+ty-t-gpu-0a\n"));
}

static void what_is_busy_goes_a_moment_later(void **state)
{
	struct lab *lab = *state;
	struct report AUTO_REPORT report = { 0 };

	rule_set(lab, 0, (struct rule){ "GET /networks", 200, "[" NETWORK("a1", "t") "]", .times = 3 });
	rule_set(lab, 1,
		 (struct rule){ "DELETE", 403, "{\"message\":\"has active endpoints\"}", .times = 2 });
	rule_set(lab, 2, (struct rule){ "DELETE", 204 });
	assert_int_equal(clean(lab, &report, NULL), STATUS_OK);
	assert_string_equal(report.text.data, "+a1\n");
}

/* Fails with: IDLE_ROUNDS not counted: it never ended. */
static void what_never_goes_is_told_with_the_reason(void **state)
{
	struct lab *lab = *state;
	struct report AUTO_REPORT report = { 0 };
	struct error AUTO_ERROR err = { 0 };

	rule_set(lab, 0, (struct rule){ "GET /networks", 200, "[" NETWORK("a1", "t") "]" });
	rule_set(lab, 1, (struct rule){ "DELETE", 403, "{\"message\":\"has active endpoints\"}" });
	assert_int_equal(clean(lab, &report, &err), STATUS_FAILED_PRECONDITION);
	assert_string_equal(report.text.data, "-a1 has active endpoints\n");
	assert_string_equal(err.text, "1 of these objects could not be removed");
}

static void an_engine_that_goes_away_ends_it(void **state)
{
	struct lab *lab = *state;
	struct report AUTO_REPORT report = { 0 };
	struct error AUTO_ERROR err = { 0 };

	rule_set(lab, 0, (struct rule){ "GET /networks", 200, "[" NETWORK("a1", "t") "]" });
	rule_set(lab, 1, (struct rule){ "DELETE", 0 });
	assert_int_equal(clean(lab, &report, &err), STATUS_UNAVAILABLE);
	assert_int_equal(report.text.length, 0);
}

static void a_list_that_cannot_be_had_is_no_empty_list(void **state)
{
	static const struct {
		struct rule rule;
		enum status status;
		const char *text;
	} cases[] = {
		{ { "GET /containers", 200, "{}" }, STATUS_INTERNAL, "its list cannot be understood" },
		{ { "GET /networks", 200, "[" }, STATUS_INTERNAL, "its list cannot be understood" },
		{ { "GET /containers", 500, "{\"message\":\"broken\"}" }, STATUS_INTERNAL, "broken" },
		{ { "GET /volumes", 200, "[]" }, STATUS_INTERNAL, "its list cannot be understood" },
		{ { "GET /networks", 503, "starting\n" }, STATUS_UNAVAILABLE, "starting" },
		{ { "GET /containers", 200, "[", .cut = true }, STATUS_UNAVAILABLE, NULL },
		{ { "GET /containers", 0 }, STATUS_UNAVAILABLE, NULL },
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct report AUTO_REPORT report = { 0 };
		struct error AUTO_ERROR err = { 0 };
		struct orphans AUTO_ORPHANS found = { 0 };

		rule_set(lab, 0, cases[i].rule);
		assert_int_equal(list(lab, NULL, &found, &err), cases[i].status);
		if (cases[i].text)
			assert_string_equal(err.text, cases[i].text);
		assert_int_equal(clean(lab, &report, NULL), cases[i].status);
		assert_int_equal(report.text.length, 0);
	}
}

static void no_engine_is_said(void **state)
{
	struct error AUTO_ERROR err = { 0 };
	struct orphans AUTO_ORPHANS found = { 0 };

	(void)state;
	assert_int_equal(docker_list("unix:///nowhere/docker.sock", NULL, &found, &err), STATUS_UNAVAILABLE);
	assert_true(strlen(err.text) > 0);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_list_has_what_is_the_instances_alone),
		LAB_TEST(containers_go_before_their_networks),
		LAB_TEST(nothing_of_a_daemon_elsewhere_is_removed),
		LAB_TEST(volumes_without_a_daemon_are_listed_and_removed),
		LAB_TEST(what_is_busy_goes_a_moment_later),
		LAB_TEST(what_never_goes_is_told_with_the_reason),
		LAB_TEST(an_engine_that_goes_away_ends_it),
		LAB_TEST(a_list_that_cannot_be_had_is_no_empty_list),
		cmocka_unit_test(no_engine_is_said),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker clean", tests, start, NULL);
}
