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

#include "daemon/address_file.h"
#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/client.h"
#include "daemon/cli/daemon_child.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"
#include "daemon/serve.h"
#include "store/state_dir.h"

enum {
	LOG_LINES_SHOWN_BYTES = 2048, /* limit for the log lines that are shown if the daemon does not start */
	LOG_BYTES_MAX = 16 << 20,     /* a longer log is renamed to daemon.log.1 at the next start */
	START_US = 120000000,
	STOP_WAIT_MS = 120000,
	LOOK_MS = 100,
	ONE_LOOK_US = 1000000,
	WAIT_US = 60000000,
};

/* A daemon that is being started. */
struct start {
	struct text log_path;
	off_t log_from; /* offset in the log where this daemon's lines begin */
	pid_t pid;
	int ready_fd;
	int64_t end_us; /* monotonic time at which the wait for the daemon ends */
};

/* ---- trainyard start ---- */

static void log_rotate(const char *path)
{
	struct text old AUTO_TEXT = { 0 };
	struct stat about;

	text_printf(&old, "%s.1", path);
	if (stat(path, &about) == 0 && about.st_size > LOG_BYTES_MAX)
		rename(path, old.data);
}

/* Prints the end of the daemon's log since the offset @from, which tells why the daemon did not start. */
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

static int left_ms(int64_t end_us)
{
	const int64_t left_us = end_us - clock_mono_us(&system_clock);

	return left_us > 0 ? (int)(left_us / 1000) : 0;
}

/* Runs the daemon in the forked process; returns the exit code. */
static int daemon_main(const struct config *config, int ready_fd, int log_fd)
{
	daemon_child_begin(ready_fd, log_fd);
	return serve_main(config);
}

static enum status daemon_fork(const struct config *config, struct start *start, struct error *err)
{
	struct stat about = { 0 };
	int fds[2], log_fd;

	if (state_dir_make(config->state_dir, err))
		return err->status;
	log_rotate(start->log_path.data);
	log_fd = open(start->log_path.data, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (log_fd < 0 || fstat(log_fd, &about) != 0 || pipe2(fds, O_CLOEXEC) != 0 ||
	    (start->pid = fork()) < 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s: %s", start->log_path.data,
				 strerror(errno));
	if (start->pid == 0)
		_exit(daemon_main(config, fds[1], log_fd));
	close(fds[1]);
	close(log_fd);
	start->log_from = about.st_size;
	start->ready_fd = fds[0];
	return STATUS_OK;
}

/* Waits until the daemon serves (READY), has ended (READY_NEVER), or the time is over (READY_NOT_YET). */
static enum ready ready_wait(const struct start *start, struct ready_line *line)
{
	enum ready ready = READY_NOT_YET;

