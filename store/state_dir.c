/* SPDX-License-Identifier: Apache-2.0 */
#include "store/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/base/text.h"
#include "store/small_file.h"

DEFINE_AUTO(database, sqlite3 *, sqlite3_close)
DEFINE_AUTO(meta, sqlite3_stmt *, sqlite3_finalize)

static enum status lock_refused(int fd, const char *dir, struct error *err)
{
	char pid[16] = "";
	ssize_t length = pread(fd, pid, sizeof(pid) - 1, 0);

	pid[length > 0 ? length : 0] = '\0';
	pid[strcspn(pid, "\n")] = '\0';
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "the state directory %s is in use by process %s", dir, *pid ? pid : "(unknown)");
}

enum status state_dir_lock(const char *dir, int *ret_fd, struct error *err)
{
	struct text path AUTO_TEXT = { 0 };
	char pid[16];
	int fd, length = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());

	text_printf(&path, "%s/lock", dir);
	if (path.failed)
		return error_no_memory(err);
	fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "cannot open %s: %s", path.data,
				 strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		enum status status = lock_refused(fd, dir, err);

		close(fd);
		return status;
	}
	*ret_fd = fd;
	if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)length, 0) != length)
		log_event(LOG_WARNING, "lock-without-pid", "error=\"%s\"", strerror(errno));
	return STATUS_OK;
}

enum status state_dir_check_owner(const char *dir, struct error *err)
{
	struct stat about;

	if (stat(dir, &about) != 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "cannot read %s: %s", dir,
				 strerror(errno));
	if (about.st_uid != 0 && about.st_uid != geteuid())
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"the state directory %s belongs to user %u, who can read and replace the keys in it",
			dir, (unsigned)about.st_uid);
	if (about.st_mode & (S_IWGRP | S_IWOTH))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the state directory %s has mode %03o: other users can replace the keys in "
				 "it; try chmod go-w",
				 dir, about.st_mode & 0777U);
	return STATUS_OK;
}

static enum status instance_select(sqlite3 *database, char ret_instance[STATE_INSTANCE_SIZE])
{
	AUTO(meta) sqlite3_stmt *get = NULL;
	int code = sqlite3_prepare_v2(database, "SELECT value FROM meta WHERE name = 'instance'", -1, &get,
				      NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(get);
	if (code == SQLITE_DONE)
		return STATUS_NOT_FOUND;
	if (code != SQLITE_ROW)
		return STATUS_FAILED_PRECONDITION;
	snprintf(ret_instance, STATE_INSTANCE_SIZE, "%.*s", sqlite3_column_bytes(get, 0),
		 (const char *)sqlite3_column_blob(get, 0));
	return STATUS_OK;
}

/* Not by a store's connection, whose statements want the newest schema, and a writer's would make it. */
enum status state_dir_instance(const char *dir, char ret_instance[STATE_INSTANCE_SIZE], struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	struct text path AUTO_TEXT = { 0 };
	enum status rc = STATUS_FAILED_PRECONDITION;

	text_printf(&path, "%s/state.db", dir);
	if (path.failed)
		return error_no_memory(err);
	if (access(path.data, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
		return error_set(err, STATUS_NOT_FOUND, NULL, "no daemon has run on %s", dir);
	if (sqlite3_open_v2(path.data, &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
		sqlite3_busy_timeout(database, 1000);
		rc = instance_select(database, ret_instance);
	}
	if (rc == STATUS_NOT_FOUND)
		return error_set(err, rc, NULL, "no daemon has run on %s", dir);
	return rc ? error_set(err, rc, NULL, "cannot read %s: %s", path.data,
			      database ? sqlite3_errmsg(database) : "out of memory")
		  : STATUS_OK;
}

void state_dir_sweep(const char *dir)
{
	static const char *const places[] = { "", "/ca", "/local-ca" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct text path AUTO_TEXT = { 0 };

		text_printf(&path, "%s%s", dir, places[i]);
		if (!path.failed)
			small_files_sweep(path.data);
	}
}
