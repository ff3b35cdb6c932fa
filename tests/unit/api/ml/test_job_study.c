/* SPDX-License-Identifier: Apache-2.0 */
#include <ftw.h>
#include <sodium.h>
#include <sys/stat.h>

#include "store/objects/objects.h"
#include "tests/support/event_writing.h"
#include "tests/unit/api/ml/tuning_testing.h"

/* Returns the answer's text; NULL: bench->err has the error. */
static char *study_text_in(struct bench *bench, struct ml_context *context, const char *job_id,
			   const char *format)
{
	struct call call = { .context = context,
			     .query = json_pack("{s:s}", "format", format),
			     .params = { { "project", "demo" }, { "job", job_id } },
			     .param_count = 2 };
	enum status rc;

	error_deinit(&bench->err);
	rc = job_study_handle(&call, &bench->err);
	json_decref(call.query);
	if (!rc)
		return text_take(&call.answer);
	text_deinit(&call.answer);
	return NULL;
}

static char *study_text(struct bench *bench, const char *job_id, const char *format, const char *trials_dir)
{
	struct ml_context context = context_on(bench, NULL);

	context.training.trials_dir = trials_dir;
	return study_text_in(bench, &context, job_id, format);
}

static json_t *study_json(struct bench *bench, const char *job_id, const char *trials_dir)
{
	AUTO(string) char *text = study_text(bench, job_id, "json", trials_dir);

	if (!text)
		fail_msg("%s", bench->err.text);
	return json_loads(text, JSON_REJECT_DUPLICATES, NULL);
}

static const json_t *trial_at(const json_t *answer, size_t index)
{
	return json_array_get(json_object_get(answer, "trials"), index);
}

static void trials_are_told_with_their_parameters_and_the_best_one(void **state)
{
	BENCH(state);
	const int64_t job = search_store(bench, "tuned", search_of(RATE "," KIND, true));

	trial_finish(bench, job, 1, trial_store(bench, job, 1, "[0.25,1.0]"), "[0.5]",
		     "{\"reported\":2,\"stride\":1,\"points\":[[0,1,0.5,0.75],[1,3,1.5,0.5]]}");
	trial_finish(bench, job, 2, trial_store(bench, job, 2, "[0.5,null]"), NULL, NULL);
	trial_store(bench, job, 3, "[1.0,0.0]");
	AUTO(json) json_t *answer = study_json(bench, "tuned", NULL);

	assert_json_text(
		json_object_get(answer, "trials"),
		"[{'trialId':1,'state':'SUCCEEDED','outcome':'COMPLETED','parameters':{'rate':0.25,"
		"'kind':'a, \\'b\\''},'objectiveValue':0.5,'measurements':[{'trainingStep':1,"
		"'elapsedSeconds':0.5,'objectiveValue':0.75},{'trainingStep':3,'elapsedSeconds':1.5,"
		"'objectiveValue':0.5}]},"
		"{'trialId':2,'state':'SUCCEEDED','outcome':'INFEASIBLE','parameters':{'rate':0.5}},"
		"{'trialId':3,'state':'QUEUED','outcome':'PENDING','parameters':{'rate':1.0,'kind':'plain'}}]");
	assert_json_text(json_object_get(answer, "best"),
			 "{'trialId':1,'parameters':{'rate':0.25,'kind':'a, \\'b\\''},'objectiveValue':0.5}");
	assert_int_equal(json_int_at(answer, "trialCount", 0), 9);
	assert_string_equal(json_text_at(answer, "name"), "projects/demo/jobs/tuned");
}

static void a_table_quotes_what_it_must(void **state)
{
	BENCH(state);
	const int64_t job = search_store(bench, "tuned", search_of(RATE "," KIND, false));

	trial_finish(bench, job, 1, trial_store(bench, job, 1, "[0.25,1.0]"), "[0.5]",
		     NULL);
	trial_store(bench, job, 2, "[1.0,0.0]");
	AUTO(string) char *text = study_text(bench, "tuned", "csv", NULL);

	assert_string_equal(text,
			    "trialId,state,outcome,objectiveValue,beliefMean,beliefDeviation,rate,kind\r\n"
			    "1,SUCCEEDED,COMPLETED,0.5,,,0.25,\"a, \"\"b\"\"\"\r\n"
			    "2,QUEUED,PENDING,,,,1,plain\r\n");
}

