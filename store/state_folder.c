/* SPDX-License-Identifier: Apache-2.0 */
#include "store/state_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/archive.h"
#include "daemon/base/clock.h"
#include "daemon/base/crc32c.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"
#include "store/small_file.h"

enum { BLOB_FOLDERS = 256, PIECE_BYTES = 64 << 10 };

const struct state_file state_files[STATE_FILE_COUNT] = {
	{ "clock", false }, { "state.db", true }, { "logs.db", true }, { "storage.db", false }
};

bool state_blob_path_valid(const char *path)
{
	static const char digits[] = "0123456789abcdef";
	const char *name = path + strlen("blobs/XX/");

	return strlen(path) == strlen("blobs/XX/XXXXXXXXXXXXXXXX") && strncmp(path, "blobs/", 6) == 0 &&
	       path[8] == '/' && strspn(path + 6, digits) == 2 && strspn(name, digits) == 16 &&
	       strncmp(name + 14, path + 6, 2) == 0;
}

static enum status file_refuse(const char *folder, const char *name, enum status status, struct error *err)
{
	return error_set(err, status, NULL, "%s/%s: %s", folder, name, strerror(errno));
}

/* ---- the manifest ---- */

static enum status file_sum(const char *folder, int folder_fd, const char *name, int64_t *ret_bytes,
			    uint32_t *ret_crc, struct error *err)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	AUTO(string) char *piece = memory_alloc(PIECE_BYTES);
	ssize_t length = fd < 0 ? -1 : 0;

	*ret_bytes = 0;
	*ret_crc = 0;
	while (fd >= 0 && (length = read(fd, piece, PIECE_BYTES)) > 0) {
		*ret_crc = crc32c_extend(*ret_crc, piece, (size_t)length);
		*ret_bytes += length;
	}
	if (length < 0 && !(fd < 0 && errno == ENOENT))
		file_refuse(folder, name, STATUS_UNAVAILABLE, err);
	if (fd < 0)
		return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_UNAVAILABLE;
	close(fd);
	return length < 0 ? STATUS_UNAVAILABLE : STATUS_OK;
}

