/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_parts.h: what the files behind docker.c share. Nobody else includes it.
 *
 * An operation is a task on the heap that moves from one exchange (or timer) to the next and frees
 * itself at its end. Starting an exchange may end the task at once, so it is the last thing done with
 * it. All here belongs to the engine's thread, but docker_post() and docker_hand_over(). Terminals are
 * apart: they work on connections of their own, on their callers' threads (docker_terminal.h).
 *
 *     docker.c          open, close, the thread's loop, the queue of commands, timers
 *     docker_emit.c     events to the sink
 *     docker_link.c     is the engine there? ping, info, the events stream
 *     docker_listing.c  all that is ours
 *     docker_replica.c  create, start, stop, remove, exits
 *     docker_network.c  create, remove
 *     docker_attachment.c  a replica off its network, and back
 *     docker_throttle.c  a replica's network made slow, and fast again
 *     docker_image.c    look, pull
 *     docker_logs.c     followers
 *     docker_orphans.c  what instances without a daemon have left
 */
#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/text.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_json.h"
#include "scheduler/engine/docker_subnet.h"
#include "scheduler/engine/engine.h"

enum { CALL_TIMEOUT_S = 60, START_TIMEOUT_S = 120, SECOND_US = 1000 * 1000, MILLISECOND_US = 1000 };

struct docker;

/* What another thread asks for. */
struct command {
	void (*run)(struct docker *docker, struct command *command); /* takes what it needs of it */
	struct command *next;
	struct replica_key key;
	struct log_position from;
	char *image;
	json_t *body;
	void *arg;
	int64_t job;
	unsigned number;      /* grace_s, address_count, or bytes_per_s */
	bool short_of_memory; /* for the whole of the body */
};

/* Belongs to what waits for it: so none is lost, or early, for want of memory. */
struct timer {
	struct timer *next;
	int64_t at_us;
	void (*fire)(void *arg); /* NULL: not set */
	void *arg;
};

enum link_state { LINK_DOWN, LINK_PINGING, LINK_OPENING, LINK_UP };

struct link {
	enum link_state state;
	unsigned epoch; /* counts connections */
	bool told_down;
	char reason[DOCKER_TEXT_SIZE]; /* of the last loss */
	char version[16];              /* "1.41" */
	char name[128];                /* "Docker Engine 20.10.24 (API 1.41)" */
	int64_t backoff_us;
	int64_t up_us;    /* UP: since then */
	int64_t told_ns;  /* when it last told, by its own clock; 0: it did not say */
	struct host host; /* of the engine, as it last told */
	struct http_exchange *ping, *info, *events;
	struct text line; /* of the events stream, in the making */
	bool skipping;
	struct timer again;           /* DOWN: the next ping */
	struct timer events_patience; /* OPENING */
	struct timer next_listing;    /* UP */
};

/* A container that was sent a signal by way of the engine, and has not ended yet. */
struct signalled {
	struct signalled *next;
	struct replica_key key;
};

struct listing;
struct image_task;
struct network_task;
struct replica_task;
struct follower;
struct attachment;
struct throttle;

struct docker {
	struct engine engine; /* first */
	struct engine_sink sink;
	char *instance, *docker_config;
	char *socket_path;
	struct subnet pool;
	bool offline, internal;
	struct http *http;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the next six */
	struct command *commands, **commands_end;
	bool command_lost; /* for want of memory */
	bool resume_asked; /* no command: one that was lost would leave outputs standing for good */
	bool close_asked;
	char spoken_version[16]; /* link.version, for other threads; "" until an engine answered */
	/* The engine's thread alone: */
	bool closing;
	struct timer *timers;
	struct link link;
	struct listing *listing;
	struct timer listing_again; /* after one that failed */
	unsigned history_epoch;     /* whose past was asked for */
	bool list_again, others_looked;
	unsigned refusals; /* so many listings in a row met a container that the engine will not tell of */
	struct image_task *images;
	struct network_task *networks;
	struct replica_task *replicas; /* calls about replicas under way */
	struct signalled *signalled;   /* since the link is up */
	struct follower *followers;
	struct attachment *attachments;
	struct throttle *throttles;
};

/* docker.c */
/* Queues a copy of @command; its strings become the queue's. When there is no memory for it, that is noted for the caller
 * (memory.h), and the engine is looked at anew. Thread: any. */
