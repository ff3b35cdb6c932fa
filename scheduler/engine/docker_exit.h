/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_exit.h: reports how replicas have exited. Thread: the engine's. */
#include "scheduler/engine/docker_core.h"

/* Reads the answer to an inspection of a container. False: the engine could not inspect it, and *ret_outcome has the
 * reason. */
bool docker_inspection_read(struct docker *docker, const struct http_answer *answer,
			    struct replica_status *ret_status, struct outcome *ret_outcome);
/* Reports the exit after the replica's report files were fetched. */
void exit_report(struct docker *docker, const struct replica_status *status);
/* Inspects a container that the engine has reported as ended, and reports its exit. @signals: those that the engine
 * sent to it before its end, as in docker_event. @out_of_memory: the engine has reported that memory ran out. */
void exit_look(struct docker *docker, const struct replica_key *key, uint64_t signals, bool out_of_memory);
/* Notes for a running exit_look() that the engine has reported that memory ran out. */
void exit_note_out_of_memory(struct docker *docker, const struct replica_key *key);
