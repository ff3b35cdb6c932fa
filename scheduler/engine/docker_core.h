/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_core.h: shared by the files behind docker.c: the connection's state, calls and their
 * outcomes, the queue of commands, and timers.
 *
 * An operation is a task on the heap that moves from one exchange (or timer) to the next and frees itself at its end.
 * Starting an exchange may end the task at once, so a task must not be used after it. Everything here belongs to the
 * engine's thread, except docker_post() and docker_hand_over(). Terminals are separate: they use connections of their
 * own, on their callers' threads (docker_terminal.h). */
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/text.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_json.h"
#include "scheduler/engine/docker_subnet.h"
#include "scheduler/engine/engine.h"

enum { CALL_TIMEOUT_S = 60, START_TIMEOUT_S = 120, SECOND_US = 1000 * 1000, MILLISECOND_US = 1000 };
enum { DOCKER_SELF_SIZE = 65 };
/* Pauses between attempts to connect: each is twice as long as the one before. */
enum { BACKOFF_FIRST_US = 200 * MILLISECOND_US, BACKOFF_MOST_US = 5 * SECOND_US };

struct docker;
struct docker_make;
struct endpoint;

/* A request from another thread. */
struct command {
	void (*run)(struct docker *docker, struct command *command); /* executes the command on the engine's thread;
								      * takes ownership of the members that it needs */
	void (*then)(struct docker *docker, struct command *command); /* run() of the command that answers this one */
	struct command *next;
	struct replica_key key;
	struct log_position from;
	char *image;
	json_t *body;
	void *arg;
	int64_t job;
	unsigned number; /* grace_s, address_count, bytes_per_s, or the number of an order */
};

void command_deinit(struct command *command);

/* A timer. It is a member of the task that waits for it. */
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
	bool logged_down;
	char reason[DOCKER_TEXT_SIZE]; /* the reason of the last loss */
	char version[16];              /* "1.41" */
	char name[128];                /* "Docker Engine 20.10.24 (API 1.41)" */
	void (*retry)(void *docker);   /* called on the engine's thread after a pause in DOWN, which lasts: */
	int64_t backoff_us;
	int64_t up_us;     /* UP: the time since which the link is up */
	int64_t engine_ns; /* the engine's clock at its last message; 0: it sent no time */
	struct host host;  /* the resources of the engine's machine, as last reported */
	/* The engine cannot access the files of this machine: containers get copies instead of mounts
	 * (docker_given.h). */
	bool is_apart;
	char *probe; /* the file that the engine is being asked for, to set is_apart; NULL: none */
	char self
		/* id of the daemon's own container, which joins job networks; "": none (docker_self.h) */
		[DOCKER_SELF_SIZE];
	const struct docker_make *make; /* the make of the engine, with its differences from Docker's own: docker_make.h */
	/* The bridges of job networks are not interfaces of this machine, and the daemon cannot join these networks:
	 * connections from them are carried by tunnels (docker_tunnel.h). */
	bool is_far;
	bool may_be_far;    /* is_far is not known yet: docker_network.c sets it when the first network was made */
	void (*then)(struct docker *docker); /* the next step of connecting, after the current check */
	/* docker_elsewhere.h. is_marked: this daemon's marker is in the engine. challenged: this daemon has removed
	 * another daemon's marker, and waits to see whether it comes back. mark_again: this daemon's marker was removed
	 * and has to be made again. */
	bool is_marked, challenged, mark_again;
	struct http_exchange *ping, *info, *look, *events, *watch;
	struct text line; /* the line of the events stream that is being received */
	bool skipping;
	struct timer again;           /* DOWN: fires the next ping; OPENING: fires the next attempt to make the marker */
	struct timer events_patience; /* OPENING: ends the wait for the headers of the events stream */
	struct timer next_listing;    /* UP: requests the next regular listing */
};

/* A container that was sent a signal through the engine, and has not ended yet. */
struct signalled {
	struct signalled *next;
	uint64_t signals; /* bit mask of the signals' numbers, as in docker_event */
	struct replica_key key;
};

/* An event that arrived while a listing was being made. */
struct note {
	struct replica_status replica;
	struct network_status network;
	bool is_network, gone;
};

