/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/console/console.h: the console, a page in the browser. Its files are part of the program; all its data come from
 * the public APIs. */
#include "api/http/http.h"

#define CONSOLE_PATH "/_trainyard/console/"

/* Rows for "/", which redirects browsers to the page, and for all paths below /_trainyard/console/. Their context:
 * struct console_sessions (session.h); NULL: the daemon requires no token. */
extern const struct route console_routes[];
