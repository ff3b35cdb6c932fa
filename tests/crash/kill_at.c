/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/crash/kill_at.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SECTOR = 512, FILES_MAX = 256, FDS_MAX = 1023 };

/* A write, or a truncation to @offset (bytes is NULL), that was not synced yet. */
struct change {
	struct change *next;
	char *bytes;
	size_t offset, length;
};

/* The contents of a file that are certainly on the disk, and later changes. */
struct image {
	dev_t device;
	ino_t inode;
	int fd; /* never closed, because closing would release SQLite's locks */
	char *bytes;
	size_t size, room; /* room: the size up to which @bytes need not be reallocated */
	struct change *first, **last;
};

static struct {
	pthread_mutex_t lock;
	char dir[PATH_MAX];
	size_t dir_length; /* 0: not armed */
	unsigned long at, count;
	enum kill_way way;
	uint64_t random;
	struct image images[FILES_MAX];
	size_t image_count;
} order = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- what is watched ---- */

static bool is_below(const char *path)
{
	size_t length = order.dir_length;

	return length && strncmp(path, order.dir, length) == 0 &&
	       (path[length] == '/' || path[length] == '\0');
}

/* False: the descriptor has no path. */
static bool path_of(int fd, char path[static PATH_MAX])
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_MAX - 1);
	if (length >= 0)
		path[length] = '\0';
	return length >= 0;
}

static bool is_watched(int fd)
{
	char path[PATH_MAX];

	return order.dir_length && fd >= 0 && path_of(fd, path) && is_below(path);
}

/* The -shm file of SQLite is shared memory: the first process makes it anew from the write-ahead log. */
static bool is_memory(int fd)
{
	char path[PATH_MAX];
	size_t length = path_of(fd, path) ? strlen(path) : 0;

	return length > 4 && strcmp(path + length - 4, "-shm") == 0;
}

static bool is_watched_at(int directory_fd, const char *path)
{
	return *path == '/' || directory_fd == AT_FDCWD ? is_below(path) : is_watched(directory_fd);
}

/* ---- what a power loss leaves ---- */

