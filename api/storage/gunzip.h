/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/gunzip.h: decompresses gzip while it is read. Thread: one at a time. */
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/cleanup.h"

/* Reads compressed bytes at @offset. Returns their number; 0: the end; -1: they cannot be read. */
typedef ssize_t (*packed_read)(void *arg, int64_t offset, char *buffer, size_t size);

struct gunzip;
/* Returns NULL if there is no memory for zlib's state. */
struct gunzip *gunzip_new(packed_read read, void *arg);
/* Reads decompressed bytes; @size must not be 0. Returns their number; 0: the end; -1: the data cannot be read, or
 * is not gzip. */
ssize_t gunzip_read(struct gunzip *gunzip, char *buffer, size_t size);
void gunzip_free(struct gunzip *gunzip);
DEFINE_AUTO(gunzip, struct gunzip *, gunzip_free)
