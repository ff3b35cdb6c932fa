/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/trial_directory.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/tree.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/reconciler.h"
#include "scheduler/scheduler_state.h"

enum {
	STEPS_AT_ONCE = 20000, /* removals per call; a larger directory is finished later */
};

char *trial_directory_path(const struct reconciler *reconciler, int64_t run)
{
	return memory_printf("%s/%" PRId64, reconciler->trials_dir, run);
}

static bool directory_present(const char *path, mode_t mode)
{
	return (mkdir(path, mode) == 0 || errno == EEXIST) && chmod(path, mode) == 0;
}

/* Gives the directory a default access list, so that everything made below it can be removed by the daemon. Programs
 * mostly run as root, and the daemon perhaps as another user; without the list the programs' umask would apply, and
 * only root could remove the directories that they make. On a file system without access lists this has no effect.
 * Source: acl(5), "OBJECT CREATION AND DEFAULT ACLs"; linux/posix_acl_xattr.h for the form (read 2026-11-22) */
static void directory_open_below(const char *path)
{
	enum { LIST_VERSION = 2, OWNER = 0x01, GROUP = 0x04, OTHERS = 0x20, ALL = 07 };
	const uint32_t no_id = UINT32_MAX;
	const struct {
		uint32_t version;
		struct {
			uint16_t tag, permissions;
			uint32_t id;
		} entries[3];
	} list = { htole32(LIST_VERSION),
		   { { htole16(OWNER), htole16(ALL), no_id },
		     { htole16(GROUP), htole16(ALL), no_id },
		     { htole16(OTHERS), htole16(ALL), no_id } } };

	setxattr(path, "system.posix_acl_default", &list, sizeof(list), 0);
}

/* Makes the directory writable for all users, because programs run as any user; the directory above it keeps other users
 * of this machine out. */
char *trial_directory_make(const struct reconciler *reconciler, const struct job_run *run, struct error *err)
{
	char *path = trial_directory_path(reconciler, run->row->id);

	if (directory_present(reconciler->trials_dir, 0700) && directory_present(path, 0777)) {
		directory_open_below(path);
		return path;
	}
	error_set(err, STATUS_INTERNAL, NULL, "The directory for the trial's metrics cannot be made: %s",
		  strerror(errno));
	free(path);
	return NULL;
}

void trial_directory_remove(const struct reconciler *reconciler, int64_t run)
{
	AUTO(string) char *path = trial_directory_path(reconciler, run);

	if (!path || (rmdir(path) == 0 || errno == ENOENT))
		return;
	if (!tree_remove(path, STEPS_AT_ONCE))
		log_event(LOG_WARNING, "metrics-left", "path=%s error=\"%s\"", path, strerror(errno));
}

/* Whether @run runs a trial of an unfinished tuning job. */
static bool directory_is_wanted(struct scheduler *scheduler, int64_t run)
{
	AUTO(job) struct job *row = NULL;
	struct error err AUTO_ERROR = { 0 };
	const enum status rc = job_get_by_id(scheduler->reconciler.store, run, &row, &err);

	if (rc)
		return rc != STATUS_NOT_FOUND; /* not known: it stays */
	return row->parent && scheduler_find(scheduler, row->parent);
}

void trial_directories_sweep(struct scheduler *scheduler)
{
	const char *place = scheduler->reconciler.trials_dir;
	DIR *listing = place ? opendir(place) : NULL;
	const struct dirent *entry;

	while (listing && (entry = readdir(listing))) {
		char *rest = NULL;
		const int64_t run = strtoll(entry->d_name, &rest, 10);

		if (run > 0 && *rest == '\0' && !directory_is_wanted(scheduler, run))
			trial_directory_remove(&scheduler->reconciler, run);
	}
	if (listing)
		closedir(listing);
}
