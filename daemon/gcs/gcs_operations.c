/* SPDX-License-Identifier: Apache-2.0 */
#ifdef HAVE_FUSE
#include "daemon/gcs/gcs_operations.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/gcs/gcs_caller.h"
#include "daemon/gcs/gcs_client.h"
#include "daemon/gcs/gcs_directory.h"
#include "daemon/gcs/gcs_files.h"
#include "daemon/gcs/gcs_index.h"
#include "daemon/gcs/gcs_turns.h"
#include "daemon/gcs/gcs_wait.h"

enum {
	NS_PER_S = 1000000000,
	DOTS = 2, /* the number of entries before a directory's own ones: "." and ".." */
};

_Static_assert((int)GCS_TURNS + (int)GCS_PLACES_ALONE + 16 <= (int)GCS_THREADS, "others go on");

/* ---- the call's file system, process and objects ---- */

static struct gcs_file_system *system_now(void)
{
	return fuse_get_context()->private_data;
}

static pid_t caller_now(void)
{
	return fuse_get_context()->pid;
}

static struct gcs_call call_now(void)
{
	return (struct gcs_call){ .caller = caller_now() };
}

static void stat_fill(const struct gcs_facts *facts, struct stat *ret_stat)
{
	const int64_t ns = (facts->modified_ns % NS_PER_S + NS_PER_S) % NS_PER_S;

	*ret_stat = (struct stat){
		.st_mode = (facts->is_directory ? S_IFDIR
			    : facts->is_link    ? S_IFLNK
						: S_IFREG) |
			   0777,
		.st_nlink = 1,
		.st_size = facts->size_bytes,
		.st_blocks = (facts->size_bytes + 511) / 512,
		.st_mtim = { (facts->modified_ns - ns) / NS_PER_S, ns },
	};
	ret_stat->st_atim = ret_stat->st_ctim = ret_stat->st_mtim;
}

static int look(const char *text, struct gcs_path *ret_path, struct gcs_facts *ret_facts)
{
	struct gcs_file_system *system = system_now();
	const bool is_sign = text[0] == '/' && strcmp(text + 1, system->sign) == 0;
	int problem = gcs_path_parse(is_sign ? "/" : text, ret_path);

	if (problem)
		return problem;
	problem = gcs_look(system->index, ret_path, ret_facts);
	if (ret_path->kind == GCS_ENTRY && (problem == -ENOENT || (!problem && !ret_facts->is_directory)) &&
	    gcs_changes_look(system->files, ret_path, caller_now(), ret_facts))
		problem = 0;
	return problem;
}

static struct gcs_handle *handle_of(const struct fuse_file_info *info)
{
	return (struct gcs_handle *)(uintptr_t)info->fh; /* NOLINT: libfuse stores it as a number */
}

static int fs_getattr(const char *text, struct stat *ret_stat, struct fuse_file_info *info)
{
	struct gcs_facts facts;
	struct gcs_path path;
	int problem = 0;

	if (info)
		gcs_handle_facts(handle_of(info), &facts);
	else
		problem = look(text, &path, &facts);
	if (!problem)
		stat_fill(&facts, ret_stat);
	return problem;
}

static int fs_statfs(const char *text, struct statvfs *ret_facts)
{
	/* Buckets have no size: the numbers are large constants. Source: gcsfuse (internal/fs/fs.go, StatFS) */
	enum { BLOCK_BYTES = 1 << 17 };
	const uint64_t blocks = (uint64_t)1 << 33, files = (uint64_t)1 << 50;

	(void)text;
	*ret_facts = (struct statvfs){ .f_bsize = BLOCK_BYTES,
				       .f_frsize = BLOCK_BYTES,
				       .f_blocks = blocks,
				       .f_bfree = blocks,
				       .f_bavail = blocks,
				       .f_files = files,
				       .f_ffree = files,
				       .f_favail = files,
				       .f_namemax = GCS_SEGMENT_MAX };
	return 0;
}

/* Accepts a mode or an owner and ignores it: objects have none. */
static int fs_chmod(const char *text, mode_t mode, struct fuse_file_info *info)
{
	(void)text, (void)mode, (void)info;
	return 0;
}

static int fs_chown(const char *text, uid_t user, gid_t group, struct fuse_file_info *info)
{
	(void)text, (void)user, (void)group, (void)info;
	return 0;
}

static int fs_link(const char *from, const char *to)
{
	(void)from, (void)to;
	return -EPERM;
}

/* ---- files ---- */

/* Parses the path of a file or a directory below a bucket. -EPERM for all other paths. */
static int entry_parse(const char *text, struct gcs_path *ret_path)
{
	int problem = gcs_path_parse(text, ret_path);

	return problem ? problem : ret_path->kind == GCS_ENTRY ? 0 : -EPERM;
}

