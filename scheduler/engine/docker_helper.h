/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_helper.h: runs `docker-credential-NAME get`. */
#include "daemon/base/error.h"

/* Writes @registry to the program's standard input and reads its output; bounded in time and size.
 *
 * Outcomes: NOT_FOUND: it has no credentials for this registry (no error set);
 *           FAILED_PRECONDITION: it does not exist, failed, wrote too much or took too long;
 *           CANCELLED: @stop_fd became readable.
 * @ret_output  text, the caller wipes and frees
 * Thread: any; waits. */
enum status credential_helper_run(const char *name, const char *registry, int stop_fd, char **ret_output,
				  struct error *err);
