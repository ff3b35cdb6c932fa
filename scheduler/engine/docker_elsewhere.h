/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_elsewhere.h: makes sure that only one daemon of an instance works on an engine at a time, even
 * if another one runs on another machine, in a container, or in another network namespace.
 *
 * Each daemon has a volume in the engine, its marker, with a label that says where the daemon is. An engine has one volume
 * of a name: a second create is answered with the labels that the volume has already. A daemon makes its marker again when
 * an event of the engine reports its removal. So a process that finds the marker of another place removes it and waits: if
 * the marker comes back, that daemon is alive.
 * Choice: no heartbeat, because it would wake an idle daemon. A daemon that cannot make volumes (a proxy before the engine
 * refuses them: 403, 404, 405, 501) sees no other one, and is not seen. Any other failure to make the marker ends the link.
 *
 * A place is a network namespace of a running kernel. instance_lock.h allows only one daemon per place. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"
#include "scheduler/engine/docker_json.h"

/* How long a process that removed another daemon's marker waits for it to come back: long enough for a daemon on a
 * busy machine to receive the event of the removal and to make the marker again. */
enum { ELSEWHERE_PATIENCE_MS = 3000 };

struct docker;
struct http;
struct sweep_report;

/* The place of this process, for docker.place. If the kernel's boot id or the namespace cannot be read, the place has
 * the host's name in addition. That name may change while a daemon runs, so a daemon calls this once. The caller frees
 * it. */
char *elsewhere_place(void);
/* Makes the marker, and calls @then once no daemon elsewhere has it. As long as a daemon elsewhere has it and is alive,
 * each new connection is lost again. After @then was called, the marker is kept until the link ends. Thread: the
 * engine's. */
void elsewhere_look(struct docker *docker, void (*then)(struct docker *docker));
/* Removes the marker and waits for the engine's answer. To be called after link_end(). Thread: the engine's. */
void elsewhere_leave(struct docker *docker);

/* Checks that no daemon of @instance is alive elsewhere. FAILED_PRECONDITION: one is. Waits up to some seconds, in
 * which the marker of a daemon that was killed is removed and reported. Thread: that of @http. */
enum status elsewhere_check(struct http *http, const char *instance, const struct sweep_report *report,
			    struct error *err);

/* The path of the marker of @instance among the engine's calls. */
void elsewhere_path(const char *instance, char path[DOCKER_PATH_SIZE]);
/* Whether the engine's account of a marker has another place than @own. */
bool elsewhere_is(const json_t *volume, const char *own);
/* Whether an engine that answers @code to a call for volumes refuses all such calls. Any other refusal may pass. */
bool elsewhere_is_refused(unsigned code);
