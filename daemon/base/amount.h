/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/amount.h: parses times and sizes written by users. Pure. Thread: any. */
#include <stdbool.h>
#include <stdint.h>

/* Reads "90s", "15m", "2h", "7d", or a number of seconds. Returns false if @text is malformed or negative. */
bool duration_read(const char *text, int64_t *ret_us);
/* Reads "500M", "20G" or "1T", in binary units. Returns false if @text is malformed or less than 1 MiB. */
bool size_read(const char *text, int64_t *ret_bytes);
