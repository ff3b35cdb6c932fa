/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/env.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/address_file.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/cli/invocation.h"
#include "daemon/config.h"
#include "daemon/config_listen.h"
#include "daemon/credentials.h"
#include "daemon/main.h"

enum { CONNECT_MS = 1000 };

/* The beginning of a variable's value. */
enum part {
	PART_TEXT,
	PART_PROJECT,
	PART_REGION,
	PART_URL,
	PART_STORAGE_URL,
	PART_CREDENTIALS,
	PART_GRPC_ENDPOINT,
	PART_GRPC_ROOTS,
	PART_ANONYMOUS,
	PART_TOKEN_FILE,
	PART_NO_PROXY,
};

/* gcloud reads CLOUDSDK_<SECTION>_<PROPERTY>. The override of an endpoint must end with a slash, and without a token
 * file, credentials must be disabled: otherwise gcloud gives up or asks Google.
 * Source: `gcloud topic configurations` (read 2026-11-20) */
static const struct {
	const char *name;
	enum part part;
	const char *tail; /* PART_TEXT: the value; else the text after the part */
} variables[] = {
	{ "CLOUDSDK_CORE_PROJECT", PART_PROJECT, "" },
	{ "CLOUDSDK_AUTH_DISABLE_CREDENTIALS", PART_ANONYMOUS, "" },
	{ "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", PART_TOKEN_FILE, "" },
	{ "CLOUDSDK_CORE_DISABLE_PROMPTS", PART_TEXT, "1" },
	{ "CLOUDSDK_API_ENDPOINT_OVERRIDES_ML", PART_URL, "/" },
	{ "CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM", PART_URL, "/" },
	{ "CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING", PART_URL, "/" },
	{ "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", PART_STORAGE_URL, "/storage/v1/" },
	{ "CLOUDSDK_COMPUTE_REGION", PART_REGION, "" },
	{ "CLOUDSDK_AI_REGION", PART_REGION, "" },
	/* `submit --stream-logs` asks for new lines this often; gcloud's own default is a minute. */
	{ "CLOUDSDK_ML_ENGINE_POLLING_INTERVAL", PART_TEXT, "6" },
	{ "GOOGLE_CLOUD_PROJECT", PART_PROJECT, "" },
	/* The variable in which client libraries first look for credentials. Source: https://google.aip.dev/auth/4110
	 * (read 2026-11-22) */
	{ "GOOGLE_APPLICATION_CREDENTIALS", PART_CREDENTIALS, "" },
	/* The certificates that gRPC's libraries trust instead of the machine's own; the file contains those too.
	 * Source: https://github.com/grpc/grpc/blob/master/doc/environment_variables.md (read 2026-11-22) */
	{ "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", PART_GRPC_ROOTS, "" },
	/* The same file for the Python package requests, with which Google's libraries call REST at the same host.
	 * Source: https://requests.readthedocs.io/en/latest/user/advanced/ (read 2026-11-22) */
	{ "REQUESTS_CA_BUNDLE", PART_GRPC_ROOTS, "" },
	/* The first is read by the libraries for Cloud Storage, such as gcsfs; the second by Google's C++ library for
	 * it, which Arrow contains.
	 * Source: the libraries' own code: google-cloud-storage 3.17 (_helpers.py), @google-cloud/storage 7.16
	 * (storage.ts), google-cloud-cpp 2.30 (client_options.cc) */
	{ "STORAGE_EMULATOR_HOST", PART_STORAGE_URL, "" },
	{ "CLOUD_STORAGE_EMULATOR_ENDPOINT", PART_STORAGE_URL, "" },
	/* Since 2026, gcsfs asks one of Google's servers by gRPC of what kind each bucket is, and waits for the answer.
	 * Source: its code, version 2026.10 (__init__.py) */
	{ "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", PART_TEXT, "false" },
	/* The API endpoint, for programs that build a client themselves. */
	{ "TRAINYARD_ENDPOINT", PART_URL, "" },
	{ "TRAINYARD_GRPC_ENDPOINT", PART_GRPC_ENDPOINT, "" },
	{ "TRAINYARD_TOKEN_FILE", PART_TOKEN_FILE, "" }, /* read by trainyard's own commands */
	{ "NO_PROXY", PART_NO_PROXY, "" },
	{ "no_proxy", PART_NO_PROXY, "" },
};