	while (ready == READY_NOT_YET) {
		struct pollfd polled = { .fd = start->ready_fd, .events = POLLIN };

		if (poll(&polled, 1, left_ms(start->end_us)) == 0)
			break;
		ready = ready_line_read(line, start->ready_fd);
	}
	return ready;
}

/* Waits for a daemon that another `start` or `serve` is starting. Returns true once it serves, with its address in
 * *ret_address; daemons before 0.2 wrote the address without their process id. Returns false if there is no such daemon,
 * or if it does not serve in time. */
static bool other_wait(const char *state_dir, const struct start *start, struct address *ret_address)
{
	pid_t holder = 0;

	while (!state_dir_holder(state_dir, &holder, NULL) && holder) {
		address_file_read(state_dir, ret_address);
		if (ret_address->url && (ret_address->pid == holder || !ret_address->pid)) {
			ret_address->pid = holder;
			return true;
		}
		address_deinit(ret_address);
		*ret_address = (struct address){ 0 };
		if (!left_ms(start->end_us))
			return false;
		poll(NULL, 0, LOOK_MS);
	}
	return false;
}

static int runs_already_report(const struct address *address)
{
	sentence_print(stdout, "trainyard already runs at %s (process %d)", address->url, (int)address->pid);
	return main_printed();
}

static int daemon_start(const struct config *config, struct start *start)
{
	struct address other AUTO_ADDRESS = { 0 };
	struct error err AUTO_ERROR = { 0 };
	struct ready_line line = { 0 };
	int status = 0;

	if (daemon_fork(config, start, &err)) {
		main_failure(&err);
		return EXIT_NOT_STARTED;
	}
	switch (ready_wait(start, &line)) {
	case READY:
		sentence_print(stdout, "trainyard runs at %s (process %d, state in %s, log in %s)", line.url,
			       (int)start->pid, config->state_dir, start->log_path.data);
		return main_printed();
	case READY_NEVER:
		break;
	case READY_NOT_YET:
		kill(start->pid, SIGKILL); /* the daemon has done nothing yet */
		break;
	}
	waitpid(start->pid, &status, 0);
	if (WIFEXITED(status) && other_wait(config->state_dir, start, &other))
		return runs_already_report(&other);
	log_show(start->log_path.data, start->log_from);
	fprintf(stderr, "trainyard: the daemon did not start%s; its log is %s\n",
		WIFSIGNALED(status) ? " in time" : "", start->log_path.data);
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE ? EXIT_USAGE : EXIT_NOT_STARTED;
}

int start_main(struct invocation *invocation)
{
	const struct config *config = &invocation->config;
	struct start start = { .end_us = clock_mono_us(&system_clock) + START_US };
	struct address running AUTO_ADDRESS = { 0 };
	struct error err AUTO_ERROR = { 0 };
	pid_t holder = 0;
	int exit_code;

	if (state_dir_holder(config->state_dir, &holder, &err)) {
		main_failure(&err);
		return EXIT_NOT_STARTED;
	}
	if (other_wait(config->state_dir, &start, &running))
		return runs_already_report(&running);
	text_printf(&start.log_path, "%s/daemon.log", config->state_dir);
	exit_code = daemon_start(config, &start);
	text_deinit(&start.log_path);
	return exit_code;
}

/* ---- trainyard stop ---- */

/* Waits until the process @pid has released the lock of the state directory, which is the last step of its end. Returns
 * false if it still holds the lock after STOP_WAIT_MS. */
static bool end_wait(const char *state_dir, pid_t pid)
{
	pid_t holder = pid;

	for (int waited_ms = 0; waited_ms < STOP_WAIT_MS; waited_ms += LOOK_MS) {
		if (state_dir_holder(state_dir, &holder, NULL) || holder != pid)
			return true; /* the lock is free, or a new daemon has it */
		poll(NULL, 0, LOOK_MS);
	}
	return false;
}

int stop_main(struct invocation *invocation)
{
	const char *state_dir = invocation->config.state_dir;
	struct error err AUTO_ERROR = { 0 };
	pid_t pid = 0;

	if (state_dir_holder(state_dir, &pid, &err))
		return main_failure(&err);
	if (!pid) {
		sentence_print(stdout, "no daemon runs on %s", state_dir);
		return main_printed();
	}
	if (kill(pid, SIGTERM) != 0 && errno != ESRCH) {
		error_set(&err, STATUS_FAILED_PRECONDITION, NULL,
			  "the daemon on %s, process %d, cannot be told to end: %s", state_dir, (int)pid,
			  strerror(errno));
		return main_failure(&err);
	}
	kill(pid, SIGCONT); /* a stopped process would not receive the signal */
	if (!end_wait(state_dir, pid)) {
		fprintf(stderr, "trainyard: process %d was told to end, and still runs after %d s\n",
			(int)pid, STOP_WAIT_MS / 1000);
		return EXIT_TIMED_OUT;
	}
	printf("trainyard has ended\n");
	return main_printed();
}

/* ---- status ---- */

/* Prints one line. Control characters in the values are replaced, because the values come from a server. */
enum { NAME_WIDTH = 9 };

static void line_print(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line_print(const char *name, const char *format, ...)
{
	struct text line AUTO_TEXT = { 0 }, wrapped AUTO_TEXT = { 0 };
	va_list values;

	va_start(values, format);
	text_vprintf(&line, format, values);
	va_end(values);
	text_make_harmless(line.data);
	text_wrap(&wrapped, line.data, NAME_WIDTH);
	printf("%-*s%s\n", NAME_WIDTH, name, wrapped.length ? wrapped.data : "");
}

void retention_write(struct text *text, const json_t *retention)
{
	const char *keep = json_text_at(retention, "keep");
	const int64_t most = json_int_at(retention, "maxStateBytes", 0);

	if (!retention)
		return;
	text_puts(text, "jobs");
	if (keep)
		text_printf(text, " for %s after their end", keep);
	if (most) {
		text_puts(text, keep ? ", at most " : " in at most ");
		size_append(text, most);
	}
	text_puts(text, " (");
	size_append(text, json_int_at(retention, "usedBytes", 0));
	text_printf(text, " now, %" PRId64 " removed)", json_int_at(retention, "removedJobs", 0));
}

static void nodes_print(const json_t *nodes)
{
	const json_t *node;
	size_t index;

	json_array_foreach(nodes, index, node) {
		const char *name = json_text_at(node, "name"), *detail = json_text_at(node, "detail");

		line_print(index ? "" : "nodes", "%s: %s%s", name ? name : "",
			   json_true_at(node, "reachable") ? "" : "not reached: ", detail ? detail : "");
	}
}

/* Prints the number of started and waiting jobs: "1 of 20 jobs let in, 3 wait". */
static void queue_print(const json_t *queue)
{
	const json_t *room = json_object_get(queue, "room");
	const int64_t most = json_int_at(room, "maxJobs", 0);
	struct text let_in AUTO_TEXT = { 0 };

	if (!room)
		return;
	text_printf(&let_in, "%" PRId64, json_int_at(room, "jobs", 0));
	if (most)
		text_printf(&let_in, " of %" PRId64, most);
	line_print("queue", "%s jobs let in, %" PRId64 " wait", let_in.data, json_int_at(queue, "waitingCount", 0));
}

/* Prints how many GPUs there are, and how many of them replicas hold: "2, 1 held". */
static void gpus_print(const json_t *gpus)
{
	const json_t *all = json_object_get(gpus, "gpus"), *gpu;
	size_t index, held = 0;

	json_array_foreach(all, index, gpu)
		held += json_array_size(json_object_get(gpu, "holders")) > 0;
	if (json_array_size(all))
		line_print("GPUs", "%zu, %zu held", json_array_size(all), held);
	else if (json_text_at(gpus, "policy"))
		line_print("GPUs", "none");
}

static void status_print(const char *endpoint, const json_t *health)
{
	const json_t *engine = json_object_get(health, "engine"), *nodes = json_object_get(health, "nodes");
	const char *detail = json_text_at(engine, "detail"), *reason = json_text_at(health, "reason");
	const char *version = json_text_at(health, "version"), *instance = json_text_at(health, "instance");
	const int64_t grpc = json_int_at(json_object_get(health, "grpc"), "port", 0);
	struct text keeps AUTO_TEXT = { 0 }, clock AUTO_TEXT = { 0 };

	line_print("daemon", "%s (%s)", endpoint, json_text_at(health, "status"));
	if (version)
		line_print("version", "%s", version);
	if (grpc)
		line_print("gRPC", "port %" PRId64, grpc);
	if (instance)
		line_print("instance", "%s", instance);
	if (nodes)
		nodes_print(nodes);
	else if (engine)
		line_print("engine", "%s%s",
			   json_true_at(engine, "reachable") ? "" : "not reached: ", detail ? detail : "");
	gpus_print(json_object_get(health, "gpus"));
	queue_print(json_object_get(health, "queue"));
	retention_write(&keeps, json_object_get(health, "retention"));
	if (keeps.length)
		line_print("keeps", "%s", keeps.data);
	clock_write(&clock, json_object_get(health, "clock"));
	if (clock.length)
		line_print("clock", "%s%s", clock.data,
			   json_true_at(json_object_get(health, "clock"), "steppable") ? " (steppable)" : "");
	if (reason)
		line_print("problem", "%s", reason);
}

/* Checks that the server is a trainyard, by a request for its clock, which no other program has. *ret_clock stays NULL
 * if the daemon requires a token and this command has none: the daemon then reports only that it is alive. */
static enum status clock_ask(struct client *client, const json_t *health, json_t **ret_clock,
			     struct error *err)
{
	const char *state = json_text_at(health, "status");
	const bool is_state = state && (strcmp(state, "ok") == 0 || strcmp(state, "degraded") == 0);
	enum status rc = is_state ? client_call(client, "GET", "/_trainyard/v1/clock", NULL, ret_clock, err)
				  : STATUS_NOT_FOUND;

	if ((rc == STATUS_UNAUTHENTICATED && !client_has_token(client)) || client_is_unreached(client) ||
	    (!rc && json_text_at(*ret_clock, "now")))
		return STATUS_OK;
	if (rc == STATUS_UNAUTHENTICATED)
		return rc;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "the server at %s is not trainyard",
			 client_endpoint(client));
}

/* Adds the daemon's answers about GPUs and the queue to @health; an answer that fails is left out. */
static void more_ask(struct client *client, json_t *health)
{
	static const char *const names[] = { "gpus", "queue" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		AUTO(string) char *path = memory_printf("/_trainyard/v1/%s", names[i]);
		json_t *answer = NULL;

		if (client_call(client, "GET", path, NULL, &answer, NULL) == STATUS_OK)
			json_object_set_new(health, names[i], answer);
	}
}

static int status_show(const struct invocation *invocation, struct client *client, json_t *health,
		       json_t *clock)
{

	if (clock)
		json_object_set(health, "clock", clock);
	if (clock && !invocation_prints(invocation, "name"))
		more_ask(client, health);
	if (invocation_prints(invocation, "table")) {
		status_print(client_endpoint(client), health);
		if (!clock && !client_has_token(client))
			line_print("token", "required: with --token-file, status shows more");
	} else if (invocation_prints(invocation, "name")) {
		puts(client_endpoint(client));
	} else {
		json_object_set_new(health, "endpoint", json_string(client_endpoint(client)));
		return json_print(health);
	}
	return main_printed();
}

/* Returns true if jobs can run: the engine of at least one node answers. */
static bool has_engine(const json_t *health)
{
	const json_t *node;
	size_t index;

	json_array_foreach(json_object_get(health, "nodes"), index, node)
		if (json_true_at(node, "reachable"))
			return true;
	return strcmp(json_text_at(health, "status"), "ok") == 0;
}

/* Asks the daemon once. *ret_ready: true if it serves and reaches its engine, or if waiting longer cannot help. */
static int status_look(const struct invocation *invocation, struct client *client, bool shows_any,
		       bool *ret_ready)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(json) json_t *health = NULL, *clock = NULL;

