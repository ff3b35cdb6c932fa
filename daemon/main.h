/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/main.h: how every subcommand ends: an exit code, and at most one line on stderr. */
#include <stdio.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/cli/terminal.h"

/* Choice: 124 and 125 have the meaning that timeout(1) and docker run give them. */
enum exit_code {
	EXIT_GOOD = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_UNREACHED = 3,
	EXIT_CANCELLED = 4,
	EXIT_TIMED_OUT = 124,
	EXIT_NOT_STARTED = 125,
	EXIT_INTERRUPTED = 130 /* as shells report SIGINT */
};

static inline const char *main_words(const struct error *err)
{
	return err->text ? err->text : status_name(err->status);
}

static inline int main_failure(const struct error *err)
{
	error_line_print(main_words(err));
	return EXIT_FAILED;
}

/* Prints a usage error. @command: "" before the command is known, otherwise its name and a space: "serve ". */
static inline int main_usage_error(const char *command, const struct error *err)
{
	AUTO(string) char *words = memory_printf("%s (see trainyard %s--help)", main_words(err), command);

	error_line_print(words);
	return EXIT_USAGE;
}

/* To be called after the last output on stdout: returns EXIT_GOOD, or EXIT_FAILED after printing that some was lost. */
static inline int main_printed(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_GOOD;
	fprintf(stderr, "trainyard: the output could not be written\n");
	return EXIT_FAILED;
}

/* Writes all of @text to stdout. */
static inline int main_output(const struct text *text)
{
	fwrite(text->data ? text->data : "", 1, text->length, stdout);
	return main_printed();
}
