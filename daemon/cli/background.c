/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/background.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/cli/client.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/ready_line.h"
#include "daemon/env.h"
#include "daemon/main.h"
#include "store/state_dir.h"

enum {
	LOG_LINES_SHOWN_BYTES = 2048, /* of a daemon that does not start */
	LOG_BYTES_MAX = 16 << 20,     /* a longer one is kept as daemon.log.1 by the next start */
	STOP_WAIT_MS = 120000,
	LOOK_MS = 100,
	WAIT_US = 60000000,
};

/* ---- start ---- */

static void log_rotate(const char *path)
{
	struct text old AUTO_TEXT = { 0 };
	struct stat about;

	text_printf(&old, "%s.1", path);
	if (stat(path, &about) == 0 && about.st_size > LOG_BYTES_MAX)
		rename(path, old.data);
}

/* The end of what the daemon logged since @from: why it did not start. */
static void log_show(const char *path, off_t from)
{
	char tail[LOG_LINES_SHOWN_BYTES + 1];
	FILE *file = fopen(path, "re");
	size_t length;

	if (!file)
		return;
	if (fseeko(file, 0, SEEK_END) == 0 && ftello(file) - from > LOG_LINES_SHOWN_BYTES)
		from = ftello(file) - LOG_LINES_SHOWN_BYTES;
	fseeko(file, from, SEEK_SET);
	length = fread(tail, 1, sizeof(tail) - 1, file);
	fwrite(tail, 1, length, stderr);
	fclose(file);
}

/* A session of its own: no terminal's end or signal reaches it. */
static void daemon_exec(struct invocation *invocation, int ready_fd, int log_fd)
{
	size_t count = invocation->rest_count;
	const char **arguments = memory_calloc(count + 3, sizeof(*arguments));

	arguments[0] = "trainyard";
	arguments[1] = "serve";
	memcpy(arguments + 2, invocation->rest, count * sizeof(*arguments));
	setsid();
	dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
	dup2(ready_fd, STDOUT_FILENO);
	dup2(log_fd, STDERR_FILENO);
	execv("/proc/self/exe", (char *const *)arguments);
	_exit(EXIT_NOT_STARTED);
}

static int ready_wait(const struct config *config, const char *log_path, off_t log_from, int ready_fd,
		      pid_t pid)
{
	struct ready_line line = { 0 };
	enum ready ready = READY_NOT_YET;
	int status = 0;

	while (ready == READY_NOT_YET)
		ready = ready_line_read(&line, ready_fd);
	if (ready == READY) {
		printf("trainyard runs at %s (process %d, state in %s, log in %s)\n", line.url, (int)pid,
		       config->state_dir, log_path);
		return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAILED;
	}
	waitpid(pid, &status, 0);
	log_show(log_path, log_from);
	fprintf(stderr, "trainyard: the daemon did not start; its log is %s\n", log_path);
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE ? EXIT_USAGE : EXIT_NOT_STARTED;
}

