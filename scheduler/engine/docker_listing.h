/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_listing.h: all that is ours in the engine. */

struct docker;

/* Soon: one at a time is made. */
void listing_ask(struct docker *docker);
