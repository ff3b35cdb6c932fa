/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/glob.h: matches names against a pattern with wildcards.
 *
 * '*': any bytes except '/', '**': any bytes, '?': one character except '/', [a-z] and [!a-z]: one character of a set
 * (never '/'), {a,b}: either; '\' escapes a wildcard. Thread: any.
 * Source: https://cloud.google.com/storage/docs/json_api/v1/objects/list (matchGlob) */
#include <stdbool.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct glob;

/* Reads a pattern. INVALID_ARGUMENT: it is not a pattern. */
enum status glob_new(const char *pattern, struct glob **ret_glob, struct error *err);
void glob_free(struct glob *glob);
DEFINE_AUTO(glob, struct glob *, glob_free)
/* The directory that has all matching names: "a/b/" for "a/b/c*.txt"; "": none. */
const char *glob_directory(const struct glob *glob);
/* Whether the first @length bytes of @name match. Takes a few milliseconds at most. */
bool glob_match(const struct glob *glob, const char *name, size_t length);