static const char *part_value(const struct env_settings *settings, enum part part)
{
	switch (part) {
	case PART_TEXT:
		return "";
	case PART_PROJECT:
		return settings->project;
	case PART_REGION:
		return settings->region;
	case PART_URL:
		return settings->url;
	case PART_STORAGE_URL:
		return settings->storage_url ? settings->storage_url : settings->url;
	case PART_CREDENTIALS:
		return settings->credentials;
	case PART_GRPC_ENDPOINT:
		return settings->grpc_endpoint;
	case PART_GRPC_ROOTS:
		return settings->grpc_roots;
	case PART_ANONYMOUS:
		return settings->token_file ? "false" : "true";
	case PART_TOKEN_FILE:
		return settings->token_file;
	case PART_NO_PROXY:
		return settings->no_proxy;
	}
	return "";
}

/* Quotes a value for fish, in which a backslash precedes each quote and each backslash. */
static void quote_fish(struct text *text, const char *value)
{
	if (shell_word_is_plain(value)) {
		text_puts(text, value);
		return;
	}
	text_putc(text, '\'');
	for (; *value; value++) {
		if (*value == '\'' || *value == '\\')
			text_putc(text, '\\');
		text_putc(text, *value);
	}
	text_putc(text, '\'');
}

static void line_write(struct text *text, enum shell shell, const char *name, const char *value)
{
	switch (shell) {
	case SHELL_SH:
		text_printf(text, "export %s=", name);
		text_shell_word(text, value);
		break;
	case SHELL_FISH:
		text_printf(text, "set -gx %s ", name);
		quote_fish(text, value);
		break;
	case SHELL_GITHUB:
		text_printf(text, "%s=%s", name, value);
		break;
	}
	text_putc(text, '\n');
}

static void unset_write(struct text *text, enum shell shell, const char *name)
{
	switch (shell) {
	case SHELL_SH:
		text_printf(text, "unset %s\n", name);
		break;
	case SHELL_FISH:
		text_printf(text, "set -e %s\n", name);
		break;
	case SHELL_GITHUB:
		text_printf(text, "%s=\n", name); /* GitHub cannot unset a workflow's variable, only empty it */
		break;
	}
}

/* Writes the reason as a comment line, except for GitHub, where the file of variables has no comments. */
static void reason_write(struct text *text, const struct env_settings *settings)
{
	if (settings->shell == SHELL_GITHUB)
		return;
	text_puts(text, "# no credentials file: ");
	for (const char *at = settings->no_credentials; *at; at++)
		text_putc(text, (char)((unsigned char)*at < ' ' ? ' ' : *at));
	text_putc(text, '\n');
}

void env_each(const struct env_settings *settings,
	      void (*take)(void *arg, const char *name, const char *value), void *arg)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *part = part_value(settings, variables[i].part);
		struct text value AUTO_TEXT = { 0 };

		if (!part && variables[i].part == PART_NO_PROXY)
			continue; /* the user's own value stays as it is */
		text_printf(&value, "%s%s", part ? part : "", variables[i].tail);
		take(arg, variables[i].name, part ? value.data : NULL);
	}
}

struct env_lines {
	struct text *text;
	enum shell shell;
};

static void line_add(void *arg, const char *name, const char *value)
{
	const struct env_lines *lines = arg;

	if (value)
		line_write(lines->text, lines->shell, name, value);
}

void env_write(struct text *text, const struct env_settings *settings)
{
	for (size_t i = 0; settings->unset && i < sizeof(variables) / sizeof(variables[0]); i++)
		/* NO_PROXY stays set: it may contain the user's own hosts, and the added ones do no harm. */
		if (variables[i].part != PART_NO_PROXY)
			unset_write(text, settings->shell, variables[i].name);
	if (settings->unset)
		return;
	env_each(settings, line_add, &(struct env_lines){ text, settings->shell });
	if (!settings->credentials && settings->no_credentials)
		reason_write(text, settings);
}

