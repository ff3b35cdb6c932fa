/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/invocation.h: the parsed command line of a verb.
 *
 * Options and words may be mixed; "--name=value" and "--name value", "-f" and "-fvalue"; after "--" nothing is an
 * option. An unknown option (of the verb or, if it takes them, of the configuration) is refused, with the most similar
 * one as a hint. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/cli/verb.h"
#include "daemon/config.h"

struct invocation {
	const struct verb *verb;
	const char **words; /* ends with NULL; like all texts here, borrowed from the process's arguments */
	size_t word_count;
	const char *const *command; /* the words after "--", ends with NULL; NULL: there was no "--" */
	struct invocation_option {
		const struct verb_option *option;
		const char *value; /* "" for a flag */
	} * given;
	size_t given_count;
	const char **rest; /* options of the configuration with their values, not read yet; ends with NULL */
	size_t rest_count;
	struct config config; /* set for a verb that takes options of the configuration */
};

#define AUTO_INVOCATION __attribute__((cleanup(invocation_deinit)))

/* Reads the command line. INVALID_ARGUMENT: the error is one line that names the wrong word. @arguments must live as
 * long as the invocation. */
enum status invocation_read(const struct verb *verb, const char *const *arguments,
			    struct invocation *ret_invocation, struct error *err);
void invocation_deinit(struct invocation *invocation);

/* Returns true if the flag was given. @name must be an option in the verb's row; another name is a bug. */
bool invocation_flag(const struct invocation *invocation, const char *name);
/* Returns true if the command is to print in this form: "json", "name" or, without --output, "table". */
bool invocation_prints(const struct invocation *invocation, const char *form);
/* Returns the value of an option; NULL: it was not given. */
const char *invocation_value(const struct invocation *invocation, const char *name);
/* Returns the next value of a repeated option; *at must be 0 before the first call. NULL: there are no more. */
const char *invocation_next(const struct invocation *invocation, const char *name, size_t *at);
/* Reads the value of an option as a whole number of at least @least; *ret_number is unchanged if the option was not
 * given. */
enum status invocation_number(const struct invocation *invocation, const char *name, int64_t least,
			      int64_t *ret_number, struct error *err);
/* Reads the value of an option as a duration (daemon/base/amount.h); *ret_us is unchanged if the option was not given. */
enum status invocation_duration(const struct invocation *invocation, const char *name, int64_t *ret_us,
				struct error *err);

/* The options that all verbs of one kind have; both lists end with a NULL name. */
extern const struct verb_option caller_options[]; /* for verbs with calls */
extern const struct verb_option lister_options[]; /* for verbs with lists */