/* A curve of 5000 reports, of which every tenth is stored. */
static char *long_curve(void)
{
	struct text text AUTO_TEXT = { 0 };

	text_puts(&text, "{\"reported\":5000,\"stride\":10,\"points\":[");
	for (int i = 0; i < 500; i++)
		text_printf(&text, "%s[%d,%d,%d.5,0.5]", i ? "," : "", 10 * i, 10 * i, i);
	text_puts(&text, "]}");
	return text_take(&text);
}

static void a_curve_that_is_not_whole_says_so(void **state)
{
	BENCH(state);
	const int64_t job = search_store(bench, "tuned", search_of(RATE, false));
	AUTO(string) char *curve = long_curve();

	trial_finish(bench, job, 1, trial_store(bench, job, 1, "[0.25]"), "[0.5]",
		     curve);
	trial_finish(bench, job, 2, trial_store(bench, job, 2, "[0.25]"), "[0.5]",
		     "{\"reported\":1,\"stride\":1,\"points\":[[0,1,0.5,0.75]]}");
	AUTO(json) json_t *answer = study_json(bench, "tuned", NULL);
	assert_int_equal(json_array_size(json_object_get(trial_at(answer, 0), "measurements")), 500);
	assert_int_equal(json_int_at(trial_at(answer, 0), "reportedMeasurementCount", 0), 5000);
	assert_int_equal(json_array_size(json_object_get(trial_at(answer, 1), "measurements")), 1);
	assert_null(json_object_get(trial_at(answer, 1), "reportedMeasurementCount"));
}

/* The size of the answer is bounded for any number of trials. */
static void curves_of_many_trials_are_told_more_coarsely(void **state)
{
	BENCH(state);
	const int64_t job = search_store(bench, "tuned", search_of(RATE, false));
	AUTO(string) char *curve = long_curve();
	size_t reported;

	for (unsigned i = 1; i <= 250; i++) {
		const int64_t run = trial_store(bench, job, i, "[0.25]");

		if (i == 250)
			assert_int_equal(
				trial_curves_put(bench->store,
						 &(struct trial_curve){ .run = run, .points = curve }, 1,
						 &bench->err),
				STATUS_OK);
	}
	AUTO(json) json_t *answer = study_json(bench, "tuned", NULL);
	const json_t *measurements = json_object_get(trial_at(answer, 249), "measurements");

	reported = json_array_size(measurements);
	assert_true(reported > 150 && reported <= 201);
	assert_int_equal(json_int_at(json_array_get(measurements, reported - 1), "trainingStep", 0), 4990);
	assert_int_equal(json_int_at(trial_at(answer, 249), "reportedMeasurementCount", 0), 5000);
}

static void a_damaged_curve_is_left_out(void **state)
{
	BENCH(state);
	const int64_t job = search_store(bench, "tuned", search_of(RATE, false));

	trial_finish(bench, job, 1, trial_store(bench, job, 1, "[0.25]"), "[0.5]",
		     "{");
	trial_finish(bench, job, 2, trial_store(bench, job, 2, "[0.25]"), "[0.5]",
		     "{}");
	AUTO(json) json_t *answer = study_json(bench, "tuned", NULL);
	for (size_t i = 0; i < 2; i++)
		assert_null(json_object_get(trial_at(answer, i), "measurements"));
}

/* Reports that are stored, and newer ones in the trial's file. */
static void of_a_trial_under_way_the_newest_is_told(void **state)
{
	BENCH(state);
	const int64_t job = search_store(bench, "tuned", search_of(RATE, false));
	const int64_t run = trial_store(bench, job, 1, "[0.25]");
	char directory[96], path[128];
	FILE *file;

	job_to_running(bench, run);
	assert_int_equal(
		trial_curves_put(bench->store,
				 &(struct trial_curve){ .run = run,
							.points = "{\"reported\":1,\"stride\":1,\"points\":"
								  "[[0,1,0.5,0.75]]}" },
				 1, &bench->err),
		STATUS_OK);
	snprintf(directory, sizeof(directory), "%s/%d", bench->dir, (int)run);
	assert_int_equal(mkdir(directory, 0700), 0);
	snprintf(path, sizeof(path), "%s/output.metrics", directory);
	file = fopen(path, "w");
	fprintf(file, "{\"global_step\":\"2\",\"timestamp\":%lld.5,\"loss\":\"0.25\"}\n",
		(long long)(START_NS / 1000000000 + 1));
	fclose(file);
	AUTO(json) json_t *answer = study_json(bench, "tuned", bench->dir);
	assert_json_text(json_object_get(trial_at(answer, 0), "measurements"),
			 "[{'trainingStep':1,'elapsedSeconds':0.5,'objectiveValue':0.75},"
			 "{'trainingStep':2,'elapsedSeconds':1.5,'objectiveValue':0.25}]");
	unlink(path);
	rmdir(directory);
}

