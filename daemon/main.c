/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/main.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/nearest.h"
#include "daemon/clean.h"
#include "daemon/config.h"
#include "daemon/env.h"
#include "daemon/gcs/gcs_mount.h"
#include "daemon/serve.h"
#include "daemon/version.h"

static int run_serve(const char *const *arguments)
{
	struct error err AUTO_ERROR = { 0 };
	struct config config AUTO_CONFIG = { 0 };

	if (config_read(&config, CONFIG_SERVE, arguments, &err))
		return main_usage_error("serve ", &err);
	return serve_main(&config);
}

static void serve_help_write(struct text *text)
{
	text_puts(text,
		  "usage: trainyard serve [OPTION]...\n"
		  "\n"
		  "Serves the emulated APIs until SIGTERM or SIGINT. Each option is also a variable in the\n"
		  "environment (--stop-grace is TRAINYARD_STOP_GRACE) and a line of the configuration file.\n"
		  "\n");
	config_help_write(text, CONFIG_SERVE);
}

static int run_version(const char *const *arguments)
{
	struct error err AUTO_ERROR = { 0 };
	struct text text AUTO_TEXT = { 0 };

	if (*arguments) {
		error_set(&err, STATUS_INVALID_ARGUMENT, NULL, "unexpected argument \"%s\"", *arguments);
		return main_usage_error("version ", &err);
	}
	version_write(&text);
	return main_output(&text);
}

static void version_help_write(struct text *text)
{
	text_puts(text,
		  "usage: trainyard version\n\nPrints the version of trainyard and of its libraries.\n");
}

static const struct command {
	const char *name;
	const char *summary; /* NULL: not for users, serve calls it */
	int (*run)(const char *const *arguments);
	void (*help_write)(struct text *text);
} commands[] = {
	{ "serve", "serve the emulated APIs on this machine", run_serve, serve_help_write },
	{ "env", "print the shell lines that point clients here", env_main, env_help_write },
	{ "clean", "remove what an instance has left in the engine", clean_main, clean_help_write },
	{ "version", "print the versions", run_version, version_help_write },
	{ "gcs-mount", NULL, gcs_mount_main, NULL },
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static int help_main(void)
{
	struct text text AUTO_TEXT = { 0 };

	text_puts(&text, "usage: trainyard COMMAND [OPTION]...\n\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (commands[i].summary)
			text_printf(&text, "  %-10s %s\n", commands[i].name, commands[i].summary);
	text_puts(&text, "\nEach command has its own --help.\n");
	return main_output(&text);
}

static bool wants_help(const char *const *arguments)
{
	for (; *arguments; arguments++)
		if (strcmp(*arguments, "--help") == 0 || strcmp(*arguments, "-h") == 0)
			return true;
	return false;
}

static int command_main(const struct command *command, const char *const *arguments)
{
	struct text text AUTO_TEXT = { 0 };

	if (!command->help_write || !wants_help(arguments))
		return command->run(arguments);
	command->help_write(&text);
	return main_output(&text);
}

static void command_refuse(const char *word, struct error *err)
{
	struct nearest nearest = { .wanted = word };
	struct text names AUTO_TEXT = { 0 };
	char hint[NEAREST_HINT_SIZE];

	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (!commands[i].summary)
			continue;
		nearest_look(&nearest, commands[i].name);
		text_printf(&names, "%s%s", i ? ", " : "", commands[i].name);
	}
	if (*word == '-')
		error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			  "\"%s\" stands where a command is expected: trainyard serve %s", word, word);
	else
		error_set(err, STATUS_INVALID_ARGUMENT, NULL, "unknown command \"%s\"; there are %s%s", word,
			  names.failed ? "" : names.data, nearest_hint(&nearest, "", hint));
}

int main(int argc, char **argv)
{
	struct error err AUTO_ERROR = { 0 };
	const char *const *arguments = (const char *const *)argv + 2;

	if (argc < 2) {
		error_set(&err, STATUS_INVALID_ARGUMENT, NULL, "no command given");
		return main_usage_error("", &err);
	}
	if (strcmp(argv[1], "--version") == 0)
		return run_version(arguments);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return command_main(&commands[i], arguments);
	if (wants_help((const char *[]){ argv[1], NULL }) || strcmp(argv[1], "help") == 0)
		return help_main();
	command_refuse(argv[1], &err);
	return main_usage_error("", &err);
}
