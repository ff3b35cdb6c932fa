/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_caller.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAP_US = 50 * 1000, PATH_SIZE = 40, FACTS_BYTES = 4096 };

/* Reads the beginning of a file of /proc/PID, in one piece. False: there is no such process or file. */
static bool facts_read(pid_t caller, const char *name, char ret_text[FACTS_BYTES])
{
	char path[PATH_SIZE];
	ssize_t length;
	int fd;

	if (caller <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/%s", caller, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, ret_text, FACTS_BYTES - 1);
	ret_text[length > 0 ? length : 0] = '\0';
	close(fd);
	return true;
}

/* Returns true if /proc/PID/status ("SigPnd:\t0000000000000100") shows a pending SIGKILL. The process's name, which is
 * also in the file, cannot contain such a line, because the kernel escapes line feeds in it. */
static bool has_pending_kill(pid_t caller)
{
	static const char *const lines[] = { "\nSigPnd:", "\nShdPnd:" };
	enum { KILL_BIT = 1 << (SIGKILL - 1) };
	char text[FACTS_BYTES] = "";
	bool has = false;

	facts_read(caller, "status", text);
	for (size_t i = 0; !has && i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *line = strstr(text, lines[i]);

		has = line && strtoull(line + strlen(lines[i]), NULL, 16) & KILL_BIT;
	}
	return has;
}

/* Returns true if /proc/PID/stat shows that the process is exiting; *ret_status is then its status as of waitpid().
 * Source: proc_pid_stat(5): field 9 holds the kernel's flags (include/linux/sched.h, PF_EXITING), field 52 the
 * status; field 3 is the first after the name, which ends with the last ')' */
static bool ends_read(pid_t caller, unsigned *ret_status)
{
	enum { FLAGS = 9, STATUS = 52, FIRST = 3, EXITING = 0x4 };
	char text[FACTS_BYTES] = "", *rest, *word;
	unsigned flags = 0;

	*ret_status = 0;
	facts_read(caller, "stat", text);
	rest = strrchr(text, ')');
	word = rest ? strtok_r(rest + 1, " ", &rest) : NULL;
	for (int field = FIRST; word; field++, word = strtok_r(NULL, " ", &rest)) {
		if (field == FLAGS)
			flags = (unsigned)strtoul(word, NULL, 10);
		else if (field == STATUS)
			*ret_status = (unsigned)strtoul(word, NULL, 10);
	}
	return flags & EXITING;
}

bool gcs_caller_is_ending(pid_t caller)
{
	unsigned status;

	return ends_read(caller, &status);
}

static bool is_ended_by_signal(pid_t caller)
{
	unsigned status;

	return ends_read(caller, &status) && WIFSIGNALED((int)status);
}

bool gcs_caller_is_killed(pid_t caller)
{
	return has_pending_kill(caller) || is_ended_by_signal(caller);
}

/* Checks routes, not devices: a new network device exists before it has a name and an address.
 * Source: proc_pid_net(5), /proc/net/route: at most one line of headings, then a line for each route; the loopback
 * device has none */
static bool has_no_route(pid_t caller)
{
	char text[FACTS_BYTES];
	const char *headings;

	if (!facts_read(caller, "net/route", text))
		return false;
	headings = strchr(text, '\n');
	return !headings || !headings[1];
}

/* Returns true if a process without routes has a network namespace of its own. Only root or the same user may read
 * the namespace; if this process may not, it assumes another namespace if it has a route itself. */
static bool has_own_network(pid_t caller)
{
	struct stat own, its;
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", caller);
	if (stat("/proc/self/ns/net", &own) != 0)
		return false;
	if (stat(path, &its) == 0)
		return own.st_ino != its.st_ino;
	return errno == EACCES && !has_no_route(getpid());
}

bool gcs_caller_is_cut(pid_t caller)
{
	return has_no_route(caller) && has_own_network(caller);
}

int gcs_caller_pause(pid_t caller, int64_t pause_us)
{
	for (;;) {
		if (gcs_caller_is_killed(caller))
			return -EINTR;
		if (pause_us <= 0)
			return 0;
		usleep(pause_us < NAP_US ? (useconds_t)pause_us : NAP_US);
		pause_us -= NAP_US;
	}
}
