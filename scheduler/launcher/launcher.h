/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/launcher/launcher.h: the program that containers of a Python-package job run. It fetches the packages,
 * installs them with pip and runs the module, with the steps and the log lines of the real service. Its text,
 * scheduler/launcher/launcher.py, is passed to the interpreter on the command line, so images need not contain it.
 * Pure. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

/* The path, in a container, of the wheels that pip installs from. */
#define LAUNCHER_WHEELS "/trainyard/wheels"

/* The command (array of strings) and the arguments for the containers of a pool that uses the launcher: new references.
 * @module_args: the arguments of the module itself; NULL: none. */
void launcher_command(const struct plan *plan, enum role role, const json_t *module_args,
		      json_t **ret_command, json_t **ret_args);
