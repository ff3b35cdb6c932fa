/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_file_system.h: the file system of Cloud Storage, mounted and served.
 *
 * Choices, where gcsfuse and libfuse leave one: all users may do everything (mode 0777, owner root), because Vertex AI's
 * containers run as any user; changes of mode and owner succeed and are forgotten; times of files and symbolic links are kept
 * as gcsfuse keeps them (gcs_notes.h); hard links and special files are refused with EPERM; the kernel caches the existence
 * of a name for a second.
 *
 * A call from a container without a network (gcs_caller.h) waits only where it keeps no other container waiting: to the
 * kernel, the files of all containers are one file system. During a lookup or a change of names the kernel locks the
 * directory for all; during a read it locks the pages, which all openers of the file share. Therefore opening files and
 * directories, and storing files, wait (gcs_wait.h); changes of names fail at once with EIO; lookups are answered, as
 * gcsfuse's own cache of names does for a while; files that are open can still be read. Calls that fail because of a
 * fault rule are treated alike: opening, listing and storing are tried again for a long time, changes of names only
 * briefly. Two calls do keep others waiting: fsync delays other writers of the same file, which the kernel has locked;
 * and an open that is tried again because of a fault rule delays a removal or rename of that file for a few seconds,
 * because libfuse has locked its path.
 * Sources: https://github.com/GoogleCloudPlatform/gcsfuse/blob/master/docs/semantics.md,
 * https://libfuse.github.io/doxygen/structfuse__operations.html (read 2026-11-22) */
#include <stdbool.h>

#include "daemon/base/error.h"

struct gcs_client;
struct gcs_index;
struct gcs_files;
struct gcs_file_system;

/* Whether this program has been built with libfuse. */
bool gcs_file_system_is_possible(void);

/* Mounts the file system. All arguments are borrowed. Beside "gcs" the root has a directory named @sign, which is
 * not listed: a process that finds @sign sees this mount, and not another one at the same path. UNAVAILABLE: the
 * file system cannot be mounted here; *err says why. */
enum status gcs_file_system_mount(const struct gcs_index *index, struct gcs_files *files,
				  struct gcs_client *client, const char *place, const char *sign,
				  struct gcs_file_system **ret_system, struct error *err);
/* Serves requests until the file system is mounted neither on this machine nor in any container. */
enum status gcs_file_system_serve(struct gcs_file_system *system, struct error *err);
/* True once the file system is mounted nowhere any more. Thread: any. */
bool gcs_file_system_is_gone(const struct gcs_file_system *system);
/* Call only when the file system is mounted nowhere, or was never served. NULL is harmless. */
void gcs_file_system_free(struct gcs_file_system *system);