static int file_open(const char *text, enum gcs_opening how, const struct gcs_call *call,
		     struct fuse_file_info *info)
{
	struct gcs_handle *handle;
	struct gcs_path path;
	int problem = entry_parse(text, &path);

	if (!problem && how != GCS_ANEW)
		problem = gcs_ask_object(system_now()->client, call, path.bucket, path.object);
	if (!problem)
		problem = gcs_open(system_now()->files, &path, how, caller_now(), &handle);
	if (problem)
		return problem;
	info->fh = (uintptr_t)handle;
	return 0;
}

static int fs_open(const char *text, struct fuse_file_info *info)
{
	const struct gcs_call call = { .caller = caller_now(), .opens = true };

	if (info->flags & O_TRUNC)
		return file_open(text, GCS_ANEW, &call, info);
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 11)
	info->noflush = (info->flags & O_ACCMODE) == O_RDONLY; /* nothing is stored when it is closed */
#endif
	return file_open(text, (info->flags & O_ACCMODE) == O_RDONLY ? GCS_READ : GCS_CHANGE, &call, info);
}

/* The kernel calls this after it found no such name, with the directory locked; another process may have made the
 * file since. */
static int fs_create(const char *text, mode_t mode, struct fuse_file_info *info)
{
	const struct gcs_call call = { .caller = caller_now(), .hurries = true };
	struct gcs_facts facts;
	struct gcs_path path;
	int problem;

	(void)mode;
	problem = info->flags & O_TRUNC ? -ENOENT : look(text, &path, &facts);
	if (!problem)
		return info->flags & O_EXCL ? -EEXIST : file_open(text, GCS_CHANGE, &call, info);
	return problem == -ENOENT ? file_open(text, GCS_ANEW, &call, info) : problem;
}

/* Refuses special files; libfuse makes regular files by fs_create(). */
static int fs_mknod(const char *text, mode_t mode, dev_t device)
{
	(void)text, (void)mode, (void)device;
	return -EPERM;
}

static int fs_read_buf(const char *text, struct fuse_bufvec **ret_buffer, size_t size, off_t offset,
		       struct fuse_file_info *info)
{
	struct fuse_bufvec *buffer = memory_alloc(sizeof(*buffer));

	(void)text;
	*buffer = FUSE_BUFVEC_INIT(size);
	buffer->buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
	buffer->buf[0].fd = gcs_bytes(handle_of(info));
	buffer->buf[0].pos = offset;
	*ret_buffer = buffer;
	return 0;
}

/* Finds the end of a file from its descriptor, because the size that the kernel has cached may be out of date. */
static int end_find(int fd, off_t *ret_end)
{
	struct stat info;

	if (fstat(fd, &info) != 0)
		return -errno;
	*ret_end = info.st_size;
	return 0;
}

static int fs_write_buf(const char *text, struct fuse_bufvec *buffer, off_t offset,
			struct fuse_file_info *info)
{
	struct fuse_bufvec target = FUSE_BUFVEC_INIT(fuse_buf_size(buffer));
	const struct gcs_call call = call_now();
	int fd, problem = gcs_write_begin(handle_of(info), &call, &fd);
	ssize_t length;

	(void)text;
	if (problem)
		return problem;
	if (info->flags & O_APPEND && !info->writepage)
		problem = end_find(fd, &offset);
	target.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
	target.buf[0].fd = fd;
	target.buf[0].pos = offset;
	if (!problem)
		problem = gcs_write_room(handle_of(info), offset + (off_t)fuse_buf_size(buffer));
	length = problem ? problem : fuse_buf_copy(&target, buffer, 0);
	gcs_write_end(handle_of(info));
	return (int)length;
}

static int fs_flush(const char *text, struct fuse_file_info *info)
{
	const struct gcs_call call = call_now();

	(void)text;
	return gcs_flush(handle_of(info), &call);
}

static int fs_fsync(const char *text, int data_only, struct fuse_file_info *info)
{
	(void)data_only;
	return fs_flush(text, info);
}

static int fs_release(const char *text, struct fuse_file_info *info)
{
	(void)text;
	gcs_close(handle_of(info));
	return 0;
}

static int fs_truncate(const char *text, off_t size, struct fuse_file_info *info)
{
	struct fuse_file_info own = { .flags = O_WRONLY };
	struct gcs_call call = call_now();
	int problem;

	if (info)
		return gcs_resize(handle_of(info), &call, size);
	/* the call must not wait: libfuse has locked the path, and the kernel the file */
	call.hurries = call.opens = true;
	problem = file_open(text, GCS_CHANGE, &call, &own);
	if (problem)
		return problem;
	problem = gcs_resize(handle_of(&own), &call, size);
	if (!problem)
		problem = gcs_flush(handle_of(&own), &call);
	if (problem)
		gcs_handle_free(handle_of(&own));
	else
		gcs_close(handle_of(&own));
	return problem;
}

