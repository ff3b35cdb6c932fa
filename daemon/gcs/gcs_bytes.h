/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_bytes.h: the bytes of an object, copied to be changed. */
#include <stdint.h>

struct gcs_call;

/* Copies a whole file of @size_bytes into an empty one; holes stay holes. The file system does it where it can. 0, or a
 * negative errno: the call was given up (gcs_wait.h), or it cannot be done. */
int gcs_bytes_copy(int from_fd, int64_t size_bytes, int to_fd, const struct gcs_call *call);
