/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/shell.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "api/emulator/job_shell.h"
#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/main.h"

enum { SESSION_BYTES = 16, TYPED_BYTES = 64 << 10, SIGNALLED = 128, EXIT_DIGITS = 8 };

#define SHELLS "/_trainyard/v1/shells/"

struct shell {
	struct client *typing; /* the typing thread's */
	char session[2 * SESSION_BYTES + 1];
	bool is_terminal;
	/* The header of the frame that is being read. */
	unsigned char header[SHELL_FRAME_HEADER_BYTES];
	size_t header_length, left;
	char exit_digits[EXIT_DIGITS];
	size_t exit_length;
	bool broken; /* the answer does not consist of frames, or its output cannot be printed */
	pthread_t thread;
	bool has_thread;
	int wake[2]; /* pipe to the typing thread: a byte means a new window size, its end means that the program has
	              * ended */
};

/* ---- the user's terminal ---- */

static struct termios cooked;
static atomic_bool is_raw;
static int wake_fd = -1; /* for on_resize() */

static void terminal_restore(void)
{
	if (atomic_exchange(&is_raw, false))
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &cooked);
}

static void on_end(int number)
{
	terminal_restore();
	_exit(SIGNALLED + number);
}

static void on_resize(int number)
{
	const int before = errno;

	(void)number;
	if (write(wake_fd, "", 1) < 0)
		errno = before;
	errno = before;
}

/* Sets the terminal to raw mode, so that the program in the container gets every key, Ctrl-C too. */
static void terminal_take(void)
{
	struct sigaction end = { .sa_handler = on_end };
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &cooked) != 0)
		return;
	raw = cooked;
	cfmakeraw(&raw);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) == 0)
		atomic_store(&is_raw, true);
}

static bool size_read(struct winsize *ret_size)
{
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, ret_size) == 0 && ret_size->ws_col && ret_size->ws_row;
}

/* ---- input ---- */

static bool typed_send(struct shell *shell, const char *data, size_t length)
{
	static const char *const headers[] = { "Content-Type: application/octet-stream", NULL };
	struct client_response response AUTO_RESPONSE = { 0 };
	struct text path AUTO_TEXT = { 0 };

	text_printf(&path, SHELLS "%s:input%s", shell->session, length ? "" : "?end=true");
	return client_send(shell->typing,
			   &(struct client_request){ .method = "POST",
						     .path = path.data,
						     .headers = headers,
						     .body = data,
						     .body_bytes = length },
			   &response, NULL) == STATUS_OK;
}

static void size_send(struct shell *shell)
{
	struct text path AUTO_TEXT = { 0 };
	struct winsize size;

	if (!size_read(&size))
		return;
	text_printf(&path, SHELLS "%s:resize?columns=%u&rows=%u", shell->session, size.ws_col, size.ws_row);
	client_call(shell->typing, "POST", path.data, NULL, NULL, NULL);
}

