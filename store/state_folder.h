/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_folder.h: a whole state as files in a folder, and such a folder as a stream in tar format.
 *
 *   manifest.json         the release that wrote it, size and checksum of each database, number and bytes of the blobs
 *   clock                 how far the clock was ahead of the real one; missing if it was not
 *   state.db, logs.db     jobs and log entries
 *   storage.db            buckets and objects; missing if nothing was ever stored
 *   blobs/XX/XXXXXX…      the bytes of the objects in storage.db
 *
 * Other names, links and special files are refused in an archive, and ignored in a folder. Keys, tokens and the name of the
 * instance are not part of it. Thread: one at a time per object. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

enum { STATE_FOLDER_FORMAT = 1, STATE_PATH_SIZE = 32, STATE_FILE_COUNT = 4 };
#define STATE_MANIFEST "manifest.json"

/* The files beside manifest.json, in the order in which they follow it. */
struct state_file {
	const char *name;
	bool wanted; /* a state must have it */
};
extern const struct state_file state_files[STATE_FILE_COUNT];

/* True if the path is "blobs/XX/" and sixteen digits, of which the last two are XX. */
bool state_blob_path_valid(const char *path);

/* Writes manifest.json for the contents of @folder. */
enum status state_manifest_write(const char *folder, struct error *err);

/* ---- from a folder to an archive ---- */

struct state_packer;

/* Opens the folder of a state for reading. INVALID_ARGUMENT: @folder is not the folder of a state. */
enum status state_packer_open(const char *folder, struct state_packer **ret_packer, struct error *err);
/* Writes the next bytes of the archive to @buffer. Returns their number; 0: the end; -1: failed, see *err. */
ssize_t state_packer_read(struct state_packer *packer, char *buffer, size_t size, struct error *err);
void state_packer_close(struct state_packer *packer);
DEFINE_AUTO(state_packer, struct state_packer *, state_packer_close)

/* ---- from an archive to a folder ---- */

struct state_unpacker;

/* Makes @folder, which must not exist. FAILED_PRECONDITION: it cannot be made. */
enum status state_unpacker_open(const char *folder, struct state_unpacker **ret_unpacker, struct error *err);
/* Reads the next bytes. INVALID_ARGUMENT: not an archive of a state, damaged, or in the format of another release;
 * RESOURCE_EXHAUSTED: the file system has not enough space for what the manifest announces, or has become full. */
enum status state_unpacker_take(struct state_unpacker *unpacker, const char *data, size_t length,
				struct error *err);
/* Call after the last bytes. INVALID_ARGUMENT: the archive is incomplete. */
enum status state_unpacker_finish(struct state_unpacker *unpacker, struct error *err);
/* Frees the unpacker; removes the folder unless state_unpacker_finish() succeeded. */
void state_unpacker_close(struct state_unpacker *unpacker);
DEFINE_AUTO(state_unpacker, struct state_unpacker *, state_unpacker_close)