static bool list_has(const char *list, const char *entry)
{
	const size_t length = strlen(entry);

	for (const char *at = list; (at = strstr(at, entry)); at += length)
		if ((at == list || at[-1] == ',' || at[-1] == ' ') &&
		    (at[length] == '\0' || at[length] == ',' || at[length] == ' '))
			return true;
	return false;
}

char *no_proxy_extend(const char *own)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	struct text list AUTO_TEXT = { 0 };

	text_puts(&list, own ? own : "");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!list_has(list.data, names[i]))
			text_printf(&list, "%s%s", list.length ? "," : "", names[i]);
	return text_take(&list);
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

static bool proxy_is_set(void)
{
	static const char *const names[] = { "HTTP_PROXY",  "http_proxy", "HTTPS_PROXY",
					     "https_proxy", "ALL_PROXY",  "all_proxy" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_set(names[i]))
			return true;
	return false;
}

/* The value of NO_PROXY with the daemon's host; the caller frees it. NULL: no proxy is set, or the user's list has a
 * line end, which no line of output can hold. */
static char *no_proxy_value(void)
{
	const char *own = getenv("NO_PROXY") ? getenv("NO_PROXY") : getenv("no_proxy");

	if (!proxy_is_set() || (own && strpbrk(own, "\r\n")))
		return NULL;
	return no_proxy_extend(own);
}

/* Reads the daemon's address file; one that a killed daemon left counts as none. */
static void running_read(const char *state_dir, struct address *ret_running)
{
	address_file_read(state_dir, ret_running);
	if (!ret_running->is_outdated)
		return;
	address_deinit(ret_running);
	*ret_running = (struct address){ 0 };
}

/* Chooses the daemon's URL: the one that the user gave, else the one in the daemon's address file, else the default. */
static enum status url_choose(const struct config *config, char **ret_url, struct error *err)
{
	struct address running AUTO_ADDRESS = { 0 };
	struct text url AUTO_TEXT = { 0 };
	char address[LISTEN_ADDRESS_SIZE];
	uint16_t port;

	running_read(config->state_dir, &running);
	if (config_listen_path(config->listen) ||
	    (running.url && config->listen_source == CONFIG_DEFAULT && config_listen_path(running.url)))
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"this instance serves at the path of a unix socket, which gcloud and the client "
			"libraries cannot use: give serve a --listen ADDRESS:PORT");
	config_listen_split(config->listen, address, &port);
	if (running.url && (config->listen_source == CONFIG_DEFAULT || port == 0)) {
		*ret_url = TAKE(running.url);
		return STATUS_OK;
	}
	if (port == 0)
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"--listen has port 0, which means any free port, and no daemon has written its port "
			"into %s/address yet",
			config->state_dir);
	config_url_write(&url, address, port);
	*ret_url = text_take(&url);
	return STATUS_OK;
}

static bool connects(const char *address, uint16_t port)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	const bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
	int fd, problem = 0;
	socklen_t size = sizeof(problem);
	struct pollfd polled;
	bool good;

	inet_pton(AF_INET6, address, &v6.sin6_addr);
	fd = socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	good = connect(fd, is_v4 ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6,
		       is_v4 ? sizeof(v4) : sizeof(v6)) == 0;
	polled = (struct pollfd){ .fd = fd, .events = POLLOUT };
	if (!good && errno == EINPROGRESS)
		good = poll(&polled, 1, CONNECT_MS) == 1 &&
		       getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size) == 0 && problem == 0;
	close(fd);
	return good;
}

/* Warns on stderr that no daemon answers at @url. This is not a failure: the lines are also valid for a daemon that
 * starts later. */
static void silence_warn(const char *url)
{
	static const char scheme[] = "http://";
	char address[LISTEN_ADDRESS_SIZE];
	uint16_t port;

	if (strncmp(url, scheme, strlen(scheme)) != 0 ||
	    !config_listen_split(url + strlen(scheme), address, &port) || connects(address, port))
		return;
	fprintf(stderr,
		"trainyard: warning: nothing answers at %s: start trainyard serve, or give --listen or --state-dir of "
		"the one that runs\n",
		url);
}

/* Finds the path of the credentials file. A path with a line end is refused, because it would break the lines that
 * follow. */
