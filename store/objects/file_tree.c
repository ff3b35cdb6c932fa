/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/file_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/text.h"
#include "store/objects/blob_files.h"
#include "store/objects/file_name.h"

/* BESIDE: the suffix of a file beside a directory of the same name. ARRIVING: the name of a new link until it is
 * renamed. No other file of the tree has such a name, because file_name.h writes only two hexadecimal digits or '~'
 * after '%'. */
#define BESIDE   "%file"
#define ARRIVING "%new"

enum { NAME_SIZE = FILE_PART_MAX + 16, DIRECTORY_MODE = 0755 };

/* A position in the tree: an open directory and the name of a file in it. */
struct tree_path {
	int directory_fd;
	unsigned depth; /* of the directory below gs/; a bucket's is 1 */
	char *path;     /* the parts, each ended by NUL, below gs/ */
	char *part;     /* the last part */
};

static void place_deinit(struct tree_path *place)
{
	int kept = errno;

	if (place->directory_fd >= 0)
		close(place->directory_fd);
	free(place->path);
	errno = kept;
}
#define AUTO_PLACE __attribute__((cleanup(place_deinit)))

static void beside_name(const char *part, char ret_name[NAME_SIZE])
{
	snprintf(ret_name, NAME_SIZE, "%s%s", part, BESIDE);
}

static int directory_enter(int parent_fd, const char *part)
{
	return openat(parent_fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens the directory @part, and makes it if it is missing. A file or link with that name is renamed to the name
 * that it has beside a directory (beside_name()). Returns the descriptor, or -1 with errno. */
static int directory_make(int parent_fd, const char *part)
{
	char beside[NAME_SIZE];
	int fd = directory_enter(parent_fd, part);

	if (fd >= 0 || (errno != ENOENT && errno != ENOTDIR && errno != ELOOP))
		return fd;
	beside_name(part, beside);
	if (errno != ENOENT && renameat(parent_fd, part, parent_fd, beside) != 0)
		return -1;
	if (mkdirat(parent_fd, part, DIRECTORY_MODE) != 0 && errno != EEXIST)
		return -1;
	return directory_enter(parent_fd, part);
}

/* Sets *place to an object's file and opens its directory. False with errno. */
static bool place_find(struct tree_path *place, const struct blob_files *files, const char *bucket,
		       const char *name, int (*enter)(int parent_fd, const char *part))
{
	struct text path AUTO_TEXT = { 0 };

	*place = (struct tree_path){ .directory_fd = -1 };
	text_printf(&path, "%s/", bucket);
	file_name_write(&path, name);
	place->path = place->part = text_take(&path);
	if (!place->path) {
		errno = ENOMEM;
		return false;
	}
	place->directory_fd = fcntl(files->tree_fd, F_DUPFD_CLOEXEC, 3);
	for (char *slash; place->directory_fd >= 0 && (slash = strchr(place->part, '/'));) {
		int parent_fd = place->directory_fd;

		*slash = '\0';
		place->directory_fd = enter(parent_fd, place->part);
		place->part = slash + 1;
		place->depth++;
		fd_drop(parent_fd);
	}
	return place->directory_fd >= 0;
}

/* Makes a symbolic link with a relative path to the blob, for file systems without hard links. */
static bool symbolic_link(int64_t blob, const struct tree_path *place, const char *name)
{
	struct text target AUTO_TEXT = { 0 };
	char path[BLOB_PATH_SIZE];

	blob_path(blob, path);
	for (unsigned i = 0; i <= place->depth; i++)
		text_puts(&target, "../");
	text_printf(&target, "blobs/%s", path);
	return symlinkat(target.data, place->directory_fd, name) == 0;
}

static bool link_impossible(int error_number)
{
	return error_number == EPERM || error_number == EMLINK || error_number == EXDEV ||
	       error_number == EOPNOTSUPP || error_number == ENOSYS;
}

static bool link_make(const struct blob_files *files, int64_t blob, const struct tree_path *place,
		      const char *name)
{
	return blob_link(files, blob, place->directory_fd, name) ||
	       (link_impossible(errno) && symbolic_link(blob, place, name));
}

/* Replaces an existing file by the link. */
static bool file_replace(const struct blob_files *files, int64_t blob, const struct tree_path *place,
			 const char *name)
{
	bool is_well;

	if (unlinkat(place->directory_fd, ARRIVING, 0) != 0 && errno != ENOENT)
		return false;
	if (!link_make(files, blob, place, ARRIVING))
		return false;
	is_well = renameat(place->directory_fd, ARRIVING, place->directory_fd, name) == 0;
	int kept = errno;

	/* If both names are links to the same file, renameat() does nothing and ARRIVING remains. */
	unlinkat(place->directory_fd, ARRIVING, 0);
	errno = kept;
	return is_well;
}

bool file_tree_show(const struct blob_files *files, const char *bucket, const char *name, int64_t blob)
{
	struct tree_path place AUTO_PLACE = { .directory_fd = -1 };
	char beside[NAME_SIZE];

	blob_move_to_place(files, blob); /* post_commit.h may not have moved it yet */
	if (!place_find(&place, files, bucket, name, directory_make))
		return false;
	if (link_make(files, blob, &place, place.part))
		return true;
	if (errno != EEXIST)
		return errno == ENOENT; /* the object was replaced, and a later row of work shows the new blob */
	if (file_replace(files, blob, &place, place.part))
		return true;
	if (errno != EISDIR)
		return false;
	beside_name(place.part, beside);
	return file_replace(files, blob, &place, beside);
}

/* Removes empty directories, from the place upwards, except the bucket's. Opens each parent as "..", so the depth is
 * not limited by open descriptors. */
static void directories_prune(struct tree_path *place)
{
	while (place->depth > 1) {
		int parent_fd = openat(place->directory_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		char beside[NAME_SIZE];

		if (parent_fd < 0)
			return;
		close(place->directory_fd);
		place->directory_fd = parent_fd;
		place->depth--;
		place->part--; /* to the NUL at the end of the part before it */
		while (place->part > place->path && place->part[-1])
			place->part--;
		if (unlinkat(parent_fd, place->part, AT_REMOVEDIR) != 0)
			return;
		/* The directory "a" is gone, so the file "a%file" gets the name "a" again. */
		beside_name(place->part, beside);
		renameat(parent_fd, beside, parent_fd, place->part);
	}
}

bool file_tree_hide(const struct blob_files *files, const char *bucket, const char *name)
{
	struct tree_path place AUTO_PLACE = { .directory_fd = -1 };
	char beside[NAME_SIZE];

	if (!place_find(&place, files, bucket, name, directory_enter))
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
	beside_name(place.part, beside);
	if (unlinkat(place.directory_fd, beside, 0) != 0 && errno != ENOENT)
		return false;
	if (unlinkat(place.directory_fd, place.part, 0) != 0 && errno != ENOENT && errno != EISDIR)
		return false;
	directories_prune(&place);
	return true;
}

bool file_tree_bucket(const struct blob_files *files, const char *bucket, bool is_there)
{
	if (is_there)
		return mkdirat(files->tree_fd, bucket, DIRECTORY_MODE) == 0 || errno == EEXIST;
	return unlinkat(files->tree_fd, bucket, AT_REMOVEDIR) == 0 || errno == ENOENT || errno == ENOTEMPTY ||
	       errno == EEXIST || errno == ENOTDIR;
}
