/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_core.h: what the files behind docker.c share: the connection's state, calls and their outcomes, the
 * queue of commands, and timers.
 *
 * An operation is a task on the heap that moves from one exchange (or timer) to the next and frees
 * itself at its end. Starting an exchange may end the task at once, so it is the last thing done with
 * it. All here belongs to the engine's thread, but docker_post() and docker_hand_over(). Terminals are
 * apart: they work on connections of their own, on their callers' threads (docker_terminal.h). */
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
enum { DOCKER_SELF_SIZE = 65 };
/* Between tries to connect: each wait is twice as long as the one before. */
enum { BACKOFF_FIRST_US = 200 * MILLISECOND_US, BACKOFF_MOST_US = 5 * SECOND_US };

struct docker;
struct endpoint;

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
	unsigned number; /* grace_s, address_count, or bytes_per_s */
};

void command_deinit(struct command *command);

/* Belongs to what waits for it. */
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
	char reason[DOCKER_TEXT_SIZE]; /* of the last loss */
	char version[16];              /* "1.41" */
	char name[128];                /* "Docker Engine 20.10.24 (API 1.41)" */
	void (*retry)(void *docker);   /* when it was DOWN for as long as: */
	int64_t backoff_us;
	int64_t up_us;    /* UP: since then */
	int64_t engine_ns; /* when it last told, by its own clock; 0: it did not say */
	struct host host; /* of the engine, as it last told */
	/* The engine does not have the files of this machine: containers are given copies, not mounts (docker_given.h). */
	bool is_apart;
	char *probe; /* the file that the engine is asked for; NULL: it is not being asked */
	char self
		[DOCKER_SELF_SIZE]; /* the daemon's own container, which joins job networks; "": none (docker_self.h) */
	void (*then)(struct docker *docker); /* once that is known */
	struct http_exchange *ping, *info, *look, *events;
	struct text line; /* of the events stream, in the making */
	bool skipping;
	struct timer again;           /* DOWN: the next ping */
	struct timer events_patience; /* OPENING */
	struct timer next_listing;    /* UP */
};

/* A container that was sent a signal by way of the engine, and has not ended yet. */
struct signalled {
	struct signalled *next;
	uint64_t signals; /* their bits, as of docker_event */
	struct replica_key key;
};

/* What an event said while a listing was being made. */
struct note {
	struct replica_status replica;
	struct network_status network;
	bool is_network, gone;
};

struct listing;
struct image_task;
struct network_task;
struct replica_task;
struct follower;
struct attachment;
struct throttle;
struct report;

struct docker {
	struct engine engine; /* first */
	struct engine_sink sink;
	char *instance, *docker_config;
	struct endpoint *endpoint;
	char *state_dir, *reports_dir; /* as engine_options has them */
	struct subnet pool;
	bool offline, internal;
	struct http *http;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the next six */
	struct command *commands, **commands_end;
	bool resume_asked; /* no command: one that was lost would leave outputs standing for good */
	bool close_asked;
	char spoken_version[16]; /* link.version, for other threads; "" until an engine answered */
	/* The engine's thread alone: */
	bool closing;
	struct timer *timers;
	struct link link;
	struct listing *listing; /* in the making */
	struct note *notes;      /* since it was begun */
	size_t note_count, note_size;
	struct timer listing_again; /* after one that failed */
	unsigned history_epoch;     /* the epoch in which the past was asked for */
	bool list_again, others_looked;
	unsigned refusals; /* so many listings in a row met a container that the engine will not tell of */
	struct image_task *images;
	struct network_task *networks;
	struct replica_task *replicas; /* calls about replicas under way */
	struct signalled *signalled;   /* since the link is up */
	struct follower *followers;
	struct attachment *attachments;
	struct throttle *throttles;
	struct report *reports; /* of containers that report to files of their own */
};

/* Queues a copy of @command; its strings become the queue's. Thread: any. */
void docker_post(struct docker *docker, const struct command *command);
/* Queues @command itself, from the heap. Thread: any. */
void docker_hand_over(struct docker *docker, struct command *command);
/* Sets @timer, anew if it was set; it may be freed once it fires. Fires once, later. Every timer fires at the latest when
 * the engine is closed. */
void docker_after(struct docker *docker, struct timer *timer, int64_t delay_us, void (*fire)(void *arg),
		  void *arg);
bool timer_is_set(const struct timer *timer);
/* Those that are due, or when the engine is being closed all of them. Whether there was one. */
bool timers_fire(struct docker *docker);
/* Like http_start(), with the path "/containers/NAME" + @suffix. */
void docker_container_call(struct docker *docker, const struct replica_key *key, const char *suffix,
			   struct http_request request);

/* How a call ended, for an event. */
struct outcome {
	enum status status; /* OK for codes below 300, and 304 */
	char text[DOCKER_TEXT_SIZE];
};
void outcome_read(const struct http_answer *answer, struct outcome *ret_outcome);

/* Whether calls may be sent. */
bool link_is_up(const struct docker *docker);
/* An exchange found the engine gone, or hung: it is told, and tried again after a while. */
void link_lose(struct docker *docker, const char *reason);
/* Each answer passes here: one that shows the engine gone ends the link. */
void link_watch(struct docker *docker, const struct http_answer *answer);
void link_end(struct docker *docker);
/* The engine is not asked for link.probe any more. */
void link_probe_end(struct docker *docker);
/* outcome_read(), and link_watch(). */
void docker_outcome(struct docker *docker, const struct http_answer *answer, struct outcome *ret_outcome);