static int daemon_start(struct invocation *invocation)
{
	const struct config *config = &invocation->config;
	struct text log_path AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	struct stat about = { 0 };
	int fds[2], log_fd;
	pid_t pid;

	if (state_dir_make(config->state_dir, &err))
		return main_failure(&err);
	text_printf(&log_path, "%s/daemon.log", config->state_dir);
	log_rotate(log_path.data);
	log_fd = open(log_path.data, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (log_fd < 0 || fstat(log_fd, &about) != 0 || pipe2(fds, O_CLOEXEC) != 0 || (pid = fork()) < 0) {
		error_set(&err, STATUS_FAILED_PRECONDITION, NULL, "%s: %s", log_path.data, strerror(errno));
		return main_failure(&err);
	}
	if (pid == 0)
		daemon_exec(invocation, fds[1], log_fd);
	close(fds[1]);
	close(log_fd);
	return ready_wait(config, log_path.data, about.st_size, fds[0], pid);
}

int start_main(struct invocation *invocation)
{
	const struct config *config = &invocation->config;
	const pid_t running = state_dir_holder(config->state_dir);
	AUTO(string) char *url = running ? env_address_read(config->state_dir) : NULL;

	if (!running)
		return daemon_start(invocation);
	printf("trainyard already runs at %s (process %d)\n", url ? url : "(its address is not known yet)",
	       (int)running);
	return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAILED;
}

/* ---- stop ---- */

/* The directory's lock is given up last. */
static bool end_wait(const char *state_dir)
{
	for (int waited_ms = 0; waited_ms < STOP_WAIT_MS; waited_ms += LOOK_MS) {
		if (!state_dir_holder(state_dir))
			return true;
		poll(NULL, 0, LOOK_MS);
	}
	return false;
}

int stop_main(struct invocation *invocation)
{
	const char *state_dir = invocation->config.state_dir;
	const pid_t pid = state_dir_holder(state_dir);
	struct error err AUTO_ERROR = { 0 };

	if (!pid) {
		printf("no daemon runs on %s\n", state_dir);
		return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAILED;
	}
	if (kill(pid, SIGTERM) != 0) {
		error_set(&err, STATUS_FAILED_PRECONDITION, NULL,
			  "the daemon on %s cannot be told to end: %s", state_dir, strerror(errno));
		return main_failure(&err);
	}
	if (!end_wait(state_dir)) {
		error_set(&err, STATUS_DEADLINE_EXCEEDED, NULL, "process %d is told to end, and still runs",
			  (int)pid);
		return main_failure(&err);
	}
	printf("trainyard has ended\n");
	return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAILED;
}

/* ---- status ---- */

static void line_print(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line_print(const char *name, const char *format, ...)
{
	va_list values;

	printf("%-9s", name);
	va_start(values, format);
	vprintf(format, values);
	va_end(values);
	putchar('\n');
}

static void status_print(const char *endpoint, const json_t *health, const json_t *clock)
{
	const json_t *engine = json_object_get(health, "engine");
	const char *detail = json_text_at(engine, "detail"), *reason = json_text_at(health, "reason");
	const char *version = json_text_at(health, "version"), *now = json_text_at(clock, "now");
	const int64_t grpc = json_int_at(json_object_get(health, "grpc"), "port", 0);

	line_print("daemon", "%s (%s)", endpoint, json_text_at(health, "status"));
	if (version)
		line_print("version", "%s", version);
	if (grpc)
		line_print("gRPC", "port %" PRId64, grpc);
	if (engine)
		line_print("engine", "%s%s",
			   json_true_at(engine, "reachable") ? "" : "not reached: ", detail ? detail : "");
	if (now)
		line_print("clock", "%s%s", now, json_true_at(clock, "steppable") ? " (steppable)" : "");
	if (reason)
		line_print("problem", "%s", reason);
}

static int status_show(const struct invocation *invocation, struct client *client, json_t *health)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(json) json_t *clock = NULL;
	const char *form = invocation_value(invocation, "output");
	struct text text AUTO_TEXT = { 0 };

	/* A daemon with a token tells strangers no more than that it lives. */
	client_call(client, "GET", "/_trainyard/v1/clock", NULL, &clock, &err);
	if (!form || strcmp(form, "table") == 0) {
		status_print(client_endpoint(client), health, clock);
	} else if (strcmp(form, "name") == 0) {
		puts(client_endpoint(client));
	} else {
		json_object_set_new(health, "endpoint", json_string(client_endpoint(client)));
		if (clock)
			json_object_set(health, "clock", clock);
		json_write(&text, health);
		text_putc(&text, '\n');
		return main_output(&text);
	}
	return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAILED;
}

/* With --wait: until the daemon answers and has its engine, and at most so long. */
int status_main(struct invocation *invocation)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(client) struct client *client = NULL;
	const bool waits = invocation_flag(invocation, "wait");
	int64_t wait_us = waits ? WAIT_US : 0;

	if (invocation_duration(invocation, "timeout", &wait_us, &err) ||
	    client_open(invocation_value(invocation, "endpoint"), invocation_value(invocation, "token-file"),
			&client, &err))
		return main_usage_error("status ", &err);
	for (const int64_t end_us = clock_mono_us(&system_clock) + wait_us;; poll(NULL, 0, LOOK_MS)) {
		AUTO(json) json_t *health = NULL;
		const bool late = clock_mono_us(&system_clock) >= end_us;
		bool ready;

		error_deinit(&err);
		if (!client_call(client, "GET", "/healthz", NULL, &health, &err) &&
		    !json_text_at(health, "status")) {
			error_set(&err, STATUS_FAILED_PRECONDITION, NULL,
				  "what answers at %s is no trainyard", client_endpoint(client));
			return main_failure(&err);
		}
		ready = health && strcmp(json_text_at(health, "status"), "ok") == 0;
		if (health && (ready || !waits))
			return status_show(invocation, client, health);
		if (!late)
			continue;
		if (health)
			status_show(invocation, client, health);
		else
			main_failure(&err);
		return waits ? EXIT_TIMED_OUT : client_is_unreached(client) ? EXIT_UNREACHED : EXIT_FAILED;
	}
}