/* Parses the path of an entry that is to be made, renamed or removed. -EIO at once for a container without a network:
 * the kernel has locked the directory, for other containers too, so the call must not wait. */
static int changed_entry_parse(const char *text, struct gcs_path *ret_path)
{
	return gcs_caller_is_cut(caller_now()) ? -EIO : entry_parse(text, ret_path);
}

static int fs_symlink(const char *target, const char *text)
{
	struct gcs_path path;
	int problem = changed_entry_parse(text, &path);

	return problem ? problem : gcs_link_make(system_now()->files, caller_now(), &path, target);
}

static int fs_readlink(const char *text, char *ret_target, size_t size)
{
	struct gcs_path path;
	int problem = gcs_path_parse(text, &path);

	if (problem || path.kind != GCS_ENTRY)
		return problem ? problem : -EINVAL;
	return gcs_link_read(system_now()->index, &path, ret_target, size);
}

/* Sets the time of a file. A time for a directory or a symbolic link is accepted and ignored, as in gcsfuse. */
static int fs_utimens(const char *text, const struct timespec times[2], struct fuse_file_info *info)
{
	const struct gcs_call call = { .caller = caller_now(), .hurries = true, .opens = true };
	const struct timespec *reported = &times[1];
	struct gcs_handle *handle;
	struct gcs_facts facts;
	struct gcs_path path;
	int64_t modified_ns;
	int problem;

	(void)info; /* NULL: Linux names no open file when a time is set, not even by futimens() */
	if (reported->tv_nsec == UTIME_OMIT)
		return 0;
	if (reported->tv_nsec == UTIME_NOW)
		modified_ns = clock_wall_ns(&system_clock);
	else if (__builtin_mul_overflow((int64_t)reported->tv_sec, (int64_t)NS_PER_S, &modified_ns) ||
		 __builtin_add_overflow(modified_ns, (int64_t)reported->tv_nsec, &modified_ns))
		return -EINVAL;
	problem = look(text, &path, &facts);
	if (problem || facts.is_directory || facts.is_link)
		return problem;
	problem = gcs_open(system_now()->files, &path, GCS_READ, caller_now(), &handle);
	if (problem)
		return problem;
	problem = gcs_set_time(handle, &call, modified_ns);
	gcs_handle_free(handle);
	return problem;
}

static int fs_unlink(const char *text)
{
	struct gcs_path path;
	int problem = changed_entry_parse(text, &path);

	return problem ? problem : gcs_remove(system_now()->files, caller_now(), &path);
}

/* ---- directories ---- */

static struct gcs_directory *directory_of(const struct fuse_file_info *info)
{
	return (struct gcs_directory *)(uintptr_t)info->fh; /* NOLINT: libfuse stores it as a number */
}

static int fs_opendir(const char *text, struct fuse_file_info *info)
{
	const struct gcs_file_system *system = system_now();
	const struct gcs_call call = { .caller = caller_now(), .opens = true };
	struct gcs_directory *directory;
	struct gcs_path path;
	int problem = gcs_path_parse(text, &path);

	if (!problem && (path.kind == GCS_BUCKET || path.kind == GCS_ENTRY))
		problem = gcs_ask_list(system->client, &call, path.bucket);
	if (problem)
		return problem;
	problem = gcs_directory_open(system->index, system->files, &path, caller_now(), &directory);
	if (!problem)
		info->fh = (uintptr_t)directory;
	return problem;
}

static int fs_releasedir(const char *text, struct fuse_file_info *info)
{
	(void)text;
	gcs_directory_close(directory_of(info));
	return 0;
}

static int entries_give(struct gcs_directory *directory, void *buffer, fuse_fill_dir_t fill, off_t offset)
{
	for (;; offset++) {
		struct gcs_facts facts = { .is_directory = true };
		const char *name = offset == 0 ? "." : "..";
		struct stat info;
		int problem = 0;

		if (offset >= DOTS)
			problem = gcs_directory_at(directory, caller_now(), offset - DOTS, &name, &facts);
		if (problem || !name)
			return problem;
		stat_fill(&facts, &info);
		if (fill(buffer, name, &info, offset + 1, offset < DOTS ? 0 : FUSE_FILL_DIR_PLUS) != 0)
			return 0;
	}
}

