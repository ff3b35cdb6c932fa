/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_import_check.h: whether a folder that came from outside is a state of ours; it is made ready for its places.
 * Thread: any. */
#include "daemon/base/error.h"
#include "store/state_import.h"

/* Checks the databases of @folder (their schema is one of ours, their pages and rows are whole), and that there is each byte of
 * each object; gives them the identity of @state_dir and the newest schema. INVALID_ARGUMENT: something is wrong. */
enum status import_check(const char *folder, const char *state_dir, struct import_facts *ret_facts,
			 struct error *err);
