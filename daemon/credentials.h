/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/credentials.h: the credentials file for client libraries outside of containers: a service account with tokens
 * that this emulator issues.
 * Source: https://google.aip.dev/auth/4112 (read 2026-11-22) */
#include <stdint.h>

#include "daemon/base/error.h"

/* Makes or updates @state_dir/credentials.json, mode 0600, for the daemon at @url that uses this state directory, and
 * returns the file's path. A file that has the right content already is not touched. FAILED_PRECONDITION: there is no
 * such directory, or it belongs to another user; nothing is made. */
enum status credentials_keep(const char *state_dir, const char *url, const char *project, char **ret_path,
			     struct error *err);

/* Makes the same file in two steps, because making its RSA key takes longer than the start of a daemon, and many
 * programs never read the file. A file lease makes the first open() of the file wait, and sends SIGIO to this process:
 * the caller must block SIGIO and call credentials_fill() when it arrives. Returns a descriptor; -1: the file system has
 * no leases, or the file exists: call credentials_keep().
 * Source: https://man7.org/linux/man-pages/man2/F_GETLEASE.2const.html (read 2026-11-27) */
int credentials_promise(const char *state_dir, char **ret_path);
/* Writes the content, and then lets the waiting open() continue. @fd: the result of credentials_promise(); closed here.
 * On failure, the file has only empty lines. */
enum status credentials_fill(int fd, const char *state_dir, const char *url, const char *project,
			     struct error *err);