/* Counts the files of one folder of blobs, and their bytes. */
static enum status blobs_count(const char *folder, int folder_fd, unsigned number, int64_t *count,
			       int64_t *bytes, struct error *err)
{
	char path[STATE_PATH_SIZE];
	const struct dirent *entry;
	struct stat about;
	DIR *listing;
	int fd;

	snprintf(path, sizeof(path), "blobs/%02x", number);
	fd = openat(folder_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return STATUS_OK;
	listing = fd < 0 ? NULL : fdopendir(fd);
	if (!listing) {
		file_refuse(folder, path, STATUS_UNAVAILABLE, err);
		if (fd >= 0)
			close(fd);
		return STATUS_UNAVAILABLE;
	}
	while ((entry = readdir(listing)) != NULL)
		if (fstatat(fd, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode)) {
			++*count;
			*bytes += about.st_size;
		}
	closedir(listing);
	return STATUS_OK;
}

static enum status manifest_make(const char *folder, int folder_fd, json_t **ret_manifest, struct error *err)
{
	AUTO(json) json_t *list = json_array();
	struct text time AUTO_TEXT = { 0 };
	int64_t count = 0, bytes = 0;
	enum status rc = STATUS_OK;

	for (int i = 0; i < STATE_FILE_COUNT; i++) {
		uint32_t crc;
		int64_t size;

		rc = file_sum(folder, folder_fd, state_files[i].name, &size, &crc, err);
		if (rc == STATUS_NOT_FOUND && !state_files[i].wanted)
			continue;
		if (rc)
			return rc == STATUS_NOT_FOUND
				       ? error_set(err, rc, NULL, "%s has no %s", folder, state_files[i].name)
				       : rc;
		json_array_append_new(list, json_pack("{s:s, s:I, s:I}", "name", state_files[i].name, "bytes",
						      (json_int_t)size, "crc32c", (json_int_t)crc));
	}
	rc = STATUS_OK;
	for (unsigned i = 0; !rc && i < BLOB_FOLDERS; i++)
		rc = blobs_count(folder, folder_fd, i, &count, &bytes, err);
	if (rc)
		return rc;
	text_time_millis(&time, clock_wall_us(&system_clock));
	*ret_manifest = json_pack("{s:i, s:s, s:s, s:O, s:I, s:I}", "format", STATE_FOLDER_FORMAT, "release",
				  PACKAGE_VERSION, "createTime", time.data, "files", list, "blobCount",
				  (json_int_t)count, "blobBytes", (json_int_t)bytes);
	return STATUS_OK;
}

enum status state_manifest_write(const char *folder, struct error *err)
{
	int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO(json) json_t *manifest = NULL;
	struct text text AUTO_TEXT = { 0 };
	AUTO(string) char *path = memory_printf("%s/%s", folder, STATE_MANIFEST);
	enum status rc;

	if (folder_fd < 0)
		return file_refuse(folder, ".", STATUS_UNAVAILABLE, err);
	rc = manifest_make(folder, folder_fd, &manifest, err);
	close(folder_fd);
	if (rc)
		return rc;
	json_write(&text, manifest);
	text_putc(&text, '\n');
	return small_file_place(path, &text, 0600, PLACE_NEW, err);
}

/* ---- packing ---- */

struct state_packer {
	char *folder;
	int folder_fd, file_fd; /* -1: none */
	int step;               /* position in the archive: manifest, files, folders of blobs, end */
	DIR *listing;           /* the folder of blobs that is being read */
	char path[STATE_PATH_SIZE];
	int64_t left, size;  /* of the file's data */
	struct text pending; /* a header, or the padding after a file's data */
	size_t sent;
};

enum {
	STEP_MANIFEST,
	STEP_FILES,
	STEP_BLOBS = STEP_FILES + STATE_FILE_COUNT,
	STEP_END = STEP_BLOBS + BLOB_FOLDERS,
	STEP_OVER
};

enum status state_packer_open(const char *folder, struct state_packer **ret_packer, struct error *err)
{
	AUTO(state_packer) struct state_packer *packer = memory_calloc(1, sizeof(*packer));

	packer->folder = memory_strdup(folder);
	packer->file_fd = -1;
	packer->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (packer->folder_fd < 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s: %s", folder, strerror(errno));
	if (faccessat(packer->folder_fd, STATE_MANIFEST, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "%s has no %s: trainyard export did not make this folder", folder,
				 STATE_MANIFEST);
	*ret_packer = TAKE(packer);
	return STATUS_OK;
}

void state_packer_close(struct state_packer *packer)
{
	if (!packer)
		return;
	if (packer->listing)
		closedir(packer->listing);
	if (packer->file_fd >= 0)
		close(packer->file_fd);
	if (packer->folder_fd >= 0)
		close(packer->folder_fd);
	text_deinit(&packer->pending);
	free(packer->folder);
	free(packer);
}

/* Begins the file packer->path with its header. NOT_FOUND: there is no such file. */
static enum status file_begin(struct state_packer *packer, struct error *err)
{
	struct stat about;

	packer->file_fd =
		openat(packer->folder_fd, packer->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (packer->file_fd < 0 && errno == ENOENT)
		return STATUS_NOT_FOUND;
	if (packer->file_fd < 0 || fstat(packer->file_fd, &about) != 0)
		return file_refuse(packer->folder, packer->path, STATUS_INVALID_ARGUMENT, err);
	if (!S_ISREG(about.st_mode))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s/%s is not a regular file", packer->folder,
				 packer->path);
	packer->left = packer->size = about.st_size;
	archive_entry_add(&packer->pending, &(struct archive_entry){ .name = packer->path,
								     .type = '0',
								     .mode = 0600,
								     .size = about.st_size,
								     .time_s = about.st_mtime });
	return STATUS_OK;
}

/* Begins the next file of a folder of blobs. */
static enum status blob_begin(struct state_packer *packer, unsigned number, struct error *err)
{
	const struct dirent *entry;

	if (!packer->listing) {
		int fd;

		snprintf(packer->path, sizeof(packer->path), "blobs/%02x", number);
		fd = openat(packer->folder_fd, packer->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT) {
			packer->step++;
			return STATUS_OK;
		}
		packer->listing = fd < 0 ? NULL : fdopendir(fd);
		if (!packer->listing) {
			if (fd >= 0)
				close(fd);
			return file_refuse(packer->folder, packer->path, STATUS_INVALID_ARGUMENT, err);
		}
	}
	while ((entry = readdir(packer->listing)) != NULL) {
		if (strlen(entry->d_name) != 16)
			continue;
		snprintf(packer->path, sizeof(packer->path), "blobs/%02x/%.16s", number, entry->d_name);
		if (state_blob_path_valid(packer->path))
			return file_begin(packer, err);
	}
	closedir(packer->listing);
	packer->listing = NULL;
	packer->step++;
	return STATUS_OK;
}

/* Fills packer->pending, or moves to the next step. */
static enum status step_take(struct state_packer *packer, struct error *err)
{
	const int step = packer->step;
	enum status rc;

	if (step >= STEP_BLOBS && step < STEP_END) {
		rc = blob_begin(packer, (unsigned)(step - STEP_BLOBS), err);
		return rc == STATUS_NOT_FOUND ? STATUS_OK : rc;
	}
	packer->step++;
	if (step == STEP_END) {
		archive_finish(&packer->pending);
		return STATUS_OK;
	}
	snprintf(packer->path, sizeof(packer->path), "%s",
		 step == STEP_MANIFEST ? STATE_MANIFEST : state_files[step - STEP_FILES].name);
	rc = file_begin(packer, err);
	/* the receiver notices that the file is missing */
	return rc == STATUS_NOT_FOUND ? STATUS_OK : rc;
}

static ssize_t data_read(struct state_packer *packer, char *buffer, size_t size, struct error *err)
{
	const size_t most = packer->left < (int64_t)size ? (size_t)packer->left : size;
	const ssize_t length = most ? read(packer->file_fd, buffer, most) : 0;

	if (length < 0 || (most && length == 0)) {
		error_set(err, STATUS_UNAVAILABLE, NULL, "%s/%s %s", packer->folder, packer->path,
			  length < 0 ? strerror(errno) : "became shorter while it was read");
		return -1;
	}
	packer->left -= length;
	if (!packer->left) {
		close(packer->file_fd);
		packer->file_fd = -1;
		archive_padding_add(&packer->pending, packer->size);
	}
	return length;
}

ssize_t state_packer_read(struct state_packer *packer, char *buffer, size_t size, struct error *err)
{
	for (;;) {
		size_t left = packer->pending.length - packer->sent;
		ssize_t length;

		if (left) {
			left = left < size ? left : size;
			memcpy(buffer, packer->pending.data + packer->sent, left);
			packer->sent += left;
			return (ssize_t)left;
		}
		text_clear(&packer->pending);
		packer->sent = 0;
		if (packer->file_fd >= 0) {
			length = data_read(packer, buffer, size, err);
			if (length)
				return length;
		} else if (packer->step == STEP_OVER) {
			return 0;
		} else if (step_take(packer, err)) {
			return -1;
		}
	}
}
