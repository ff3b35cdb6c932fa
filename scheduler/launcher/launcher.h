/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/launcher/launcher.h: the program that a Python-package job's containers run: it fetches the packages, has pip
 * install them, and runs the module, with the steps and the log lines of the real service. Its text is
 * scheduler/launcher/launcher.py, given to the interpreter on its command line, so that no image has to hold it. Pure. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

/* Where a container finds the wheels that pip installs from. */
#define LAUNCHER_WHEELS "/trainyard/wheels"

/* The command (array of strings) and the arguments of the containers of a pool that is launched: new references.
 * @module_args: what the module itself is given; NULL: nothing. */
void launcher_command(const struct plan *plan, enum role role, const json_t *module_args,
		      json_t **ret_command, json_t **ret_args);
