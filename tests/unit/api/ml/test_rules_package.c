/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/ml/job_testing.h"

/* A package job that keeps every rule, with changes; it is refused by what is not run, at the end. */
#define PACKAGES(rest)                                                                                       \
	"{'masterConfig':null,'runtimeVersion':'2.11','pythonVersion':'3.7','pythonModule':'trainer.task',"  \
	"'packageUris':['gs://bucket/p.tar.gz']" rest "}"
#define NOT_RUN "trainyard does not run Python-package jobs: give masterConfig.imageUri"

static void package_jobs_are_checked_and_then_refused_as_a_kind(void **state)
{
	static const struct input_row rows[] = {
		{ PACKAGES(""), "runtime_version", NOT_RUN },
		{ PACKAGES(",'runtimeVersion':'1.15','pythonVersion':'2.7'"), "runtime_version", NOT_RUN },
		{ PACKAGES(",'runtimeVersion':'2.10'"), "runtime_version", NOT_RUN },
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
		{ "{'packageUris':['gs://bucket/p.tar.gz'],'pythonModule':'trainer.task'}", "package_uris",
		  NOT_RUN },
		{ "{'pythonModule':'trainer.task'}", "python_module", NOT_RUN },
		{ "{'pythonVersion':'3.7'}", NULL, NULL },
		{ "{'hyperparameters':{'params':[{'parameterName':'a','type':'DOUBLE','maxValue':1}]}}",
		  "hyperparameters", "trainyard does not run hyperparameter tuning jobs" },
		{ "{'nasJobSpec':{}}", "nas_job_spec", "trainyard does not run neural" },
	};

	(void)state;
	assert_input_rows(rows, COUNT_OF(rows));
}

static void what_is_not_run_is_said_last_and_once(void **state)
{
	AUTO(json) json_t *good = job_with_input(PACKAGES(""));
	AUTO(json) json_t *bad = job_with_input(PACKAGES(",'jobDir':'x'"));
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
	job_rules_check(job, &strict, &err);
	assert_true(has_violation(&err, "runtime_version", NOT_RUN));
	json_array_append_new(uris, json_string("gs://bucket/p"));
	job_rules_check(job, &strict, &more);
	assert_true(has_violation(&more, "package_uris", "At most 100"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(package_jobs_are_checked_and_then_refused_as_a_kind),
		cmocka_unit_test(what_is_not_run_is_said_last_and_once),
		cmocka_unit_test(a_hundred_packages_are_the_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
