/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/base/tree.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"
#include "store/small_file.h"
#include "store/state_folder.h"

enum { LOOK_MS = 50, REOPEN_US = 120000000, SHOW_US = 100000 };

/* A transfer's total number of bytes, and the number transferred so far. */
struct transfer {
	struct state_unpacker *unpacker;
	struct state_packer *packer;
	int64_t bytes, shown_us;
	struct error err; /* error of the part on this machine */
};

static void transfer_show(struct transfer *transfer, size_t length, const char *what)
{
	const int64_t now_us = clock_mono_us(&system_clock);
	struct text size AUTO_TEXT = { 0 };

	transfer->bytes += (int64_t)length;
	if (now_us - transfer->shown_us < SHOW_US)
		return;
	transfer->shown_us = now_us;
	size_append(&size, transfer->bytes);
	progress_show("%s %s", size.data, what);
}

/* ---- export ---- */

static bool archive_take_piece(void *arg, const char *data, size_t length)
{
	struct transfer *transfer = arg;

	transfer_show(transfer, length, "exported");
	return !state_unpacker_take(transfer->unpacker, data, length, &transfer->err);
}

static int archive_read(struct client *client, struct transfer *transfer)
{
	struct error err AUTO_ERROR = { 0 };
	const enum status rc =
		client_read(client, "/_trainyard/v1/state:export", archive_take_piece, transfer, &err);

	progress_clear();
	if (rc)
		return ask_failure(client, &err);
	if (transfer->err.status || state_unpacker_finish(transfer->unpacker, &transfer->err))
		return main_failure(&transfer->err);
	return EXIT_GOOD;
}

/* Downloads the state into the folder @making, which is renamed to @folder once it is complete. */
static int folder_read(struct client *client, const char *folder, const char *making)
{
	AUTO(state_unpacker) struct state_unpacker *unpacker = NULL;
	struct transfer transfer = { 0 };
	struct text size AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	int exit_code;

	if (state_unpacker_open(making, &unpacker, &err))
		return main_failure(&err);
	transfer.unpacker = unpacker;
	exit_code = archive_read(client, &transfer);
	error_deinit(&transfer.err);
	if (exit_code)
		return exit_code;
	if (rename(making, folder) != 0) {
		fprintf(stderr, "trainyard: %s cannot be made: %s\n", folder, strerror(errno));
		tree_remove(making, SIZE_MAX);
		return EXIT_FAILED;
	}
	size_append(&size, transfer.bytes);
	printf("%s of state are in %s\n", size.data, folder);
	return main_printed();
}

/* True for an empty directory, which an export may replace. */
static bool is_empty_directory(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry = NULL;

	if (!directory) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	do
		entry = readdir(directory);
	while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	closedir(directory);
	return !entry;
}

int export_main(struct invocation *invocation)
{
	AUTO(client) struct client *client = NULL;
	AUTO(string) char *folder = memory_strdup(invocation->words[0]);
	char suffix[SMALL_FILE_SUFFIX_SIZE];
	int exit_code;

	for (size_t length = strlen(folder); length > 1 && folder[length - 1] == '/';)
		folder[--length] = '\0';
	if (access(folder, F_OK) == 0 && !is_empty_directory(folder)) {
		fprintf(stderr, "trainyard: %s is there already: name a new folder\n", folder);
		return EXIT_FAILED;
	}
	exit_code = ask_open(invocation, &client);
	if (exit_code)
		return exit_code;
	small_file_suffix(suffix);
	AUTO(string) char *making = memory_printf("%s%s", folder, suffix);
	return folder_read(client, folder, making);
}

/* ---- import ---- */

static ssize_t archive_give(void *arg, char *buffer, size_t size)
{
	struct transfer *transfer = arg;
	const ssize_t length = state_packer_read(transfer->packer, buffer, size, &transfer->err);

	if (length > 0)
		transfer_show(transfer, (size_t)length, "imported");
	return length;
}

