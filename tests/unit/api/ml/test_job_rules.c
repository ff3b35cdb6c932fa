/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/job_rules.h"

#include "api/training/regions.h"
#include "tests/unit/api/ml/job_testing.h"

static enum status check_body(const char *text, const struct ml_settings *settings, struct error *err)
{
	AUTO(json) json_t *body = json_of(text);
	AUTO(json) json_t *job = job_of_body(body);

	return job_rules_check(job, settings, err);
}

static void job_ids_begin_with_a_letter_and_have_no_hyphen(void **state)
{
	static const struct {
		const char *id;
		bool good;
	} rows[] = {
		{ "j", true },    { "J", true },          { "my_job_20260101_120000", true },
		{ "a1", true },   { "a_", true },         { "", false },
		{ "1a", false },  { "_a", false },        { "my-job", false },
		{ "a b", false }, { "a.b", false },       { "a:b", false },
		{ "a/b", false }, { "j\xc3\xa9", false }, { "a\n", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *job = job_with_input("{}");
		struct error err AUTO_ERROR = { 0 };

		json_object_set_new(job, "jobId", json_string(rows[i].id));
		if ((job_rules_check(job, &strict, &err) == STATUS_OK) != rows[i].good)
			fail_msg("'%s': %s", rows[i].id, err.text ? err.text : "taken");
		if (!rows[i].good)
			assert_string_equal(err.violations[0].field, "job.job_id");
	}
}

static void job_ids_have_at_most_128_characters(void **state)
{
	char id[130] = { 0 };
	AUTO(json) json_t *job = job_with_input("{}");

	(void)state;
	memset(id, 'a', 128);
	json_object_set_new(job, "jobId", json_string(id));
	assert_int_equal(job_rules_check(job, &strict, NULL), STATUS_OK);
	id[128] = 'a';
	json_object_set_new(job, "jobId", json_string(id));
	assert_int_equal(job_rules_check(job, &strict, NULL), STATUS_INVALID_ARGUMENT);
}

static void a_job_without_id_is_refused(void **state)
{
	AUTO(json) json_t *job = job_with_input("{}");
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	json_object_del(job, "jobId");
	assert_int_equal(job_rules_check(job, &strict, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.text, "Field: job.job_id Error: A job id is required.");
}

static void a_job_trains_and_does_nothing_else(void **state)
{
	static const struct {
		const char *body, *field, *text;
	} rows[] = {
		{ "{'jobId':'j'}", "training_input", "required" },
		{ "{'jobId':'j','predictionInput':{'uri':'gs://b/m'}}", "prediction_input",
		  "Batch prediction is not emulated" },
		{ "{'jobId':'j','predictionInput':{}}", "prediction_input",
		  "Batch prediction is not emulated" },
		{ "{'jobId':'j','explanationInput':{}}", "explanation_input", "not emulated" },
		{ "{'jobId':'j','predictionInput':{},'trainingInput':{'region':'us-central1',"
		  "'masterConfig':{'imageUri':'i'}}}",
		  "training_input", "Exactly one" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(check_body(rows[i].body, &strict, &err), STATUS_INVALID_ARGUMENT);
		if (!has_violation(&err, rows[i].field, rows[i].text))
			fail_msg("%s: %s", rows[i].body, err.text);
	}
}

static void the_region_is_one_of_the_list(void **state)
{
	AUTO(json) json_t *job = job_with_input("{'region':'mars-east1'}");
	AUTO(json) json_t *none = job_with_input("{'region':null}");
	struct error err AUTO_ERROR = { 0 };
	struct error unset AUTO_ERROR = { 0 };

	(void)state;
	for (const struct region *region = regions; region->name; region++) {
		AUTO(json) json_t *good = job_with_input("{}");

		json_object_set_new(json_object_get(good, "trainingInput"), "region",
				    json_string(region->name));
		assert_int_equal(job_rules_check(good, &strict, NULL),
				 region->vertex_only ? STATUS_INVALID_ARGUMENT : STATUS_OK);
	}
	assert_int_equal(job_rules_check(job, &strict, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(
		err.text,
		"Field: region Error: The provided GCE region 'mars-east1' is not available. Options are "
		"[asia-east1, asia-east2, asia-northeast1, asia-northeast2, asia-northeast3, asia-south1, "
		"asia-southeast1, australia-southeast1, europe-north1, europe-west1, europe-west2, "
		"europe-west3, europe-west4, europe-west6, northamerica-northeast1, southamerica-east1, "
		"us-central1, us-east1, us-east4, us-west1, us-west2, us-west3].");
	assert_int_equal(job_rules_check(none, &strict, &unset), STATUS_INVALID_ARGUMENT);
	assert_string_equal(unset.violations[0].field, "region");
	assert_int_equal(job_rules_check(job, &lenient, NULL), STATUS_OK);
	assert_int_equal(job_rules_check(none, &lenient, NULL), STATUS_INVALID_ARGUMENT);
}

static void what_looks_like_no_region_is_none_for_lenient_validation_either(void **state)
{
	static const char *const bad[] = { "US-CENTRAL1", "us central1", "1us", "us-central1\\n",
					   "us/central1" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		AUTO(string) char *patch = NULL;
		AUTO(json) json_t *job = NULL;

		assert_true(asprintf(&patch, "{'region':'%s'}", bad[i]) > 0);
		job = job_with_input(patch);
		if (job_rules_check(job, &lenient, NULL) != STATUS_INVALID_ARGUMENT)
			fail_msg("%s was taken", bad[i]);
	}
}

#define LETTERS_50 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee"
#define LETTERS_249                                                                                          \
	LETTERS_50 LETTERS_50 LETTERS_50 LETTERS_50 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeee"

static void fields_of_the_input_are_checked(void **state)
{
	static const struct input_row rows[] = {
		{ "{}", NULL, NULL },
		{ "{'jobDir':'gs://bucket'}", NULL, NULL },
		{ "{'jobDir':'gs://bucket/'}", NULL, NULL },
		{ "{'jobDir':'gs://my-bucket.example.com/a b/c'}", NULL, NULL },
		{ "{'jobDir':'gs://b'}", "job_dir",
		  "'gs://b' names a bucket that cannot be: the name is too short: it has at least 3 "
		  "characters." },
		{ "{'jobDir':'gs://'}", "job_dir", "is not a Cloud Storage path" },
		{ "{'jobDir':'gs:///x'}", "job_dir", "is not a Cloud Storage path" },
		{ "{'jobDir':'gs://Bucket/x'}", "job_dir", "the name has other characters than" },
		{ "{'jobDir':'gs://goog-x/y'}", "job_dir", "which only Google's own do" },
		{ "{'jobDir':'gs://my-google/y'}", "job_dir", "which only Google's own do" },
		{ "{'jobDir':'gs://10.0.0.1/y'}", "job_dir", "the name has the form of an IP address" },
		{ "{'jobDir':'gs://a..b/y'}", "job_dir", "the name has two dots in a row" },
		{ "{'jobDir':'s3://bucket/x'}", "job_dir", NULL },
		{ "{'jobDir':'/tmp/x'}", "job_dir", "'/tmp/x' is not a Cloud Storage path" },
		{ "{'jobDir':'gs://bucket/x\\ny'}", "job_dir", "has a line break" },

		{ "{'jobDir':'gs://buc_ket.1-a/x'}", NULL, NULL },
		{ "{'jobDir':'gs://-bucket/x'}", "job_dir",
		  "the name does not begin and end with a letter or a digit" },
		{ "{'jobDir':'gs://bucket-/x'}", "job_dir", NULL },
		{ "{'jobDir':'GS://bucket/x'}", "job_dir", NULL },
		{ "{'jobDir':'bucket/x'}", "job_dir", NULL },
		{ "{'jobDir':''}", NULL, NULL },

		{ "{'scheduling':{}}", NULL, NULL },
		{ "{'scheduling':{'maxRunningTime':'0.000001s'}}", NULL, NULL },
		{ "{'scheduling':{'maxRunningTime':'315576000000s'}}", NULL, NULL },
		{ "{'scheduling':{'maxRunningTime':'0s'}}", "scheduling.max_running_time", NULL },
		{ "{'scheduling':{'maxRunningTime':'-1s'}}", "scheduling.max_running_time", NULL },
		{ "{'scheduling':{'maxWaitTime':'1800s'}}", NULL, NULL },
		{ "{'scheduling':{'maxWaitTime':'1799.999s'}}", "scheduling.max_wait_time",
		  "at least 1800s" },
		{ "{'scheduling':{'priority':0}}", NULL, NULL },
		{ "{'scheduling':{'priority':1000}}", NULL, NULL },
		{ "{'scheduling':{'priority':1001}}", "scheduling.priority", "from 0 to 1000, not 1001" },
		{ "{'scheduling':{'priority':-1}}", "scheduling.priority", NULL },
		{ "{'scheduling':{'strategy':'LOW_COST','resilientToWorkerRestart':true}}", NULL, NULL },

		{ "{'network':'projects/123/global/networks/default'}", NULL, NULL },
		{ "{'network':'projects/my-project/global/networks/default'}", "network", "not its id" },
		{ "{'network':'projects/123/global/networks/'}", "network", NULL },
		{ "{'network':'projects/123/global/networks/-x'}", "network", NULL },
		{ "{'network':'default'}", "network", NULL },
		{ "{'network':'projects/123/global/networks/a'}", NULL, NULL },
		{ "{'network':'projects/123/global/networks/a-1'}", NULL, NULL },
		{ "{'network':'projects/123/global/networks/a-'}", "network", NULL },
		{ "{'network':'projects/123/global/networks/A'}", "network", NULL },
		{ "{'network':'projects/123/global/networks/1a'}", "network", NULL },
		{ "{'network':'projects/123/global/networks/a_b'}", "network", NULL },
		{ "{'network':'projects/123/regions/r/networks/a'}", "network", NULL },
		{ "{'network':'projects/123/global/networks/a/b'}", "network", NULL },
		{ "{'network':'/projects/123/global/networks/a'}", "network", NULL },
		{ "{'network':'projects//global/networks/a'}", "network", NULL },
		{ "{'network':'projects/123/global/networks/"
		  "a23456789012345678901234567890123456789012345678901234567890123'}",
		  NULL, NULL },
		{ "{'network':'projects/123/global/networks/"
		  "a234567890123456789012345678901234567890123456789012345678901234'}",
		  "network", NULL },

		{ "{'serviceAccount':'sa@p.iam.gserviceaccount.com'}", NULL, NULL },
		{ "{'serviceAccount':'sa'}", "service_account", NULL },
		{ "{'serviceAccount':'@p'}", "service_account", NULL },
		{ "{'serviceAccount':'a/b@p'}", "service_account", NULL },
		{ "{'serviceAccount':'abcd@" LETTERS_249 "'}", NULL, NULL },
		{ "{'serviceAccount':'abcde@" LETTERS_249 "'}", "service_account", NULL },
		{ "{'serviceAccount':'a@b@c'}", "service_account", NULL },
		{ "{'serviceAccount':'a b@c'}", "service_account", NULL },
		{ "{'serviceAccount':'a@'}", "service_account", NULL },
		{ "{'serviceAccount':'a@b'}", NULL, NULL },

		{ "{'encryptionConfig':{'kmsKeyName':'projects/p/locations/us-central1/keyRings/r/cryptoKeys/"
		  "k'}}",
		  NULL, NULL },
		{ "{'encryptionConfig':{}}", NULL, NULL },
		{ "{'encryptionConfig':{'kmsKeyName':'projects/p/locations/us-east1/keyRings/r/cryptoKeys/"
		  "k'}}",
		  "encryption_config.kms_key_name", "in the region of the job" },
		{ "{'encryptionConfig':{'kmsKeyName':'projects/p/locations/us-central12/keyRings/r/"
		  "cryptoKeys/k'}}",
		  "encryption_config.kms_key_name", NULL },
		{ "{'encryptionConfig':{'kmsKeyName':'projects/locations/locations/us-central1/keyRings/r/"
		  "cryptoKeys/k'}}",
		  NULL, NULL },
		{ "{'encryptionConfig':{'kmsKeyName':'k'}}", "encryption_config.kms_key_name", NULL },
		{ "{'encryptionConfig':{'kmsKeyName':'projects/p/locations/us-central1/keyRings/r'}}",
		  "encryption_config.kms_key_name", "is not a key" },
		{ "{'encryptionConfig':{'kmsKeyName':'projects/p/locations/global/keyRings/r/cryptoKeys/k'}}",
		  "encryption_config.kms_key_name", "in the region of the job" },
		{ "{'encryptionConfig':{'kmsKeyName':'projects/p/locations/us-central1/keyRings/r/cryptoKeys/"
		  "k/cryptoKeyVersions/1'}}",
		  "encryption_config.kms_key_name", "is not a key" },
		{ "{'encryptionConfig':{'kmsKeyName':'projects//locations/r/keyRings/r/cryptoKeys/k'}}",
		  "encryption_config.kms_key_name", NULL },

		{ "{'enableWebAccess':true,'useChiefInTfConfig':true}", NULL, NULL },
		{ "{'args':['--x=<y>','']}", NULL, NULL },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void several_violations_are_told_at_once(void **state)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(check_body("{'jobId':'a-b','labels':{'A':'b'},'trainingInput':{'region':'us-"
				    "central1','jobDir':'x',"
				    "'masterConfig':{'imageUri':'i'},'scheduling':{'priority':-1}}}",
				    &strict, &err),
			 STATUS_INVALID_ARGUMENT);
	assert_int_equal(err.violation_count, 4);
	assert_true(has_violation(&err, "job.job_id", NULL));
	assert_true(has_violation(&err, "job_dir", NULL));
	assert_true(has_violation(&err, "scheduling.priority", NULL));
	assert_true(has_violation(&err, "labels", NULL));
	assert_non_null(strstr(err.text, "underscores. Field: job_dir Error: "));
}

static void long_values_are_repeated_in_part(void **state)
{
	AUTO(json) json_t *job = job_with_input("{}");
	AUTO(string) char *text = calloc(1, 1000001);
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	memset(text, 'a', 1000000);
	json_object_set_new(job, "jobId", json_string(text));
	json_object_set_new(json_object_get(job, "trainingInput"), "jobDir", json_string(text));
	json_object_set_new(json_object_get(job, "trainingInput"), "network", json_string(text));
	assert_int_equal(job_rules_check(job, &strict, &err), STATUS_INVALID_ARGUMENT);
	assert_int_equal(err.violation_count, 3);
	assert_true(strlen(err.text) < 2000);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_ids_begin_with_a_letter_and_have_no_hyphen),
		cmocka_unit_test(job_ids_have_at_most_128_characters),
		cmocka_unit_test(a_job_without_id_is_refused),
		cmocka_unit_test(a_job_trains_and_does_nothing_else),
		cmocka_unit_test(the_region_is_one_of_the_list),
		cmocka_unit_test(what_looks_like_no_region_is_none_for_lenient_validation_either),
		cmocka_unit_test(fields_of_the_input_are_checked),
		cmocka_unit_test(several_violations_are_told_at_once),
		cmocka_unit_test(long_values_are_repeated_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
