/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_import.h: replaces a state directory's state by an exported one (state_folder.h).
 *
 *   STATE/import        receives the archive, which is checked when it is complete
 *   STATE/import.ready  complete and checked: the next opening of the state directory moves it into place
 *   STATE/import.before the previous state, until the new one could be opened
 *   STATE/import.back   the same while it is being restored
 *
 * So a state is replaced as a whole or not at all, whenever the process or the machine goes down. The instance's name, keys and
 * tokens stay. Unfinished jobs lose their containers, and are retried as after any such loss.
 * Thread: any; one import of a state directory at a time. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct state_import;

struct import_facts {
	int64_t jobs, unfinished_jobs, objects;
	int64_t ahead_ns; /* how far the clock of the imported state is ahead of the machine's */
};

/* Begins an import. ALREADY_EXISTS: another import waits for the next opening of the directory. */
enum status state_import_begin(const char *state_dir, struct state_import **ret_import, struct error *err);
/* Receives the next bytes of the archive. Outcomes: as state_unpacker_take(). */
enum status state_import_take(struct state_import *import, const char *data, size_t length,
			      struct error *err);
/* Call after the last bytes: checks the whole state. INVALID_ARGUMENT: it is damaged, or not a state of trainyard. */
enum status state_import_check(struct state_import *import, struct import_facts *ret_facts,
			       struct error *err);
/* Confirms the import: it replaces the state when the directory is next opened. */
enum status state_import_commit(struct state_import *import, struct error *err);
/* Frees the import, and removes its files unless it was committed. */
void state_import_close(struct state_import *import);
DEFINE_AUTO(state_import, struct state_import *, state_import_close)

/* Imports @folder, made by `trainyard export`, like its archive. Outcomes: as above. */
enum status state_import_folder(const char *state_dir, const char *folder, struct import_facts *ret_facts,
				struct error *err);

/* Call before anything in the directory is opened: moves a committed import into place, keeps the previous state,
 * and removes remnants of other imports. May be called again after a failure. FAILED_PRECONDITION: another process
 * has the directory, or a file cannot be moved. */
enum status state_import_place(const char *state_dir, struct error *err);
/* Call when the directory was opened successfully: removes the previous state. True: there was one. */
bool state_import_confirm(const char *state_dir);
/* Call when the directory could not be opened, with nothing in it open: restores the previous state. False: there
 * was none. */
bool state_import_revert(const char *state_dir);