static int archive_send(struct client *client, const char *folder, bool replaces, json_t **ret_answer)
{
	AUTO(state_packer) struct state_packer *packer = NULL;
	struct transfer transfer = { 0 };
	struct client_response response AUTO_RESPONSE = { 0 };
	struct error err AUTO_ERROR = { 0 };
	const char *const headers[] = { "Content-Type: application/x-tar", NULL };
	int exit_code = EXIT_GOOD;

	if (state_packer_open(folder, &packer, &err))
		return main_failure(&err);
	transfer.packer = packer;
	if (client_send(client,
			&(struct client_request){ .method = "POST",
						  .path = replaces
								  ? "/_trainyard/v1/state:import?replace=true"
								  : "/_trainyard/v1/state:import",
						  .headers = headers,
						  .give = archive_give,
						  .give_arg = &transfer,
						  .quiet = true },
			&response, &err))
		exit_code = transfer.err.status ? main_failure(&transfer.err) : ask_failure(client, &err);
	progress_clear();
	error_deinit(&transfer.err);
	*ret_answer = json_incref(response.json);
	return exit_code;
}

/* Waits until the daemon serves again after it was reopened: it then reports another run than @run. */
static int reopening_await(struct client *client, const char *run)
{
	const int64_t end_us = clock_mono_us(&system_clock) + REOPEN_US;

	for (;;) {
		struct error err AUTO_ERROR = { 0 };
		AUTO(json) json_t *status = NULL;
		const enum status rc =
			client_call(client, "GET", "/_trainyard/v1/status", NULL, &status, &err);
		const char *now = rc ? NULL : json_text_at(status, "run");
		const char *problem = rc ? NULL : json_text_at(status, "importProblem");

		if (now && strcmp(now, run) != 0) {
			if (problem)
				fprintf(stderr,
					"trainyard: the state cannot be used, and the one before is there again: %s\n",
					problem);
			return problem ? EXIT_FAILED : EXIT_GOOD;
		}
		/* While the daemon closes, calls fail: try again until the time is over. */
		if (clock_mono_us(&system_clock) > end_us) {
			fprintf(stderr,
				"trainyard: the daemon has taken the state, and does not serve yet: its log tells why\n");
			return EXIT_TIMED_OUT;
		}
		poll(NULL, 0, LOOK_MS);
	}
}

static int import_report(const json_t *answer)
{
	const long long jobs = json_int_at(answer, "jobCount", 0),
			objects = json_int_at(answer, "objectCount", 0),
			unfinished = json_int_at(answer, "unfinishedCount", 0);

	printf("imported: %lld job%s, %lld object%s\n", jobs, jobs == 1 ? "" : "s", objects,
	       objects == 1 ? "" : "s");
	if (unfinished)
		printf("%lld of the jobs had not ended and %s again\n", unfinished,
		       unfinished == 1 ? "begins" : "begin");
	return main_printed();
}

/* False: the user says no. */
static bool agreed(const struct client *client, const char *folder)
{
	AUTO(string)
	char *question = memory_printf("Remove all jobs, logs and objects of %s, and put those of %s there?", client_endpoint(client),
				       folder);

	return terminal_agrees(question);
}

int import_main(struct invocation *invocation)
{
	const char *folder = invocation->words[0];
	bool replaces = invocation_flag(invocation, "yes");
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *answer = NULL;
	int exit_code = ask_open(invocation, &client);

	if (exit_code)
		return exit_code;
	if (!replaces && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
		if (!agreed(client, folder))
			return EXIT_FAILED;
		replaces = true;
	}
	exit_code = archive_send(client, folder, replaces, &answer);
	if (!exit_code)
		exit_code = reopening_await(client,
					    json_text_at(answer, "run") ? json_text_at(answer, "run") : "");
	return exit_code ? exit_code : import_report(answer);
}
