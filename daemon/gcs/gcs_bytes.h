/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_bytes.h: copies the bytes of an object, before they are changed. */
#include <stdint.h>

struct gcs_call;

/* Copies a whole file of @size_bytes to an empty one, by the file system if it can; holes stay holes. 0, or a negative
 * errno: the call was given up (gcs_wait.h), or it failed. */
int gcs_bytes_copy(int from_fd, int64_t size_bytes, int to_fd, const struct gcs_call *call);
