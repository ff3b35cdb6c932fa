/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/pack.h: an archive (tar) of files of this machine, made in a temporary file that has no name.
 *
 * Thread: one at a time. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct pack;

/* @compressed: by gzip. UNAVAILABLE: there is no room for temporary files. */
enum status pack_open(bool compressed, struct pack **ret_pack, struct error *err);
void pack_close(struct pack *pack);
DEFINE_AUTO(pack, struct pack *, pack_close)

/* Adds a file with that text. */
void pack_text(struct pack *pack, const char *name, const char *text);

/* Tells whether a file or directory is left out. @path: relative to the directory that is packed. */
typedef bool (*pack_filter)(void *arg, const char *path, bool is_directory);
/* Adds all files, directories and symbolic links below @directory, in the order of their names, under "@name/" ("": at the
 * top). Modes and times are kept, owners are not; sockets, devices and pipes are left out. @leaves_out: NULL: nothing is.
 * INVALID_ARGUMENT: a file cannot be read, or became shorter meanwhile. */
enum status pack_directory(struct pack *pack, const char *directory, const char *name, pack_filter leaves_out,
			   void *arg, struct error *err);

/* Ends the archive. *ret_fd: reads it from its beginning; the pack's. UNAVAILABLE: it could not be written. */
enum status pack_finish(struct pack *pack, int *ret_fd, int64_t *ret_bytes, struct error *err);
