/* SPDX-License-Identifier: Apache-2.0 */
#include "store/disk_words.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

/* Choice: room for a database, and the log that SQLite writes beside it, to grow for a while. */
enum { WANTED_MIB = 16 };

/* Removes the last name of the path. False: it is the root. */
static bool path_ascend(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !path[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

/* Replaces @path by the mount point of its file system. @path itself need not exist, but the directory above it
 * must. */
static void mount_find(char *path)
{
	struct stat here, above;
	struct text name AUTO_TEXT = { 0 };

	while (stat(path, &here) != 0)
		if (!path_ascend(path))
			return;
	for (;;) {
		text_clear(&name);
		text_puts(&name, path);
		if (!path_ascend(name.data) || stat(name.data, &above) != 0 || above.st_dev != here.st_dev)
			return;
		path_ascend(path);
	}
}

static void size_write(struct text *text, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;

	while (bytes >= UINT64_C(10) * 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1024;
		unit++;
	}
	text_printf(text, "%" PRIu64 " %s", bytes, units[unit]);
}

void disk_full_write(struct text *text, const char *path)
{
	AUTO(string) char *mount = memory_strdup(path);
	struct statvfs about;
	uint64_t left;

	mount_find(mount);
	if (statvfs(mount, &about) != 0) {
		text_printf(text, "there is no room for %s; free %d MiB at least", path, WANTED_MIB);
		return;
	}
	left = (uint64_t)about.f_bavail * about.f_frsize;
	if (left >= (uint64_t)WANTED_MIB << 20 && (about.f_favail || !about.f_files)) {
		text_printf(text, "there is no room for %s, although the file system at %s has ", path,
			    mount);
		size_write(text, left);
		text_puts(text, " left: look for a quota, or a limit of the size of files (ulimit -f)");
		return;
	}
	text_printf(text, "the file system at %s is full: ", mount);
	size_write(text, left);
	if (about.f_files && !about.f_favail)
		text_puts(text, " and no more files");
	text_printf(text, " are left for %s; free %d MiB at least", path, WANTED_MIB);
}

static const struct {
	const char *name, *holds, *without;
} databases[] = {
	{ "state.db", "jobs, studies and models are in it",
	  "without them; containers of jobs that ran are another instance's then (trainyard clean --list)" },
	{ "logs.db", "the log lines of jobs are in it", "without those" },
	{ "storage.db", "the buckets, and what there is to know of objects, are in it",
	  "without them; what the objects hold stays below gs/, to be copied in again" },
};

void database_damaged_write(struct text *text, const char *path, const char *words)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	text_printf(text, "%s is damaged (%s)", path, words);
	for (size_t i = 0; i < sizeof(databases) / sizeof(databases[0]); i++)
		if (strcmp(databases[i].name, name) == 0)
			text_printf(
				text,
				": %s. Put a copy of it back; or stop the daemon and move it, with %s-wal and "
				"%s-shm where they are there, out of the directory, to go on %s",
				databases[i].holds, name, name, databases[i].without);
}
