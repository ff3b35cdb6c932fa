/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_host.c and nvidia_gpus.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "scheduler/engine/docker_host.h"
#include "scheduler/engine/nvidia_gpus.h"
#include "tests/unit/testing.h"

/* A directory like the NVIDIA driver's, with a directory for each GPU. */
struct yard {
	char top[64];
	struct text made; /* names, one on each line */
};

static int setup(void **state)
{
	struct yard *yard = calloc(1, sizeof(*yard));

	snprintf(yard->top, sizeof(yard->top), "/tmp/ty-test-host-XXXXXX");
	assert_non_null(mkdtemp(yard->top));
	*state = yard;
	return 0;
}

static void yard_clear(struct yard *yard)
{
	char *rest = yard->made.data, *place, path[256];

	while (rest && (place = strsep(&rest, "\n")) != NULL && *place) {
		snprintf(path, sizeof(path), "%s/%s/information", yard->top, place);
		unlink(path);
		*strrchr(path, '/') = '\0';
		rmdir(path);
	}
	text_deinit(&yard->made);
}

static int teardown(void **state)
{
	struct yard *yard = *state;

	yard_clear(yard);
	assert_int_equal(rmdir(yard->top), 0);
	free(yard);
	return 0;
}

static void information_path(struct yard *yard, const char *place, char path[256])
{
	snprintf(path, 256, "%s/%s", yard->top, place);
	mkdir(path, 0700);
	snprintf(path, 256, "%s/%s/information", yard->top, place);
	text_printf(&yard->made, "%s\n", place);
}

static void gpu_write(struct yard *yard, const char *place, const char *text, size_t length)
{
	char path[256];
	FILE *file;

	information_path(yard, place, path);
	file = fopen(path, "w");
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void gpu_make(struct yard *yard, const char *place, const char *uuid, const char *minor,
		     const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "Model: \t\t Tesla T4\nIRQ:   \t\t 10\nGPU UUID: \t %s\nVideo BIOS: \t 90.04.84.00.06\n"
		 "Bus Type: \t PCIe\nDMA Size: \t 47 bits\nBus Location: \t %s\nDevice Minor: \t %s\n%s",
		 uuid, place, minor, more);
	gpu_write(yard, place, text, strlen(text));
}

/* Checks the devices, joined by spaces. */
static void expect_devices(const struct host *host, const char *wanted)
{
	struct text got AUTO_TEXT = { 0 };

	text_puts(&got, "");
	for (size_t i = 0; i < host->device_count; i++)
		text_printf(&got, "%s%s", i ? " " : "", host->devices[i]);
	assert_string_equal(got.data ? got.data : "", wanted);
}

static void expect_gpus(const struct yard *yard, const char *wanted)
{
	struct host host = { 0 };

	nvidia_gpus_read(yard->top, &host);
	expect_devices(&host, wanted);
	host_deinit(&host);
}

static struct host read_info(const char *text, const char *directory)
{
	AUTO(json) json_t *info = json_loads(text, 0, NULL);
	struct host host;

	assert_non_null(info);
	docker_host_read(info, directory, &host);
	return host;
}

/* ---- /info ---- */

