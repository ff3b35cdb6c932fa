/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/own_options.h: options that one subcommand has beside those of the configuration.
 *
 * Thread: the first, before others. */
#include <stdbool.h>

#include "daemon/config.h"

struct own_option {
	const char *name;   /* "--shell"; NULL: the end of a list of options */
	bool *flag;         /* set where the option stands; NULL: it takes a value */
	const char **value; /* the words behind "=", or the next one; borrowed from the arguments */
	const char *hint;   /* what the value is: "NAME" */
};

/* As config_read(), of what @own leaves of the @arguments. */
enum status own_options_read(const struct own_option *own, struct config *ret_config,
			     enum config_command command, const char *const *arguments, struct error *err);
