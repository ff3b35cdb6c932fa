/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_helper.h: runs `docker-credential-NAME get`. */
#include "daemon/base/error.h"

/* Gives the program @registry on its standard input and takes what it writes; bounded in time and size.
 *
 * Outcomes: NOT_FOUND: it has no credentials for this registry (no error set);
 *           FAILED_PRECONDITION: it is not there, failed, or wrote too much or too long;
 *           CANCELLED: @stop_fd became readable.
 * @ret_output  text, the caller wipes and frees
 * Thread: any; waits. */
enum status credential_helper_run(const char *name, const char *registry, int stop_fd, char **ret_output,
				  struct error *err);
