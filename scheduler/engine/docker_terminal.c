/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_terminal.h"

#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_hijack.h"
#include "scheduler/engine/docker_json.h"

enum {
	COLUMNS = 80,
	ROWS = 24,
	ID_SIZE = 80,
	MARK_BYTES = 12,
	MARK_LETTERS = 2 * MARK_BYTES,
	RESOLVE_STEP_MS = 20,
	WORDS_PATIENCE_MS = 1000,
	TYPING_PATIENCE_MS = 10 * 1000, /* a program on a terminal that reads no input for this time is given up */
	PIPE_PATIENCE_MS = 60 *
		1000, /* the same limit for a program that reads a pipe, which may work for long between two reads */
	FRAME_HEADER_BYTES = 8,
};

#define MARK_NAME "TRAINYARD_TERMINAL="

struct docker_terminal {
	struct terminal terminal; /* must be the first member */
	struct endpoint *endpoint;
	char *container;
	char api_version[16];
	enum terminal_kind kind;
	unsigned patience_ms;
	char id[ID_SIZE]; /* the exec's id */
	char mark[sizeof(MARK_NAME) + MARK_LETTERS];
	struct hijack *hijack;
	bool over; /* the stream has ended; set by the reader, and read by close() after the reader's end */
};

static void terminal_free(struct docker_terminal *terminal)
{
	hijack_close(terminal->hijack);
	endpoint_close(terminal->endpoint);
	free(terminal->container);
	free(terminal);
}

DEFINE_AUTO(terminal, struct docker_terminal *, terminal_free)

static struct docker_terminal *of(struct terminal *terminal)
{
	return (struct docker_terminal *)terminal;
}

/* ---- requests to the engine ---- */

static struct hijack_request request_of(const struct docker_terminal *terminal, const char *method,
					const char *path, const char *body)
{
	return (struct hijack_request){ .endpoint = terminal->endpoint,
					.method = method,
					.path = path,
					.body = body,
					.patience_ms = terminal->patience_ms };
}

/* Sets *err from a refusal of the engine. With @starting, every error that is not about the container or the engine
 * is about the program: FAILED_PRECONDITION. */
static enum status refused(unsigned code, const struct text *body, bool starting, struct error *err)
{
	char words[DOCKER_TEXT_SIZE];
	enum status status = docker_code_status(code);

	docker_message(body->data ? body->data : "", body->length, words);
	/* Podman answers 500 if the container does not run. */
	if (code == 500 && strstr(words, "state improper"))
		status = STATUS_FAILED_PRECONDITION;
	if (starting && (status == STATUS_INVALID_ARGUMENT || status == STATUS_INTERNAL))
		status = STATUS_FAILED_PRECONDITION;
	return error_set(err, status, NULL, "%s", words);
}

/* Creates an exec in the container, and writes its id to @id. */
static enum status exec_create(const struct docker_terminal *terminal, const json_t *body, char id[ID_SIZE],
			       struct error *err)
{
	AUTO(string) char *text = json_dump_compact(body);
	struct text answer AUTO_TEXT = { 0 };
	char path[DOCKER_PATH_SIZE];
	unsigned code = 0;
	enum status rc;

	snprintf(path, sizeof(path), "/v%s/containers/%s/exec", terminal->api_version, terminal->container);
	struct hijack_request request = request_of(terminal, "POST", path, text);
	rc = hijack_ask(&request, &code, &answer, err);
	if (rc)
		return rc;
	if (code >= 300)
		return refused(code, &answer, false, err);
	AUTO(json)
	json_t *made = docker_parse(answer.data ? answer.data : "", answer.length, JSON_OBJECT);
	const char *made_id = json_text_at(made, "Id");

	/* The id becomes part of request paths, so only hexadecimal digits are accepted. */
	if (!made_id || !made_id[0] || strlen(made_id) >= ID_SIZE ||
	    made_id[strspn(made_id, "0123456789abcdef")])
		return error_set(err, STATUS_INTERNAL, NULL,
				 "the engine's answer to an exec cannot be understood");
	snprintf(id, ID_SIZE, "%s", made_id);
	return STATUS_OK;
}

