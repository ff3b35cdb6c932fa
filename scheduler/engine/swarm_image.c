/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/swarm_image.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <link.h>
#include <poll.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/archive.h"
#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_ask.h"
#include "scheduler/engine/docker_json.h"
#include "scheduler/engine/swarm_agents.h"

enum { LOAD_TIMEOUT_S = 300, DIGEST_SIZE = 2 * crypto_hash_sha256_BYTES + 1, TAG_LETTERS = 16 };
enum { REMOVE_PATIENCE_US = 30 * 1000 * 1000, REMOVE_PAUSE_MS = 250 };

#if defined(__x86_64__)
#define ARCHITECTURE "amd64"
#elif defined(__aarch64__)
#define ARCHITECTURE "arm64"
#else
#error "which architecture images are of is not known here"
#endif

void swarm_image_deinit(struct swarm_image *image)
{
	text_deinit(&image->archive);
}

/* ---- files ---- */

struct gathering {
	struct text *layer;
	struct text directories; /* "/lib:/usr/lib", each once */
	bool failed;
	struct error *err;
};

static bool file_append(int fd, int64_t size, struct text *layer)
{
	char piece[64 * 1024];
	ssize_t got;

	while (size > 0 && (got = read(fd, piece, sizeof(piece))) > 0) {
		text_append(layer, piece, (size_t)got < (size_t)size ? (size_t)got : (size_t)size);
		size -= got;
	}
	return size <= 0;
}

static bool file_add(struct text *layer, const char *path, const char *name, struct error *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about = { 0 };
	bool added = fd >= 0 && fstat(fd, &about) == 0;

	if (added) {
		archive_entry_add(layer, &(struct archive_entry){ .name = name + (*name == '/'),
								  .type = '0',
								  .mode = 0755,
								  .size = about.st_size });
		added = file_append(fd, about.st_size, layer);
		archive_padding_add(layer, about.st_size);
	}
	if (!added)
		error_set(err, STATUS_UNAVAILABLE, NULL, "cannot read %s, which is part of the agents' image: %s",
			  path, strerrordesc_np(errno));
	if (fd >= 0)
		close(fd);
	return added;
}

static void directory_add(struct text *directories, const char *path)
{
	AUTO(string) char *copy = memory_strdup(path);
	const char *directory = dirname(copy);
	const size_t length = strlen(directory);

	for (const char *at = directories->length ? directories->data : NULL; at && *at;
	     at += strcspn(at, ":"), at += *at == ':')
		if (strcspn(at, ":") == length && strncmp(at, directory, length) == 0)
			return;
	text_printf(directories, "%s%s", directories->length ? ":" : "", directory);
}

/* Adds a loaded library under the path at which it was found, where programs look for it. The program itself has no
 * such path, and the library that the kernel provides (vDSO) has none either. */
static int library_add(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct gathering *gathering = arg;

	(void)size;
	if (info->dlpi_name[0] != '/')
		return 0;
	directory_add(&gathering->directories, info->dlpi_name);
	gathering->failed = !file_add(gathering->layer, info->dlpi_name, info->dlpi_name, gathering->err);
	return gathering->failed;
}

/* ---- the archive ---- */

static void digest_of(const struct text *text, char digest[DIGEST_SIZE])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, (const unsigned char *)text->data, text->length);
	sodium_bin2hex(digest, DIGEST_SIZE, hash, sizeof(hash));
}

static void part_add(struct text *archive, const char *name, const struct text *data)
{
	archive_entry_add(archive, &(struct archive_entry){ .name = name,
							    .type = '0',
							    .mode = 0644,
							    .size = (int64_t)data->length });
	text_append(archive, data->data, data->length);
	archive_padding_add(archive, (int64_t)data->length);
}

static void json_add(struct text *archive, const char *name, const json_t *value)
{
	struct text text AUTO_TEXT = { 0 };
	AUTO(string) char *plain = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);

	text_puts(&text, plain);
	part_add(archive, name, &text);
}

static json_t *config_make(const char *digest, const char *directories)
{
	AUTO(string) char *variable = memory_printf("LD_LIBRARY_PATH=%s", directories);
	AUTO(string) char *layer = memory_printf("sha256:%s", digest);

	return json_pack("{ss ss ss s{s[s] s[s s]} s{ss s[s]}}", "architecture", ARCHITECTURE, "os", "linux",
			 "created", "1970-01-01T00:00:00Z", "config", "Env", variable, "Entrypoint",
			 SWARM_AGENT_PROGRAM, SWARM_AGENT_VERB, "rootfs", "type", "layers", "diff_ids", layer);
}

