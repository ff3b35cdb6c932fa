/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/sessions.h: what sessions share with uploads in parts, and the end of those in memory. */

#include <stdint.h>

#include "daemon/base/error.h"

struct connection;
struct objects;

/* How long a session is kept, and an assembly.
 * Source: https://cloud.google.com/storage/docs/resumable-uploads#session-uris (a session expires after one week)
 * Choice: assemblies likewise; the service keeps those until someone ends them, but nobody pays for them here. */
#define SESSION_LIFETIME_US (7 * INT64_C(86400) * 1000 * 1000)

/* Removes what is too old of both, once a day: called before one begins. */
enum status sessions_expire(struct objects *objects, struct error *err);

/* SESSION_ID_SIZE bytes that nobody can guess. */
void session_id_make(char *ret_id);

/* ---- assemblies.c; inside a change ---- */

/* Those that began before then. */
enum status assemblies_expire(struct connection *connection, int64_t before_us, struct error *err);
/* All of a bucket that goes. */
enum status assemblies_of_bucket_drop(struct connection *connection, int64_t bucket, struct error *err);

/* No call is under way. What arrived stays in the files. */
void sessions_forget(struct objects *objects);
