/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/glob.h: names that a pattern with wildcards fits.
 *
 * '*' any bytes but '/', '**' any at all, '?' one character but '/', [a-z] and [!a-z] one of a set (never '/'),
 * {a,b} either; '\' takes a wildcard's meaning away. Thread: any.
 * Source: https://cloud.google.com/storage/docs/json_api/v1/objects/list (matchGlob) */
#include <stdbool.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct glob;

/* INVALID_ARGUMENT: it is no pattern. */
enum status glob_new(const char *pattern, struct glob **ret_glob, struct error *err);
void glob_free(struct glob *glob);
DEFINE_AUTO(glob, struct glob *, glob_free)
/* The directory that all names are in that fit: "a/b/" of "a/b/c*.txt"; "": there is none. */
const char *glob_directory(const struct glob *glob);
/* Whether the first @length bytes of @name fit. Takes a few milliseconds at most. */
bool glob_match(const struct glob *glob, const char *name, size_t length);
