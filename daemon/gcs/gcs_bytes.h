/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_bytes.h: copies the bytes of an object before a program changes them. */
#include <stdint.h>

struct gcs_call;

/* Copies a whole file of @size_bytes to an empty one, by the file system if it can; holes stay holes. Returns 0, or
 * a negative errno: gcs_call_given_up() ended the call (gcs_wait.h), or the copy failed. */
int gcs_bytes_copy(int from_fd, int64_t size_bytes, int to_fd, const struct gcs_call *call);
