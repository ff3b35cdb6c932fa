/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/faults/fault.h: what a rule of a fault that a user ordered says, and whether it is due. Pure.
 *
 * A rule is read from the canonical form of the message trainyard.Fault (api/emulator/fault_message.c). A context is what
 * may be hit: a call, a queued job, a job about to start, or one container of a running job. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

/* Numbers are the database's. */
enum fault_kind {
	FAULT_UNSPECIFIED = 0,
	FAULT_PREEMPT = 1,  /* the container is killed, and started anew as a lost one is */
	FAULT_OOM = 2,      /* is killed, and its end is counted as out of memory */
	FAULT_EXIT = 3,     /* is killed, and its end is counted as exit_code */
	FAULT_CRASH = 4,    /* likewise, with the code of a signal after which the whole job is tried again */
	FAULT_STOP = 5,     /* is told to end (SIGTERM), then killed; as preempt */
	FAULT_STOCKOUT = 6, /* there is nothing to run the job on: it waits, or fails */
	FAULT_IMAGE_PULL = 7,  /* the job's image is not there */
	FAULT_QUOTA = 8,       /* the creating call is refused with the words of a quota */
	FAULT_HTTP_STATUS = 9, /* the call is answered with an error */
	FAULT_TIMEOUT = 10,    /* the call is answered late, or never */
	FAULT_SLOW_NETWORK =
		11, /* what the container sends and gets goes at bytes_per_s at most, for a while */
	FAULT_CUT_NETWORK = 12, /* the container is off its network for a while */
	FAULT_KIND_COUNT
};

/* Where in its life somebody is. Numbers are the database's. */
enum fault_stage {
	STAGE_QUEUED = 0,
	STAGE_PREPARING = 1,
	STAGE_RUNNING = 2, /* ends a container */
	STAGE_CALL = 3,
	STAGE_NETWORK = 4, /* acts on a container's network */
};

/* How a pattern is read, as those of log filters are: by characters, with lines that are no UTF-8 taken as far as they are. */
#define FAULT_PATTERN_OPTIONS (PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C)

struct fault_rule {
	int64_t id;
	enum fault_kind kind;
	char *project, *job; /* globs; NULL: any */
	int role;            /* enum role; -1: any */
	int replica;         /* index; -1: any */
	unsigned trial;      /* 0: any, or none */
	unsigned attempt;    /* 0: any */
	unsigned count;      /* how often at most; 0: without end */
	double probability;  /* 0: it is certain */
	int64_t after_us;    /* of a container that runs; 0: at once */
	char *log_pattern;   /* PCRE2 with FAULT_PATTERN_OPTIONS, of a line that it prints; NULL: none */
	int exit_code;
	int64_t seconds_us; /* how long it lasts; 0: not told */
	char *method;       /* glob */
	int http_status;
	int64_t bytes_per_s; /* of a slowed network */
};

void fault_rule_free(struct fault_rule *rule);
DEFINE_AUTO(fault_rule, struct fault_rule *, fault_rule_free)

/* INVALID_ARGUMENT with all faults: what does not go together, is out of range, or is not offered. The id is 0. */
enum status fault_rule_read(const json_t *canonical, struct fault_rule **ret_rule, struct error *err);

const char *fault_kind_name(enum fault_kind kind);

enum { FAULT_JOB_NAMES = 4 };

struct fault_context {
	enum fault_stage stage;
	const char *project;                    /* NULL: not known; only rules for any fit */
	const char *job_names[FAULT_JOB_NAMES]; /* what the job is called, NULLs between them allowed */
	unsigned trial;
	struct replica_key key; /* RUNNING, NETWORK: the container; else the job alone; of no call */
	int64_t running_us;     /* RUNNING, NETWORK: for how long */
	/* CALL */
	const char *method;
	bool creates_job; /* it is one that makes a job: the only ones that a quota refuses */
};

/* Whether @rule is about the context's kind of thing and names it; time, pattern and luck apart. */
bool fault_fits(const struct fault_rule *rule, const struct fault_context *context);
/* When it hits what it fits: microseconds from now, 0: now; -1: not before a line matched. @matched: whether a line
 * of the container fitted log_pattern. */
int64_t fault_wait_us(const struct fault_rule *rule, const struct fault_context *context, bool matched);
/* Whether luck will have it: always the same for the same seed, rule and context; of calls, the @draw-th. */
bool fault_drawn(const struct fault_rule *rule, const struct fault_context *context, uint64_t seed,
		 uint64_t draw);

/* Whether @pattern ('*' any bytes, '?' any one) fits all of @name. */
bool fault_glob_fits(const char *pattern, const char *name);
