/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/amount.h: parses times and sizes written by users. Pure. Thread: any. */
#include <stdbool.h>
#include <stdint.h>

/* "90s", "15m", "2h", "7d", or a number of seconds; not negative. */
bool duration_read(const char *text, int64_t *ret_us);
/* "500M", "20G", "1T": binary units of bytes, at least 1 MiB. */
bool size_read(const char *text, int64_t *ret_bytes);
