/* SPDX-License-Identifier: Apache-2.0 */
#include "store/state_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "store/small_file.h"

DEFINE_AUTO(database, sqlite3 *, sqlite3_close)
DEFINE_AUTO(directory, DIR *, closedir)
DEFINE_AUTO(meta, sqlite3_stmt *, sqlite3_finalize)

enum status state_dir_make(const char *dir, struct error *err)
{
	AUTO(string) char *path = memory_strdup(dir);
	struct stat about;

	for (char *slash = path + 1; *path && (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700); /* an error is reported by the last mkdir() */
		*slash = '/';
	}
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"cannot make the state directory %s: %s; --state-dir names another place, where this user may "
			"write",
			dir, strerror(errno));
	if (stat(path, &about) == 0 && !S_ISDIR(about.st_mode))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the state directory %s is a file: choose another with --state-dir", dir);
	return STATUS_OK;
}

static enum status lock_refused(int fd, const char *dir, struct error *err)
{
	char pid[16] = "";
	ssize_t length = pread(fd, pid, sizeof(pid) - 1, 0);

	pid[length > 0 ? length : 0] = '\0';
	pid[strcspn(pid, "\n")] = '\0';
	return error_set(
		err, STATUS_FAILED_PRECONDITION, NULL,
		"the state directory %s is in use by process %s: stop that first, or give another --state-dir",
		dir, *pid ? pid : "(unknown)");
}

enum status state_dir_lock(const char *dir, int *ret_fd, struct error *err)
{
	struct text path AUTO_TEXT = { 0 };
	char pid[16];
	int fd, length = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());

	text_printf(&path, "%s/lock", dir);
	fd = open(path.data, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"cannot open %s: %s; the state directory has to be this user's, and writable",
			path.data, strerror(errno));
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

/* True if /proc/locks lists a lock of the process on the file: for processes with descriptors that this user may not
 * see. @pid 0: of any process. Compares only the inode, because the listed device is not always the one of stat().
 * Source: https://man7.org/linux/man-pages/man5/proc_locks.5.html (read 2026-11-26) */
static bool process_has_locked(pid_t pid, const struct stat *wanted)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	long holder;
	unsigned long inode;
	bool has = false;

	while (locks && !has && fgets(line, sizeof(line), locks))
		has = sscanf(line, "%*s FLOCK %*s WRITE %ld %*x:%*x:%lu", &holder, &inode) == 2 &&
		      (holder == pid || !pid) && inode == wanted->st_ino;
	if (locks)
		fclose(locks);
	return has;
}

/* True if the process has the file open. Does not try to lock the file: a daemon that starts just then would be
 * refused. */
static bool process_has_open(pid_t pid, const struct stat *wanted)
{
	char path[32];
	AUTO(directory) DIR *listing = NULL;
	const struct dirent *entry;
	struct stat seen;
	bool has = false;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	listing = opendir(path);
	if (!listing && errno == EACCES)
		return process_has_locked(pid, wanted);
	while (listing && !has && (entry = readdir(listing)) != NULL)
		has = fstatat(dirfd(listing), entry->d_name, &seen, 0) == 0 &&
		      seen.st_dev == wanted->st_dev && seen.st_ino == wanted->st_ino;
	return has;
}

enum status state_dir_holder(const char *dir, pid_t *ret_pid, struct error *err)
{
	struct text path AUTO_TEXT = { 0 };
	char line[16] = "";
	struct stat lock;
	pid_t pid = 0;
	int fd;

	text_printf(&path, "%s/lock", dir);
	fd = open(path.data, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "cannot find out whether a daemon uses %s: %s: %s", dir, path.data,
				 strerror(errno));
	if (fd >= 0 && pread(fd, line, sizeof(line) - 1, 0) > 0)
		pid = (pid_t)atoi(line);
	*ret_pid = pid > 0 && fstat(fd, &lock) == 0 && process_has_open(pid, &lock) ? pid : 0;
	if (fd >= 0)
		close(fd);
	return STATUS_OK;
}

