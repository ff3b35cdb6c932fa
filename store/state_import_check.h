/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_import_check.h: checks an untrusted folder that may be a state, and prepares it for use.
 * Thread: any. */
#include "daemon/base/error.h"
#include "store/state_import.h"

/* Checks the databases of @folder (known schema, intact pages and rows) and that every byte of every object exists;
 * sets their identity to that of @state_dir and migrates them to the newest schema. INVALID_ARGUMENT: something is
 * wrong. */
enum status import_check(const char *folder, const char *state_dir, struct import_facts *ret_facts,
			 struct error *err);
