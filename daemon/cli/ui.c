/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/ui.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/config_listen.h"
#include "daemon/main.h"

/* FAILS_WITHIN_MS: a program that opens a browser fails within this time; one that runs longer is the browser itself. */
enum { FAILS_WITHIN_MS = 3000, LOOK_MS = 20, EXIT_NO_PROGRAM = 127 };

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* Returns true if a browser can be opened. Without a screen, xdg-open would start one in the terminal, or fail. */
static bool browser_is_likely(void)
{
	static const char *const names[] = { "DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_set(names[i]))
			return true;
	return false;
}

static int opener_main(const char *link)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	execlp("xdg-open", "xdg-open", link, (char *)NULL);
	execlp("open", "open", link, (char *)NULL);
	return EXIT_NO_PROGRAM;
}

/* Asks a browser to show @link; returns true if that succeeded. Other users may read the link in the list of processes
 * meanwhile. */
static bool link_open(const char *link)
{
	int status = 0;
	pid_t pid = browser_is_likely() ? fork() : -1;

	if (pid == 0)
		_exit(opener_main(link));
	if (pid < 0)
		return false;
	for (int waited_ms = 0; waited_ms < FAILS_WITHIN_MS; waited_ms += LOOK_MS) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0;
		poll(NULL, 0, LOOK_MS);
	}
	return true;
}

/* Gets a ticket, which lets the browser in instead of the token; *ret_ticket stays NULL if the daemon requires no token. */
static int ticket_ask(struct client *client, char **ret_ticket)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(json) json_t *answer = NULL;
	const char *ticket;
	enum status rc = client_call(client, "POST", CONSOLE_PATH "ticket", NULL, &answer, &err);

	if (rc == STATUS_NOT_FOUND || rc == STATUS_UNIMPLEMENTED) {
		fprintf(stderr, "trainyard: the daemon at %s was built without the console\n",
			client_endpoint(client));
		return EXIT_FAILED;
	}
	if (rc)
		return ask_failure(client, &err);
	ticket = json_text_at(answer, "ticket");
	if (ticket)
		*ret_ticket = memory_strdup(ticket);
	return EXIT_GOOD;
}

static int link_show(const struct invocation *invocation, const struct client *client,
		     const struct text *page, const char *ticket)
{
	const char *token = ticket ? client_token(client) : NULL;
	struct text link AUTO_TEXT = { 0 };

	text_printf(&link, "%s%s", page->data, ticket ? "#ticket=" : "");
	text_puts(&link, ticket ? ticket : "");
	if (!invocation_flag(invocation, "print") && link_open(link.data)) {
		printf("The browser is asked to show %s\n", page->data);
	} else {
		text_clear(&link);
		text_printf(&link, "%s%s", page->data, token ? "#token=" : "");
		text_percent(&link, token ? token : "", URL_UNRESERVED);
		printf("%s\n", link.data);
	}
	return main_printed();
}

int ui_main(struct invocation *invocation)
{
	AUTO(client) struct client *client = NULL;
	AUTO(string) char *ticket = NULL;
	AUTO(json) json_t *job = NULL;
	struct text page AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	int exit_code = ask_open(invocation, &client);

	if (exit_code)
		return exit_code;
	if (config_listen_path(client_endpoint(client))) {
		error_set(&err, STATUS_INVALID_ARGUMENT, NULL,
			  "the daemon serves at %s, which a browser cannot open: start it with --listen "
			  "127.0.0.1:8090",
			  client_endpoint(client));
		return main_usage_error("ui ", &err);
	}
	exit_code = ticket_ask(client, &ticket);
	if (!exit_code && invocation->words[0])
		exit_code = ask_job(invocation, client, invocation->words[0], &job);
	if (exit_code)
		return exit_code;
	console_address_write(&page, client, job);
	return link_show(invocation, client, &page, ticket);
}
