/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/plan/dialect.h"
#include "tests/unit/api/message/json_testing.h"
#include "tests/unit/testing.h"

struct shape {
	unsigned counts[ROLE_COUNT];
	bool chief;
	unsigned trial;
};

static struct plan *plan_of(struct shape shape)
{
	struct plan *plan = plan_new();

	plan->dialect = strdup("aiplatform");
	plan->project = strdup("p");
	plan->project_number = strdup("123456789012");
	plan->job_id = strdup("3793775725299892224");
	plan->cluster_id = strdup("5f0c1a9e77");
	plan->region = strdup("us-central1");
	plan->input = strdup("{\"python_module\":\"\",\"package_uris\":[],\"job_args\":[\"--epochs=3\"]}");
	plan->uses_chief = shape.chief;
	plan->trial = shape.trial;
	for (int role = 0; role < ROLE_COUNT; role++)
		plan->pools[role].count = shape.counts[role];
	return plan;
}

#define JOB                                                                                                  \
	"\"job\":\"{\\\"python_module\\\":\\\"\\\",\\\"package_uris\\\":[],"                                 \
	"\\\"job_args\\\":[\\\"--epochs\\\\u003d3\\\"]}\""
#define HOST(pool, index) "\"cmle-training-workerpool" #pool "-5f0c1a9e77-" #index ":2222\""
#define NAME(pool, index) "cmle-training-workerpool" #pool "-5f0c1a9e77-" #index
#define SPEC(cluster, task)                                                                                  \
	"CLUSTER_SPEC={\"cluster\":{" cluster "},\"environment\":\"cloud\",\"task\":{" task "}," JOB
#define LONE_SPEC(cluster, task) SPEC(cluster, task) "}"
#define MANY_SPEC(cluster, task) SPEC(cluster, task) ",\"open_ports\":[3333]}"
/* Fails with: distribution_add() without KUBERNETES_PORT */
#define TF(cluster, task)                                                                                    \
	"TF_CONFIG={\"cluster\":{" cluster "},\"environment\":\"cloud\",\"task\":{" task                     \
	",\"cloud\":\"wc49094d81dd2e30a-ml\"}," JOB "}",                                                     \
		"KUBERNETES_PORT=tcp://127.0.0.1:443"
#define TASK(type, index) "\"type\":\"" type "\",\"index\":" #index
#define ALWAYS                                                                                               \
	"CLOUD_ML_PROJECT_ID=123456789012", "CLOUD_ML_REGION=us-central1",                                   \
		"CLOUD_ML_JOB_ID=3793775725299892224"
#define RANKS(rank, size) "MASTER_ADDR=" NAME(0, 0), "MASTER_PORT=3333", "RANK=" #rank, "WORLD_SIZE=" #size
#define TRIAL             "CLOUD_ML_TRIAL_ID=2", "CLOUD_ML_HP_METRIC_FILE=/var/hypertune/output.metrics"

#define FULL    "\"workerpool0\":[" HOST(0, 0) "],\"workerpool1\":[" HOST(1, 0) "," HOST(1, 1) "]"
#define FULL_TF "\"chief\":[" HOST(0, 0) "],\"worker\":[" HOST(1, 0) "," HOST(1, 1) "]"

