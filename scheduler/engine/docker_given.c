/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_given.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_archive.h"
#include "scheduler/engine/docker_core.h"

enum { READ_BYTES = 64 * 1024 };

static json_t *mounts_of(const json_t *body)
{
	return json_object_get(json_object_get(body, "HostConfig"), "Mounts");
}

bool given_is_wanted(const json_t *body)
{
	return json_array_size(mounts_of(body)) > 0;
}

bool given_is_put(const json_t *container)
{
	const json_t *labels = json_object_get(json_object_get(container, "Config"), "Labels");
	const char *how = json_text_at(labels, DOCKER_LABEL_FILES);

	return how && strcmp(how, DOCKER_FILES_PUT) == 0;
}

static enum status unreadable(const char *source, struct error *err)
{
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s cannot be copied into the container: %s",
			 source, strerror(errno));
}

/* Adds the content of the open file @fd to the archive as @target, and closes @fd. */
static enum status file_add(struct text *archive, int fd, const char *source, const char *target,
			    struct error *err)
{
	struct text data AUTO_TEXT = { 0 };
	char piece[READ_BYTES];
	ssize_t length;

	while ((length = read(fd, piece, sizeof(piece))) > 0 && data.length <= ENGINE_FILES_MAX)
		text_append(&data, piece, (size_t)length);
	close(fd);
	if (length < 0)
		return unreadable(source, err);
	if (archive->length + data.length > ENGINE_FILES_MAX)
		return error_set(
			err, STATUS_RESOURCE_EXHAUSTED, NULL,
			"%s: the files for the container have more than %d MiB, and the engine does not have "
			"them itself",
			source, ENGINE_FILES_MAX >> 20);
	archive_add(archive, &(struct engine_file){ target, data.data ? data.data : "", data.length, 0444 });
	return STATUS_OK;
}

/* Adds the files directly in a directory to the archive, such as the wheels of --wheels; not those of its
 * subdirectories. */
static enum status directory_add(struct text *archive, int fd, const char *source, const char *target,
				 struct error *err)
{
	DIR *listing = fdopendir(fd);
	const struct dirent *entry;
	enum status rc = STATUS_OK;

	archive_add(archive, &(struct engine_file){ target, "", 0, S_IFDIR | 0755 });
	while (!rc && listing && (entry = readdir(listing))) {
		AUTO(string) char *path = memory_printf("%s/%s", target, entry->d_name);
		struct stat about;
		int file;

		if (fstatat(fd, entry->d_name, &about, 0) || !S_ISREG(about.st_mode))
			continue;
		file = openat(fd, entry->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		rc = file < 0 ? unreadable(source, err) : file_add(archive, file, source, path, err);
	}
	if (listing)
		closedir(listing);
	else
		close(fd);
	return rc;
}

static enum status source_add(struct text *archive, const char *source, const char *target, struct error *err)
{
	const int fd = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;

	if (fd < 0)
		return unreadable(source, err);
	if (fstat(fd, &about) == 0 && S_ISDIR(about.st_mode))
		return directory_add(archive, fd, source, target, err);
	return file_add(archive, fd, source, target, err);
}

static bool is_below(const char *path, const char *directory)
{
	const size_t length = directory ? strlen(directory) : 0;

	return length && strncmp(path, directory, length) == 0 && path[length] == '/';
}

static enum status mount_take(json_t *labels, const json_t *mount, const char *reports_dir,
			      struct text *archive, struct error *err)
{
	const char *source = json_text_at(mount, "Source"), *target = json_text_at(mount, "Target");

	if (json_true_at(mount, "ReadOnly"))
		return source_add(archive, source, target, err);
	if (!is_below(source, reports_dir))
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"the engine does not have %s, which this daemon has: it runs in a container, or the "
			"engine is on another machine",
			source);
	archive_add(archive, &(struct engine_file){ target, "", 0, S_IFDIR | 0777 });
	json_object_set_new(labels, DOCKER_LABEL_REPORTS, json_string(target));
	return STATUS_OK;
}

enum status given_take(json_t *body, const char *reports_dir, struct text *archive, struct error *err)
{
	json_t *labels = json_object_get(body, "Labels");
	const json_t *mount;
	size_t i;

	json_object_set_new(labels, DOCKER_LABEL_FILES, json_string(DOCKER_FILES_PUT));
	json_array_foreach(mounts_of(body), i, mount) {
		const enum status rc = mount_take(labels, mount, reports_dir, archive, err);

		if (rc)
			return rc;
	}
	archive_add(archive, &(struct engine_file){ GIVEN_MARK, "", 0, 0444 });
	archive_finish(archive);
	json_object_del(json_object_get(body, "HostConfig"), "Mounts");
	return STATUS_OK;
}
