/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/requests.h: GET /_trainyard/v1/requests: the last requests of clients, oldest first, one JSON object a
 * line.
 *
 * ?follow=true continues with new ones until the client leaves, ?failed=true selects refused ones, ?tail= the last
 * ones. */
#include "api/http/http.h"

extern const struct message requests_query, request_line;

/* The handler of a row of jobs_routes. */
enum status requests_stream(struct call *call, struct error *err);