struct listing;
struct image_task;
struct network_task;
struct replica_task;
struct exit_task;
struct follower;
struct attachment;
struct throttle;
struct claims;
struct report;
struct tunnel;

struct docker {
	struct engine engine; /* must be the first member */
	struct engine_sink sink;
	char *instance, *docker_config;
	char *place; /* docker_elsewhere.h */
	struct endpoint *endpoint;
	char *state_dir, *reports_dir; /* as in engine_options */
	struct subnet pool;
	bool offline, internal, uses_swarm;
	enum engine_networks makes;
	uint16_t carried_ports[ENGINE_CARRIED_PORTS_MAX];
	struct http *http;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the members up to spoken_version, and the list of tunnels */
	struct command *commands, **commands_end;
	bool resume_asked; /* a flag and not a command, because a lost command would stop all outputs for good */
	bool close_asked;
	char spoken_version[16]; /* copy of link.version for other threads; "" until an engine has answered */
	/* Used by the engine's thread alone: */
	bool closing;
	struct timer *timers;
	struct link link;
	struct listing *listing; /* the listing that is being made; NULL: none */
	struct note *notes;      /* the events since the listing was begun */
	size_t note_count, note_size;
	struct timer listing_again; /* starts a new listing some time after one that failed */
	unsigned history_epoch;     /* the epoch in which the engine's event history was requested */
	bool list_again, others_looked;
	unsigned refusals; /* how many listings in a row had a container that the engine could not inspect */
	struct image_task *images;
	unsigned searches; /* how many searches for images in other engines were begun */
	struct network_task *networks;
	struct replica_task *replicas; /* the running calls that start, stop or remove replicas */
	struct exit_task *exits;       /* the running looks at ended containers (docker_exit.h) */
	struct signalled *signalled;   /* containers that were sent a signal since the link is up */
	struct follower *followers;
	struct attachment *attachments;
	struct throttle *throttles;
	struct claims *claims; /* docker_claims.h; NULL: none was ordered */
	json_t *made; /* names of the containers of replica_note_made() */
	struct report *reports; /* files to which containers write their reports */
	struct engine_group *group; /* as in engine_options */
	atomic_bool answers;        /* link_is_up(), for other threads */
	char *node;
	struct tunnel *tunnels; /* of networks with a carried reach (docker_tunnel.h); guarded by lock */
};

/* Queues a copy of @command and takes its strings. Thread: any. */
void docker_post(struct docker *docker, const struct command *command);
/* Queues @command itself, which must be on the heap. Thread: any. */
void docker_hand_over(struct docker *docker, struct command *command);
/* Sets or resets @timer, which may be freed when it fires. It fires once, never from within this call, and at the
 * latest when the engine is closed. */
void docker_after(struct docker *docker, struct timer *timer, int64_t delay_us, void (*fire)(void *arg),
		  void *arg);
bool timer_is_set(const struct timer *timer);
/* Stops @timer without firing it. The timer must be set. */
void timer_unset(struct docker *docker, struct timer *timer);
/* Fires the timers that are due, or all of them when the engine is being closed. True: at least one fired. */
bool timers_fire(struct docker *docker);
/* Starts a call like http_start(), with the path "/containers/NAME" + @suffix. */
void docker_container_call(struct docker *docker, const struct replica_key *key, const char *suffix,
			   struct http_request request);

/* The result of a call, in the form in which an event has it. */
struct outcome {
	enum status status; /* OK for codes below 300, and 304 */
	char text[DOCKER_TEXT_SIZE];
};
void outcome_read(const struct http_answer *answer, struct outcome *ret_outcome);

/* Whether calls can be sent. */
bool link_is_up(const struct docker *docker);
/* To be called when an exchange failed because the engine is gone or does not answer: reports the loss, and connects
 * again after a pause. */
void link_lose(struct docker *docker, const char *reason);
/* To be called with each answer: ends the link if the answer shows that the engine is gone. */
void link_watch(struct docker *docker, const struct http_answer *answer);
void link_end(struct docker *docker);
/* Removes the file link.probe, and sets link.probe to NULL. */
void link_probe_end(struct docker *docker);
/* Does both outcome_read() and link_watch(). */
void docker_outcome(struct docker *docker, const struct http_answer *answer, struct outcome *ret_outcome);