	if (client_call(client, "GET", "/healthz", NULL, &health, &err)) {
		if (shows_any)
			ask_failure(client, &err);
		return client_is_unreached(client) ? EXIT_UNREACHED : EXIT_FAILED;
	}
	*ret_ready = false;
	if (clock_ask(client, health, &clock, &err)) {
		*ret_ready = true; /* waiting longer would change nothing */
		return main_failure(&err);
	}
	*ret_ready = has_engine(health);
	return *ret_ready || shows_any ? status_show(invocation, client, health, clock) : EXIT_FAILED;
}

/* With --wait, asks until the daemon answers and reaches its engine, or until that time is over. Each attempt reads the
 * daemon's address again, because a daemon that is starting has not written it yet. */
int status_main(struct invocation *invocation)
{
	struct error err AUTO_ERROR = { 0 };
	const bool waits = invocation_flag(invocation, "wait");
	int64_t limit_us = WAIT_US, end_us;
	bool ready = false, last, is_late;
	int exit_code;

	if (invocation_duration(invocation, "timeout", &limit_us, &err))
		return main_usage_error("status ", &err);
	end_us = clock_mono_us(&system_clock) + limit_us;
	do {
		AUTO(client) struct client *client = NULL;
		const int64_t left_us = end_us - clock_mono_us(&system_clock);

		exit_code = ask_open(invocation, &client);
		if (exit_code)
			return exit_code;
		last = !waits || left_us <= LOOK_MS * INT64_C(1000);
		client_limit(client, limit_us ? left_us : ONE_LOOK_US); /* limit_us 0: the only attempt */
		exit_code = status_look(invocation, client, last, &ready);
		is_late = client_is_late(client);
		if (!ready && !last)
			poll(NULL, 0, LOOK_MS);
	} while (!ready && !last);
	return !ready && (waits || is_late) ? EXIT_TIMED_OUT : exit_code;
}
