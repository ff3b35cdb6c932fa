/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_listing.h: lists everything of this instance in the engine. */

struct docker;

/* Requests a listing; one is made at a time. */
void listing_ask(struct docker *docker);