static int entry_remove(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info, (void)kind, (void)walk;
	return remove(path);
}

static void object_put(struct bench *bench, struct objects *objects, const char *name,
		       const struct text *text)
{
	const struct object_target target = { .bucket = "bucket",
					      .name = name,
					      .conditions = CONDITIONS_NONE };
	AUTO(upload) struct upload *upload = NULL;
	struct object made AUTO_OBJECT = { 0 };

	assert_int_equal(upload_begin(objects, &target, &upload, &bench->err), STATUS_OK);
	assert_int_equal(upload_write(upload, text->data, text->length, &bench->err), STATUS_OK);
	assert_int_equal(upload_finish(upload, &made, &bench->err), STATUS_OK);
}

static void its_event_files_are_told_as_well(void **state)
{
	BENCH(state);
	struct ml_context context = context_on(bench, NULL);
	AUTO(plan) struct plan *plan = plan_of("demo", "tuned", 0, 0);
	struct text text AUTO_TEXT = { 0 };
	AUTO(string) char *reported = NULL;
	AUTO(json) json_t *answer = NULL;
	char directory[] = "/tmp/trainyard-test-XXXXXX";
	int64_t job;

	assert_non_null(mkdtemp(directory));
	assert_int_equal(objects_new(&(struct objects_options){ directory, &bench->clock, "demo" },
				     &context.training.objects, &bench->err),
			 STATUS_OK);
	plan->search = search_of(RATE, false);
	plan->job_dir = strdup("gs://bucket/out");
	job = plan_store(bench, plan, "{'hyperparameters':{'maxTrials':9}}");
	trial_store(bench, job, 1, "[0.25]");
	job_to_running(bench, trial_store(bench, job, 2, "[0.5]"));
	version_write(&text);
	scalar_event_write(&text, (double)(START_NS / 1000000000) + 2, 8, "loss", 0.75F);
	object_put(bench, context.training.objects, "out/2/events.out.tfevents.1", &text);
	context.training.trials_dir = bench->dir;
	reported = study_text_in(bench, &context, "tuned", "json");
	assert_non_null(reported);
	answer = json_loads(reported, JSON_REJECT_DUPLICATES, NULL);
	assert_json_text(json_object_get(trial_at(answer, 1), "measurements"),
			 "[{'trainingStep':8,'elapsedSeconds':2.0,'objectiveValue':0.75}]");
	assert_null(json_object_get(trial_at(answer, 0), "measurements"));
	objects_free(context.training.objects);
	assert_int_equal(nftw(directory, entry_remove, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void what_has_no_study_is_refused(void **state)
{
	BENCH(state);
	AUTO(plan) struct plan *plain = plan_of("demo", "plain", 0, 0);

	plan_store(bench, plain, "{}");
	assert_null(study_text(bench, "plain", "json", NULL));
	assert_int_equal(bench->err.status, STATUS_FAILED_PRECONDITION);
	assert_null(study_text(bench, "gone", "json", NULL));
	assert_int_equal(bench->err.status, STATUS_NOT_FOUND);
	assert_null(study_text(bench, "plain", "xml", NULL));
	assert_int_equal(bench->err.status, STATUS_INVALID_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trials_are_told_with_their_parameters_and_the_best_one),
		TEST(a_table_quotes_what_it_must),
		TEST(a_curve_that_is_not_whole_says_so),
		TEST(curves_of_many_trials_are_told_more_coarsely),
		TEST(a_damaged_curve_is_left_out),
		TEST(of_a_trial_under_way_the_newest_is_told),
		TEST(its_event_files_are_told_as_well),
		TEST(what_has_no_study_is_refused),
	};

	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
