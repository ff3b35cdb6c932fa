/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/spec_defaults.h"

#include "tests/unit/api/message/json_testing.h"

static void pools_get_their_disks_and_outputs_their_slash(void **state)
{
	static const struct {
		const char *given, *filled;
	} specs[] = {
		{ "{'workerPoolSpecs':[{'machineSpec':{'machineType':'n1-standard-4'}},{}]}",
		  "{'workerPoolSpecs':[{'machineSpec':{'machineType':'n1-standard-4'},"
		  "'diskSpec':{'bootDiskType':'pd-ssd','bootDiskSizeGb':100}},{}]}" },
		{ "{'workerPoolSpecs':[{'diskSpec':{'bootDiskSizeGb':200}}]}",
		  "{'workerPoolSpecs':[{'diskSpec':{'bootDiskSizeGb':200,'bootDiskType':'pd-ssd'}}]}" },
		{ "{'workerPoolSpecs':[{'machineSpec':{'machineType':'a4-highgpu-8g'},"
		  "'diskSpec':{'bootDiskSizeGb':200}}]}",
		  "{'workerPoolSpecs':[{'machineSpec':{'machineType':'a4-highgpu-8g'},"
		  "'diskSpec':{'bootDiskSizeGb':200,'bootDiskType':'hyperdisk-balanced'}}]}" },
		{ "{'baseOutputDirectory':{'outputUriPrefix':'gs://b/o'}}",
		  "{'baseOutputDirectory':{'outputUriPrefix':'gs://b/o/'}}" },
		{ "{'baseOutputDirectory':{'outputUriPrefix':'gs://b/'}}",
		  "{'baseOutputDirectory':{'outputUriPrefix':'gs://b/'}}" },
		{ "{'baseOutputDirectory':{}}", "{'baseOutputDirectory':{}}" },
		{ "{}", "{}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(specs); i++) {
		AUTO(json) json_t *spec = json_of(specs[i].given);
		AUTO(json) json_t *filled = json_of(specs[i].filled);

		spec_defaults_fill(spec);
		if (!json_equal(spec, filled))
			fail_msg("%s", specs[i].given);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_get_their_disks_and_outputs_their_slash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