static void exec_path(const struct docker_terminal *terminal, const char *id, const char *suffix,
		      char path[DOCKER_PATH_SIZE])
{
	snprintf(path, DOCKER_PATH_SIZE, "/v%s/exec/%s%s", terminal->api_version, id, suffix);
}

/* ---- opening ---- */

static void exec_resize(const struct docker_terminal *terminal, unsigned columns, unsigned rows)
{
	struct text answer AUTO_TEXT = { 0 };
	char path[DOCKER_PATH_SIZE], suffix[64];
	unsigned code;

	snprintf(suffix, sizeof(suffix), "/resize?h=%u&w=%u", rows, columns);
	exec_path(terminal, terminal->id, suffix, path);
	struct hijack_request request = request_of(terminal, "POST", path, NULL);
	hijack_ask(&request, &code, &answer, NULL); /* the answer is ignored: a program that has ended has no size */
}

enum progress { PROGRESS_UNKNOWN, PROGRESS_STARTED, PROGRESS_REFUSED };

/* A program that could not be started has an exit code and never had a pid. */
static enum progress exec_inspect(const struct docker_terminal *terminal)
{
	struct text answer AUTO_TEXT = { 0 };
	char path[DOCKER_PATH_SIZE];
	unsigned code = 0;

	exec_path(terminal, terminal->id, "/json", path);
	struct hijack_request request = request_of(terminal, "GET", path, NULL);
	if (hijack_ask(&request, &code, &answer, NULL) || code != 200)
		return PROGRESS_STARTED; /* without an answer, the program counts as started: its stream then shows the
					  * result */
	AUTO(json)
	json_t *exec = docker_parse(answer.data ? answer.data : "", answer.length, JSON_OBJECT);

	if (json_int_at(exec, "Pid", 0) > 0)
		return PROGRESS_STARTED;
	return json_is_integer(json_object_get(exec, "ExitCode")) ? PROGRESS_REFUSED : PROGRESS_UNKNOWN;
}

/* If a program could not be started, its stream has the runtime's error text instead of its output. */
static enum status words_read(struct docker_terminal *terminal, struct error *err)
{
	int64_t until_us = clock_mono_us(&system_clock) + WORDS_PATIENCE_MS * INT64_C(1000);
	char words[DOCKER_TEXT_SIZE], text[DOCKER_TEXT_SIZE];
	size_t length = 0;
	ssize_t got = 0;

	while (got >= 0 && length < sizeof(words) - 1 && clock_mono_us(&system_clock) < until_us) {
		got = hijack_read(terminal->hijack, words + length, sizeof(words) - 1 - length,
				  RESOLVE_STEP_MS);
		length += got > 0 ? (size_t)got : 0;
	}
	words[length] = '\0';
	/* Without a terminal the error text may have a frame's header in front. */
	if (length > FRAME_HEADER_BYTES && words[0] > 0 && words[0] < ' ' && !words[1]) {
		length -= FRAME_HEADER_BYTES;
		memmove(words, words + FRAME_HEADER_BYTES, length + 1);
	}
	docker_message(words, length, text);
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s", text);
}

/* Waits until the program has started or was refused: the stream opens before that. With a screen, one look is enough,
 * because engines answer a resize only after they have tried the start; otherwise the look is repeated until there is
 * some output. */
static enum status start_resolve(struct docker_terminal *terminal, struct error *err)
{
	int64_t until_us = clock_mono_us(&system_clock) + terminal->patience_ms * INT64_C(1000);
	bool output = false;

	if (terminal->kind == TERMINAL_SCREEN)
		exec_resize(terminal, COLUMNS, ROWS);
	for (;;) {
		enum progress progress = exec_inspect(terminal);

		if (progress == PROGRESS_REFUSED)
			return words_read(terminal, err);
		if (progress == PROGRESS_STARTED || output)
			return STATUS_OK;
		if (clock_mono_us(&system_clock) >= until_us)
			return error_set(err, STATUS_UNAVAILABLE, NULL,
					 "the engine did not start the program in time");
		output = hijack_wait(terminal->hijack, RESOLVE_STEP_MS);
	}
}

