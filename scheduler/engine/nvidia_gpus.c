/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/nvidia_gpus.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

enum { GPUS_MAX = 256, INFORMATION_MAX_BYTES = 4096, PLACE_SIZE = 64, UUID_SIZE = 64 };

struct gpu {
	char uuid[UUID_SIZE]; /* "" until the driver knows the UUID */
	unsigned minor;
};

static void directory_close(DIR *directory)
{
	closedir(directory);
}

DEFINE_AUTO(directory, DIR *, directory_close)

/* Reads the driver's file about the GPU at a bus address. @place: such as "0000:00:04.0". False: there is no such
 * file, or it is not a regular file. */
static bool information_read(int directory, const char *place, char text[INFORMATION_MAX_BYTES + 1])
{
	char path[PLACE_SIZE + 16];
	struct stat about;
	size_t length = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/information", place);
	fd = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return false;
	got = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? 1 : -1;
	while (got > 0 && length < INFORMATION_MAX_BYTES) {
		got = read(fd, text + length, INFORMATION_MAX_BYTES - length);
		length += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	text[length] = '\0';
	return got >= 0;
}

/* Copies the rest of the line that begins with @name, without the blanks around it. False: there is no such line, or
 * the rest is too long. */
static bool line_find(const char *text, const char *name, char *value, size_t size)
{
	size_t length;

	while (text && strncmp(text, name, strlen(name)) != 0) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	if (!text)
		return false;
	text += strlen(name);
	text += strspn(text, " \t");
	length = strcspn(text, "\r\n");
	while (length > 0 && strchr(" \t", text[length - 1]))
		length--;
	if (length >= size)
		return false;
	snprintf(value, size, "%.*s", (int)length, text);
	return true;
}

static bool uuid_has_form(const char *uuid, const char *digits)
{
	return strncmp(uuid, "GPU-", 4) == 0 && uuid[4] != '\0' && uuid[4 + strspn(uuid + 4, digits)] == '\0';
}

static bool gpu_read(int directory, const char *place, struct gpu *ret_gpu)
{
	char text[INFORMATION_MAX_BYTES + 1], minor[16], excluded[8] = "";
	struct gpu gpu = { 0 };
	int end = 0;

	if (strlen(place) >= PLACE_SIZE || !information_read(directory, place, text))
		return false;
	if (!line_find(text, "GPU UUID:", gpu.uuid, sizeof(gpu.uuid)) ||
	    !line_find(text, "Device Minor:", minor, sizeof(minor)))
		return false;
	if (sscanf(minor, "%5u%n", &gpu.minor, &end) != 1 || minor[end])
		return false;
	if (line_find(text, "GPU Excluded:", excluded, sizeof(excluded)) && strcmp(excluded, "No") != 0)
		return false;
	if (uuid_has_form(gpu.uuid, "?-"))
		gpu.uuid[0] = '\0';
	else if (!uuid_has_form(gpu.uuid, "0123456789abcdefABCDEF-"))
		return false;
	*ret_gpu = gpu;
	return true;
}

static size_t gpus_find(DIR *directory, struct gpu *gpus)
{
	const struct dirent *entry;
	size_t count = 0;

	while (count < GPUS_MAX && (entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.')
			count += gpu_read(dirfd(directory), entry->d_name, &gpus[count]);
	return count;
}

static int by_minor(const void *a, const void *b)
{
	const struct gpu *left = a, *right = b;

	return (left->minor > right->minor) - (left->minor < right->minor);
}

static bool uuid_is_first(const struct gpu *gpus, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(gpus[i].uuid, gpus[index].uuid) == 0)
			return false;
	return true;
}

static bool all_have_uuids(const struct gpu *gpus, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!gpus[i].uuid[0])
			return false;
	return true;
}

/* Adds the GPUs' ids to the host's devices: UUIDs if all have one, otherwise indexes. */
static void devices_add(struct host *host, struct gpu *gpus, size_t count)
{
	bool by_uuid = all_have_uuids(gpus, count);
	char index[24];

	qsort(gpus, count, sizeof(gpus[0]), by_minor);
	for (size_t i = 0; i < count; i++) {
		if (by_uuid && !uuid_is_first(gpus, i))
			continue;
		snprintf(index, sizeof(index), "%zu", i);
		host->devices[host->device_count] = memory_strdup(by_uuid ? gpus[i].uuid : index);
		host->device_count++;
	}
}

void nvidia_gpus_read(const char *directory, struct host *host)
{
	AUTO(directory) DIR *opened = opendir(directory);
	struct gpu *gpus;
	size_t count;

	if (!opened)
		return;
	gpus = memory_calloc(GPUS_MAX, sizeof(*gpus));
	count = gpus_find(opened, gpus);
	host->devices = memory_calloc(count + 1, sizeof(*host->devices));
	devices_add(host, gpus, count);
	free(gpus);
}
