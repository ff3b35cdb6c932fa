/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/gateway.h"

#include <string.h>

#include "daemon/base/json.h"
#include "tests/unit/testing.h"

enum { ADDRESS = 0x0ad50101 };

struct surroundings {
	json_t *environment, *hosts;
};

static int setup(void **state)
{
	struct surroundings *given = calloc(1, sizeof(*given));

	given->environment = json_array();
	given->hosts = json_array();
	*state = given;
	return 0;
}

static int teardown(void **state)
{
	struct surroundings *given = *state;

	json_decref(given->environment);
	json_decref(given->hosts);
	free(given);
	return 0;
}

static void tell(struct surroundings *given, const struct gateway_address *place)
{
	AUTO(plan) struct plan *plan = plan_new();

	plan->region = strdup("europe-west4");
	gateway_environment(plan, ADDRESS, place, given->environment, given->hosts);
}

static bool has(const json_t *list, const char *wanted)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), wanted) == 0)
			return true;
	return false;
}

static void expect(const json_t *list, const char *const *wanted)
{
	size_t count = 0;

	for (; wanted[count]; count++)
		if (!has(list, wanted[count]))
			fail_msg("not told: %s", wanted[count]);
	assert_int_equal(json_array_size(list), count);
}

static void on_port_80_metadata_goes_by_its_name(void **state)
{
	struct surroundings *given = *state;

	tell(given, &(struct gateway_address){ .port = 80, .port_80 = true });
	expect(given->environment,
	       (const char *const[]){
		       "STORAGE_EMULATOR_HOST=http://10.213.1.1:80",
		       "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT=false",
		       "CLOUD_STORAGE_EMULATOR_ENDPOINT=http://10.213.1.1:80",
		       "TENSORSTORE_GCS_HTTP_URL=http://10.213.1.1:80",
		       "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE=http://10.213.1.1:80/storage/v1/",
		       "GCE_METADATA_HOST=metadata.google.internal",
		       "GCE_METADATA_ROOT=metadata.google.internal", "GCE_METADATA_IP=10.213.1.1", NULL });
	expect(given->hosts,
	       (const char *const[]){ "metadata.google.internal:10.213.1.1",
				      "metadata.google.internal.:10.213.1.1", "metadata:10.213.1.1", NULL });
}

static void on_another_port_metadata_goes_by_its_address(void **state)
{
	struct surroundings *given = *state;

	tell(given, &(struct gateway_address){ .port = 65535, .storage_port = 4443 });
	assert_true(has(given->environment, "STORAGE_EMULATOR_HOST=http://10.213.1.1:4443"));
	assert_true(has(given->environment, "GCE_METADATA_HOST=10.213.1.1:65535"));
	assert_true(has(given->environment, "GCE_METADATA_ROOT=10.213.1.1:65535"));
	assert_true(has(given->environment, "GCE_METADATA_IP=10.213.1.1:65535"));
}

static void what_is_there_already_stays(void **state)
{
	struct surroundings *given = *state;

	json_array_append_new(given->environment, json_string("A=b"));
	json_array_append_new(given->hosts, json_string("peer:10.213.1.9"));
	tell(given, &(struct gateway_address){ .port = 80, .port_80 = true });
	assert_true(has(given->environment, "A=b"));
	assert_true(has(given->hosts, "peer:10.213.1.9"));
}

static void cut_off_the_clouds_hosts_are_at_the_gateway(void **state)
{
	struct surroundings *given = *state;

	tell(given, &(struct gateway_address){ .port = 80, .port_80 = true, .cut_off = true });
	assert_true(has(given->hosts, "storage.googleapis.com:10.213.1.1"));
	assert_true(has(given->hosts, "ml.googleapis.com:10.213.1.1"));
	assert_true(has(given->hosts, "gcr.io:10.213.1.1"));
	assert_true(has(given->hosts, "europe-west4-aiplatform.googleapis.com:10.213.1.1"));
	assert_true(has(given->hosts, "europe-west4-docker.pkg.dev:10.213.1.1"));
}