static int fs_readdir(const char *text, void *buffer, fuse_fill_dir_t fill, off_t offset,
		      struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	struct gcs_directory *directory = directory_of(info);
	int problem;

	(void)text, (void)flags;
	switch (gcs_directory_path(directory)->kind) {
	case GCS_TOP:
		return fill(buffer, "gcs", NULL, 0, 0) ? -ENOMEM : 0;
	case GCS_BUCKETS:
		/* The directory of all buckets cannot be listed. Source: gcsfuse with a mount of all buckets
		 * (internal/fs/inode/base_dir.go) */
		return -ENOTSUP;
	case GCS_BUCKET:
	case GCS_ENTRY:
		break;
	}
	gcs_directory_lock(directory);
	problem = entries_give(directory, buffer, fill, offset);
	gcs_directory_unlock(directory);
	return problem;
}

static int fs_mkdir(const char *text, mode_t mode)
{
	struct gcs_path path;
	int problem = changed_entry_parse(text, &path);

	(void)mode;
	return problem ? problem : gcs_directory_make(system_now()->files, caller_now(), &path);
}

static int fs_rmdir(const char *text)
{
	struct gcs_file_system *system = system_now();
	struct gcs_path path;
	bool is_empty;
	int problem = changed_entry_parse(text, &path);

	if (!problem)
		problem = gcs_directory_is_empty(system->index, &path, &is_empty);
	if (problem)
		return problem;
	return is_empty ? gcs_directory_remove(system->files, caller_now(), &path) : -ENOTEMPTY;
}

/* Checks that a rename may replace @to. 0, or a negative errno. */
static int target_check(const struct gcs_path *to, bool is_directory, const struct gcs_facts *there)
{
	bool is_empty;
	int problem;

	if (there->is_directory != is_directory)
		return is_directory ? -ENOTDIR : -EISDIR;
	if (!is_directory)
		return 0;
	problem = gcs_directory_is_empty(system_now()->index, to, &is_empty);
	return problem ? problem : is_empty ? 0 : -ENOTEMPTY;
}

static int fs_rename(const char *from_text, const char *to_text, unsigned flags)
{
	struct gcs_files *files = system_now()->files;
	struct gcs_path from, to;
	struct gcs_facts facts, there;
	int problem;

	if (flags & ~(unsigned)RENAME_NOREPLACE)
		return -EINVAL;
	problem = changed_entry_parse(from_text, &from);
	if (!problem)
		problem = look(from_text, &from, &facts);
	if (problem)
		return problem;
	problem = look(to_text, &to, &there);
	if (from.kind != GCS_ENTRY || to.kind != GCS_ENTRY)
		return -EPERM;
	if (problem && problem != -ENOENT)
		return problem;
	if (!problem)
		problem = flags & RENAME_NOREPLACE ? -EEXIST : target_check(&to, facts.is_directory, &there);
	else
		problem = 0;
	if (problem)
		return problem;
	return facts.is_directory ? gcs_rename_directory(files, caller_now(), &from, &to)
				  : gcs_rename(files, caller_now(), &from, &to);
}

/* ---- start, and the table of operations ---- */

static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	/* Read data is spliced from file to file without a copy. Written data is not: a write may have to wait
	 * (gcs_turns.h), and its data must not stay in a pipe meanwhile. */
	connection->want |= connection->capable & (FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
	connection->want &= ~(unsigned)FUSE_CAP_SPLICE_READ;
	connection->max_background = GCS_THREADS;
	/* Containers share one kernel, but while a file is being changed, programs of other containers get other
	 * attributes than its writer. So the kernel caches no attributes (attr_timeout), and does not compare them at
	 * each read(). */
	connection->want &= ~(unsigned)FUSE_CAP_AUTO_INVAL_DATA;
	config->entry_timeout = 1;
	config->attr_timeout = 0;
	config->negative_timeout = 0;
	config->auto_cache = 1; /* the kernel keeps the data of a file until the file changes */
	config->hard_remove = 1;
	config->nullpath_ok = 1;
	return fuse_get_context()->private_data;
}

const struct fuse_operations gcs_operations = {
	.init = fs_init,
	.getattr = fs_getattr,
	.statfs = fs_statfs,
	.chmod = fs_chmod,
	.chown = fs_chown,
	.utimens = fs_utimens,
	.symlink = fs_symlink,
	.readlink = fs_readlink,
	.link = fs_link,
	.open = fs_open,
	.create = fs_create,
	.mknod = fs_mknod,
	.read_buf = fs_read_buf,
	.write_buf = fs_write_buf,
	.flush = fs_flush,
	.fsync = fs_fsync,
	.release = fs_release,
	.truncate = fs_truncate,
	.unlink = fs_unlink,
	.opendir = fs_opendir,
	.releasedir = fs_releasedir,
	.readdir = fs_readdir,
	.mkdir = fs_mkdir,
	.rmdir = fs_rmdir,
	.rename = fs_rename,
};

#else

/* ISO C forbids an empty translation unit. */
typedef int gcs_operations_are_not_built;

#endif