static void a_host_is_what_the_engine_tells(void **state)
{
	static const struct {
		const char *info;
		bool known;
		unsigned cpus;
		int64_t memory_bytes;
		const char *devices;
	} hosts[] = {
		/* 20.10 */
		{ "{\"NCPU\":2,\"MemTotal\":25276502016,\"Runtimes\":{\"runc\":{\"path\":\"runc\"}}}", true,
		  2, 25276502016, "" },
		/* Docker 28.2, to which nvidia's tools report two GPUs by name */
		{ "{\"NCPU\":64,\"MemTotal\":540000000000,\"DiscoveredDevices\":["
		  "{\"Source\":\"cdi\",\"ID\":\"nvidia.com/gpu=0\"},{\"Source\":\"cdi\",\"ID\":\"nvidia.com/gpu=1\"},"
		  "{\"Source\":\"cdi\",\"ID\":\"nvidia.com/gpu=GPU-8a56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3\"},"
		  "{\"Source\":\"cdi\",\"ID\":\"nvidia.com/gpu=GPU-9b56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3\"},"
		  "{\"Source\":\"cdi\",\"ID\":\"nvidia.com/gpu=all\"}]}",
		  true, 64, 540000000000, "nvidia.com/gpu=0 nvidia.com/gpu=1" },
		{ "{\"NCPU\":1,\"MemTotal\":1,\"DiscoveredDevices\":null}", true, 1, 1, "" },
		/* Values that no engine sends. */
		{ "{}", false, 0, 0, "" },
		{ "{\"NCPU\":-1,\"MemTotal\":-5}", false, 0, 0, "" },
		{ "{\"NCPU\":4294967297,\"MemTotal\":1}", false, 0, 1, "" },
		{ "{\"NCPU\":\"x\",\"MemTotal\":[]}", false, 0, 0, "" },
		{ "{\"NCPU\":2,\"MemTotal\":9,\"DiscoveredDevices\":7,\"Runtimes\":[\"nvidia\"]}", true, 2, 9,
		  "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(hosts); i++) {
		struct host host = read_info(hosts[i].info, "/nonexistent");

		assert_int_equal(host.known, hosts[i].known);
		assert_int_equal(host.cpus, hosts[i].cpus);
		assert_int_equal(host.memory_bytes, hosts[i].memory_bytes);
		expect_devices(&host, hosts[i].devices);
		host_deinit(&host);
	}
}

static void each_gpu_is_taken_once(void **state)
{
	static const struct {
		const char *ids, *taken; /* each after "nvidia.com/gpu="; those with a '/' or '=' are ignored */
	} lists[] = {
		{ "all", "" },
		{ "all 1 0", "0 1" },
		{ "10 9 2 2 1", "1 2 9 10" },
		{ "GPU-b0 GPU-a1 all", "GPU-a1 GPU-b0" },
		{ "GPU-a1 GPU-a1", "GPU-a1" },
		{ "GPU-a1 0 GPU-b2 1", "0 1" },
		{ "0:1 0:0 1", "0:0 0:1 1" },
		{ "0:0 0 0:1 1:0", "0 1:0" }, /* slices of a GPU that is listed as a whole */
		{ "MIG-a1 MIG-b2", "MIG-a1 MIG-b2" },
		{ "-1 0x1 1.5 00001x : :1 1: 1:2:3 99999 GPU- GPU-$(x) gpu-a", "" },
		{ "amd.com/gpu=0 nvidia.com/gds=0 nvidia.com/gpu nvidia.com/imex-channel=0 3", "3" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		AUTO(json) json_t *entries = json_array();
		AUTO(json) json_t *info = json_pack("{sO}", "DiscoveredDevices", entries);
		struct text wanted AUTO_TEXT = { 0 };
		char *ids = strdup(lists[i].ids), *taken = strdup(lists[i].taken), *rest, *word;
		struct host host;

		rest = ids;
		while ((word = strsep(&rest, " ")) != NULL)
			json_array_append_new(
				entries,
				json_pack("{ss so}", "Source", "cdi", "ID",
					  json_sprintf("%s%s",
						       strchr(word, '/') ? "" : "nvidia.com/gpu=", word)));
		json_array_append_new(entries, json_integer(1));
		json_array_append_new(entries, json_pack("{si}", "ID", 1));
		rest = taken;
		while (*taken && (word = strsep(&rest, " ")) != NULL)
			text_printf(&wanted, "%snvidia.com/gpu=%s", wanted.length ? " " : "", word);
		docker_host_read(info, "/nonexistent", &host);
		expect_devices(&host, wanted.data ? wanted.data : "");
		host_deinit(&host);
		free(ids);
		free(taken);
	}
}

static void of_endlessly_many_devices_some_are_taken(void **state)
{
	AUTO(json) json_t *entries = json_array();
	AUTO(json) json_t *info = json_pack("{sO}", "DiscoveredDevices", entries);
	struct host host;

	(void)state;
	for (int i = 0; i < 5000; i++)
		json_array_append_new(entries, json_pack("{so}", "ID", json_sprintf("nvidia.com/gpu=%d", i)));
	docker_host_read(info, "/nonexistent", &host);
	assert_int_equal(host.device_count, 1024);
	host_deinit(&host);
}

/* The driver's list is used only if the engine runs on this kernel and accepts NVIDIA requests. */
static void the_drivers_gpus_are_those_of_an_engine_on_this_kernel(void **state)
{
	struct yard *yard = *state;
	struct utsname us;
	struct sysinfo machine;
	const struct {
		const char *release, *runtime;
		int64_t more_memory;
		const char *devices;
	} engines[] = {
		{ us.release, "nvidia", 0, "GPU-a1" },
		{ us.release, "runc", 0, "" },
		{ us.release, "nvidia", 4096, "" },
		{ "5.10.0-other", "nvidia", 0, "" },
	};

	assert_int_equal(uname(&us), 0);
	assert_int_equal(sysinfo(&machine), 0);
	gpu_make(yard, "0000:00:04.0", "GPU-a1", "0", "");
	for (size_t i = 0; i < COUNT_OF(engines); i++) {
		int64_t memory_bytes =
			(int64_t)(machine.totalram * machine.mem_unit) + engines[i].more_memory;
		char info[512];

		snprintf(info, sizeof(info),
			 "{\"NCPU\":2,\"MemTotal\":%lld,\"KernelVersion\":\"%s\",\"Runtimes\":{\"%s\":{}}}",
			 (long long)memory_bytes, engines[i].release, engines[i].runtime);
		struct host host = read_info(info, yard->top);

		expect_devices(&host, engines[i].devices);
		host_deinit(&host);
		snprintf(info, sizeof(info),
			 "{\"NCPU\":2,\"MemTotal\":%lld,\"KernelVersion\":\"%s\",\"Runtimes\":{\"%s\":{}},"
			 "\"DiscoveredDevices\":[{\"Source\":\"cdi\",\"ID\":\"nvidia.com/gpu=0\"}]}",
			 (long long)memory_bytes, engines[i].release, engines[i].runtime);
		host = read_info(info, yard->top);
		expect_devices(&host, "nvidia.com/gpu=0");
		host_deinit(&host);
	}
}

/* ---- /proc ---- */

static void gpus_go_by_uuid_in_the_order_of_their_minor_numbers(void **state)
{
	struct yard *yard = *state;

	gpu_make(yard, "0000:00:04.0", "GPU-8a56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3", "10",
		 "GPU Excluded:\t No\n");
	gpu_make(yard, "0000:00:05.0", "GPU-9b56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3", "2", "");
	gpu_make(yard, "0000:00:06.0", "GPU-ab56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3", "0",
		 "GPU Excluded:\t Yes\n");
	/* the same GPU a second time */
	gpu_make(yard, "0000:00:07.0", "GPU-9b56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3", "3", "");
	expect_gpus(yard,
		    "GPU-9b56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3 GPU-8a56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3");
}

static void gpus_that_were_never_used_go_by_index(void **state)
{
	struct yard *yard = *state;

	gpu_make(yard, "0000:00:04.0", "GPU-8a56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3", "0", "");
	gpu_make(yard, "0000:00:05.0",
		 "GPU-\?\?\?\?\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?\?\?\?\?\?\?\?\?", "1", "");
	gpu_make(yard, "0000:00:06.0",
		 "GPU-\?\?\?\?\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?\?\?\?\?\?\?\?\?", "2",
		 "GPU Excluded: Yes");
	expect_gpus(yard, "0 1");
}

static void no_directory_means_no_gpus(void **state)
{
	struct host host = { 0 };

	(void)state;
	nvidia_gpus_read("/nonexistent", &host);
	assert_int_equal(host.device_count, 0);
	host_deinit(&host);
}

static void cut_texts_are_no_gpus(void **state)
{
	static const char whole[] = "Model: \t T4\nGPU UUID: \t GPU-a1b2\nDevice Minor: \t 12\n";
	struct yard *yard = *state;

	for (size_t length = 0; length < sizeof(whole); length++) {
		struct host host = { 0 };

		gpu_write(yard, "0000:00:04.0", whole,
			  length < sizeof(whole) - 1 ? length : sizeof(whole) - 1);
		nvidia_gpus_read(yard->top, &host);
		/* The file may be cut inside the minor number, so the number could be wrong. */
		expect_devices(&host,
			       length > (size_t)(strchr(whole, '2') - whole) && length > sizeof(whole) - 4
				       ? "GPU-a1b2"
				       : "");
		host_deinit(&host);
		yard_clear(yard);
	}
}

static void hostile_texts_are_no_gpus(void **state)
{
	static const struct {
		const char *uuid, *minor;
	} lines[] = {
		{ "all", "0" },
		{ "void", "0" },
		{ "0", "0" },
		{ "", "0" },
		{ "GPU-", "0" },
		{ "GPU-a1,GPU-a2", "0" },
		{ "GPU-a1 GPU-a2", "0" },
		{ "GPU-a1\",\"all", "0" },
		{ "GPU-a1=0", "0" },
		{ "GPU-../../x", "0" },
		{ "GPU-\xff\xfe", "0" },
		{ "MIG-a1", "0" },
		{ "GPU-0123456789012345678901234567890123456789012345678901234567890123456789", "0" },
		{ "GPU-a1", "" },
		{ "GPU-a1", "x" },
		{ "GPU-a1", "-" },
		{ "GPU-a1", "1x" },
		{ "GPU-a1", "123456" },
		{ "GPU-a1", "99999999999999999999" },
	};
	struct yard *yard = *state;

	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		gpu_make(yard, "0000:00:04.0", lines[i].uuid, lines[i].minor, "");
		expect_gpus(yard, "");
		yard_clear(yard);
	}
}

static void a_giant_file_is_read_to_a_bound(void **state)
{
	struct yard *yard = *state;
	struct text text AUTO_TEXT = { 0 };

	text_puts(&text, "GPU UUID: GPU-a1\nDevice Minor: 0\n");
	while (text.length < (1 << 20))
		text_puts(&text, "Padding: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n");
	gpu_write(yard, "0000:00:04.0", text.data, text.length);
	memcpy(text.data, "PGU", 3); /* the line is beyond the bytes that are read */
	text_puts(&text, "GPU UUID: GPU-b2\n");
	gpu_write(yard, "0000:00:05.0", text.data, text.length);
	expect_gpus(yard, "GPU-a1");
}

static void what_is_no_plain_file_is_not_read(void **state)
{
	struct yard *yard = *state;
	char path[256];

	information_path(yard, "0000:00:04.0", path);
	assert_int_equal(mkfifo(path, 0600), 0); /* opening it would wait for ever */
	information_path(yard, "0000:00:05.0", path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	information_path(yard, "0000:00:06.0", path); /* the file is missing */
	gpu_make(yard, "a-name-that-is-longer-than-any-place-on-a-bus-is-and-of-no-use-here", "GPU-a1", "0",
		 "");
	expect_gpus(yard, "");
}

#define YARD_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_is_what_the_engine_tells),
		cmocka_unit_test(each_gpu_is_taken_once),
		cmocka_unit_test(of_endlessly_many_devices_some_are_taken),
		YARD_TEST(the_drivers_gpus_are_those_of_an_engine_on_this_kernel),
		YARD_TEST(gpus_go_by_uuid_in_the_order_of_their_minor_numbers),
		YARD_TEST(gpus_that_were_never_used_go_by_index),
		cmocka_unit_test(no_directory_means_no_gpus),
		YARD_TEST(cut_texts_are_no_gpus),
		YARD_TEST(hostile_texts_are_no_gpus),
		YARD_TEST(a_giant_file_is_read_to_a_bound),
		YARD_TEST(what_is_no_plain_file_is_not_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker host", tests, NULL, NULL);
}
