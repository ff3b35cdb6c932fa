/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/listen_help.h: why an address cannot be listened at, and what to do. */
#include "daemon/base/error.h"

/* Replaces *err, of a server that could not listen at @listen ("127.0.0.1:8090", "unix:/path"), the value of --@option, by
 * a text that says which process has it, or what else is wrong with it; where it finds nothing, *err stays. Returns the
 * status held. */
enum status listen_explain(const char *option, const char *listen, struct error *err);

struct config;

/* A client that reaches the API runs containers, and so is as good as root: INVALID_ARGUMENT where other machines can, and no token is
 * asked for. With one it is logged. */
enum status listen_check(const struct config *config, struct error *err);
