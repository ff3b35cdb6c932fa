/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_link.h: connects to the engine and notices its loss: ping, info, and the stream of events. */

struct docker;

/* Sends the first ping. */
void link_begin(struct docker *docker);
/* Frees the list of signals to containers that have not ended yet. */
void link_signals_forget(struct docker *docker);
