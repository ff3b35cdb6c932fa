/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/console/console.h: the page in the browser. Its files are part of the program; all that it shows comes from the public
 * APIs. */
#include "api/http/http.h"

/* "/", which leads browsers to the page, and all below /_trainyard/console/. Their context: struct console_sessions
 * (session.h); NULL: the daemon asks for no token. */
extern const struct route console_routes[];