bool state_dir_is_locked(const char *dir)
{
	struct text path AUTO_TEXT = { 0 };
	struct stat lock;
	pid_t pid = 0;

	if (state_dir_holder(dir, &pid, NULL) || pid)
		return true;
	text_printf(&path, "%s/lock", dir);
	return stat(path.data, &lock) == 0 && process_has_locked(0, &lock);
}

static bool is_anothers(const struct stat *about)
{
	return about->st_uid != 0 && about->st_uid != geteuid();
}

static enum status path_refuse(const char *path, struct error *err)
{
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "cannot read %s: %s", path, strerror(errno));
}

static enum status directory_check(const char *dir, const struct stat *about, struct error *err)
{
	if (is_anothers(about))
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"the state directory %s belongs to user %u, which can read and replace the keys in it",
			dir, (unsigned)about->st_uid);
	if (about->st_mode & (S_IWGRP | S_IWOTH))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the state directory %s has mode %03o: other users can replace the keys in "
				 "it; try chmod go-w, and check the owners of the files in it",
				 dir, about->st_mode & 0777U);
	return STATUS_OK;
}

/* Refuses a file that another user owns or can write to. The mode of a symbolic link is not checked, because it has no
 * effect; nor is a mount without its server (ENOTCONN), because its owner cannot be read. */
static enum status file_check(int dir_fd, const char *dir, const char *name, struct error *err)
{
	struct stat about;

	if (fstatat(dir_fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT || errno == ENOTCONN ? STATUS_OK : path_refuse(dir, err);
	if (is_anothers(&about))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "%s/%s belongs to user %u, and may hold a key or a job of that user", dir, name,
				 (unsigned)about.st_uid);
	if (!S_ISLNK(about.st_mode) && about.st_mode & (S_IWGRP | S_IWOTH))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "%s/%s has mode %03o: other users can change it", dir, name,
				 about.st_mode & 0777U);
	return STATUS_OK;
}

static enum status files_check(const char *dir, struct error *err)
{
	AUTO(directory) DIR *entries = opendir(dir);
	enum status rc = STATUS_OK;
	const struct dirent *entry;

	if (!entries)
		return path_refuse(dir, err);
	while (!rc && (errno = 0, entry = readdir(entries)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc = file_check(dirfd(entries), dir, entry->d_name, err);
	return rc || errno == 0 ? rc : path_refuse(dir, err);
}

static enum status keys_directory_check(const char *dir, struct error *err)
{
	struct stat about;
	enum status rc;

	if (lstat(dir, &about) != 0)
		return errno == ENOENT ? STATUS_OK : path_refuse(dir, err);
	if (!S_ISDIR(about.st_mode))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s is not a directory", dir);
	rc = directory_check(dir, &about, err);
	return rc ? rc : files_check(dir, err);
}

/* Checks that no other user may rename entries of @above. A group with this user as its only member counts as this
 * user. */
static enum status above_check(const char *dir, const char *above, struct error *err)
{
	struct stat about;

	if (stat(above, &about) != 0)
		return path_refuse(above, err);
	if (is_anothers(&about))
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"the state directory %s is below %s of user %u, which can put another in its place",
			dir, above, (unsigned)about.st_uid);
	if (!(about.st_mode & S_ISVTX) &&
	    (about.st_mode & S_IWOTH ||
	     (about.st_mode & S_IWGRP && about.st_gid != 0 && about.st_gid != getegid())))
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"the state directory %s is below %s of mode %03o: other users can put another in "
			"its place",
			dir, above, about.st_mode & 0777U);
	return STATUS_OK;
}

/* Removes the last name of the path. False: there is none. */
static bool path_ascend(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || strcmp(path, "/") == 0)
		return false;
	slash[slash == path] = '\0';
	return true;
}

