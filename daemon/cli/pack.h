/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/pack.h: packs files of this machine into a tar archive, in a temporary file without a name.
 *
 * Thread: one at a time. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct pack;

/* Opens an archive. @compressed: with gzip. UNAVAILABLE: no temporary file can be made. */
enum status pack_open(bool compressed, struct pack **ret_pack, struct error *err);
void pack_close(struct pack *pack);
DEFINE_AUTO(pack, struct pack *, pack_close)

/* Adds a file named @name with the content @text. */
void pack_text(struct pack *pack, const char *name, const char *text);

/* Returns true to leave out a file or directory. @path: relative to the packed directory. */
typedef bool (*pack_filter)(void *arg, const char *path, bool is_directory);
/* Adds all files, directories and symbolic links below @directory, in the order of their names, under "@name/" ("": at
 * the top). Modes and times are kept, owners are not; sockets, devices and pipes are left out. @leaves_out: NULL:
 * nothing is left out. INVALID_ARGUMENT: a file cannot be read, or became shorter meanwhile. */
enum status pack_directory(struct pack *pack, const char *directory, const char *name, pack_filter leaves_out,
			   void *arg, struct error *err);

/* Completes the archive. *ret_fd: belongs to the pack, and reads the archive from its beginning. UNAVAILABLE: the
 * archive could not be written. */
enum status pack_finish(struct pack *pack, int *ret_fd, int64_t *ret_bytes, struct error *err);
