/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/gcs/gcs_endpoint.h"
#include "daemon/gcs/gcs_log.h"
#include "daemon/gcs/gcs_mount.h"
#include "daemon/gcs/gcs_mountpoint.h"
#include "scheduler/faults/fault_registry.h"
#include "store/objects/objects.h"

enum {
	BEGIN_MS = 15000, /* the previous process may still have to unmount */
	END_MS = 5000,
	WORDS_MAX = 512,
	SIGN_BYTES = 16,
};

/* Whether the engine of a node sees the mount, and can bind it into containers. */
enum visibility { VISIBILITY_UNKNOWN, VISIBLE, INVISIBLE };

struct gcs_host {
	struct gcs_host_options options;
	char *state_dir, *directory;
	enum visibility *visibilities; /* one for each node */
	struct gcs_endpoint *endpoint;
	pthread_mutex_t rules_lock; /* so that GCS_RULES always matches the newest call */
	pid_t pid;                  /* 0: none is running */
	char sign[sizeof(".") + 2UL * SIGN_BYTES]; /* the name that identifies its mount (gcs_file_system.h) */
	int life;                   /* our end of the socket that is the process's standard input and output; -1: none */
};

DEFINE_AUTO(gcs_host, struct gcs_host *, gcs_host_close)

/* ---- the process ---- */

static void process_forget(struct gcs_host *host)
{
	close(host->life);
	host->life = -1;
	host->pid = 0;
}

/* Kills the process; only for a process that serves no container yet. */
static void process_kill(struct gcs_host *host)
{
	kill(host->pid, SIGKILL);
	waitpid(host->pid, NULL, 0);
	process_forget(host);
}

/* Tells the process to unmount. It then ends, unless containers still have the mount: it says so by GCS_KEPT. */
static void process_end(struct gcs_host *host)
{
	struct pollfd life = { .fd = host->life, .events = POLLIN };
	char word[sizeof(GCS_KEPT)];

	if (host->life < 0)
		return;
	shutdown(host->life, SHUT_WR);
	if (poll(&life, 1, END_MS) != 1)
		log_event(LOG_WARNING, "gcs-left-late", "pid=%d", (int)host->pid);
	else if (read(host->life, word, sizeof(word)) <= 0)
		waitpid(host->pid, NULL, 0); /* it has closed its output, and is about to end */
	else
		log_event(LOG_INFO, "gcs-kept", "pid=%d hint=\"containers have it\"", (int)host->pid);
	process_forget(host);
}

static bool process_lives(struct gcs_host *host)
{
	struct pollfd life = { .fd = host->life, .events = POLLIN };

	if (host->pid <= 0)
		return false;
	if (poll(&life, 1, 0) == 0)
		return true;
	process_end(host);
	return false;
}

static int log_open(const char *state_dir)
{
	struct stat info;
	char *path = memory_printf("%s/gcs.log", state_dir);
	int fd;

	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	free(path);
	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > GCS_LOG_MAX_BYTES && ftruncate(fd, 0) != 0)
		log_event(LOG_WARNING, "gcs-log-full", "error=\"%s\"", strerror(errno));
	return fd;
}