/* Fails with: gateway_environment() without place->regions; with them for every regional name. */
static void vertex_hosts_of_other_regions_are_at_the_gateway_as_well(void **state)
{
	static const char *const regions[] = { "asia-east1", "europe-west4", NULL };
	struct surroundings *given = *state;

	tell(given,
	     &(struct gateway_address){ .port = 80, .port_80 = true, .watched = true, .regions = regions });
	assert_true(has(given->hosts, "asia-east1-aiplatform.googleapis.com:10.213.1.1"));
	assert_true(has(given->hosts, "europe-west4-ml.googleapis.com:10.213.1.1"));
	assert_false(has(given->hosts, "asia-east1-ml.googleapis.com:10.213.1.1"));
	assert_true(gateway_watches("asia-east1-aiplatform.googleapis.com", "us-east1", regions));
	assert_false(gateway_watches("asia-east2-aiplatform.googleapis.com", "us-east1", regions));
	assert_false(gateway_watches("asia-east1-ml.googleapis.com", "us-east1", regions));
	assert_false(gateway_watches("asia-east1-docker.pkg.dev", "us-east1", regions));
	assert_true(gateway_knows("us-east1-docker.pkg.dev", "us-east1", regions));
}

/* Fails with: gateway_environment() that tells all of the cloud's names, or none. */
static void watched_hosts_are_at_the_gateway_and_no_others(void **state)
{
	struct surroundings *given = *state;

	tell(given, &(struct gateway_address){ .port = 80, .port_80 = true, .watched = true });
	assert_true(has(given->hosts, "bigquery.googleapis.com:10.213.1.1"));
	assert_true(has(given->hosts, "cloudprofiler.googleapis.com:10.213.1.1"));
	assert_true(has(given->hosts, "europe-west4-aiplatform.googleapis.com:10.213.1.1"));
	assert_false(has(given->hosts, "storage.googleapis.com:10.213.1.1"));
	assert_false(has(given->hosts, "oauth2.googleapis.com:10.213.1.1"));
}

/* Fails with: gateway_watches() that compares beginnings alone. */
static void a_host_is_watched_by_its_whole_name(void **state)
{
	(void)state;
	assert_true(gateway_watches("bigquery.googleapis.com", "us-east1", NULL));
	assert_true(gateway_watches("us-east1-aiplatform.googleapis.com", "us-east1", NULL));
	assert_false(gateway_watches("us-east1-aiplatform.googleapis.com", "us-central1", NULL));
	assert_false(gateway_watches("us-east1", "us-east1", NULL));
	assert_false(gateway_watches("storage.googleapis.com", "us-east1", NULL));
	assert_false(gateway_watches("localhost", "us-east1", NULL));
	assert_false(gateway_watches("", "us-east1", NULL));
	assert_false(gateway_watches("%s-aiplatform.googleapis.com", "us-east1", NULL));
	assert_false(gateway_watches("-aiplatform.googleapis.com", "us-east1", NULL));
}

static const char *const served[] = { "storage.googleapis.com", "logging.googleapis.com", NULL };

static void names_that_are_served_lead_here_and_are_trusted(void **state)
{
	struct surroundings *given = *state;

	tell(given, &(struct gateway_address){
			    .port = 80, .port_80 = true, .ca_bundle = "/b.crt", .served = served });
	assert_true(has(given->environment, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=" GATEWAY_TRUSTED));
	assert_true(has(given->environment, "REQUESTS_CA_BUNDLE=" GATEWAY_TRUSTED));
	expect(given->hosts,
	       (const char *const[]){ "metadata.google.internal:10.213.1.1",
				      "metadata.google.internal.:10.213.1.1", "metadata:10.213.1.1",
				      "storage.googleapis.com:10.213.1.1",
				      "logging.googleapis.com:10.213.1.1", NULL });
}

/* Fails with: host_append() without its look at the others. */
static void no_host_is_told_twice(void **state)
{
	struct surroundings *given = *state;

	tell(given,
	     &(struct gateway_address){
		     .port = 80, .port_80 = true, .cut_off = true, .ca_bundle = "/b.crt", .served = served });
	for (size_t i = 0; i < json_array_size(given->hosts); i++)
		for (size_t j = 0; j < i; j++)
			assert_false(
				json_equal(json_array_get(given->hosts, i), json_array_get(given->hosts, j)));
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(on_port_80_metadata_goes_by_its_name, setup, teardown),
		cmocka_unit_test_setup_teardown(on_another_port_metadata_goes_by_its_address, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_there_already_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(names_that_are_served_lead_here_and_are_trusted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(vertex_hosts_of_other_regions_are_at_the_gateway_as_well,
						setup, teardown),
		cmocka_unit_test_setup_teardown(watched_hosts_are_at_the_gateway_and_no_others, setup,
						teardown),
		cmocka_unit_test(a_host_is_watched_by_its_whole_name),
		cmocka_unit_test_setup_teardown(no_host_is_told_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(cut_off_the_clouds_hosts_are_at_the_gateway, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gateway", tests, NULL, NULL);
}