static const struct row {
	struct shape shape;
	enum role role;
	unsigned index;
	const char *environment[14];
} rows[] = {
	/* one replica */
	{ { { 1, 0, 0, 0 }, true, 0 },
	  ROLE_MASTER,
	  0,
	  { LONE_SPEC("\"chief\":[" HOST(0, 0) "]", TASK("chief", 0)), ALWAYS } },
	{ { { 1, 0, 0, 0 }, false, 0 },
	  ROLE_MASTER,
	  0,
	  { LONE_SPEC("\"workerpool0\":[" HOST(0, 0) "]", TASK("workerpool0", 0)), ALWAYS } },
	{ { { 1, 0, 0, 0 }, true, 2 },
	  ROLE_MASTER,
	  0,
	  { LONE_SPEC("\"chief\":[" HOST(0, 0) "]", TASK("chief", 0) ",\"trial\":\"2\""), ALWAYS, TRIAL } },
	/* with two workers */
	{ { { 1, 2, 0, 0 }, true, 0 },
	  ROLE_MASTER,
	  0,
	  { MANY_SPEC(FULL, TASK("workerpool0", 0)), ALWAYS, TF(FULL_TF, TASK("chief", 0)), RANKS(0, 3) } },
	{ { { 1, 2, 0, 0 }, true, 0 },
	  ROLE_WORKER,
	  1,
	  { MANY_SPEC(FULL, TASK("workerpool1", 1)), ALWAYS, TF(FULL_TF, TASK("worker", 1)), RANKS(2, 3) } },
	{ { { 1, 2, 0, 0 }, true, 2 },
	  ROLE_WORKER,
	  0,
	  { MANY_SPEC(FULL, TASK("workerpool1", 0) ",\"trial\":\"2\""), ALWAYS,
	    TF(FULL_TF, TASK("worker", 0) ",\"trial\":\"2\""), RANKS(1, 3), TRIAL } },
	/* parameter servers and evaluators have no rank; evaluators are not in TF_CONFIG */
	{ { { 1, 1, 1, 1 }, true, 0 },
	  ROLE_PS,
	  0,
	  { MANY_SPEC("\"workerpool0\":[" HOST(0, 0) "],\"workerpool1\":[" HOST(
			      1, 0) "],\"workerpool2\":[" HOST(2, 0) "],\"workerpool3\":[" HOST(3, 0) "]",
		      TASK("workerpool2", 0)),
	    ALWAYS,
	    TF("\"chief\":[" HOST(0, 0) "],\"worker\":[" HOST(1, 0) "],\"ps\":[" HOST(2, 0) "]",
	       TASK("ps", 0)) } },
	{ { { 1, 0, 0, 1 }, true, 0 },
	  ROLE_EVALUATOR,
	  0,
	  { MANY_SPEC("\"workerpool0\":[" HOST(0, 0) "],\"workerpool3\":[" HOST(3, 0) "]",
		      TASK("workerpool3", 0)),
	    ALWAYS, TF("\"chief\":[" HOST(0, 0) "]", TASK("evaluator", 0)) } },
	/* the second pool is skipped */
	{ { { 1, 0, 1, 0 }, true, 0 },
	  ROLE_MASTER,
	  0,
	  { MANY_SPEC("\"workerpool0\":[" HOST(0, 0) "],\"workerpool2\":[" HOST(2, 0) "]",
		      TASK("workerpool0", 0)),
	    ALWAYS, TF("\"chief\":[" HOST(0, 0) "],\"ps\":[" HOST(2, 0) "]", TASK("chief", 0)),
	    RANKS(0, 1) } },
};

static const char *text_at(const json_t *environment, size_t at)
{
	const char *text = json_string_value(json_array_get(environment, at));

	return text ? text : "(none)";
}

static void each_replica_of_each_shape_gets_its_golden_environment(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = plan_of(rows[i].shape);
		AUTO(json) json_t *environment = NULL;
		size_t count = 0;

		assert_int_equal(replica_environment(plan, rows[i].role, rows[i].index, &environment, NULL),
				 STATUS_OK);
		for (; rows[i].environment[count]; count++)
			assert_string_equal(text_at(environment, count), rows[i].environment[count]);
		assert_int_equal(json_array_size(environment), count);
	}
}

static void what_is_escaped_already_stays_so(void **state)
{
	AUTO(plan) struct plan *plan = plan_of((struct shape){ { 1, 0, 0, 0 }, true, 0 });
	AUTO(string) char *plain = dialect_of(plan)->cluster_spec(plan, ROLE_MASTER, 0);
	AUTO(string) char *escaped = NULL;

	(void)state;
	free(plan->input);
	plan->input =
		strdup("{\"python_module\":\"\",\"package_uris\":[],\"job_args\":[\"--epochs\\u003d3\"]}");
	escaped = dialect_of(plan)->cluster_spec(plan, ROLE_MASTER, 0);
	assert_string_equal(plain, escaped);
}

static const char *variable(const json_t *environment, const char *name)
{
	const size_t length = strlen(name);
	const json_t *one;
	size_t i;

	json_array_foreach(environment, i, one)
		if (strncmp(json_string_value(one), name, length) == 0 &&
		    json_string_value(one)[length] == '=')
			return json_string_value(one) + length + 1;
	return "(none)";
}

