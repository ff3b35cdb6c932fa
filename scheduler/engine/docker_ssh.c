/* SPDX-License-Identifier: Apache-2.0 */
/* Source: https://docs.docker.com/engine/security/protect-access/ (read 2026-11-26), and the arguments that the client of
 * Docker 20.10 gives to ssh. */
#include "scheduler/engine/docker_ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "scheduler/engine/docker_endpoint.h"

enum { WORDS_MAX = 20, SAID_BYTES_MAX = 4096, HINT_BYTES = 300 };

struct run {
	pid_t pid;
	int pidfd;  /* -1: the kernel has no pidfds */
	int errors; /* the error output of ssh */
	struct text said;
};

/* Starts ssh without a terminal, so that it cannot ask the user for a password at each connection. */
static int ssh_spawn(const struct endpoint_address *place, int near, int errors, pid_t *ret_pid)
{
	AUTO(string) char *socket = place->path ? memory_printf("unix://%s", place->path) : NULL;
	const char *words[WORDS_MAX] = { "ssh", "-T", "-o", "ConnectTimeout=30" };
	size_t count = 4;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, usual;
	int rc;

	if (place->user) {
		words[count++] = "-l";
		words[count++] = place->user;
	}
	if (place->port) {
		words[count++] = "-p";
		words[count++] = place->port;
	}
	words[count++] = "--";
	words[count++] = place->host;
	words[count++] = "docker";
	if (socket) {
		words[count++] = "--host";
		words[count++] = socket;
	}
	words[count++] = "system";
	words[count] = "dial-stdio";
	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, near, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, near, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setflags(&attributes,
				 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	rc = posix_spawnp(ret_pid, words[0], &actions, &attributes, (char *const *)words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static void said_add(struct run *run)
{
	char piece[512];
	const ssize_t got = read(run->errors, piece, sizeof(piece));

	if (got > 0 && run->said.length < SAID_BYTES_MAX)
		text_append(&run->said, piece, (size_t)got);
	if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
		close(run->errors);
		run->errors = -1;
	}
}

/* Waits until ssh has ended. If the caller closes its end of @near, ssh is ended: it would still wait for the other
 * machine. The end of the error output does not show that ssh has ended: a master connection of ssh (ControlPersist)
 * keeps this output open for long. */
static void run_await(struct run *run, int near)
{
	bool is_over = false;

	while (!is_over && (run->errors >= 0 || run->pidfd >= 0)) {
		struct pollfd polled[] = { { run->errors, POLLIN, 0 },
					   { near, 0, 0 },
					   { run->pidfd, POLLIN, 0 } };

		if (poll(polled, 3, -1) < 0 && errno != EINTR)
			break;
		if (polled[0].revents)
			said_add(run);
		if (polled[1].revents & (POLLHUP | POLLERR)) {
			kill(run->pid, SIGTERM);
			break;
		}
		is_over = polled[2].revents && !polled[0].revents;
	}
}

/* Sets the endpoint's problem. @code: the exit status of ssh: 255: ssh itself failed; otherwise the program on the
 * other machine did. */
static void failure_report(struct endpoint *endpoint, const struct text *said, int code)
{
	const struct endpoint_address *place = endpoint_address(endpoint);
	AUTO(string) char *words = memory_strdup(said->length ? said->data : "it said nothing");
	char problem[ENDPOINT_PROBLEM_SIZE];

	for (size_t length = strlen(words); length && strchr("\r\n ", words[length - 1]);)
		words[--length] = '\0';
	text_make_harmless(words);
	if (code == 255)
		snprintf(problem, sizeof(problem),
			 "ssh ended: %.*s; `ssh %s%s%s docker version` has to work without a question",
			 HINT_BYTES, words, place->user ? place->user : "", place->user ? "@" : "",
			 place->host);
	else
		snprintf(problem, sizeof(problem),
			 "`docker system dial-stdio` on %s ended with status %d: %.*s; Docker's client is "
			 "wanted there, and an engine that runs",
			 place->host, code, HINT_BYTES, words);
	endpoint_problem_set(endpoint, problem);
}

/* Collects the exit status of ssh. If ssh ended with a failure while the caller still waited, it could not connect,
 * or it lost the engine. */
static void run_end(struct endpoint *endpoint, struct run *run, bool was_left)
{
	int state = 0;

	while (waitpid(run->pid, &state, 0) < 0 && errno == EINTR)
		;
	if (!was_left && (!WIFEXITED(state) || WEXITSTATUS(state) != 0))
		failure_report(endpoint, &run->said, WIFEXITED(state) ? WEXITSTATUS(state) : 255);
	else
		endpoint_problem_set(endpoint, "");
}

static bool is_left(int near)
{
	struct pollfd polled = { near, 0, 0 };

	return poll(&polled, 1, 0) > 0 && (polled.revents & (POLLHUP | POLLERR));
}

void ssh_carry(struct endpoint *endpoint, int near)
{
	struct run run = { .pidfd = -1 };
	char problem[ENDPOINT_PROBLEM_SIZE];
	int errors[2] = { -1, -1 };
	int rc = pipe2(errors, O_CLOEXEC) == 0 ? 0 : errno;

	if (!rc)
		rc = ssh_spawn(endpoint_address(endpoint), near, errors[1], &run.pid);
	if (errors[1] >= 0)
		close(errors[1]);
	run.errors = errors[0];
	if (rc) {
		snprintf(problem, sizeof(problem), "the program ssh cannot be run: %s%s", strerrordesc_np(rc),
			 rc == ENOENT ? ": install OpenSSH's client" : "");
		endpoint_problem_set(endpoint, problem);
	} else {
		run.pidfd = (int)syscall(SYS_pidfd_open, run.pid, 0);
		run_await(&run, near);
		run_end(endpoint, &run, is_left(near));
	}
	if (run.errors >= 0)
		close(run.errors);
	if (run.pidfd >= 0)
		close(run.pidfd);
	text_deinit(&run.said);
	close(near);
}
