/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_notes.h: the custom metadata in which gcsfuse stores attributes of files that objects do not have: the
 * time of the last change, and the target of a symbolic link. Pure.
 * Source: https://github.com/GoogleCloudPlatform/gcsfuse, internal/fs/inode/file.go and symlink.go (read 2026-11-25) */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/gcs/gcs_index.h"

struct object;

#define GCS_NOTE_TIME   "gcsfuse_mtime"
#define GCS_NOTE_TARGET "gcsfuse_symlink_target"

enum { GCS_TIME_SIZE = 40 };

/* In the form of Go's time.RFC3339Nano: "2026-01-02T03:04:05.6Z". */
void gcs_time_write(int64_t time_ns, char ret_text[GCS_TIME_SIZE]);
/* Reads a time in that form. False: malformed, or before 1678 or after 2262. */
bool gcs_time_read(const char *text, int64_t *ret_ns);

/* Facts of an object that is not a directory. A malformed time counts as missing. */
struct gcs_facts gcs_facts_of(const struct object *object);
/* Target of a symbolic link from the object's metadata; NULL: the object's bytes are the target, as in other tools
 * of Google. */
const char *gcs_link_target(const struct object *object);
