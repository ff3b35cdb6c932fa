/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_tunnel.h: carries connections from a job's network to a daemon that has no address in it, because
 * the engine is on another machine, or in namespaces of its own.
 *
 * Each such network has a container with a program of ours (tunnel/tunnel.c), at the address after the bridge's, which
 * replicas get as the daemon's. The program accepts their connections and carries them over its output and input, to which
 * the daemon is attached by the engine's API. This works wherever the API does: by a unix socket, TCP, TLS and ssh. The
 * engine makes the container's image from that program alone, without a pull; `trainyard clean` removes it.
 *
 * Each tunnel has a thread, which makes the container, and makes it again when it or the connection to it breaks; carried
 * connections then break, too. The container ends by itself when its daemon is gone, because the engine closes its input;
 * the next daemon makes one with the same name and address. */
#include "scheduler/engine/docker_core.h"

/* The beginning of the image's name; the instance follows. */
#define TUNNEL_IMAGE "trainyard-tunnel:"

/* Writes the name of a tunnel's container, "ty-INSTANCE-JOB-tunnel". @job: the job that the network was made for. */
void tunnel_container_name(const char *instance, int64_t job, char name[DOCKER_NAME_SIZE]);

/* Starts the tunnel of @network unless it exists. Thread: the engine's, as for the functions below. */
void tunnel_keep(struct docker *docker, const struct network_status *network);
/* Whether the first try to make the tunnel has ended, with or without success. network_tunnel_tried() is called at
 * that time. Also true if there is no such tunnel. */
bool tunnel_was_tried(struct docker *docker, int64_t job);
/* Ends the tunnel, because its network is about to be removed. False: calls about its container are under way, so
 * call this again later. True: the caller has to remove the container. */
bool tunnel_drop(struct docker *docker, int64_t job);
/* Ends the tunnels of networks that are neither in the listing nor being made. */
void tunnels_compare(struct docker *docker, const struct network_status *listed, size_t count);
/* Ends all tunnels; they do not use @docker afterwards. Their containers are not removed, because they end by
 * themselves. */
void tunnels_close(struct docker *docker);

/* See engine_ops.carry_network. Thread: any. */
enum status docker_carry_network(struct docker *docker, int64_t job, const struct connection_sink *sink,
				 struct error *err);
