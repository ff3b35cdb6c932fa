/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/engine/docker_testing.h: a simulated engine at a socket that answers by rules, its client, and
 * the events that this has reported. */
#include <poll.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/text.h"
#include "scheduler/engine/docker.h"
#include "scheduler/engine/docker_json.h"
#include "tests/unit/testing.h"

enum { WAIT_S = 60, CONNECTIONS_MAX = 64, RULES_MAX = 12, HOLD = -2 };

/* A request is answered by the first rule with a text that is in the request's first line. */
struct rule {
	const char *request; /* NULL ends the list of rules */
	/* 0: closes the connection without an answer; -1: does not answer and keeps it open; HOLD: answers once another
	 * rule matches */
	int code;
	const char *body;
	size_t flood;   /* this many bytes more, without an end of the answer */
	unsigned times; /* how often the rule may answer; 0: always */
	size_t length;  /* of the body; 0: it is a string */
	bool cut;       /* sends less than announced, then closes the connection */
};

#define LABELS                                                                                               \
	"{\"trainyard.instance\":\"t\",\"trainyard.job\":\"1\",\"trainyard.job_id\":\"j\","                  \
	"\"trainyard.project\":\"p\",\"trainyard.pool\":\"master\",\"trainyard.replica\":\"master-0\","      \
	"\"trainyard.attempt\":\"1\",\"trainyard.restart\":\"0\",\"trainyard.gateway\":\"0\","               \
	"\"trainyard.made\":\"0\",\"trainyard.files\":\"mounted\",\"trainyard.reports\":\"\"}"
#define STATE_MASTER(state) "{\"Name\":\"/ty\",\"Config\":{\"Labels\":" LABELS "},\"State\":{" state "}}"
#define EXITED_MASTER                                                                                        \
	STATE_MASTER("\"Running\":false,\"ExitCode\":3,\"StartedAt\":\"2026-11-20T21:29:51Z\","              \
		     "\"FinishedAt\":\"2026-11-20T21:29:52Z\"")
#define KILLED_MASTER                                                                                        \
	STATE_MASTER("\"Running\":false,\"ExitCode\":137,\"StartedAt\":\"2026-11-20T21:29:51Z\","            \
		     "\"FinishedAt\":\"2026-11-20T21:29:52Z\"")
#define CREATED_MASTER                                                                                       \
	STATE_MASTER("\"Running\":false,\"ExitCode\":0,\"StartedAt\":\"0001-01-01T00:00:00Z\","              \
		     "\"FinishedAt\":\"0001-01-01T00:00:00Z\"")
#define RUNNING_MASTER                                                                                       \
	STATE_MASTER("\"Running\":true,\"ExitCode\":0,\"StartedAt\":\"2026-11-20T21:29:51Z\","               \
		     "\"FinishedAt\":\"0001-01-01T00:00:00Z\"")
#define EVENT_AT(action, attributes, name)                                                                   \
	"{\"Type\":\"container\",\"Action\":\"" action                                                       \
	"\",\"Actor\":{\"ID\":\"c\",\"Attributes\":{" attributes "\"name\":\"" name                          \
	"\",\"trainyard.instance\":\"t\",\"trainyard.job\":\"1\",\"trainyard.pool\":\"master\","             \
	"\"trainyard.replica\":\"master-0\",\"trainyard.attempt\":\"1\"}},\"timeNano\":1795210192000000000}\n"
#define EVENT_MASTER(action, attributes) EVENT_AT(action, attributes, "ty-t-1-master-0-a1")
#define EVENT_OF(action, name)           EVENT_AT(action, "", name)
/* a container of an image with the label */
#define DIE_MASTER                       EVENT_MASTER("die", "\"exitCode\":\"5\",")

struct lab {
	char path[64];
	const char *api_version;
	struct rule rules[RULES_MAX];
	unsigned asked[RULES_MAX];
	struct text requests; /* all requests so far, in their order */
	int listener;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
	struct engine_options options; /* for the next lab_open(); without the URL */
	struct engine *engine;
	/* The reported events, as "KIND STATUS TEXT". */
	struct {
		enum engine_event_kind kind;
		enum status status;
		char text[1100];
		size_t replica_count, network_count;
		unsigned free_blocks;
		struct replica_status replica; /* the first replica of the event */
		struct network_status network;
		struct host host; /* without the names of devices */
		char device[64];  /* the first device; for DEVICES_CLAIMED, the first that another instance has */
		bool seen;
	} events[64];
	size_t event_count;
	int room;         /* accepts this many more lines; negative: all */
	unsigned refused; /* number of refused lines */
	struct text lines;
};

static const struct replica_key master = { .job = 1, .attempt = 1, .role = ROLE_MASTER, .index = 0 };

/* ---- the lying engine ---- */

/* @first: the request is looked up for the first time, and not held. */
const struct rule *rule_find(struct lab *lab, const char *line, bool first);
size_t body_length(const struct rule *rule);

/* Answers a request with the first line @line. False: the connection is closed. */
bool answer_send(int fd, const char *line, const struct rule *rule, const char *api_version);

struct connection {
	int fd;
	char line[1024]; /* the first line of a request that waits for its answer; "": none waits */
	bool held;
};

/* False: the connection is closed. */
bool request_take(struct lab *lab, struct connection *connection);

/* False: the connection is closed. */
bool request_answer(struct lab *lab, struct connection *connection);
void *lab_main(void *arg);

/* ---- the sink ---- */

void on_event(void *arg, const struct engine_event *event);
bool on_line(void *arg, const struct replica_line *line);

/* Waits until @is_so; false: it took too long. The caller holds the lock. */
bool changes_await(struct lab *lab, bool (*is_so)(struct lab *lab, void *arg), void *arg);

struct event_search {
	enum engine_event_kind kind;
	size_t found;
};

bool event_came(struct lab *lab, void *arg);

/* Returns the index of the next such event. */
size_t expect_event(struct lab *lab, enum engine_event_kind kind);
size_t events_count(struct lab *lab, enum engine_event_kind kind);

/* ---- setup ---- */

void lab_open(struct lab *lab);
void lab_close(struct lab *lab);
void server_open(struct lab *lab);
int lab_setup(void **state);
int lab_teardown(void **state);
void rule_set(struct lab *lab, size_t index, struct rule rule);
unsigned rule_asked(struct lab *lab, size_t index);

struct rule_count {
	size_t index;
	unsigned times;
};

bool rule_was_asked(struct lab *lab, void *arg);
void expect_asked(struct lab *lab, size_t index, unsigned times);

/* Whether such a request has arrived. */
bool was_asked(struct lab *lab, const char *request);
void version_set(struct lab *lab, const char *version);
void up(struct lab *lab);

/* Waits until the client has handled all answers so far: for that, a listing needs two more answers. */
void settle(struct lab *lab);
struct replica_spec spec_of(void);
int start(void **state);

#define LAB_TEST(test) cmocka_unit_test_setup_teardown(test, lab_setup, lab_teardown)