static int spawn(const struct gcs_host *host, int life, int errors, pid_t *ret_pid)
{
	const char *const arguments[] = { "trainyard", "gcs-mount", host->state_dir,
					  host->options.auto_buckets ? "auto" : "strict", host->sign,
					  NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int problem;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, life, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, life, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	posix_spawn_file_actions_addchdir_np(&actions, "/");
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	problem = posix_spawn(ret_pid, "/proc/self/exe", &actions, &attributes, (char *const *)arguments,
			      environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return problem;
}

/* Reads the one line that the process prints. */
static enum status words_hear(const struct gcs_host *host, struct error *err)
{
	const int64_t until_us = clock_mono_us(&system_clock) + BEGIN_MS * INT64_C(1000);
	struct pollfd life = { .fd = host->life, .events = POLLIN };
	char words[WORDS_MAX] = "";
	size_t heard = 0;

	while (heard < sizeof(words) - 1 && !memchr(words, '\n', heard)) {
		const int64_t left_us = until_us - clock_mono_us(&system_clock);
		ssize_t length = 0;

		if (left_us > 0 && poll(&life, 1, (int)(left_us / 1000) + 1) == 1)
			length = read(host->life, words + heard, sizeof(words) - 1 - heard);
		if (length <= 0)
			break;
		heard += (size_t)length;
	}
	words[heard] = '\0';
	words[strcspn(words, "\n")] = '\0';
	if (strcmp(words, "ready") == 0)
		return STATUS_OK;
	return error_set(err, STATUS_UNAVAILABLE, NULL, "%s",
			 *words ? words : "the process that serves it does not start (see gcs.log)");
}

static void sign_make(struct gcs_host *host)
{
	unsigned char random[SIGN_BYTES];

	randombytes_buf(random, sizeof(random));
	host->sign[0] = '.';
	sodium_bin2hex(host->sign + 1, sizeof(host->sign) - 1, random, sizeof(random));
	for (size_t i = 0; i < host->options.engine_count; i++)
		host->visibilities[i] = VISIBILITY_UNKNOWN;
}

static enum status process_start(struct gcs_host *host, struct error *err)
{
	int ends[2], problem, errors;
	enum status rc;

	sign_make(host);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot open a socket: %s", strerror(errno));
	errors = log_open(host->state_dir);
	problem = errors < 0 ? errno : spawn(host, ends[1], errors, &host->pid);
	close(ends[1]);
	if (errors >= 0)
		close(errors);
	host->life = ends[0];
	if (problem) {
		process_forget(host);
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no process for it: %s", strerror(problem));
	}
	rc = words_hear(host, err);
	if (rc)
		process_kill(host);
	else
		log_event(LOG_INFO, "gcs-mounted", "path=%s pid=%d", host->directory, (int)host->pid);
	return rc;
}

/* ---- for the scheduler ---- */

/* Asks the engine whether it finds the directory named by the mount's sign. It does not if it runs on another
 * machine or in another mount namespace, or if another daemon's mount is at the same path. The mount of a daemon in
 * a container is visible if the state directory is a shared mount. If the engine does not answer, the next call asks
 * again: the engine refuses to create a container without the directory. */
static enum status visibility_check(const struct gcs_host *host, size_t node, struct error *err)
{
	enum visibility *visibility = &host->visibilities[node];

	if (*visibility == VISIBILITY_UNKNOWN) {
		AUTO(string)
		char *path = memory_printf("%s/" GCS_MOUNT "/%s", host->state_dir, host->sign);
		const enum status rc = host->options.engine_has(host->options.engines[node], path, NULL);

		if (!rc)
			*visibility = VISIBLE;
		else if (rc == STATUS_NOT_FOUND)
			*visibility = INVISIBLE;
	}
	return *visibility != INVISIBLE
		       ? STATUS_OK
		       : error_set(err, STATUS_UNAVAILABLE, NULL,
				   "the engine does not see the mount at %s/" GCS_MOUNT, host->state_dir);
}

static enum status gcs_place(void *arg, size_t node, const char **ret_directory, struct error *err)
{
	struct gcs_host *host = arg;
	enum status rc = STATUS_OK;

	if (!host->options.objects)
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "with --storage-endpoint, objects are in another emulator");
	if (!host->endpoint)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "trainyard's own storage cannot be reached");
	if (strchr(host->directory, ':'))
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "%s: a path with a ':' cannot be given to containers", host->directory);
	if (!process_lives(host)) {
		rc = objects_prepare(host->options.objects, err);
		if (!rc)
			rc = process_start(host, err);
	}
	if (!rc)
		rc = visibility_check(host, node, err);
	if (!rc)
		*ret_directory = host->directory;
	return rc;
}

struct gcs_ops gcs_host_ops(struct gcs_host *host)
{
	return (struct gcs_ops){ gcs_place, host };
}

/* Thread: any. */
static void rules_report(void *arg)
{
	struct gcs_host *host = arg;
	struct error err AUTO_ERROR = { 0 };

	pthread_mutex_lock(&host->rules_lock);
	if (gcs_endpoint_report_rules(host->endpoint, !fault_registry_is_empty(host->options.faults), &err))
		log_event(LOG_ERROR, "gcs-rules",
			  "error=\"%s\" hint=\"faults do not hit what reads below /gcs\"",
			  err.text ? err.text : "");
	pthread_mutex_unlock(&host->rules_lock);
}

void gcs_host_open(const struct gcs_host_options *options, struct gcs_host **ret_host)
{
	AUTO(gcs_host) struct gcs_host *host = memory_calloc(1, sizeof(*host));
	struct error reason AUTO_ERROR = { 0 };

	host->options = *options;
	host->life = -1;
	pthread_mutex_init(&host->rules_lock, NULL);
	host->state_dir = memory_strdup(options->state_dir);
	host->visibilities = memory_calloc(options->engine_count, sizeof(*host->visibilities));
	host->directory = memory_printf("%s/" GCS_MOUNT "/gcs", options->state_dir);
	if (!gcs_mountpoint_sweep(options->state_dir))
		log_event(LOG_INFO, "gcs-mounted-still", "path=%s hint=\"an earlier process is leaving it\"",
			  host->directory);
	if (options->objects &&
	    gcs_endpoint_open(options->state_dir, options->storage, options->gate, &host->endpoint, &reason))
		log_event(LOG_WARNING, "gcs-unavailable", "error=\"%s\" hint=\"jobs have no /gcs\"",
			  reason.text ? reason.text : "");
	if (host->endpoint) {
		rules_report(host);
		fault_registry_on_change(options->faults, rules_report, host);
	}
	*ret_host = TAKE(host);
}

void gcs_host_close(struct gcs_host *host)
{
	if (!host)
		return;
	process_end(host);
	gcs_endpoint_close(host->endpoint);
	pthread_mutex_destroy(&host->rules_lock);
	free(host->state_dir);
	free(host->visibilities);
	free(host->directory);
	free(host);
}
