/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/host.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/text.h"
#include "tests/unit/testing.h"

/* The ids, joined by spaces. */
static char *devices_text(char **devices, size_t count)
{
	struct text text AUTO_TEXT = { 0 };

	for (size_t i = 0; i < count; i++)
		text_printf(&text, "%s%s", i ? " " : "", devices[i]);
	return text_take(&text);
}

static void an_inventory_is_a_word_a_number_or_ids(void **state)
{
	static const struct {
		const char *text;
		bool automatic;
		const char *devices;
	} rows[] = {
		{ "auto", true, "" },
		{ "none", false, "" },
		{ "0", false, "" },
		{ "1", false, "0" },
		{ "3", false, "0 1 2" },
		{ "003", false, "0 1 2" },
		{ "0,2", false, "0 2" },
		{ "2,0,1", false, "2 0 1" },
		{ "GPU-8a5e", false, "GPU-8a5e" },
		{ "0:1,1:0", false, "0:1 1:0" },
		{ "GPU-8a5e,MIG-GPU-1/2/0", false, "GPU-8a5e MIG-GPU-1/2/0" },
		{ "nvidia.com/gpu=0,nvidia.com/gpu=1:0", false, "nvidia.com/gpu=0 nvidia.com/gpu=1:0" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct inventory inventory = { 0 };
		AUTO(string) char *devices = NULL;

		assert_int_equal(inventory_parse(rows[i].text, &inventory, NULL), STATUS_OK);
		assert_int_equal(inventory.automatic, rows[i].automatic);
		devices = devices_text(inventory.devices, inventory.device_count);
		assert_string_equal(devices ? devices : "", rows[i].devices);
		inventory_deinit(&inventory);
		inventory_deinit(&inventory);
	}
}

static void what_names_no_gpus_is_no_inventory(void **state)
{
	static const char *const rows[] = {
		"",
		",",
		"0,",
		",0",
		"0,,1",
		"0,0",
		"4x",
		"0,4x",
		"x4",
		"0:",
		"0:x",
		"0:1:2",
		"a",
		"gpu-8a5e",
		"GPU-a,GPU-a",
		"0, 1",
		" 0",
		"-1",
		"=0",
		"-a=b",
		"/x=1",
		"1025",
		"a b",
		"a\n",
		"\xc3\xa9",
		"all",
		"void",
		"all,0",
		"0,none",
		"auto,1",
		"9999999999999999999999999",
		"18446744073709551616",
		"0;rm",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct inventory inventory = { 0 };
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(inventory_parse(rows[i], &inventory, &err), STATUS_INVALID_ARGUMENT);
		assert_non_null(err.text);
		assert_null(inventory.devices);
	}
}

/* "GPU-0,GPU-1,…" */
static char *many_ids(unsigned count)
{
	struct text text AUTO_TEXT = { 0 };

	for (unsigned i = 0; i < count; i++)
		text_printf(&text, "%sGPU-%u", i ? "," : "", i);
	return text_take(&text);
}

static void an_inventory_has_its_bounds(void **state)
{
	static const struct {
		unsigned count;
		enum status status;
	} rows[] = { { 1024, STATUS_OK }, { 1025, STATUS_INVALID_ARGUMENT } };
	char id[257];
	struct inventory inventory = { 0 };

	(void)state;
	assert_int_equal(inventory_parse("1024", &inventory, NULL), STATUS_OK);
	assert_int_equal(inventory.device_count, 1024);
	assert_string_equal(inventory.devices[1023], "1023");
	inventory_deinit(&inventory);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *ids = many_ids(rows[i].count);

		assert_int_equal(inventory_parse(ids, &inventory, NULL), rows[i].status);
		inventory_deinit(&inventory);
	}
	memset(id, 'x', sizeof(id));
	memcpy(id, "GPU-", 4);
	id[256] = '\0';
	assert_int_equal(inventory_parse(id, &inventory, NULL), STATUS_INVALID_ARGUMENT);
	id[255] = '\0';
	assert_int_equal(inventory_parse(id, &inventory, NULL), STATUS_OK);
	assert_string_equal(inventory.devices[0], id);
	inventory_deinit(&inventory);
}

static void a_copied_host_stands_for_itself(void **state)
{
	char *devices[] = { strdup("0"), strdup("GPU-1") };
	struct host from = { .known = true,
			     .cpus = 8,
			     .memory_bytes = INT64_C(1) << 40,
			     .devices = devices,
			     .device_count = 2 };
	struct host host = host_copy(&from), none = { 0 };
	AUTO(string) char *text = NULL;

	(void)state;
	free(devices[0]);
	free(devices[1]);
	text = devices_text(host.devices, host.device_count);
	assert_string_equal(text, "0 GPU-1");
	assert_true(host.known);
	assert_int_equal(host.cpus, 8);
	assert_true(host.memory_bytes == INT64_C(1) << 40);
	host_deinit(&host);
	assert_false(host.known);
	host_deinit(&host);
	host = host_copy(&none);
	assert_null(host.devices);
	host_deinit(&host);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_inventory_is_a_word_a_number_or_ids),
		cmocka_unit_test(what_names_no_gpus_is_no_inventory),
		cmocka_unit_test(an_inventory_has_its_bounds),
		cmocka_unit_test(a_copied_host_stands_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
