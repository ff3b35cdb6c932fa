/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_helper.h: runs `docker-credential-NAME get`. */
#include "daemon/base/error.h"

/* Runs docker-credential-@name: writes @registry to its standard input and reads its output; limited in time and
 * size.
 *
 * Outcomes: NOT_FOUND: the helper has no credentials for this registry (no error set);
 * FAILED_PRECONDITION: the helper does not exist, failed, wrote too much or took too long;
 * CANCELLED: @stop_fd became readable.
 * @ret_output: the output; the caller wipes and frees it.
 * Thread: any; waits. */
enum status credential_helper_run(const char *name, const char *registry, int stop_fd, char **ret_output,
				  struct error *err);
