/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_orphans.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/gcs/gcs_mountpoint.h"

enum { WORDS_BYTES_MAX = 8192, WAIT_MS = 2000 };

DEFINE_AUTO(directory, DIR *, closedir)

/* True if the process's arguments after the program's name begin with "gcs-mount" and @state_dir. */
static bool process_serves(pid_t pid, const char *state_dir)
{
	char path[48], words[WORDS_BYTES_MAX + 1];
	const char *second, *third;
	ssize_t length = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, words, WORDS_BYTES_MAX);
	close(fd);
	if (length <= 0)
		return false;
	words[length] = '\0';
	second = memchr(words, '\0', (size_t)length);
	if (!second || strcmp(++second, "gcs-mount") != 0)
		return false;
	third = second + strlen(second) + 1;
	return third < words + length && strcmp(third, state_dir) == 0;
}

static bool process_ends(int process, int timeout_ms)
{
	struct pollfd end = { .fd = process, .events = POLLIN };

	return poll(&end, 1, timeout_ms) == 1;
}

/* Waits for the process, which ends by itself if no container uses its files; if it does not, sends SIGTERM, then
 * SIGKILL. False: it still runs. */
static bool process_end(int process)
{
	static const int signals[] = { SIGTERM, SIGKILL };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (process_ends(process, WAIT_MS))
			return true;
		syscall(SYS_pidfd_send_signal, process, signals[i], NULL, 0); /* the function needs glibc 2.36 */
	}
	return process_ends(process, WAIT_MS);
}

static bool process_clear(pid_t pid, const char *state_dir, bool only_look,
			  const struct gcs_orphans_report *report)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	bool ended = true;
	char name[16];

	/* Check again, now that the descriptor is open: another process may have got the number before. */
	if (process < 0 || !process_serves(pid, state_dir)) {
		if (process >= 0)
			close(process);
		return true;
	}
	snprintf(name, sizeof(name), "%d", (int)pid);
	if (!only_look)
		ended = process_end(process);
	close(process);
	report->reported(report->arg, "process", name, ended ? NULL : "it does not end");
	return ended;
}

static bool processes_clear(const char *state_dir, bool only_look, const struct gcs_orphans_report *report)
{
	AUTO(directory) DIR *listing = opendir("/proc");
	const struct dirent *entry;
	bool sees_itself = false, all = true;

	while (listing && (entry = readdir(listing))) {
		char *rest = NULL;
		const long pid = strtol(entry->d_name, &rest, 10);

		sees_itself |= pid == getpid();
		if (pid > 0 && *rest == '\0' && process_serves((pid_t)pid, state_dir))
			all &= process_clear((pid_t)pid, state_dir, only_look, report);
	}
	if (!sees_itself) /* also if /proc is not mounted, and so is empty */
		report->reported(report->arg, "process", "that serves /gcs", "/proc lists no processes");
	return sees_itself && all;
}

static bool mount_clear(const char *state_dir, bool only_look, const struct gcs_orphans_report *report)
{
	const bool was_mounted = gcs_mountpoint_is_mounted(state_dir);
	AUTO(string) char *place = memory_printf("%s/" GCS_MOUNT, state_dir);
	bool is_clear = only_look || gcs_mountpoint_sweep(state_dir);

	if (!was_mounted)
		return true;
	report->reported(report->arg, "mount", place, is_clear ? NULL : "it cannot be taken away");
	return is_clear;
}

bool gcs_orphans_clear(const char *state_dir, bool only_look, const struct gcs_orphans_report *report)
{
	bool ended = processes_clear(state_dir, only_look, report);

	return mount_clear(state_dir, only_look, report) && ended;
}
