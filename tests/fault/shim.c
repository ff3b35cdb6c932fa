/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fault/shim.c: a library that is loaded before all others (LD_PRELOAD) and makes chosen calls of the program
 * fail, or kills it there, and sets its clock. Whatever library makes a call, it is counted: SQLite, jansson, libmicrohttpd, nghttp2, libcurl;
 * but for the frail ones, which end the program where memory fails, whatever their user does.
 *
 * The file that FAULT_CONTROL names is struct control; the test that orders faults has it mapped, too (shim.py). FAULT_BELOW: the
 * directory that the files and directories of the calls must be in; without it nothing but memory fails. With FAULT_TRACE in
 * the environment each fault says on stderr where it was. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

/* The same bits as in shim.py. */
enum call_class {
	CLASS_MEMORY = 1 << 0, /* malloc and similar, anonymous mmap, threads */
	CLASS_CREATE = 1 << 1, /* making a name: open(O_CREAT), mkdir, link, symlink */
	CLASS_WRITE = 1 << 2,
	CLASS_SYNC = 1 << 3,
	CLASS_SIZE = 1 << 4, /* ftruncate, fallocate */
	CLASS_RENAME = 1 << 5,
	CLASS_REMOVE = 1 << 6,
	CLASS_LARGE = 1 << 7, /* malloc and similar with more than LARGE_BYTES */
	CLASS_SMALL = 1 << 8, /* malloc and similar with at most LARGE_BYTES */
};

enum { OF_MEMORY = CLASS_MEMORY | CLASS_LARGE | CLASS_SMALL };

enum { LARGE_BYTES = 64 << 10 };

/* Other actions than an errno. */
enum { ACTION_KILL = -1, ACTION_TEAR = -2 /* half of a write, then a kill */ };

struct control {
	_Atomic uint64_t classes;      /* the classes that are counted; 0: nothing is counted, and no call fails */
	_Atomic uint64_t first, count; /* the calls number first … first + count - 1, from 1, get the action */
	_Atomic int64_t action;        /* an errno, or an enum action */
	_Atomic uint64_t seen, hit;
	_Atomic int64_t ahead_s; /* the step of the wall clock, as if the machine's had been set */
};

static struct control nothing;
static struct control *control = &nothing;
static const char *below;
static size_t below_length;
static bool traces;
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* GnuTLS writes certificates and reckons with them: asn1_der_coding() and others of the first read from the copy of a tree
 * that they have not got; the second says so and aborts, as its manual tells (Custom Allocation). */
static const char *const frail[] = { "libtasn1.so", "libgmp.so" };

enum { FRAIL = sizeof(frail) / sizeof(frail[0]) };

static struct {
	uintptr_t begin, end;
} frail_places[FRAIL];

static int library_look(struct dl_phdr_info *library, size_t size, void *arg)
{
	(void)size, (void)arg;
	for (int i = 0; i < FRAIL; i++) {
		if (!strstr(library->dlpi_name, frail[i]))
			continue;
		frail_places[i].begin = library->dlpi_addr;
		for (int j = 0; j < library->dlpi_phnum; j++)
			if (library->dlpi_phdr[j].p_type == PT_LOAD)
				frail_places[i].end = library->dlpi_addr + library->dlpi_phdr[j].p_vaddr +
						      library->dlpi_phdr[j].p_memsz;
	}
	return 0;
}

static bool is_frail(const void *caller)
{
	for (int i = 0; i < FRAIL; i++)
		if ((uintptr_t)caller >= frail_places[i].begin && (uintptr_t)caller < frail_places[i].end)
			return true;
	return false;
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("FAULT_CONTROL");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *place = fd >= 0 ? mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
			      : MAP_FAILED;

	below = getenv("FAULT_BELOW");
	below_length = below ? strlen(below) : 0;
	traces = getenv("FAULT_TRACE");
	if (traces)
		backtrace(&(void *){ NULL }, 1); /* makes backtrace() load its library */
	if (place != MAP_FAILED)
		control = place;
	dl_iterate_phdr(library_look, NULL);
}

