/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_claims_weigh.h: decides the next step of a daemon that claims GPUs, from the engine's lists
 * (docker_claims.h). Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>

struct peers;

struct claims_seen {
	const char *instance;              /* this daemon's */
	const json_t *wanted;              /* ids of GPUs */
	json_t *held;                      /* an object with the ids that are claimed for sure */
	const json_t *volumes, *containers; /* the engine's lists of claims and of running containers; NULL: none */
	const struct peers *peers;         /* what is known of other instances' daemons (peers_state()) */
	bool unsure;   /* a claim of this instance was removed since the lists were asked for */
	/* true: GPUs that were held are claimed again, and no answer has reported yet that they were lost */
	bool rechecks;
};

enum claims_step {
	CLAIMS_LOOK,    /* the daemons of the instances @unknown are to be asked about first (peers_look()) */
	/* make the claims of @creations, then look again (empty: no claim is missing, but the lists may be out of
	 * date) */
	CLAIMS_MISSING,
	/* Another instance has the GPUs @lost, and the claims @removals are to be removed. CLAIMS_TIED: the other
	 * instance gives way if it does not hold the GPUs yet, so they may be free in a moment. */
	CLAIMS_TIED,
	CLAIMS_LOST,
	CLAIMS_WAIT, /* nothing is left to be done but to wait for suspects (peers_wait()) */
	CLAIMS_WON,  /* all that are wanted are @held; the claims @removals are not needed */
};

/* Lists of ids of GPUs, and of names of volumes (@removals); NULL where the step has none. */
struct claims_weighed {
	enum claims_step step;
	json_t *creations, *lost, *removals;
	json_t *unknown, *held; /* objects */
};
void claims_weighed_deinit(struct claims_weighed *weighed);
#define AUTO_CLAIMS_WEIGHED __attribute__((cleanup(claims_weighed_deinit)))

struct claims_weighed claims_weigh(const struct claims_seen *seen);
/* The held GPUs that are still wanted. @seen needs no volumes and containers: no other daemon makes claims of this
 * instance. The caller frees the result, and @ret_removals: the claims to be removed. */
json_t *claims_kept(const struct claims_seen *seen, json_t **ret_removals);
