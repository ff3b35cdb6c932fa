/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/ml/job_testing.h"

/* A package job that satisfies all rules, plus changes. */
#define PACKAGES(rest)                                                                                       \
	"{'masterConfig':null,'runtimeVersion':'2.11','pythonVersion':'3.7','pythonModule':'trainer.task',"  \
	"'packageUris':['gs://bucket/p.tar.gz']" rest "}"

static void package_jobs_are_checked(void **state)
{
	static const struct input_row rows[] = {
		{ PACKAGES(""), NULL, NULL },
		{ PACKAGES(",'runtimeVersion':'1.15','pythonVersion':'2.7'"), NULL, NULL },
		{ PACKAGES(",'runtimeVersion':'2.10'"), NULL, NULL },
		{ PACKAGES(",'runtimeVersion':'2.11','pythonVersion':'2.7'"), "runtime_version",
		  "The specified runtime version '2.11' with the Python version '2.7' is not supported or is "
		  "deprecated" },
		{ PACKAGES(",'runtimeVersion':'1.15','pythonVersion':'7 2'"), "runtime_version", "'7 2'" },
		{ PACKAGES(",'runtimeVersion':'1.14'"), "runtime_version", "'1.14'" },
		{ PACKAGES(",'pythonVersion':null"), "runtime_version", "with the Python version '' is" },
		{ PACKAGES(",'packageUris':null"), "package_uris", "At least one" },
		{ PACKAGES(",'pythonModule':null"), "python_module", "required" },
		{ PACKAGES(",'pythonModule':'a b'"), "python_module", "not the name of a Python module" },
		{ PACKAGES(",'pythonModule':'.a'"), "python_module", NULL },
		{ PACKAGES(",'packageUris':['gs://bucket']"), "package_uris", "'gs://bucket' is not" },
		{ PACKAGES(",'packageUris':['p.tar.gz']"), "package_uris", NULL },
		{ PACKAGES(",'packageUris':['gs://bucket/']"), "package_uris", NULL },
		{ PACKAGES(",'packageUris':['s3://bucket/p']"), "package_uris", NULL },
		{ PACKAGES(",'packageUris':['gs://bucket/p','/p']"), "package_uris", "'/p' is not" },
		{ PACKAGES(",'packageUris':['gs://bucket/p','gs://bucket/q']"), NULL, NULL },
		{ PACKAGES(",'pythonModule':'task'"), NULL, NULL },
		{ PACKAGES(",'pythonModule':'a.b_2.C'"), NULL, NULL },
		{ PACKAGES(",'pythonModule':'a..b'"), "python_module", NULL },
		{ PACKAGES(",'pythonModule':'a.b.'"), "python_module", NULL },
		{ PACKAGES(",'pythonModule':'2a'"), "python_module", NULL },
		{ PACKAGES(",'pythonModule':'a/b.py'"), "python_module", NULL },
		{ PACKAGES(",'scaleTier':'STANDARD_1','args':['x']"), NULL, NULL },
		{ "{'packageUris':['gs://bucket/p.tar.gz'],'pythonModule':'trainer.task'}", NULL, NULL },
		{ "{'pythonModule':'trainer.task'}", NULL, NULL },
		{ "{'packageUris':['gs://bucket/p.tar.gz']}", NULL, NULL },
		{ "{'packageUris':['p.tar.gz']}", "package_uris", "'p.tar.gz' is not" },
		{ PACKAGES(",'workerType':'n1-standard-4','masterType':'n1-standard-4','workerCount':1,"
			   "'workerConfig':{'imageUri':'gcr.io/p/i'}"),
		  "worker_config.image_uri", "together with the master Docker image URI" },
		{ PACKAGES(",'workerConfig':{'containerCommand':['x']}"), "worker_config.container_command",
		  "custom container image" },
		{ PACKAGES(",'masterConfig':{'imageUri':'gcr.io/p/i'}"), "", "Only one of runtime version" },
		{ "{'pythonVersion':'3.7'}", NULL, NULL },
		{ "{'hyperparameters':{'params':[{'parameterName':'a','type':'DOUBLE','maxValue':1}]}}", NULL,
		  NULL },
		{ "{'nasJobSpec':{}}", "nas_job_spec", "trainyard does not run neural" },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void runtimes_go_with_their_pythons(void **state)
{
	static const struct {
		const char *version;
		const char *pythons; /* the accepted versions */
	} rows[] = {
		{ "1.15", "3.7 2.7" }, { "2.1", "3.7" }, { "2.2", "3.7" },  { "2.3", "3.7" },
		{ "2.4", "3.7" },      { "2.5", "3.7" }, { "2.6", "3.7" },  { "2.7", "3.7" },
		{ "2.8", "3.7" },      { "2.9", "3.7" }, { "2.10", "3.7" }, { "2.11", "3.7" },
		{ "2.0", "" },         { "1.14", "" },   { "1.10", "" },    { "1.13", "" },
		{ "1", "" },           { "2", "" },      { "2.12", "" },    { "2.1.0", "" },
		{ "2.01", "" },        { "latest", "" }, { "2.11 ", "" },   { "1.4", "" },
		{ "1.0", "" },
	};
	static const char *const pythons[] = { "3.7", "2.7", "3.5", "3.8", "3", "" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		for (size_t j = 0; j < COUNT_OF(pythons); j++) {
			AUTO(json) json_t *job = job_with_input(PACKAGES(""));
			json_t *input = json_object_get(job, "trainingInput");
			struct error err AUTO_ERROR = { 0 };
			bool good = strlen(pythons[j]) == 3 && strstr(rows[i].pythons, pythons[j]);

			json_object_set_new(input, "runtimeVersion", json_string(rows[i].version));
			json_object_del(input, "pythonVersion");
			if (*pythons[j])
				json_object_set_new(input, "pythonVersion", json_string(pythons[j]));
			job_rules_check(job, &strict, &err);
			if (good ? err.status : !has_violation(&err, "runtime_version", "not supported"))
				fail_msg("%s with '%s': %s", rows[i].version, pythons[j], err.text);
		}
	}
}

static void unknown_runtimes_are_taken_on_request(void **state)
{
	AUTO(json) json_t *job = job_with_input(PACKAGES(",'runtimeVersion':'2.99','pythonVersion':'3.11'"));
	AUTO(json) json_t *none = job_with_input(PACKAGES(",'runtimeVersion':'2.99','pythonVersion':null"));
	struct error err AUTO_ERROR = { 0 };
	struct error unset AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(job_rules_check(job, &lenient, &err), STATUS_OK);
	job_rules_check(none, &lenient, &unset);
	assert_true(has_violation(&unset, "runtime_version", "with the Python version '' is"));
}

/* As samples of 2018 submit them; a malformed version has no default. */
static void runtimes_of_the_days_of_a_default_python_need_none_on_request(void **state)
{
	AUTO(json) json_t *job = job_with_input(PACKAGES(",'runtimeVersion':'1.8','pythonVersion':null"));
	AUTO(json) json_t *bad = job_with_input(PACKAGES(",'runtimeVersion':'1.8x','pythonVersion':null"));
	struct error taken AUTO_ERROR = { 0 };
	struct error refused AUTO_ERROR = { 0 };
	struct error formless AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(job_rules_check(job, &lenient, &taken), STATUS_OK);
	job_rules_check(job, &strict, &refused);
	assert_true(has_violation(&refused, "runtime_version", "'1.8' with the Python version '' is"));
	job_rules_check(bad, &lenient, &formless);
	assert_true(has_violation(&formless, "runtime_version", "'1.8x' with the Python version '' is"));
}

static void what_is_not_run_is_said_last_and_once(void **state)
{
	AUTO(json) json_t *good = job_with_input("{'nasJobSpec':{}}");
	AUTO(json) json_t *bad = job_with_input("{'nasJobSpec':{},'jobDir':'x'}");
	struct error err AUTO_ERROR = { 0 };
	struct error other AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(job_rules_check(good, &strict, &err), STATUS_INVALID_ARGUMENT);
	assert_int_equal(err.violation_count, 1);
	assert_int_equal(job_rules_check(bad, &strict, &other), STATUS_INVALID_ARGUMENT);
	assert_int_equal(other.violation_count, 1);
	assert_string_equal(other.violations[0].field, "job_dir");
}

static void a_hundred_packages_are_the_most(void **state)
{
	AUTO(json) json_t *job = job_with_input(PACKAGES(""));
	json_t *uris = json_object_get(json_object_get(job, "trainingInput"), "packageUris");
	struct error err AUTO_ERROR = { 0 };
	struct error more AUTO_ERROR = { 0 };

	(void)state;
	while (json_array_size(uris) < 100)
		json_array_append_new(uris, json_string("gs://bucket/p"));
	assert_int_equal(job_rules_check(job, &strict, &err), STATUS_OK);
	json_array_append_new(uris, json_string("gs://bucket/p"));
	job_rules_check(job, &strict, &more);
	assert_true(has_violation(&more, "package_uris", "At most 100"));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(package_jobs_are_checked),
		cmocka_unit_test(runtimes_go_with_their_pythons),
		cmocka_unit_test(unknown_runtimes_are_taken_on_request),
		cmocka_unit_test(runtimes_of_the_days_of_a_default_python_need_none_on_request),
		cmocka_unit_test(what_is_not_run_is_said_last_and_once),
		cmocka_unit_test(a_hundred_packages_are_the_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