static enum status exec_start(struct docker_terminal *terminal, struct error *err)
{
	struct text answer AUTO_TEXT = { 0 };
	char path[DOCKER_PATH_SIZE];
	unsigned code = 0;
	enum status rc;

	exec_path(terminal, terminal->id, "/start", path);
	struct hijack_request request =
		request_of(terminal, "POST", path,
			   terminal->kind == TERMINAL_SCREEN ? "{\"Detach\":false,\"Tty\":true}"
							     : "{\"Detach\":false,\"Tty\":false}");
	rc = hijack_open(&request, &terminal->hijack, &code, &answer, err);
	if (rc)
		return rc;
	if (terminal->hijack)
		return start_resolve(terminal, err);
	return refused(code, &answer, true, err);
}

/* An engine ends the session at certain keys, ctrl-p ctrl-q by default, and holds back input that may be their
 * beginning. This cannot be switched off, so other keys are set here, which users do not type.
 * Source: https://docs.docker.com/reference/api/engine/ (ExecConfig, DetachKeys) */
#define DETACH_FIRST "ctrl-^"
enum { DETACH_SIZE = sizeof(DETACH_FIRST) + MARK_LETTERS + MARK_LETTERS };

static void detach_keys_write(const struct docker_terminal *terminal, char keys[DETACH_SIZE])
{
	const char *random = terminal->mark + strlen(MARK_NAME);
	size_t length = strlen(DETACH_FIRST);

	memcpy(keys, DETACH_FIRST, length);
	for (; *random; random++, length += 2) {
		keys[length] = ',';
		keys[length + 1] = *random;
	}
	keys[length] = '\0';
}

static json_t *terminal_body(const struct docker_terminal *terminal, const json_t *command)
{
	char keys[DETACH_SIZE];

	if (terminal->kind == TERMINAL_PIPES)
		return json_pack("{sb sb sb sb sO s[s]}", "AttachStdin", 1, "AttachStdout", 1, "AttachStderr",
				 1, "Tty", 0, "Cmd", command, "Env", terminal->mark);
	detach_keys_write(terminal, keys);
	return json_pack("{sb sb sb sb ss sO s[ss]}", "AttachStdin", 1, "AttachStdout", 1, "AttachStderr", 1,
			 "Tty", 1, "DetachKeys", keys, "Cmd", command, "Env", "TERM=xterm", terminal->mark);
}

/* ---- the terminal ---- */

static ssize_t op_read(struct terminal *terminal, char *buffer, size_t size, unsigned timeout_ms)
{
	ssize_t got = hijack_read(of(terminal)->hijack, buffer, size, timeout_ms);

	if (got < 0)
		of(terminal)->over = true;
	return got;
}

static bool op_write(struct terminal *terminal, const char *data, size_t length)
{
	return hijack_write(of(terminal)->hijack, data, length,
			    of(terminal)->kind == TERMINAL_PIPES ? PIPE_PATIENCE_MS : TYPING_PATIENCE_MS);
}

static void op_end_input(struct terminal *terminal)
{
	hijack_end_writing(of(terminal)->hijack);
}

static void op_resize(struct terminal *terminal, unsigned columns, unsigned rows)
{
	exec_resize(of(terminal), columns, rows);
}

static int op_exit_code(struct terminal *terminal)
{
	int64_t until_us = clock_mono_us(&system_clock) + WORDS_PATIENCE_MS * INT64_C(1000);

	/* The stream may end a moment before the engine has recorded the program's end, so this asks until it has,
	 * for a limited time. */
	for (;;) {
		struct text answer AUTO_TEXT = { 0 };
		char path[DOCKER_PATH_SIZE];
		unsigned code = 0;

		exec_path(of(terminal), of(terminal)->id, "/json", path);
		struct hijack_request request = request_of(of(terminal), "GET", path, NULL);
		if (hijack_ask(&request, &code, &answer, NULL) || code != 200)
			return -1;
		AUTO(json)
		json_t *exec = docker_parse(answer.data ? answer.data : "", answer.length, JSON_OBJECT);

		if (!json_true_at(exec, "Running"))
			return (int)json_int_at(exec, "ExitCode", -1);
		if (clock_mono_us(&system_clock) >= until_us)
			return -1;
		poll(NULL, 0, RESOLVE_STEP_MS);
	}
}