/* Sends typed bytes until the program has ended or accepts no more input. */
static void *typing_run(void *arg)
{
	struct shell *shell = arg;
	struct pollfd wanted[] = { { shell->wake[0], POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };
	char *data = memory_alloc(TYPED_BYTES);

	for (;;) {
		ssize_t got;

		if (poll(wanted, 2, -1) < 0)
			continue;
		if (wanted[0].revents) {
			if (read(shell->wake[0], data, TYPED_BYTES) <= 0)
				break;
			size_send(shell);
		}
		if (!wanted[1].revents)
			continue;
		got = read(STDIN_FILENO, data, TYPED_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (!typed_send(shell, data, got > 0 ? (size_t)got : 0) || got <= 0)
			wanted[1].fd = -1;
	}
	free(data);
	return NULL;
}

static void typing_start(struct shell *shell)
{
	struct sigaction resize = { .sa_handler = on_resize, .sa_flags = SA_RESTART };

	if (shell->has_thread || pipe(shell->wake) != 0)
		return;
	if (shell->is_terminal) {
		wake_fd = shell->wake[1];
		terminal_take();
		sigaction(SIGWINCH, &resize, NULL);
	}
	shell->has_thread = pthread_create(&shell->thread, NULL, typing_run, shell) == 0;
	shell->broken = !shell->has_thread;
}

static void typing_end(struct shell *shell)
{
	if (!shell->has_thread)
		return;
	signal(SIGWINCH, SIG_DFL);
	close(shell->wake[1]);
	pthread_join(shell->thread, NULL);
	close(shell->wake[0]);
}

/* ---- output ---- */

static bool all_write(int fd, const char *data, size_t length)
{
	while (length) {
		const ssize_t written = write(fd, data, length);

		if (written < 0 && errno != EINTR)
			return false;
		data += written > 0 ? written : 0;
		length -= written > 0 ? (size_t)written : 0;
	}
	return true;
}

static bool piece_take(struct shell *shell, const char *data, size_t length)
{
	switch (shell->header[0]) {
	case SHELL_FRAME_OUT:
		return all_write(STDOUT_FILENO, data, length);
	case SHELL_FRAME_ERR:
		return all_write(STDERR_FILENO, data, length);
	case SHELL_FRAME_EXIT:
		if (shell->exit_length + length >= EXIT_DIGITS)
			return false;
		memcpy(shell->exit_digits + shell->exit_length, data, length);
		shell->exit_length += length;
		return true;
	default:
		return false;
	}
}

static void header_take(struct shell *shell, char byte)
{
	shell->header[shell->header_length++] = (unsigned char)byte;
	if (shell->header_length < SHELL_FRAME_HEADER_BYTES)
		return;
	for (int i = 4; i < SHELL_FRAME_HEADER_BYTES; i++)
		shell->left = shell->left << 8 | shell->header[i];
	if (shell->header[0] == SHELL_FRAME_OPEN)
		typing_start(shell);
	if (!shell->left)
		shell->header_length = 0;
}

static bool frames_take(void *arg, const char *data, size_t length)
{
	struct shell *shell = arg;

	while (length && !shell->broken) {
		const size_t piece = length < shell->left ? length : shell->left;

		if (shell->header_length < SHELL_FRAME_HEADER_BYTES) {
			header_take(shell, *data++);
			length--;
			continue;
		}
		shell->broken = !piece_take(shell, data, piece);
		data += piece;
		length -= piece;
		shell->left -= piece;
		if (!shell->left)
			shell->header_length = 0;
	}
	return !shell->broken;
}

/* ---- the command ---- */

/* Returns the slash in "JOB/worker-1"; NULL: @word names no replica. A replica's name ends with a dash and a number; the
 * last part of a job's name after a slash does not. */
static const char *replica_of(const char *word)
{
	const char *slash = strrchr(word, '/'), *dash = slash ? strrchr(slash, '-') : NULL;

	return dash && dash[1] && !dash[1 + strspn(dash + 1, "0123456789")] ? slash : NULL;
}

static enum status request_make(const struct invocation *invocation, const struct shell *shell,
				json_t **ret_body, struct error *err)
{
	const char *slash = replica_of(invocation->words[0]);
	AUTO(json)
	json_t *body = json_pack("{s:s, s:b}", "session", shell->session, "terminal", shell->is_terminal);
	struct winsize size;
	int64_t trial = 0;
	enum status rc = invocation_number(invocation, "trial", 1, &trial, err);

	if (rc)
		return rc;
	if (slash == invocation->words[0])
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "JOB is empty");
	if (slash)
		json_object_set_new(body, "replica", json_string(slash + 1));
	if (trial)
		json_object_set_new(body, "trial", json_integer(trial));
	if (invocation->command && *invocation->command) {
		json_t *command = json_array();

		for (const char *const *word = invocation->command; *word; word++)
			json_array_append_new(command, json_string(*word));
		json_object_set_new(body, "command", command);
	}
	if (shell->is_terminal && size_read(&size)) {
		json_object_set_new(body, "columns", json_integer(size.ws_col));
		json_object_set_new(body, "rows", json_integer(size.ws_row));
	}
	*ret_body = TAKE(body);
	return STATUS_OK;
}

static int shell_exit(const struct shell *shell)
{
	if (shell->exit_length)
		return (int)strtol(shell->exit_digits, NULL, 10);
	fputs("trainyard: the replica or the daemon ended before the program\n", stderr);
	return EXIT_FAILED;
}

static int shell_run(const struct invocation *invocation, struct client *client, struct shell *shell,
		     const json_t *body)
{
	static const char *const headers[] = { "Content-Type: application/json", NULL };
	const char *word = invocation->words[0], *slash = replica_of(word);
	const char *project = invocation_value(invocation, "project");
	AUTO(string) char *job = memory_strndup(word, slash ? (size_t)(slash - word) : strlen(word));
	AUTO(string) char *text = json_dumps(body, JSON_COMPACT);
	struct client_response response AUTO_RESPONSE = { 0 };
	struct error err AUTO_ERROR = { 0 };
	struct text path AUTO_TEXT = { 0 };
	enum status rc;

	job_path_write(&path, job, project ? ":shell?project=" : ":shell");
	text_percent(&path, project ? project : "", URL_UNRESERVED);
	rc = client_send(client,
			 &(struct client_request){ .method = "POST",
						   .path = path.data,
						   .headers = headers,
						   .body = text,
						   .body_bytes = strlen(text),
						   .take = frames_take,
						   .arg = shell,
						   .quiet = true },
			 &response, &err);
	typing_end(shell);
	terminal_restore();
	if (shell->has_thread)
		return shell_exit(shell);
	if (rc == STATUS_NOT_FOUND && !slash && strchr(word, '/')) {
		error_deinit(&err);
		error_set(&err, STATUS_NOT_FOUND, NULL,
			  "\"%s\" names no job, and no replica as in JOB/worker-1 or JOB/workerpool0-0: trainyard "
			  "describe JOB lists the replicas",
			  word);
	}
	return rc && ask_failure(client, &err) == EXIT_UNREACHED ? EXIT_UNREACHED : EXIT_NOT_STARTED;
}

int shell_main(struct invocation *invocation)
{
	AUTO(client) struct client *client = NULL;
	AUTO(client) struct client *typing = NULL;
	AUTO(json) json_t *body = NULL;
	struct error err AUTO_ERROR = { 0 };
	struct shell shell = { .is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) };
	unsigned char random[SESSION_BYTES];
	int exit_code;

	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(shell.session, sizeof(shell.session), random, sizeof(random));
	if (request_make(invocation, &shell, &body, &err))
		return main_usage_error("shell ", &err);
	exit_code = ask_open(invocation, &client);
	if (!exit_code)
		exit_code = ask_open(invocation, &typing);
	shell.typing = typing;
	return exit_code ? exit_code : shell_run(invocation, client, &shell, body);
}
