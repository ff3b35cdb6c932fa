/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration file; and its lines as the words of a command line.
 *
 * What must hold beside not crashing: what is refused is INVALID_ARGUMENT in one line, and what is taken can be used:
 * a later reader of an option's value finds what the option's check let through. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/training/image_map.h"
#include "api/training/quota.h"
#include "api/training/runtime_map.h"
#include "daemon/base/cleanup.h"
#include "daemon/config.h"
#include "daemon/config_listen.h"
#include "scheduler/plan/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MAX = 64 };

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void maps_check(const struct config *config)
{
	const struct image_map images = { config->image_map.values, config->image_map.count };
	const struct runtime_map runtimes = { config->runtimes.values, config->runtimes.count };
	static const char *const names[] = { "gcr.io/p/train:1", "gcr.io/p/train", "busybox", "a:5000/b/c" };

	for (size_t i = 0; i < images.count; i++)
		expect(image_rule_valid(images.rules[i]));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		AUTO(string) char *mapped = NULL;
		const enum status rc = image_map_apply(&images, names[i], &mapped, NULL);

		expect(rc == STATUS_OK || rc == STATUS_FAILED_PRECONDITION);
	}
	for (int gpu = 0; gpu < 2; gpu++) {
		const struct runtime runtime = { "2.11", "3.7", gpu };
		AUTO(string) char *image = NULL;
		bool otherwise;

		expect(runtime_map_find(&runtimes, &runtime, &image, &otherwise, NULL) == STATUS_OK && image);
	}
}

static void config_check(const struct config *config)
{
	char address[LISTEN_ADDRESS_SIZE];
	struct inventory inventory = { .automatic = false };
	struct quota_limits limits;
	uint16_t port;

	expect(config_listen_path(config->listen) || config_listen_split(config->listen, address, &port));
	config_listen_is_local(config->listen);
	expect(!config->quota || quota_parse(config->quota, &limits, NULL) == STATUS_OK);
	expect(inventory_parse(config->gpus, &inventory, NULL) == STATUS_OK);
	inventory_deinit(&inventory);
	maps_check(config);
}

static void config_try(const char *const *words)
{
	struct config config AUTO_CONFIG = { 0 };
	struct error err AUTO_ERROR = { 0 };
	const enum status rc = config_read(&config, CONFIG_SERVE, words, &err);

	if (rc) {
		expect(rc == STATUS_INVALID_ARGUMENT && err.text);
		return;
	}
	config_check(&config);
}

/* An unlinked file, so that several fuzzers do not use the same one. */
static void file_try(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	expect(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	config_try((const char *const[]){ "--config", path, NULL });
	close(fd);
}

/* --config is left out: it would open what the fuzzer names. */
static void words_try(char *text)
{
	const char *words[WORDS_MAX + 1] = { NULL };
	size_t count = 0;

	for (char *word; count < WORDS_MAX && (word = strsep(&text, "\n"));)
		if (strncmp(word, "--config", strlen("--config")) != 0)
			words[count++] = word;
	config_try(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *text = strndup(size ? (const char *)data : "", size);

	if (!getenv("HOME"))
		setenv("HOME", "/nowhere", 1);
	file_try(data, size);
	if (text)
		words_try(text);
	return 0;
}
