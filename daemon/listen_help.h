/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/listen_help.h: explains why an address cannot be bound, and what to do. */
#include "daemon/base/error.h"

/* *err is the error of a server that could not listen on @listen ("127.0.0.1:8090", "unix:/path"), the value of
 * --@option. Replaces it by a text that names the process that has the address, or another cause; if none is found,
 * *err is unchanged. Returns its status. */
enum status listen_explain(const char *option, const char *listen, struct error *err);

struct config;

/* A client that reaches the API can run containers, which is equivalent to root. INVALID_ARGUMENT: other machines can
 * reach it, and no token is required. If one is required, this is logged. */
enum status listen_check(const struct config *config, struct error *err);
