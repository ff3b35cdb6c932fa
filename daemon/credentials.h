/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/credentials.h: the credentials file for client libraries outside of containers: a service account with tokens
 * that this emulator issues.
 * Source: https://google.aip.dev/auth/4112 (read 2026-11-22) */
#include <stdint.h>

#include "daemon/base/error.h"

/* Makes or updates @state_dir/credentials.json, mode 0600, for a daemon of that state at @url, and returns its path. An
 * equal file is not touched. FAILED_PRECONDITION: there is no such directory, or it belongs to another user; nothing is
 * made. */
enum status credentials_keep(const char *state_dir, const char *url, const char *project, char **ret_path,
			     struct error *err);
