/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_notes.h: the custom metadata in which gcsfuse keeps what a file has and an object has not: the time of its
 * last change, and, of a symbolic link, its target. Pure.
 * Source: https://github.com/GoogleCloudPlatform/gcsfuse, internal/fs/inode/file.go and symlink.go (read 2026-11-25) */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/gcs/gcs_index.h"

struct object;

#define GCS_NOTE_TIME   "gcsfuse_mtime"
#define GCS_NOTE_TARGET "gcsfuse_symlink_target"

enum { GCS_TIME_SIZE = 40 };

/* As Go's time.RFC3339Nano: "2026-01-02T03:04:05.6Z". */
void gcs_time_write(int64_t time_ns, char ret_text[GCS_TIME_SIZE]);
/* False: it is none, or before 1678 or after 2262. */
bool gcs_time_read(const char *text, int64_t *ret_ns);

/* Of an object that is no directory. A time that cannot be read is as if it were not there. */
struct gcs_facts gcs_facts_of(const struct object *object);
/* Of a link; NULL: its bytes are the target, as other tools of Google keep links. */
const char *gcs_link_target(const struct object *object);