/* Returns the nearest existing directory above one that is not made yet. */
static char *above_find(const char *dir)
{
	struct text path AUTO_TEXT = { 0 };
	char *real = NULL;

	text_printf(&path, "%s%s", *dir == '/' ? "" : "./", dir);
	while (path_ascend(path.data) && !(real = realpath(path.data, NULL)) && errno == ENOENT)
		continue;
	return real;
}

static enum status keys_check(const char *dir, struct error *err)
{
	static const char *const places[] = { "", "/ca", "/local-ca" };
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < sizeof(places) / sizeof(places[0]); i++) {
		struct text path AUTO_TEXT = { 0 };

		text_printf(&path, "%s%s", dir, places[i]);
		rc = keys_directory_check(path.data, err);
	}
	return rc;
}

enum status state_dir_check_owner(const char *dir, struct error *err)
{
	AUTO(string) char *real = realpath(dir, NULL);
	const bool is_there = real != NULL;
	enum status rc = STATUS_OK;

	if (!is_there)
		real = above_find(dir);
	if (!real)
		return path_refuse(dir, err);
	if (is_there)
		rc = keys_check(real, err);
	if (!rc && !is_there)
		rc = above_check(dir, real, err);
	while (!rc && path_ascend(real))
		rc = above_check(dir, real, err);
	return rc;
}

enum status state_dir_find(const char *dir, bool must_be_own, char **ret_dir, struct error *err)
{
	struct error why AUTO_ERROR = { 0 };
	AUTO(string) char *real = NULL;
	enum status rc = must_be_own ? state_dir_check_owner(dir, err) : STATUS_OK;

	if (!rc)
		rc = state_dir_make(dir, err);
	if (rc)
		return rc;
	real = realpath(dir, NULL);
	if (!real)
		return path_refuse(dir, err);
	/* Check again: another process may have made the directory meanwhile, or a link may have changed. */
	rc = state_dir_check_owner(real, must_be_own ? err : &why);
	if (rc && must_be_own)
		return rc;
	if (rc)
		log_event(LOG_WARNING, "state-dir-open", "hint=\"%s\"", why.text ? why.text : "");
	*ret_dir = TAKE(real);
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

/* Opens the database without a store's connection, which would need the newest schema, or migrate to it. */
enum status state_dir_instance(const char *dir, char ret_instance[STATE_INSTANCE_SIZE], struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	struct text path AUTO_TEXT = { 0 };
	enum status rc = STATUS_FAILED_PRECONDITION;

	text_printf(&path, "%s/state.db", dir);
	if (access(path.data, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
		return error_set(err, STATUS_NOT_FOUND, NULL, "no daemon has used %s", dir);
	if (sqlite3_open_v2(path.data, &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
		sqlite3_busy_timeout(database, 1000);
		rc = instance_select(database, ret_instance);
	}
	if (rc == STATUS_NOT_FOUND)
		return error_set(err, rc, NULL, "no daemon has used %s", dir);
	return rc ? error_set(
			    err, rc, NULL,
			    "cannot read %s, which the instance's name is in: %s; trainyard clean --list prints names, and "
			    "--instance NAME cleans one",
			    path.data, sqlite3_errmsg(database))
		  : STATUS_OK;
}

bool state_dir_had_jobs(const char *dir)
{
	AUTO(database) sqlite3 *database = NULL;
	AUTO(meta) sqlite3_stmt *look = NULL;
	struct text path AUTO_TEXT = { 0 };

	text_printf(&path, "%s/state.db", dir);
	return sqlite3_open_v2(path.data, &database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	       sqlite3_prepare_v2(database, "SELECT 1 FROM sqlite_sequence WHERE name = 'job'", -1, &look, NULL) != SQLITE_OK ||
	       sqlite3_step(look) != SQLITE_DONE;
}

void state_dir_sweep(const char *dir)
{
	static const char *const places[] = { "", "/ca", "/local-ca" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct text path AUTO_TEXT = { 0 };

		text_printf(&path, "%s%s", dir, places[i]);
		small_files_sweep(path.data);
	}
}
