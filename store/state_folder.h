/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/state_folder.h: a whole state as files in a folder, and such a folder as an archive (tar) on its way.
 *
 *   manifest.json         the release that wrote it, the size and the checksum of each database, and how much there is of objects
 *   clock                 how far the clock was ahead of the real one; there is none where it was not
 *   state.db, logs.db     jobs and log entries
 *   storage.db            buckets and objects; there is none where nothing was ever stored
 *   blobs/XX/XXXXXX…      the bytes of objects, as many as storage.db names
 *
 * Other names, links and special files are refused in an archive, and passed over in a folder. Keys, tokens and the name of the
 * instance are not part of it. Thread: one object is one thread's. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

enum { STATE_FOLDER_FORMAT = 1, STATE_PATH_SIZE = 32, STATE_FILE_COUNT = 4 };
#define STATE_MANIFEST "manifest.json"

/* The files beside the manifest, in the order in which they come behind it. */
struct state_file {
	const char *name;
	bool wanted; /* there is no state without it */
};
extern const struct state_file state_files[STATE_FILE_COUNT];

/* Whether it is "blobs/XX/", and behind that sixteen digits that end with the same two. */
bool state_blob_path_valid(const char *path);

/* Writes manifest.json for what is in @folder. */
enum status state_manifest_write(const char *folder, struct error *err);

/* ---- from a folder to an archive ---- */

struct state_packer;

/* INVALID_ARGUMENT: it is no such folder. */
enum status state_packer_open(const char *folder, struct state_packer **ret_packer, struct error *err);
/* The next bytes of the archive; 0: that was all; -1: *err says why there are no more. */
ssize_t state_packer_read(struct state_packer *packer, char *buffer, size_t size, struct error *err);
void state_packer_close(struct state_packer *packer);
DEFINE_AUTO(state_packer, struct state_packer *, state_packer_close)

/* ---- from an archive to a folder ---- */

struct state_unpacker;

/* Makes @folder, which must not be there. FAILED_PRECONDITION: it cannot be made. */
enum status state_unpacker_open(const char *folder, struct state_unpacker **ret_unpacker, struct error *err);
/* Takes the next bytes. INVALID_ARGUMENT: it is no archive of a state, it is damaged, or of another release's format;
 * RESOURCE_EXHAUSTED: the file system has no room for what the manifest tells of, or has become full. */
enum status state_unpacker_take(struct state_unpacker *unpacker, const char *data, size_t length,
				struct error *err);
/* After the last bytes. INVALID_ARGUMENT: something is missing. */
enum status state_unpacker_finish(struct state_unpacker *unpacker, struct error *err);
/* Without a finish that went well the folder is removed. */
void state_unpacker_close(struct state_unpacker *unpacker);
DEFINE_AUTO(state_unpacker, struct state_unpacker *, state_unpacker_close)