void docker_post(struct docker *docker, const struct command *command);
/* Queues @command itself, from the heap: it is not lost for want of memory. Thread: any. */
void docker_hand_over(struct docker *docker, struct command *command);
/* Sets @timer, anew if it was set; it may be freed once it fires. Fires once, later. Every timer fires at the latest when
 * the engine is closed. */
void docker_after(struct docker *docker, struct timer *timer, int64_t delay_us, void (*fire)(void *arg),
		  void *arg);
bool timer_is_set(const struct timer *timer);
/* Like http_start(), with the path "/containers/NAME" + @suffix. */
void docker_container_call(struct docker *docker, const struct replica_key *key, const char *suffix,
			   struct http_request request);

/* How a call ended, for an event. */
struct outcome {
	enum status status; /* OK for codes below 300, and 304 */
	char text[DOCKER_TEXT_SIZE];
};
void outcome_read(const struct http_answer *answer, struct outcome *ret_outcome);

/* docker_emit.c: none of these says anything once the engine is being closed. */
void emit_plain(struct docker *docker, enum engine_event_kind kind, const char *text);
void emit_up(struct docker *docker, const char *text, const struct host *host);
void emit_listing(struct docker *docker, const struct replica_status *replicas, size_t replica_count,
		  const struct network_status *networks, size_t network_count);
void emit_image(struct docker *docker, enum engine_event_kind kind, const char *image, enum status status,
		const char *text);
void emit_network(struct docker *docker, enum engine_event_kind kind, int64_t job, enum status status,
		  const char *text, const struct network_status *network);
void emit_replica(struct docker *docker, enum engine_event_kind kind, const struct replica_status *replica);
void emit_replica_failed(struct docker *docker, enum engine_event_kind kind, const struct replica_key *key,
			 enum status status, const char *text);
void emit_key(struct docker *docker, enum engine_event_kind kind, const struct replica_key *key);

/* docker_link.c */
void link_begin(struct docker *docker);
bool link_is_up(const struct docker *docker);
/* An exchange found the engine gone, or hung. */
void link_lose(struct docker *docker, const char *reason);
/* Each answer passes here: one that shows the engine gone ends the link. */
void link_watch(struct docker *docker, const struct http_answer *answer);
void link_end(struct docker *docker);

/* docker_listing.c */
void listing_ask(struct docker *docker);
/* An event went out while a listing is being made: what it says is newer than what was asked. */
void listing_note_replica(struct docker *docker, const struct replica_status *replica, bool gone);
void listing_note_network(struct docker *docker, const struct network_status *network, bool gone);

/* docker_replica.c */
void replica_create_run(struct docker *docker, struct command *command);
void replica_start_run(struct docker *docker, struct command *command);
void replica_stop_run(struct docker *docker, struct command *command);
void replica_remove_run(struct docker *docker, struct command *command);
void replica_signalled(struct docker *docker, const struct docker_event *event);
void replica_died(struct docker *docker, const struct docker_event *event);
void replica_destroyed(struct docker *docker, const struct docker_event *event);
/* Of any container. */
void replica_signals_forget(struct docker *docker);
/* A start of it is under way. */
bool replica_is_starting(const struct docker *docker, const struct replica_key *key);

/* docker_network.c */
void network_create_run(struct docker *docker, struct command *command);
void network_remove_run(struct docker *docker, struct command *command);

/* docker_attachment.c: command->image is the network's id, command->body of attachment_body() */
void attachment_run(struct docker *docker, struct command *command);
/* What the engine is asked with. NULL when memory ran out. */
json_t *attachment_body(const char *instance, const struct replica_link *link, const struct replica_key *key);

/* docker_throttle.c: command->number is 0 for as fast as it can */
void throttle_run(struct docker *docker, struct command *command);
/* Removes @container, an element of a listing that is no replica, if it is one of ours that a killed daemon has left. */
void throttle_sweep(struct docker *docker, const json_t *container);

/* docker_image.c */
void image_ensure_run(struct docker *docker, struct command *command);
/* Ends and joins the threads that look for credentials. */
void images_close(struct docker *docker);

/* docker_logs.c */
void follower_begin_run(struct docker *docker, struct command *command);

/* Somebody else has told of this exit. */
void follower_note_exit(struct docker *docker, const struct replica_key *key);
void followers_resume(struct docker *docker);
/* The engine is there again. */
void followers_reconnect(struct docker *docker);
void followers_close(struct docker *docker);
