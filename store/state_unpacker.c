/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "daemon/base/archive.h"
#include "daemon/base/crc32c.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/tree.h"
#include "store/disk_words.h"
#include "store/state_folder.h"

enum { MANIFEST_BYTES_MAX = 64 << 10, ROOM_BYTES = 16 << 20 };

/* Limit for the size of one file, so low that sums of several sizes cannot overflow. */
#define SIZE_LIMIT (INT64_MAX / 16)

struct state_unpacker {
	char *folder;
	int folder_fd, file_fd; /* -1: none */
	struct file_sink sink;
	struct archive archive;
	enum { PART_NONE, PART_MANIFEST, PART_FILE, PART_BLOB } part; /* what comes now */
	int number;                                                   /* of a PART_FILE */
	size_t left;                                                  /* bytes of the part that have not arrived */
	uint32_t crc;
	struct text manifest_text;
	json_t *manifest;
	bool has[STATE_FILE_COUNT], is_whole;
	int64_t blob_count, blob_bytes;
	enum status status; /* the first failure; STATUS_OK until then */
	struct error err;
};

static void fail(struct state_unpacker *unpacker, enum status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void fail(struct state_unpacker *unpacker, enum status status, const char *format, ...)
{
	va_list arguments;
	AUTO(string) char *text = NULL;

	if (unpacker->status)
		return;
	va_start(arguments, format);
	text = memory_vprintf(format, arguments);
	va_end(arguments);
	unpacker->status = error_set(&unpacker->err, status, NULL, "%s", text);
}

static int file_number(const char *name)
{
	for (int i = 0; i < STATE_FILE_COUNT; i++)
		if (strcmp(state_files[i].name, name) == 0)
			return i;
	return -1;
}

static const json_t *file_facts(const struct state_unpacker *unpacker, int number)
{
	const json_t *list = json_object_get(unpacker->manifest, "files"), *facts;
	size_t i;

	json_array_foreach(list, i, facts) {
		const char *name = json_text_at(facts, "name");

		if (name && strcmp(name, state_files[number].name) == 0)
			return facts;
	}
	return NULL;
}

/* Reads the manifest, and checks that there is disk space for the bytes that it announces. A longer archive is
 * refused. */
static void manifest_take(struct state_unpacker *unpacker)
{
	const struct text *text = &unpacker->manifest_text;
	json_t *manifest = json_parse_foreign(text->length ? text->data : "{}",
					      text->length ? text->length : 2, 0, NULL);
	const int64_t blob_bytes = json_int_at(manifest, "blobBytes", -1);
	struct statvfs room;
	uint64_t bytes = blob_bytes > 0 ? (uint64_t)blob_bytes : 0;

	unpacker->manifest = manifest ? manifest : json_object();
	if (json_int_at(manifest, "format", 0) != STATE_FOLDER_FORMAT) {
		fail(unpacker, STATUS_INVALID_ARGUMENT,
		     "The manifest is of format %" PRId64
		     ", and this program knows %d: it is of another release, or none.",
		     json_int_at(manifest, "format", 0), STATE_FOLDER_FORMAT);
		return;
	}
	for (int i = 0; i < STATE_FILE_COUNT; i++) {
		const json_t *facts = file_facts(unpacker, i);
		const int64_t size = json_int_at(facts, "bytes", 0);

		if (size < 0 || size > SIZE_LIMIT || (state_files[i].wanted && !facts))
			fail(unpacker, STATUS_INVALID_ARGUMENT, "The manifest has no valid size for %s.",
			     state_files[i].name);
		bytes += size > 0 ? (uint64_t)size : 0;
	}
	if (blob_bytes < 0 || json_int_at(manifest, "blobCount", -1) < 0 || blob_bytes > SIZE_LIMIT)
		fail(unpacker, STATUS_INVALID_ARGUMENT, "The manifest has no valid blobCount and blobBytes.");
	if (fstatvfs(unpacker->folder_fd, &room) == 0 &&
	    (uint64_t)room.f_bavail * room.f_frsize < bytes + ROOM_BYTES)
		fail(unpacker, STATUS_RESOURCE_EXHAUSTED,
		     "The state has %" PRIu64 " MiB, and the file system at %s has room for %" PRIu64 " MiB.",
		     bytes >> 20, unpacker->folder, ((uint64_t)room.f_bavail * room.f_frsize) >> 20);
	unpacker->archive.bytes_left = (size_t)bytes;
}

/* Call when the last byte of a file has arrived. */
static void part_finish(struct state_unpacker *unpacker)
{
	const json_t *facts;

	if (unpacker->file_fd >= 0 && close(unpacker->file_fd) != 0)
		fail(unpacker, STATUS_UNAVAILABLE, "%s: %s", unpacker->folder, strerror(errno));
	unpacker->file_fd = -1;
	if (unpacker->part == PART_MANIFEST)
		manifest_take(unpacker);
	if (unpacker->part == PART_FILE) {
		facts = file_facts(unpacker, unpacker->number);
		if (json_int_at(facts, "crc32c", -1) != unpacker->crc)
			fail(unpacker, STATUS_INVALID_ARGUMENT,
			     "%s is damaged: its checksum is not the manifest's.",
			     state_files[unpacker->number].name);
		unpacker->has[unpacker->number] = true;
	}
	unpacker->part = PART_NONE;
}

static void file_make(struct state_unpacker *unpacker, const char *name, mode_t mode)
{
	unpacker->file_fd =
		openat(unpacker->folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (unpacker->file_fd < 0 && errno == EEXIST)
		fail(unpacker, STATUS_INVALID_ARGUMENT, "%s is there twice.", name);
	else if (unpacker->file_fd < 0)
		fail(unpacker, STATUS_UNAVAILABLE, "%s/%s: %s", unpacker->folder, name, strerror(errno));
}

static void blob_make(struct state_unpacker *unpacker, const char *name, size_t size)
{
	char directory[STATE_PATH_SIZE];

	unpacker->blob_count++;
	unpacker->blob_bytes += (int64_t)size;
	if (unpacker->blob_count > json_int_at(unpacker->manifest, "blobCount", 0)) {
		fail(unpacker, STATUS_INVALID_ARGUMENT, "There are more blobs than the manifest lists.");
		return;
	}
	snprintf(directory, sizeof(directory), "%.8s", name);
	if (mkdirat(unpacker->folder_fd, directory, 0700) != 0 && errno != EEXIST)
		fail(unpacker, STATUS_UNAVAILABLE, "%s/%s: %s", unpacker->folder, directory, strerror(errno));
	else
		file_make(unpacker, name, 0600);
}

static void part_begin(void *arg, const char *name, size_t size)
{
	struct state_unpacker *unpacker = arg;
	const int number = file_number(name);

	if (unpacker->status)
		return;
	unpacker->left = size;
	unpacker->crc = 0;
	unpacker->number = number;
	if (!unpacker->manifest) {
		unpacker->part = PART_MANIFEST;
		if (strcmp(name, STATE_MANIFEST) != 0)
			fail(unpacker, STATUS_INVALID_ARGUMENT, "It begins with %s, and not with a manifest.",
			     name);
		else
			file_make(unpacker, name, 0600);
	} else if (number >= 0) {
		unpacker->part = PART_FILE;
		if (json_int_at(file_facts(unpacker, number), "bytes", -1) != (int64_t)size)
			fail(unpacker, STATUS_INVALID_ARGUMENT,
			     "%s has another size than the manifest says.", name);
		else
			file_make(unpacker, name, 0600);
	} else if (state_blob_path_valid(name)) {
		unpacker->part = PART_BLOB;
		blob_make(unpacker, name, size);
	} else {
		fail(unpacker, STATUS_INVALID_ARGUMENT, "\"%.100s\" is no file of a state.", name);
	}
	if (!size && !unpacker->status)
		part_finish(unpacker);
}

static void write_fail(struct state_unpacker *unpacker)
{
	struct text text AUTO_TEXT = { 0 };

	if (errno != ENOSPC && errno != EDQUOT) {
		fail(unpacker, STATUS_UNAVAILABLE, "%s: %s", unpacker->folder, strerror(errno));
		return;
	}
	disk_full_write(&text, unpacker->folder);
	fail(unpacker, STATUS_RESOURCE_EXHAUSTED, "%s", text.data);
}

static void part_piece(void *arg, const char *data, size_t length)
{
	struct state_unpacker *unpacker = arg;

	if (unpacker->status)
		return;
	if (unpacker->part == PART_MANIFEST)
		text_append(&unpacker->manifest_text, data, length);
	unpacker->crc = unpacker->part == PART_FILE ? crc32c_extend(unpacker->crc, data, length) : 0;
	unpacker->left -= length;
	while (length) {
		const ssize_t written = write(unpacker->file_fd, data, length);

		if (written < 0) {
			write_fail(unpacker);
			return;
		}
		data += written;
		length -= (size_t)written;
	}
	if (!unpacker->left)
		part_finish(unpacker);
}

enum status state_unpacker_open(const char *folder, struct state_unpacker **ret_unpacker, struct error *err)
{
	AUTO(state_unpacker) struct state_unpacker *unpacker = memory_calloc(1, sizeof(*unpacker));

	unpacker->file_fd = unpacker->folder_fd = -1;
	unpacker->sink = (struct file_sink){ part_begin, part_piece, unpacker };
	unpacker->archive = (struct archive){ .sink = &unpacker->sink,
					      .bytes_left = MANIFEST_BYTES_MAX,
					      .plain_files = true };
	if (mkdir(folder, 0700) != 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "cannot make %s: %s", folder,
				 strerror(errno));
	unpacker->folder = memory_strdup(folder);
	unpacker->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (unpacker->folder_fd < 0 || mkdirat(unpacker->folder_fd, "blobs", 0700) != 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s: %s", folder, strerror(errno));
	*ret_unpacker = TAKE(unpacker);
	return STATUS_OK;
}

/* Sets *err to the first failure: of the contents, or else of the archive's format. */
static enum status outcome(struct state_unpacker *unpacker, struct error *err)
{
	if (!unpacker->status && unpacker->archive.status)
		fail(unpacker, STATUS_INVALID_ARGUMENT, "It is no archive of a state: there is %s.",
		     unpacker->archive.problem);
	return unpacker->status ? error_set(err, unpacker->status, NULL, "%s",
					    unpacker->err.text ? unpacker->err.text : "")
				: STATUS_OK;
}

enum status state_unpacker_take(struct state_unpacker *unpacker, const char *data, size_t length,
				struct error *err)
{
	if (!unpacker->status)
		archive_take(&unpacker->archive, data, length);
	return outcome(unpacker, err);
}

enum status state_unpacker_finish(struct state_unpacker *unpacker, struct error *err)
{
	enum status rc;

	if (!unpacker->status)
		archive_end(&unpacker->archive);
	if (!unpacker->status && !unpacker->archive.status && !unpacker->manifest)
		fail(unpacker, STATUS_INVALID_ARGUMENT, "It is empty.");
	for (int i = 0; !unpacker->archive.status && i < STATE_FILE_COUNT; i++)
		if (!unpacker->has[i] && file_facts(unpacker, i))
			fail(unpacker, STATUS_INVALID_ARGUMENT, "%s is missing.", state_files[i].name);
	if (!unpacker->archive.status &&
	    (unpacker->blob_count != json_int_at(unpacker->manifest, "blobCount", -1) ||
	     unpacker->blob_bytes != json_int_at(unpacker->manifest, "blobBytes", -1)))
		fail(unpacker, STATUS_INVALID_ARGUMENT, "The content of objects is missing.");
	rc = outcome(unpacker, err);
	if (!rc && syncfs(unpacker->folder_fd) != 0) {
		write_fail(unpacker);
		rc = outcome(unpacker, err);
	}
	unpacker->is_whole = !rc;
	return rc;
}

void state_unpacker_close(struct state_unpacker *unpacker)
{
	if (!unpacker)
		return;
	if (unpacker->file_fd >= 0)
		close(unpacker->file_fd);
	if (unpacker->folder_fd >= 0)
		close(unpacker->folder_fd);
	if (unpacker->folder && !unpacker->is_whole)
		tree_remove(unpacker->folder, SIZE_MAX);
	json_decref(unpacker->manifest);
	text_deinit(&unpacker->manifest_text);
	error_deinit(&unpacker->err);
	free(unpacker->folder);
	free(unpacker);
}