static void trace(void)
{
	void *places[24];

	inside = true;
	dprintf(STDERR_FILENO, "fault %lu:\n", (unsigned long)control->hit);
	backtrace_symbols_fd(places, backtrace(places, 24), STDERR_FILENO);
	inside = false;
}

struct frames {
	int left;
	bool are_frail;
};

static _Unwind_Reason_Code frame_look(struct _Unwind_Context *context, void *arg)
{
	struct frames *frames = arg;

	frames->are_frail = is_frail((const void *)_Unwind_GetIP(context));
	return frames->are_frail || --frames->left == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* Whether another library makes this call for a frail one: GMP's calls go through functions of GnuTLS. */
static bool is_for_frail(void)
{
	struct frames frames = { .left = 12 };

	inside = true;
	_Unwind_Backtrace(frame_look, &frames);
	inside = false;
	return frames.are_frail;
}

/* Whether this call gets the fault; sets errno. The process may end here. */
static bool meets(enum call_class class)
{
	uint64_t number;

	if (!(control->classes & class) || inside)
		return false;
	number = ++control->seen;
	if (number < control->first || number - control->first >= control->count)
		return false;
	if (class & OF_MEMORY && is_for_frail()) {
		control->seen--; /* the next call gets it */
		return false;
	}
	control->hit++;
	if (traces)
		trace();
	if (control->action < 0 && !(control->action == ACTION_TEAR && class == CLASS_WRITE))
		kill(getpid(), SIGKILL);
	errno = (int)control->action;
	return true;
}

static bool path_is_below(const char *path)
{
	return below && strncmp(path, below, below_length) == 0;
}

/* The descriptor may also be a directory, for calls relative to it. */
static bool fd_is_below(int fd)
{
	char link[32], path[4096];
	ssize_t length;

	if (!below)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	return path_is_below(path);
}

static bool place_is_below(int directory_fd, const char *path)
{
	return *path == '/' || directory_fd == AT_FDCWD ? path_is_below(path) : fd_is_below(directory_fd);
}

static bool fd_meets(enum call_class class, int fd)
{
	return control->classes & class && fd_is_below(fd) && meets(class);
}

static bool place_meets(enum call_class class, int directory_fd, const char *path)
{
	return control->classes & class && place_is_below(directory_fd, path) && meets(class);
}

/* NEXT(int, close, (int)) is the C library's function, or a sanitizer's. */
#define NEXT(type, name, arguments)                                                                          \
	static type(*next) arguments;                                                                        \
	if (!next)                                                                                           \
	next = (type(*) arguments)dlsym(RTLD_NEXT, #name)

/* ---- memory ---- */

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
} memory;

/* dlsym() may allocate memory, and free it, before the real functions are known. */
static char early[8192] __attribute__((aligned(16)));
static size_t early_used;

static void *early_take(size_t size)
{
	void *place = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	return early_used <= sizeof(early) ? place : NULL;
}

/* Whether the real functions are known. */
static bool memory_is_known(void)
{
	static __thread bool looks __attribute__((tls_model("initial-exec")));

	if (!memory.free && !looks) {
		looks = true;
		memory.malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
		memory.calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
		memory.realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
		memory.free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
		looks = false;
	}
	return memory.free;
}

/* Whether the allocation by the caller of this function is to fail. */
#define MEMORY_MEETS(size)                                                                                   \
	(!is_frail(__builtin_return_address(0)) &&                                                           \
	 (meets(CLASS_MEMORY) || meets((size) > LARGE_BYTES ? CLASS_LARGE : CLASS_SMALL)))

void *malloc(size_t size)
{
	if (!memory_is_known())
		return early_take(size);
	return MEMORY_MEETS(size) ? NULL : memory.malloc(size);
}

void *calloc(size_t count, size_t size)
{
	if (!memory_is_known())
		return early_take(count * size);
	return MEMORY_MEETS(count * size) ? NULL : memory.calloc(count, size);
}

void free(void *place)
{
	const bool is_early = (char *)place >= early && (char *)place < early + sizeof(early);

	if (memory_is_known() && !is_early)
		memory.free(place);
}

void *realloc(void *place, size_t size)
{
	if (!memory_is_known())
		return place ? NULL : early_take(size);
	return size && MEMORY_MEETS(size) ? NULL : memory.realloc(place, size);
}

void *reallocarray(void *place, size_t count, size_t size)
{
	NEXT(void *, reallocarray, (void *, size_t, size_t));
	return MEMORY_MEETS(count * size) ? NULL : next(place, count, size);
}

int posix_memalign(void **ret_place, size_t alignment, size_t size)
{
	NEXT(int, posix_memalign, (void **, size_t, size_t));
	return MEMORY_MEETS(size) ? ENOMEM : next(ret_place, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	NEXT(void *, aligned_alloc, (size_t, size_t));
	return MEMORY_MEETS(size) ? NULL : next(alignment, size);
}

/* A sanitizer's function would not call malloc(); the C library's would, and would be counted twice. */
char *strndup(const char *text, size_t length)
{
	const size_t size = strnlen(text, length);
	char *copy = malloc(size + 1);

	if (copy) {
		memcpy(copy, text, size);
		copy[size] = '\0';
	}
	return copy;
}

char *strdup(const char *text)
{
	return strndup(text, SIZE_MAX);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	NEXT(void *, mmap, (void *, size_t, int, int, int, off_t));
	return flags & MAP_ANONYMOUS && meets(CLASS_MEMORY)
		       ? MAP_FAILED
		       : next(address, length, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
	NEXT(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *));
	return meets(CLASS_MEMORY) ? EAGAIN : next(thread, attributes, run, arg);
}

/* A sanitizer calls this at the start of each thread, and ends the program if it fails. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *ret_attributes)
{
	int rc;
	NEXT(int, pthread_getattr_np, (pthread_t, pthread_attr_t *));

	inside = true;
	rc = next(thread, ret_attributes);
	inside = false;
	return rc;
}

/* ---- files: each is there under both its names, which are one here ---- */

#define BOTH(type, name, parameters, body) type name parameters body type name##64 parameters body

static mode_t mode_of(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

static bool open_meets(int directory_fd, const char *path, int flags)
{
	return (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) &&
	       place_meets(CLASS_CREATE, directory_fd, path);
}

BOTH(int, open, (const char *path, int flags, ...), {
	NEXT(int, open, (const char *, int, ...));
	va_list args;

	va_start(args, flags);
	mode_t mode = mode_of(flags, args);
	va_end(args);
	return open_meets(AT_FDCWD, path, flags) ? -1 : next(path, flags, mode);
})

BOTH(int, openat, (int directory_fd, const char *path, int flags, ...), {
	NEXT(int, openat, (int, const char *, int, ...));
	va_list args;

	va_start(args, flags);
	mode_t mode = mode_of(flags, args);
	va_end(args);
	return open_meets(directory_fd, path, flags) ? -1 : next(directory_fd, path, flags, mode);
})

BOTH(FILE *, fopen, (const char *path, const char *mode), {
	NEXT(FILE *, fopen, (const char *, const char *));
	return *mode != 'r' && place_meets(CLASS_CREATE, AT_FDCWD, path) ? NULL : next(path, mode);
})

/* Does a torn write of @length bytes at @offset (-1: at the current position): half of it, then the end. */
static ssize_t tear(int fd, const void *data, size_t length, off_t offset)
{
	if (control->action != ACTION_TEAR)
		return -1;
	control->classes = 0;
	if (offset < 0)
		(void)!write(fd, data, length / 2);
	else
		(void)!pwrite(fd, data, length / 2, offset);
	kill(getpid(), SIGKILL);
	return -1;
}

ssize_t write(int fd, const void *data, size_t length)
{
	NEXT(ssize_t, write, (int, const void *, size_t));
	return fd_meets(CLASS_WRITE, fd) ? tear(fd, data, length, -1) : next(fd, data, length);
}

BOTH(ssize_t, pwrite, (int fd, const void *data, size_t length, off_t offset), {
	NEXT(ssize_t, pwrite, (int, const void *, size_t, off_t));
	return fd_meets(CLASS_WRITE, fd) ? tear(fd, data, length, offset) : next(fd, data, length, offset);
})

BOTH(ssize_t, copy_file_range,
     (int from, off_t *from_offset, int to, off_t *to_offset, size_t length, unsigned flags), {
	     NEXT(ssize_t, copy_file_range, (int, off_t *, int, off_t *, size_t, unsigned));
	     return fd_meets(CLASS_WRITE, to) ? -1 : next(from, from_offset, to, to_offset, length, flags);
     })

int fsync(int fd)
{
	NEXT(int, fsync, (int));
	return fd_meets(CLASS_SYNC, fd) ? -1 : next(fd);
}

int fdatasync(int fd)
{
	NEXT(int, fdatasync, (int));
	return fd_meets(CLASS_SYNC, fd) ? -1 : next(fd);
}

BOTH(int, ftruncate, (int fd, off_t size), {
	NEXT(int, ftruncate, (int, off_t));
	return fd_meets(CLASS_SIZE, fd) ? -1 : next(fd, size);
})

BOTH(int, fallocate, (int fd, int mode, off_t offset, off_t length), {
	NEXT(int, fallocate, (int, int, off_t, off_t));
	return fd_meets(CLASS_SIZE, fd) ? -1 : next(fd, mode, offset, length);
})

BOTH(int, posix_fallocate, (int fd, off_t offset, off_t length), {
	NEXT(int, posix_fallocate, (int, off_t, off_t));
	return fd_meets(CLASS_SIZE, fd) ? errno : next(fd, offset, length);
})

int rename(const char *from, const char *to)
{
	NEXT(int, rename, (const char *, const char *));
	return place_meets(CLASS_RENAME, AT_FDCWD, to) ? -1 : next(from, to);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	NEXT(int, renameat, (int, const char *, int, const char *));
	return place_meets(CLASS_RENAME, to_fd, to) ? -1 : next(from_fd, from, to_fd, to);
}

int link(const char *from, const char *to)
{
	NEXT(int, link, (const char *, const char *));
	return place_meets(CLASS_CREATE, AT_FDCWD, to) ? -1 : next(from, to);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	NEXT(int, linkat, (int, const char *, int, const char *, int));
	return place_meets(CLASS_CREATE, to_fd, to) ? -1 : next(from_fd, from, to_fd, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
	NEXT(int, mkdir, (const char *, mode_t));
	return place_meets(CLASS_CREATE, AT_FDCWD, path) ? -1 : next(path, mode);
}

int mkdirat(int directory_fd, const char *path, mode_t mode)
{
	NEXT(int, mkdirat, (int, const char *, mode_t));
	return place_meets(CLASS_CREATE, directory_fd, path) ? -1 : next(directory_fd, path, mode);
}

int unlink(const char *path)
{
	NEXT(int, unlink, (const char *));
	return place_meets(CLASS_REMOVE, AT_FDCWD, path) ? -1 : next(path);
}

int unlinkat(int directory_fd, const char *path, int flags)
{
	NEXT(int, unlinkat, (int, const char *, int));
	return place_meets(CLASS_REMOVE, directory_fd, path) ? -1 : next(directory_fd, path, flags);
}

/* ---- the wall clock; waits of the kernel's go by the real one ---- */

int clock_gettime(clockid_t id, struct timespec *ret_now)
{
	int rc;
	NEXT(int, clock_gettime, (clockid_t, struct timespec *));

	rc = next(id, ret_now);
	if (!rc && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		ret_now->tv_sec += control->ahead_s;
	return rc;
}

int gettimeofday(struct timeval *restrict ret_now, void *restrict zone)
{
	int rc;
	NEXT(int, gettimeofday, (struct timeval *, void *));

	rc = next(ret_now, zone);
	if (!rc)
		ret_now->tv_sec += control->ahead_s;
	return rc;
}

time_t time(time_t *ret_now)
{
	time_t now;
	NEXT(time_t, time, (time_t *));

	now = next(NULL) + control->ahead_s;
	if (ret_now)
		*ret_now = now;
	return now;
}
