/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"

enum { OUTPUT_MAX_BYTES = 64 * 1024, RUN_MAX_US = 30 * 1000 * 1000, DESCRIPTORS_USUAL = 1024 };

/* A running credential helper. It has a socket instead of a pipe, so that a helper that does not read its input
 * cannot end this process with SIGPIPE. */
struct child {
	pid_t pid;
	int socket; /* its standard input and output */
};

/* Limits the child's descriptors. Choice: the usual soft limit. serve raises its own limit as far as it may:
 * programs with select() cannot use so many descriptors, and programs that close all of them one by one would take
 * long. */
static void descriptors_limit(pid_t pid)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= DESCRIPTORS_USUAL)
		return;
	limit.rlim_cur = DESCRIPTORS_USUAL;
	prlimit(pid, RLIMIT_NOFILE, &limit, NULL);
}

static int spawn_on(const char *program, int socket, pid_t *ret_pid)
{
	char *const argv[] = { (char *)program, (char *)"get", NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, usual;
	int rc;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes,
				 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	rc = posix_spawnp(ret_pid, program, &actions, &attributes, argv, environ);
	if (!rc)
		descriptors_limit(*ret_pid);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static enum status child_start(const char *program, const char *registry, struct child *child,
			       struct error *err)
{
	int pair[2];
	int rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s: %s", program,
				 strerrordesc_np(errno));
	rc = spawn_on(program, pair[1], &child->pid);
	close(pair[1]);
	if (rc) {
		close(pair[0]);
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s cannot be run: %s", program,
				 strerrordesc_np(rc));
	}
	child->socket = pair[0];
	/* This send does not wait, because the name is far shorter than a socket's buffer. */
	(void)!send(child->socket, registry, strlen(registry), MSG_NOSIGNAL);
	shutdown(child->socket, SHUT_WR);
	return STATUS_OK;
}

/* Reads one more piece of output. STATUS_OK with *ret_more false: the output has ended. */
static enum status output_read(const struct child *child, int stop_fd, int64_t deadline_us, char *output,
			       size_t *length, bool *ret_more)
{
	struct pollfd fds[] = { { child->socket, POLLIN, 0 }, { stop_fd, POLLIN, 0 } };
	int64_t left_us = deadline_us - clock_mono_us(&system_clock);
	ssize_t got;

	*ret_more = true;
	if (left_us <= 0)
		return STATUS_DEADLINE_EXCEEDED;
	got = poll(fds, 2, (int)(left_us / 1000) + 1);
	if (got < 0 && errno != EINTR)
		return STATUS_UNAVAILABLE;
	if (got <= 0)
		return STATUS_OK; /* nothing came: the next call checks the deadline */
	if (fds[1].revents)
		return STATUS_CANCELLED;
	got = recv(child->socket, output + *length, OUTPUT_MAX_BYTES - *length, 0);
	if (got < 0 && errno == EINTR)
		return STATUS_OK;
	*ret_more = got > 0;
	*length += got > 0 ? (size_t)got : 0;
	return *length == OUTPUT_MAX_BYTES ? STATUS_RESOURCE_EXHAUSTED : STATUS_OK;
}

/* Waits for the child's end, because the child may close its output long before; kills it if @kill_it, at the deadline,
 * or when @stop_fd becomes readable. True: it has exited with 0. */
static bool child_reap(const struct child *child, bool kill_it, int64_t deadline_us, int stop_fd)
{
	int state = 0;

	while (!kill_it && waitpid(child->pid, &state, WNOHANG) == 0) {
		struct pollfd stop = { stop_fd, POLLIN, 0 };

		kill_it = poll(&stop, 1, 20) > 0 || clock_mono_us(&system_clock) > deadline_us;
	}
	if (kill_it) {
		kill(-child->pid, SIGKILL);
		kill(child->pid, SIGKILL);
		while (waitpid(child->pid, &state, 0) < 0 && errno == EINTR)
			;
	}
	return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

static enum status child_converse(const struct child *child, int stop_fd, char *output, size_t *length,
				  bool *ret_good)
{
	int64_t deadline_us = clock_mono_us(&system_clock) + RUN_MAX_US;
	enum status rc = STATUS_OK;
	bool more = true;

	while (more && !rc)
		rc = output_read(child, stop_fd, deadline_us, output, length, &more);
	*ret_good = child_reap(child, rc != STATUS_OK, deadline_us, stop_fd);
	close(child->socket);
	return rc;
}

enum status credential_helper_run(const char *name, const char *registry, int stop_fd, char **ret_output,
				  struct error *err)
{
	char program[128];
	struct child child;
	size_t length = 0;
	char *output;
	bool good;
	enum status rc;

	if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != strlen(name))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "config.json has the credential helper %.60s, which is not a name", name);
	snprintf(program, sizeof(program), "docker-credential-%.100s", name);
	output = memory_calloc(1, OUTPUT_MAX_BYTES + 1);
	rc = child_start(program, registry, &child, err);
	if (!rc) {
		rc = child_converse(&child, stop_fd, output, &length, &good);
		if (!rc && !good)
			rc = strstr(output, "credentials not found") ? STATUS_NOT_FOUND : STATUS_UNKNOWN;
		if (rc && rc != STATUS_NOT_FOUND && rc != STATUS_CANCELLED)
			rc = error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s get: %s", program,
				       rc == STATUS_DEADLINE_EXCEEDED    ? "no answer in 30 s"
				       : rc == STATUS_RESOURCE_EXHAUSTED ? "the answer is too long"
									 : "it failed");
	}
	if (!rc) {
		*ret_output = output;
		return STATUS_OK;
	}
	sodium_memzero(output, OUTPUT_MAX_BYTES);
	free(output);
	return rc;
}