static void archive_make(const struct text *layer, const char *directories, struct swarm_image *image)
{
	char digest[DIGEST_SIZE];

	digest_of(layer, digest);
	snprintf(image->name, sizeof(image->name), SWARM_IMAGE "%.*s", TAG_LETTERS, digest);
	AUTO(json) json_t *config = config_make(digest, directories);
	AUTO(json)
	json_t *manifest = json_pack("[{ss s[s] s[s]}]", "Config", "config.json", "RepoTags", image->name,
				     "Layers", "layer.tar");

	part_add(&image->archive, "layer.tar", layer);
	json_add(&image->archive, "config.json", config);
	json_add(&image->archive, "manifest.json", manifest);
	archive_finish(&image->archive);
}

enum status swarm_image_make(struct swarm_image *ret_image, struct error *err)
{
	struct text layer AUTO_TEXT = { 0 };
	struct gathering gathering = { .layer = &layer, .err = err };

	gathering.failed = !file_add(&layer, "/proc/self/exe", SWARM_AGENT_PROGRAM, err);
	if (!gathering.failed)
		dl_iterate_phdr(library_add, &gathering);
	archive_finish(&layer);
	if (!gathering.failed)
		archive_make(&layer, gathering.directories.length ? gathering.directories.data : "", ret_image);
	text_deinit(&gathering.directories);
	return gathering.failed ? STATUS_UNAVAILABLE : STATUS_OK;
}

/* ---- engines ---- */

/* Asks for the id of an image. NOT_FOUND: the engine does not have the image. */
static enum status id_ask(struct http *http, const char *name, char ret_id[SWARM_IMAGE_ID_SIZE],
			  struct error *err)
{
	char path[DOCKER_PATH_SIZE];

	snprintf(path, sizeof(path), "/images/%s/json", name);
	struct reply reply AUTO_REPLY = docker_ask(http, "GET", path, NULL);
	const char *id = json_text_at(reply.value, "Id");

	if (reply.status || reply.code != 200)
		return reply_failure(&reply, err);
	if (!id || strlen(id) >= SWARM_IMAGE_ID_SIZE)
		return error_set(err, STATUS_INTERNAL, NULL, "the engine's answer about the image has no id");
	snprintf(ret_id, SWARM_IMAGE_ID_SIZE, "%s", id);
	return STATUS_OK;
}

enum status swarm_image_give(struct http *http, const struct swarm_image *image,
			     char ret_id[SWARM_IMAGE_ID_SIZE], struct error *err)
{
	enum status rc = id_ask(http, image->name, ret_id, NULL);

	if (!rc)
		return rc;
	struct reply reply AUTO_REPLY =
		docker_ask_for(http, (struct http_request){ .method = "POST",
							    .path = "/images/load?quiet=1",
							    .body = image->archive.data,
							    .body_bytes = image->archive.length,
							    .body_header = "Content-Type: application/x-tar",
							    .timeout_s = LOAD_TIMEOUT_S });

	if (reply.status || reply.code >= 300)
		return reply_failure(&reply, err);
	rc = id_ask(http, image->name, ret_id, err);
	return rc ? error_wrap(err, "the engine did not take the image %s", image->name) : STATUS_OK;
}

/* Removes an image. While a container uses it, most likely that of a task that has just ended, the removal is
 * repeated. */
static enum status image_remove(struct http *http, const char *name, struct error *err)
{
	const int64_t until_us = clock_mono_us(&system_clock) + REMOVE_PATIENCE_US;
	char path[DOCKER_PATH_SIZE];

	snprintf(path, sizeof(path), "/images/%.200s", name);
	for (;;) {
		struct reply reply AUTO_REPLY = docker_ask(http, "DELETE", path, NULL);

		if (!reply.status && (reply.code < 300 || reply.code == 404))
			return STATUS_OK;
		if (reply.status || reply.code != 409 || clock_mono_us(&system_clock) > until_us)
			return reply_failure(&reply, err);
		poll(NULL, 0, REMOVE_PAUSE_MS);
	}
}

enum status swarm_images_remove(struct http *http, size_t *count, struct error *err)
{
	char filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64];
	enum status rc = STATUS_OK;
	const json_t *image, *tag;
	size_t i, k;

	docker_query_encode("{\"reference\":[\"" SWARM_IMAGE "*\"]}", filter, sizeof(filter));
	snprintf(path, sizeof(path), "/images/json?filters=%s", filter);
	struct reply reply AUTO_REPLY = docker_ask(http, "GET", path, NULL);

	if (reply.status || reply.code != 200 || !json_is_array(reply.value))
		return reply_failure(&reply, err);
	json_array_foreach(reply.value, i, image)
		json_array_foreach(json_object_get(image, "RepoTags"), k, tag) {
			const char *name = json_string_value(tag);

			if (rc || !name || strncmp(name, SWARM_IMAGE, strlen(SWARM_IMAGE)) != 0)
				continue;
			rc = image_remove(http, name, err);
			*count += !rc;
		}
	return rc;
}