/* splitmix64. Source: https://prng.di.unimi.it/splitmix64.c (read 2026-11-22) */
static uint64_t draw(void)
{
	uint64_t z = (order.random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void give_up(const char *why)
{
	fprintf(stderr, "kill_at: %s\n", why);
	_exit(99);
}

static void *grown(void *old, size_t size)
{
	void *bytes = realloc(old, size + 1);

	if (!bytes)
		give_up("out of memory");
	return bytes;
}

static void room_make(struct image *image, size_t size)
{
	if (size <= image->room)
		return;
	image->bytes = grown(image->bytes, size);
	image->room = size;
}

static void size_set(struct image *image, size_t size)
{
	room_make(image, size);
	if (size > image->size)
		memset(image->bytes + image->size, 0, size - image->size);
	image->size = size;
}

static void part_put(struct image *image, const struct change *change, size_t from, size_t length)
{
	size_t end = change->offset + from + length;

	if (end > image->size)
		size_set(image, end);
	memcpy(image->bytes + change->offset + from, change->bytes + from, length);
}

static void changes_free(struct image *image)
{
	while (image->first) {
		struct change *change = image->first;

		image->first = change->next;
		free(change->bytes);
		free(change);
	}
	image->last = &image->first;
}

static void image_sync(struct image *image)
{
	for (struct change *change = image->first; change; change = change->next) {
		if (change->bytes)
			part_put(image, change, 0, change->length);
		else
			size_set(image, change->offset);
	}
	changes_free(image);
}

/* Prepares for what image_lose() needs. */
static void image_prepare(struct image *image)
{
	for (const struct change *change = image->first; change; change = change->next)
		room_make(image, change->offset + change->length);
}

/* Keeps each sector of each change with a probability of @chance / 4. Allocates no memory. */
static void image_lose(struct image *image, unsigned chance)
{
	for (struct change *change = image->first; change; change = change->next) {
		if (!change->bytes && draw() % 4 < chance)
			size_set(image, change->offset);
		for (size_t from = 0; change->bytes && from < change->length; from += SECTOR)
			if (draw() % 4 < chance)
				part_put(image, change, from,
					 change->length - from < SECTOR ? change->length - from : SECTOR);
	}
}

static void image_write(const struct image *image)
{
	size_t done = 0;

	if (syscall(SYS_ftruncate, image->fd, 0L) != 0)
		give_up("cannot take a file back");
	while (done < image->size) {
		long wrote = syscall(SYS_pwrite64, image->fd, image->bytes + done, image->size - done, done);

		if (wrote <= 0)
			give_up("cannot write a file back");
		done += (size_t)wrote;
	}
}

static void content_read(struct image *image, size_t size)
{
	size_set(image, size);
	if (size && pread(image->fd, image->bytes, size, 0) != (ssize_t)size)
		give_up("cannot read a file");
}

/* NULL: it is not a file with contents of its own. */
static struct image *image_of(int fd)
{
	struct image *image = order.images;
	char link[64];
	struct stat info;

	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || is_memory(fd))
		return NULL;
	for (size_t i = 0; i < order.image_count; i++, image++)
		if (image->inode == info.st_ino && image->device == info.st_dev)
			return image;
	if (order.image_count == FILES_MAX)
		give_up("too many files");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	*image = (struct image){ .device = info.st_dev,
				 .inode = info.st_ino,
				 .fd = open(link, O_RDWR | O_CLOEXEC) };
	image->last = &image->first;
	if (image->fd < 0)
		give_up("cannot open a file");
	order.image_count++;
	/* Existing contents count as being on the disk. */
	content_read(image, (size_t)info.st_size);
	return image;
}

static void change_note(int fd, const void *bytes, size_t offset, size_t length)
{
	struct image *image = order.way == KILL_POWER ? image_of(fd) : NULL;
	struct change *change;

	if (!image)
		return;
	change = grown(NULL, sizeof(*change));
	*change = (struct change){ .offset = offset, .length = length };
	if (bytes) {
		change->bytes = grown(NULL, length);
		memcpy(change->bytes, bytes, length);
	}
	*image->last = change;
	image->last = &change->next;
}

/* ---- the end ---- */

/* A copy of this process does it, once no thread of this one runs that could see it happen. It cannot have memory: another
 * thread may have held the lock of a sanitizer's allocator when it was made. A reader of a pipe of this process
 * comes to its end after that. */
static void power_lose(void)
{
	unsigned chance = (unsigned)(draw() % 5); /* from no sectors to all sectors */
	struct pollfd dying = { .fd = (int)syscall(SYS_pidfd_open, getpid(), 0), .events = POLLIN };
	pid_t copy;

	for (size_t i = 0; i < order.image_count; i++)
		image_prepare(&order.images[i]);
	copy = dying.fd < 0 ? -1 : fork();
	if (copy < 0)
		give_up("cannot fork");
	if (copy > 0)
		return;
	while (poll(&dying, 1, -1) != 1)
		;
	for (size_t i = 0; i < order.image_count; i++) {
		image_lose(&order.images[i], chance);
		image_write(&order.images[i]);
	}
	/* Locks are released first: other processes wait for descriptors that were opened before the files, such as a
	 * pipe. */
	for (int fd = FDS_MAX; fd > STDERR_FILENO; fd--)
		close(fd);
	_exit(0);
}

static void die(void)
{
	if (order.way == KILL_POWER)
		power_lose();
	/* This thread holds the lock, so no other thread changes a file any more. */
	syscall(SYS_kill, getpid(), SIGKILL);
	for (;;)
		pause();
}

/* Takes the lock and counts the change; true: this is the one at which to kill. */
static bool change_begin(void)
{
	pthread_mutex_lock(&order.lock);
	if (++order.count != order.at)
		return false;
	if (order.way != KILL_TORN)
		die();
	return true;
}

static void change_end(bool is_last)
{
	if (is_last)
		die();
	pthread_mutex_unlock(&order.lock);
}

static size_t torn_length(size_t length)
{
	return length ? draw() % length : 0;
}

/* ---- the calls ---- */

static ssize_t write_at(int fd, const void *bytes, size_t length, off_t offset)
{
	bool is_last;
	ssize_t done;

	if (!is_watched(fd))
		return syscall(SYS_pwrite64, fd, bytes, length, offset);
	is_last = change_begin();
	change_note(fd, bytes, (size_t)offset, length);
	done = syscall(SYS_pwrite64, fd, bytes, is_last ? torn_length(length) : length, offset);
	change_end(is_last);
	return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
	return write_at(fd, bytes, length, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset)
{
	return write_at(fd, bytes, length, offset);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
	bool is_last;
	ssize_t done;

	if (!is_watched(fd))
		return syscall(SYS_write, fd, bytes, length);
	is_last = change_begin();
	change_note(fd, bytes, (size_t)lseek(fd, 0, SEEK_CUR), length);
	done = syscall(SYS_write, fd, bytes, is_last ? torn_length(length) : length);
	change_end(is_last);
	return done;
}

static int file_cut(int fd, off_t length)
{
	bool is_last;
	int rc;

	if (!is_watched(fd))
		return (int)syscall(SYS_ftruncate, fd, length);
	is_last = change_begin();
	change_note(fd, NULL, (size_t)length, 0);
	rc = (int)syscall(SYS_ftruncate, fd, length);
	change_end(is_last);
	return rc;
}

int ftruncate(int fd, off_t length)
{
	return file_cut(fd, length);
}

int ftruncate64(int fd, off64_t length)
{
	return file_cut(fd, length);
}

static int file_sync(long call, int fd)
{
	bool is_last;
	int rc;

	if (!is_watched(fd))
		return (int)syscall(call, fd);
	is_last = change_begin();
	rc = (int)syscall(call, fd);
	if (order.way == KILL_POWER && image_of(fd))
		image_sync(image_of(fd));
	change_end(is_last);
	return rc;
}

int fsync(int fd)
{
	return file_sync(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return file_sync(SYS_fdatasync, fd);
}

/* A copied range counts as being on the disk. */
ssize_t copy_file_range(int from_fd, off64_t *from, int to_fd, off64_t *to, size_t length, unsigned flags)
{
	bool is_last;
	ssize_t done;

	if (!is_watched(to_fd))
		return syscall(SYS_copy_file_range, from_fd, from, to_fd, to, length, flags);
	is_last = change_begin();
	done = syscall(SYS_copy_file_range, from_fd, from, to_fd, to, is_last ? torn_length(length) : length,
		       flags);
	if (order.way == KILL_POWER && done > 0) {
		struct image *image = image_of(to_fd);
		struct stat info;

		if (image && fstat(to_fd, &info) == 0) {
			changes_free(image);
			content_read(image, (size_t)info.st_size);
		}
	}
	change_end(is_last);
	return done;
}

/* Calls that take names: @watched: whether the name is below the directory; @call: the call, made between the
 * counting. */
#define NAME_CALL(watched, call)                                                                             \
	do {                                                                                                 \
		bool is_last_;                                                                               \
		int rc_;                                                                                     \
                                                                                                             \
		if (!(watched))                                                                              \
			return (int)(call);                                                                  \
		is_last_ = change_begin();                                                                   \
		rc_ = (int)(call);                                                                           \
		change_end(is_last_);                                                                        \
		return rc_;                                                                                  \
	} while (0)

int unlink(const char *path)
{
	NAME_CALL(is_below(path), syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int unlinkat(int fd, const char *path, int flags)
{
	NAME_CALL(is_watched_at(fd, path), syscall(SYS_unlinkat, fd, path, flags));
}

int rmdir(const char *path)
{
	NAME_CALL(is_below(path), syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

int rename(const char *from, const char *to)
{
	NAME_CALL(is_below(to), syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	NAME_CALL(is_watched_at(to_fd, to), syscall(SYS_renameat2, from_fd, from, to_fd, to, 0));
}

int link(const char *from, const char *to)
{
	NAME_CALL(is_below(to), syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	NAME_CALL(is_watched_at(to_fd, to), syscall(SYS_linkat, from_fd, from, to_fd, to, flags));
}

int symlinkat(const char *target, int fd, const char *path)
{
	NAME_CALL(is_watched_at(fd, path), syscall(SYS_symlinkat, target, fd, path));
}

int mkdir(const char *path, mode_t mode)
{
	NAME_CALL(is_below(path), syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int mkdirat(int fd, const char *path, mode_t mode)
{
	NAME_CALL(is_watched_at(fd, path), syscall(SYS_mkdirat, fd, path, mode));
}

/* ---- orders ---- */

void kill_arm(const struct kill_order *given)
{
	snprintf(order.dir, sizeof(order.dir), "%s", given->dir);
	order.dir_length = strlen(order.dir);
	order.at = given->at;
	order.way = given->way;
	order.random = given->seed;
	order.count = 0;
}

void kill_disarm(void)
{
	order.dir_length = 0;
}

unsigned long kill_count(void)
{
	return order.count;
}

static unsigned long number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 0;
}

/* When the library is preloaded into the daemon; child processes are not affected. */
__attribute__((constructor)) static void order_read(void)
{
	const char *dir = getenv("TRAINYARD_TEST_KILL_DIR");

	if (!dir)
		return;
	kill_arm(&(struct kill_order){
		.dir = dir,
		.at = number_of("TRAINYARD_TEST_KILL_AT"),
		.way = (enum kill_way)(number_of("TRAINYARD_TEST_KILL_WAY") % KILL_WAY_COUNT),
		.seed = number_of("TRAINYARD_TEST_KILL_SEED") });
	unsetenv("TRAINYARD_TEST_KILL_DIR");
}
