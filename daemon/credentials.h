/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/credentials.h: the credentials file of client libraries outside containers: a service account with tokens that this
 * emulator issues.
 * Source: https://google.aip.dev/auth/4112 (read 2026-11-22) */
#include <stdint.h>

#include "daemon/base/error.h"

/* Sees to it that @state_dir/credentials.json, mode 0600, is for a daemon of that state at @url, and gives its path.
 * A file that says the same already is left alone. FAILED_PRECONDITION: there is no such directory, or it is another
 * user's: nothing is made. */
enum status credentials_keep(const char *state_dir, const char *url, const char *project, char **ret_path,
			     struct error *err);
