/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/listen_help.h: explains why an address cannot be bound, and what to do. */
#include "daemon/base/error.h"

/* Improves the error of a server that could not listen on @listen ("127.0.0.1:8090", "unix:/path"), the value of
 * --@option: the new text names the process that has the address, or another cause. If no cause is found, *err is
 * unchanged. Returns the status of *err. */
enum status listen_explain(const char *option, const char *listen, struct error *err);

struct config;

/* Refuses an API that other machines can reach without a token, because a client of the API can run containers, which
 * is equivalent to root: INVALID_ARGUMENT. With a token, a log line says that other machines can reach it. */
enum status listen_check(const struct config *config, struct error *err);
