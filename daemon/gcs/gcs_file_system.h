/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_file_system.h: the file system of Cloud Storage, mounted and served.
 *
 * Choices, where gcsfuse's and libfuse's ways leave some: everybody may do everything (0777, root's), as Vertex AI's
 * containers run as any user; changes of mode and owner are taken and forgotten; times of files and symbolic links are kept
 * as gcsfuse keeps them (gcs_notes.h); hard links and special files are refused with EPERM; that a name is there the kernel
 * believes for a second.
 *
 * Who has no network (gcs_caller.h) waits where the kernel keeps nobody else waiting with him: all containers' files are
 * one file system to it. While somebody looks a name up, or changes names, it locks the directory for all; while bytes
 * are read, it locks the pages that they come to, which all who have the file open share. So files and directories that
 * are opened, and files that are stored, wait (gcs_wait.h); changes of names end at once with EIO; that a name is there
 * is told, as gcsfuse's cache of names does for a while, and what is open is read on. It is the same with ordered faults:
 * opening, listing and storing are tried again for long, changes of names briefly. Two things do keep others waiting:
 * fsync, those that write the same file, which the kernel has locked; and opening what an ordered error is about, those
 * that remove or rename it, for a few seconds, as libfuse has locked its path.
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

/* Mounts it. All are borrowed. UNAVAILABLE: it cannot be had here; *err says why. */
enum status gcs_file_system_mount(const struct gcs_index *index, struct gcs_files *files,
				  struct gcs_client *client, const char *place,
				  struct gcs_file_system **ret_system, struct error *err);
/* Serves until nothing of this machine, nor any container, has it mounted. */
enum status gcs_file_system_serve(struct gcs_file_system *system, struct error *err);
/* Whether that is so. Thread: any. */
bool gcs_file_system_is_gone(const struct gcs_file_system *system);
/* After it is gone, or was never served. NULL is harmless. */
void gcs_file_system_free(struct gcs_file_system *system);
