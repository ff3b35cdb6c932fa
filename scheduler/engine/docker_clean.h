/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_clean.h: what instances have in an engine, and its removal, for a program that is no daemon.
 * Both wait for the engine, on the caller's thread.
 *   @host      "unix:///var/run/docker.sock"
 * Fails with UNAVAILABLE when the engine does not answer, else as it says. */
#include "daemon/base/error.h"
#include "scheduler/engine/leftovers.h"

/* @instance NULL: of all of them. The list is sorted. */
enum status docker_clean_list(const char *host, const char *instance, struct leftovers *ret_list,
			      struct error *err);

struct clean_report {
	/* Called for each thing that was removed, @problem NULL, and at last for each that could not be, with
	 * the engine's words. Borrowed. */
	void (*told)(void *arg, const struct leftover *item, const char *problem);
	void *arg;
};

/* Removes the containers (killed when they run), their anonymous volumes, and the networks of @instance, until the
 * engine has none. Nobody else's are touched: a network that a container of somebody else is in stays.
 * FAILED_PRECONDITION: some are left; each was told. */
enum status docker_clean_remove(const char *host, const char *instance, const struct clean_report *report,
				struct error *err);
