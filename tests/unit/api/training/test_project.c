/* SPDX-License-Identifier: Apache-2.0 */
/* A project's configuration and its locations. */
#include "api/ml/messages.h"
#include "api/training/regions.h"
#include "tests/unit/api/ml/ml_testing.h"

#define CONFIG(number)                                                                                       \
	"{'serviceAccount':'service-" number "@cloud-ml.google.com.iam.gserviceaccount.com',"                \
	"'serviceAccountProject':'" number "',"                                                              \
	"'config':{'tpuServiceAccount':'service-" number "@cloud-tpu.iam.gserviceaccount.com'}}"

static void the_known_project_has_its_number(void **state)
{
	BENCH(state);

	assert_answer(bench, "GET", "/v1/projects/demo:getConfig", NULL, CONFIG("123456789012"));
	assert_answer(bench, "GET", "/v1/projects/123456789012:getConfig", NULL, CONFIG("123456789012"));
}

static char *number_of(struct bench *bench, const char *address)
{
	AUTO(json) json_t *answer = NULL;

	assert_int_equal(ml_call(bench, "GET", address, NULL, &answer), STATUS_OK);
	return strdup(json_text_at(answer, "serviceAccountProject"));
}

static void other_projects_have_numbers_that_stay(void **state)
{
	BENCH(state);
	AUTO(string) char *first = number_of(bench, "/v1/projects/other:getConfig");
	AUTO(string) char *again = number_of(bench, "/v1/projects/other:getConfig");
	AUTO(string) char *third = number_of(bench, "/v1/projects/third:getConfig");

	assert_int_equal(strlen(first), 12);
	assert_int_equal(strspn(first, "0123456789"), 12);
	assert_string_equal(first, again);
	assert_string_not_equal(first, third);
	assert_answer(bench, "GET", "/v1/projects/987:getConfig", NULL, CONFIG("987"));
}

static void what_names_no_project_is_refused(void **state)
{
	BENCH(state);

	assert_no(bench, "GET", "/v1/projects/a%22b:getConfig", NULL, STATUS_INVALID_ARGUMENT, "name");
	assert_no(bench, "GET", "/v1/projects/a%20b/locations", NULL, STATUS_INVALID_ARGUMENT, "parent");
	assert_no(bench, "GET", "/v1/projects/%C3%A4/locations/us-west3", NULL, STATUS_INVALID_ARGUMENT,
		  "name");
}

static void a_location_tells_its_accelerators(void **state)
{
	BENCH(state);

	assert_answer(
		bench, "GET", "/v1/projects/demo/locations/asia-east1", NULL,
		"{'name':'projects/demo/locations/asia-east1','locationId':'asia-east1',"
		"'labels':{'cloud.googleapis.com/region':'asia-east1'},'capabilities':[{'type':'TRAINING',"
		"'availableAccelerators':['NVIDIA_TESLA_K80','NVIDIA_TESLA_P100','NVIDIA_TESLA_V100']}]}");
	assert_answer(bench, "GET", "/v1/projects/123456789012/locations/us-west3", NULL,
		      "{'name':'projects/123456789012/locations/us-west3','locationId':'us-west3',"
		      "'labels':{'cloud.googleapis.com/region':'us-west3'},"
		      "'capabilities':[{'type':'TRAINING'}]}");
	assert_answer(bench, "GET", "/v1/projects/demo/locations/us-east5", NULL,
		      "{'name':'projects/demo/locations/us-east5','locationId':'us-east5',"
		      "'labels':{'cloud.googleapis.com/region':'us-east5'}}");
	assert_no(bench, "GET", "/v1/projects/demo/locations/mars-east1", NULL, STATUS_NOT_FOUND, "name");
}

static json_t *page_of(struct bench *bench, const char *project, unsigned size, const char *token)
{
	AUTO(string) char *address = NULL;
	json_t *page = NULL;

	assert_true(asprintf(&address, "/v1/projects/%s/locations?pageSize=%u&pageToken=%s", project, size,
			     token) > 0);
	if (ml_call(bench, "GET", address, NULL, &page))
		fail_msg("%s: %s", address, bench->err.text);
	return page;
}

/* The pages of any size make up the whole table. */
static void pages_of_locations_make_the_table(void **state)
{
	BENCH(state);

	for (unsigned size = 1; size < 45; size++) {
		const struct region *expected = regions;
		AUTO(string) char *token = strdup("");

		while (token) {
			AUTO(json) json_t *page = page_of(bench, "demo", size, token);
			const char *next = json_text_at(page, "nextPageToken");
			size_t index;
			const json_t *location;

			json_array_foreach(json_object_get(page, "locations"), index, location)
				assert_string_equal(strrchr(json_text_at(location, "name"), '/') + 1,
						    (expected++)->name);
			assert_true(index == size || !next);
			free(token);
			token = next ? strdup(next) : NULL;
		}
		assert_null(expected->name);
	}
}

static void pages_of_locations_have_limits(void **state)
{
	BENCH(state);
	AUTO(json) json_t *usual = page_of(bench, "demo", 0, "");
	AUTO(json) json_t *large = page_of(bench, "demo", 1000, "");
	AUTO(string) char *address = NULL;

	assert_int_equal(json_array_size(json_object_get(usual, "locations")), 20);
	assert_null(json_object_get(large, "nextPageToken"));
	assert_no(bench, "GET", "/v1/projects/demo/locations?pageSize=-1", NULL, STATUS_INVALID_ARGUMENT,
		  "page_size");
	assert_no(bench, "GET", "/v1/projects/demo/locations?pageToken=x", NULL, STATUS_INVALID_ARGUMENT,
		  "page_token");
	assert_true(asprintf(&address, "/v1/projects/other/locations?pageToken=%s",
			     json_text_at(usual, "nextPageToken")) > 0);
	assert_no(bench, "GET", address, NULL, STATUS_INVALID_ARGUMENT, "page_token");
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(the_known_project_has_its_number),
		WITH_BENCH(other_projects_have_numbers_that_stay),
		WITH_BENCH(what_names_no_project_is_refused),
		WITH_BENCH(a_location_tells_its_accelerators),
		WITH_BENCH(pages_of_locations_make_the_table),
		WITH_BENCH(pages_of_locations_have_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