static enum status credentials_find(const struct config *config, const char *url, char **ret_path,
				    struct error *err)
{
	AUTO(string) char *path = NULL;
	enum status rc = credentials_keep(config->state_dir, url, config->project, &path, err);

	if (!rc && strpbrk(path, "\r\n"))
		rc = error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			       "the path of credentials.json has a line end: choose another --state-dir");
	if (!rc)
		*ret_path = TAKE(path);
	return rc;
}

/* Returns "HOST:PORT" for gRPC clients: the port of --grpc if it has one, else the one in the daemon's address file. */
static char *grpc_endpoint_find(const struct config *config, const struct address *running)
{
	char address[LISTEN_ADDRESS_SIZE];
	uint16_t port = 0;

	if (config->grpc)
		config_listen_split(config->grpc, address, &port);
	if (!port)
		port = running->grpc_port;
	return port ? memory_printf("localhost:%u", port) : NULL;
}

/* Finds the file of certificates for gRPC's clients; `serve` makes it when it starts. A path with a line end is left
 * out. */
static void grpc_roots_find(const struct config *config, char **ret_path)
{
	AUTO(string) char *directory = realpath(config->state_dir, NULL);
	struct text path AUTO_TEXT = { 0 };

	text_printf(&path, "%s/local-ca/bundle.crt", directory ? directory : config->state_dir);
	if (!strpbrk(path.data, "\r\n"))
		*ret_path = text_take(&path);
}

/* Finds the absolute path of the token file, because gcloud may run in another directory. */
static enum status token_file_find(const struct config *config, struct address *running, char **ret_path,
				   struct error *err)
{
	if (!config->token_file) {
		*ret_path = TAKE(running->token_file);
		return STATUS_OK;
	}
	*ret_path = realpath(config->token_file, NULL);
	return *ret_path ? STATUS_OK
			 : error_set(err, STATUS_FAILED_PRECONDITION, NULL, "--token-file: %s: %s",
				     config->token_file, strerror(errno));
}

enum status env_settings_find(const struct config *config, const char *url, struct env_settings *settings,
			      struct error *err)
{
	struct error no_credentials AUTO_ERROR = { 0 };
	struct address running AUTO_ADDRESS = { 0 };
	enum status rc;

	running_read(config->state_dir, &running);
	rc = token_file_find(config, &running, &settings->token_file, err);
	if (rc)
		return rc;
	if (!settings->credentials &&
	    credentials_find(config, url, &settings->credentials, &no_credentials))
		settings->no_credentials = memory_strdup(main_words(&no_credentials));
	settings->grpc_endpoint = grpc_endpoint_find(config, &running);
	if (settings->grpc_endpoint)
		grpc_roots_find(config, &settings->grpc_roots);
	settings->url = url;
	settings->storage_url = config->storage_endpoint;
	settings->project = config->project;
	settings->region = config->region;
	settings->no_proxy = no_proxy_value();
	return STATUS_OK;
}

void env_settings_deinit(struct env_settings *settings)
{
	free(settings->credentials);
	free(settings->no_credentials);
	free(settings->grpc_endpoint);
	free(settings->grpc_roots);
	free(settings->token_file);
	free(settings->no_proxy);
}

/* @name is one of these: the table of verbs refuses other names. Both are in the order of enum shell. */
static enum shell shell_of(const char *name)
{
	return !name || strcmp(name, "sh") == 0 ? SHELL_SH
	       : strcmp(name, "fish") == 0      ? SHELL_FISH
						: SHELL_GITHUB;
}

int env_main(struct invocation *invocation)
{
	struct config *config = &invocation->config;
	struct error err AUTO_ERROR = { 0 };
	struct env_settings settings AUTO_ENV_SETTINGS = {
		.shell = shell_of(invocation_value(invocation, "shell")),
		.unset = invocation_flag(invocation, "unset"),
	};
	struct text lines AUTO_TEXT = { 0 };
	AUTO(string) char *url = NULL;

	if (!settings.unset) {
		if (url_choose(config, &url, &err))
			return main_failure(&err);
		silence_warn(url);
		if (env_settings_find(config, url, &settings, &err))
			return main_failure(&err);
	}
	env_write(&lines, &settings);
	return main_output(&lines);
}