static void an_output_directory_is_told_by_three_names(void **state)
{
	static const struct {
		const char *directory, *model, *logs;
	} directories[] = {
		{ "gs://b/out/", "gs://b/out/model/", "gs://b/out/logs/" },
		{ "gs://b/out/3/", "gs://b/out/3/model/", "gs://b/out/3/logs/" },
		{ "gs://b", "gs://b/model/", "gs://b/logs/" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(directories); i++) {
		AUTO(plan) struct plan *plan = plan_of((struct shape){ { 1, 1, 0, 0 }, true, 0 });
		AUTO(json) json_t *environment = NULL;

		plan->job_dir = strdup(directories[i].directory);
		assert_int_equal(replica_environment(plan, ROLE_WORKER, 0, &environment, NULL), STATUS_OK);
		assert_string_equal(variable(environment, "AIP_MODEL_DIR"), directories[i].model);
		assert_string_equal(variable(environment, "AIP_TENSORBOARD_LOG_DIR"), directories[i].logs);
		assert_non_null(strstr(variable(environment, "AIP_CHECKPOINT_DIR"), "/checkpoints/"));
	}
}

static void a_clients_variables_win_but_over_two(void **state)
{
	AUTO(plan) struct plan *plan = plan_of((struct shape){ { 1, 1, 0, 0 }, true, 0 });
	AUTO(json) json_t *environment = NULL;
	AUTO(json) json_t *command = NULL;
	AUTO(json) json_t *args = NULL;

	(void)state;
	plan->job_dir = strdup("gs://b/out/");
	plan->pools[ROLE_WORKER].env = json_pack("[s, s, s, s, s, s, s, s]", "EARLY=$(LATE)", "LATE=late",
						 "OUT=$(AIP_MODEL_DIR)$(LATE)", "RANK=7", "CLUSTER_SPEC=mine",
						 "TF_CONFIG=mine", "KEPT=$$(LATE)", "COPY=$(KEPT)");
	plan->pools[ROLE_WORKER].command = json_pack("[s, s]", "$(LATE)/run", "$$(LATE)");
	plan->pools[ROLE_WORKER].args = json_pack("[s, s, s]", "--out=$(OUT)", "--rank=$(RANK)", "$(NONE)");
	assert_int_equal(replica_environment(plan, ROLE_WORKER, 0, &environment, NULL), STATUS_OK);
	assert_int_equal(replica_environment_extend(plan, ROLE_WORKER, environment, NULL), STATUS_OK);
	assert_string_equal(variable(environment, "EARLY"), "$(LATE)");
	assert_string_equal(variable(environment, "OUT"), "gs://b/out/model/late");
	assert_string_equal(variable(environment, "RANK"), "7");
	assert_string_equal(variable(environment, "KEPT"), "$(LATE)");
	assert_string_equal(variable(environment, "COPY"), "$(LATE)");
	assert_int_equal(*variable(environment, "CLUSTER_SPEC"), '{');
	assert_int_equal(*variable(environment, "TF_CONFIG"), '{');
	assert_int_equal(replica_command(plan, ROLE_WORKER, environment, &command, &args, NULL), STATUS_OK);
	assert_json_text(command, "['late/run','$(LATE)']");
	assert_json_text(args, "['--out=gs://b/out/model/late','--rank=7','$(NONE)']");
}

static void other_pools_have_none_of_them(void **state)
{
	AUTO(plan) struct plan *plan = plan_of((struct shape){ { 1, 1, 0, 0 }, true, 0 });
	AUTO(json) json_t *environment = json_array();
	AUTO(json) json_t *command = NULL;
	AUTO(json) json_t *args = NULL;

	(void)state;
	plan->pools[ROLE_WORKER].env = json_pack("[s]", "A=1");
	assert_int_equal(replica_environment_extend(plan, ROLE_MASTER, environment, NULL), STATUS_OK);
	assert_int_equal(json_array_size(environment), 0);
	assert_int_equal(replica_command(plan, ROLE_MASTER, environment, &command, &args, NULL), STATUS_OK);
	assert_null(command); /* the image's own command is used */
	assert_null(args);
}

static void what_no_program_can_be_given_is_refused(void **state)
{
	AUTO(plan) struct plan *plan = plan_of((struct shape){ { 1, 0, 0, 0 }, true, 0 });
	AUTO(json) json_t *environment = json_array();
	AUTO(json) json_t *command = NULL;
	AUTO(json) json_t *args = NULL;
	struct error err AUTO_ERROR = { 0 };
	char *longest = calloc(1, 70001);

	(void)state;
	memset(longest, 'x', 70000);
	plan->pools[ROLE_MASTER].env = json_pack("[s, s]", "A=$(B)", "C=$(B)$(B)");
	json_array_append_new(environment, json_sprintf("B=%s", longest));
	assert_int_equal(replica_environment_extend(plan, ROLE_MASTER, environment, &err),
			 STATUS_INVALID_ARGUMENT);
	assert_non_null(strstr(err.text, "C is too long"));
	plan->pools[ROLE_MASTER].args = json_pack("[s]", "$(B)$(A)");
	assert_int_equal(replica_command(plan, ROLE_MASTER, environment, &command, &args, &err),
			 STATUS_INVALID_ARGUMENT);
	free(longest);
}

/* A variable can be referred to in five characters, so a short command could expand to a very long one. */
static void many_long_words_are_refused(void **state)
{
	AUTO(plan) struct plan *plan = plan_of((struct shape){ { 1, 0, 0, 0 }, true, 0 });
	AUTO(json) json_t *environment = json_array();
	AUTO(json) json_t *command = NULL;
	AUTO(json) json_t *args = NULL;
	struct error err AUTO_ERROR = { 0 };
	char longest[100001];

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	json_array_append_new(environment, json_sprintf("B=%s", longest));
	plan->pools[ROLE_MASTER].command = json_array();
	for (int i = 0; i < 20; i++)
		json_array_append_new(plan->pools[ROLE_MASTER].command, json_string("$(B)"));
	assert_int_equal(replica_command(plan, ROLE_MASTER, environment, &command, &args, &err), STATUS_OK);
	plan->pools[ROLE_MASTER].args = json_pack("[s]", "$(B)");
	json_decref(command);
	command = NULL;
	assert_int_equal(replica_command(plan, ROLE_MASTER, environment, &command, &args, &err),
			 STATUS_INVALID_ARGUMENT);
	plan->pools[ROLE_MASTER].env = json_array();
	for (int i = 0; i < 21; i++)
		json_array_append_new(plan->pools[ROLE_MASTER].env, json_sprintf("C%d=$(B)", i));
	assert_int_equal(replica_environment_extend(plan, ROLE_MASTER, environment, NULL),
			 STATUS_INVALID_ARGUMENT);
}

static void replicas_are_called_by_their_pools(void **state)
{
	AUTO(plan) struct plan *plan = plan_of((struct shape){ { 1, 0, 0, 0 }, true, 0 });
	char name[REPLICA_NAME_MAX];
	AUTO(string) char *email = service_agent_email(plan->dialect, "42");

	(void)state;
	replica_task_name(plan, ROLE_PS, 3, name);
	assert_string_equal(name, "workerpool2-3");
	replica_sentence_name(plan, ROLE_PS, 3, name);
	assert_string_equal(name, "workerpool2-3");
	replica_host_name(plan, ROLE_WORKER, 12, name);
	assert_int_equal(strncmp(name, NAME(1, 12) "-", strlen(NAME(1, 12)) + 1), 0);
	assert_int_equal(strlen(name), strlen(NAME(1, 12)) + 6);
	assert_true(replicas_have_names(plan));
	assert_string_equal(email, "service-42@gcp-sa-aiplatform-cc.iam.gserviceaccount.com");
}

static void launched_replicas_are_wrapped(void **state)
{
	AUTO(plan) struct plan *plan = plan_of((struct shape){ { 1, 0, 0, 0 }, true, 0 });
	AUTO(json) json_t *options = launcher_options(plan);

	(void)state;
	assert_json_text(options, "['--specification=CLUSTER_SPEC','--wrapper=run_module.py']");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_replica_of_each_shape_gets_its_golden_environment),
		cmocka_unit_test(what_is_escaped_already_stays_so),
		cmocka_unit_test(an_output_directory_is_told_by_three_names),
		cmocka_unit_test(a_clients_variables_win_but_over_two),
		cmocka_unit_test(other_pools_have_none_of_them),
		cmocka_unit_test(what_no_program_can_be_given_is_refused),
		cmocka_unit_test(many_long_words_are_refused),
		cmocka_unit_test(replicas_are_called_by_their_pools),
		cmocka_unit_test(launched_replicas_are_wrapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