/* The script that ends marked processes; $1 is the mark. It uses only commands that every sh has: read skips the
 * zero bytes between the variables of /proc/PID/environ. */
static const char hangup_script[] =
	"end() {\n"
	"	for at in /proc/[0-9]*; do\n"
	"		while read -r line || [ \"$line\" ]; do\n"
	"			case $line in *\"$2\"*) kill -s \"$1\" \"${at#/proc/}\"; break ;; esac\n"
	"		done <\"$at/environ\"\n"
	"	done\n"
	"}\n"
	"end HUP \"$1\"\n"
	"sleep 1\n"
	"end KILL \"$1\"\n";

/* Starts a second program that ends the processes left running. Returns without waiting for that program's end. */
static enum status terminal_hang_up(const struct docker_terminal *terminal, struct error *err)
{
	AUTO(json)
	json_t *body = json_pack("{s[sssss]}", "Cmd", "sh", "-c", hangup_script, "sh", terminal->mark);
	struct text answer AUTO_TEXT = { 0 };
	char id[ID_SIZE], path[DOCKER_PATH_SIZE];
	unsigned code = 0;
	enum status rc = exec_create(terminal, body, id, err);

	if (rc)
		return rc;
	exec_path(terminal, id, "/start", path);
	struct hijack_request request = request_of(terminal, "POST", path, "{\"Detach\":true}");
	rc = hijack_ask(&request, &code, &answer, err);
	return rc || code < 300 ? rc : refused(code, &answer, false, err);
}

static void op_close(struct terminal *terminal)
{
	AUTO(terminal) struct docker_terminal *closed = of(terminal);
	struct error err AUTO_ERROR = { 0 };
	enum status rc = closed->over ? STATUS_OK : terminal_hang_up(closed, &err);

	/* If the container is gone or stopped, so is the program. */
	if (!rc || rc == STATUS_NOT_FOUND || rc == STATUS_FAILED_PRECONDITION)
		return;
	hijack_write(closed->hijack, "\x03\x04", 2, 0);
	log_event(LOG_WARNING, "terminal-not-ended", "container=%s status=%s error=\"%s\"", closed->container,
		  status_name(rc), err.text);
}

static const struct terminal_ops ops = {
	.read = op_read,
	.write = op_write,
	.end_input = op_end_input,
	.resize = op_resize,
	.exit_code = op_exit_code,
	.close = op_close,
};

static void mark_make(struct docker_terminal *terminal)
{
	unsigned char random[MARK_BYTES];

	randombytes_buf(random, sizeof(random));
	memcpy(terminal->mark, MARK_NAME, strlen(MARK_NAME));
	sodium_bin2hex(terminal->mark + strlen(MARK_NAME), 2 * sizeof(random) + 1, random, sizeof(random));
}

enum status docker_terminal_open(const struct terminal_target *place, const json_t *command,
				 enum terminal_kind kind, struct terminal **ret_terminal, struct error *err)
{
	AUTO(terminal) struct docker_terminal *terminal = memory_calloc(1, sizeof(*terminal));
	enum status rc;

	terminal->terminal.ops = &ops;
	terminal->kind = kind;
	terminal->patience_ms = place->patience_ms;
	terminal->endpoint = endpoint_hold(place->endpoint);
	terminal->container = memory_strdup(place->container);
	snprintf(terminal->api_version, sizeof(terminal->api_version), "%s", place->api_version);
	mark_make(terminal);
	AUTO(json) json_t *body = terminal_body(terminal, command);
	rc = exec_create(terminal, body, terminal->id, err);
	if (!rc)
		rc = exec_start(terminal, err);
	if (rc == STATUS_UNAVAILABLE && terminal->hijack)
		terminal_hang_up(terminal, NULL); /* ends the program, which may have been started in spite of the error */
	if (rc)
		return rc;
	*ret_terminal = &TAKE(terminal)->terminal;
	return STATUS_OK;
}
