/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_import.h: puts a state that was exported (state_folder.h) in the place of a state directory's own.
 *
 *   STATE/import        takes the archive; what is in it is checked when it is whole
 *   STATE/import.ready  is whole and checked: the next opening of the state directory puts it into its places
 *   STATE/import.before the state that was there, until the new one could be opened
 *   STATE/import.back   the same, on its way back
 *
 * So a state is replaced as a whole or not at all, whenever the process or the machine goes down. The instance's name, keys and
 * tokens stay. Jobs that were under way lose their containers, and are tried again as after any such loss.
 * Thread: any; one import of a state directory at a time. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct state_import;

struct import_facts {
	int64_t jobs, unfinished_jobs, objects;
	int64_t ahead_ns; /* of the clock */
};

/* ALREADY_EXISTS: another import waits for the next opening. */
enum status state_import_begin(const char *state_dir, struct state_import **ret_import, struct error *err);
/* The next bytes of the archive. Outcomes: as state_unpacker_take(). */
enum status state_import_take(struct state_import *import, const char *data, size_t length,
			      struct error *err);
/* After the last ones: checks all of it. INVALID_ARGUMENT: it is damaged, or no state of ours. */
enum status state_import_check(struct state_import *import, struct import_facts *ret_facts,
			       struct error *err);
/* From now on it is in the place of what is there when the directory is opened next. */
enum status state_import_commit(struct state_import *import, struct error *err);
/* Without a settlement nothing is left of it. */
void state_import_close(struct state_import *import);
DEFINE_AUTO(state_import, struct state_import *, state_import_close)

/* Reads @folder, which trainyard export has made, as the archive of it. Outcomes: as above. */
enum status state_import_folder(const char *state_dir, const char *folder, struct import_facts *ret_facts,
				struct error *err);

/* Before anything in the directory is opened: puts a settled import into its places, keeps the state that was there before, and
 * removes what is left of others. It may be called again after a failure. FAILED_PRECONDITION: another process has the
 * directory, or a file cannot be moved. */
enum status state_import_place(const char *state_dir, struct error *err);
/* The directory could be opened: the state that was there before is removed. True: there was one. */
bool state_import_confirm(const char *state_dir);
/* It could not: the state that was there before is there again. False: there was none. Nothing may be open. */
bool state_import_revert(const char *state_dir);
