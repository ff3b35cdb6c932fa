/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/faults/fault.h: one rule of fault injection: when it applies and what it does. Pure.
 *
 * A rule is read from the canonical form of the message trainyard.Fault (api/emulator/fault_message.c). A context is
 * what a fault can be injected into: a call, a queued job, a job about to start, or one container of a running job. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "scheduler/plan/outcome.h"
#include "scheduler/plan/plan.h"

/* The kinds of faults. The numbers are stored in the database and never change. */
enum fault_kind {
	FAULT_UNSPECIFIED = 0,
	FAULT_PREEMPT = 1, /* the container is killed and restarted like a lost one */
	FAULT_OOM = 2,     /* the container is killed; counts as out of memory */
	FAULT_EXIT = 3,    /* the container is killed; counts as exit_code */
	FAULT_CRASH = 4,   /* the container is killed; counts as a crash, after which the whole job is retried */
	FAULT_STOP = 5,    /* like preempt, with SIGTERM before SIGKILL */
	FAULT_STOCKOUT = 6,      /* no resources are available for the job: it waits, or fails */
	FAULT_IMAGE_PULL = 7,    /* the job's image cannot be pulled */
	FAULT_QUOTA = 8,         /* the call that creates a job is refused with a quota error */
	FAULT_HTTP_STATUS = 9,   /* the call is answered with an error */
	FAULT_TIMEOUT = 10,      /* the call is answered late, or never */
	FAULT_SLOW_NETWORK = 11, /* the container's network traffic is limited to bytes_per_s for a while */
	FAULT_CUT_NETWORK = 12,  /* the container is disconnected from its network for a while */
	FAULT_KIND_COUNT
};

/* The stage of a call or a job at which a fault is injected. The numbers are stored in the database. */
enum fault_stage {
	STAGE_QUEUED = 0,
	STAGE_PREPARING = 1,
	STAGE_RUNNING = 2, /* ends a container */
	STAGE_CALL = 3,
	STAGE_NETWORK = 4, /* acts on a container's network */
};

/* The groups of members that rules of a kind may have. Each rule may have a project, a count and a probability as well.
 * The names in the comments are those of the message trainyard.Fault. */
enum fault_says {
	SAYS_REPLICA = 1 << 0, /* role, pool, replica */
	SAYS_JOB = 1 << 1,     /* trial, attempt */
	SAYS_WHEN = 1 << 2,    /* afterSeconds, logPattern */
	SAYS_EXIT_CODE = 1 << 3,   /* exitCode */
	SAYS_SECONDS = 1 << 4,     /* seconds */
	SAYS_METHOD = 1 << 5,      /* method */
	SAYS_HTTP_STATUS = 1 << 6, /* httpStatus */
	SAYS_NAME = 1 << 7,        /* job */
	SAYS_RATE = 1 << 8,        /* bytesPerSecond */
};

/* What all rules of one kind have in common. */
struct fault_traits {
	const char *name;
	enum fault_stage stage;
	unsigned says; /* bits of enum fault_says: the members that such a rule may have */
	/* STAGE_RUNNING, STAGE_NETWORK: what happens to the replica, as the job's log says it: "is preempted" */
	const char *words;
	/* For STAGE_RUNNING only. */
	enum replica_end end; /* the replica's end is treated like this one */
	bool out_of_memory;   /* the end counts as out of memory */
	bool graceful;        /* the container gets SIGTERM and its grace period before SIGKILL */
};

/* Patterns follow the rules of patterns in log filters: they match characters; bytes of a line that are not UTF-8 never
 * match. */
#define FAULT_PATTERN_OPTIONS (PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C)

struct fault_rule {
	int64_t id;
	enum fault_kind kind;
	char *project, *job; /* globs; NULL: any */
	int role;            /* enum role; -1: any */
	int replica;         /* index; -1: any */
	unsigned trial;      /* 0: any, or none */
	unsigned attempt;    /* 0: any */
	unsigned count;      /* how often it applies at most; 0: unlimited */
	double probability;  /* 0: it is certain */
	int64_t after_us;    /* how long the container must have run; 0: no wait */
	char *log_pattern; /* PCRE2 with FAULT_PATTERN_OPTIONS, matched against its output lines; NULL: none */
	int exit_code;
	int64_t seconds_us; /* how long it lasts; 0: unspecified */
	char *method;       /* glob */
	int http_status;
	int64_t bytes_per_s; /* of a slowed network */
};

void fault_rule_free(struct fault_rule *rule);
DEFINE_AUTO(fault_rule, struct fault_rule *, fault_rule_free)

/* Reads a rule; its id is 0. INVALID_ARGUMENT lists all errors: members that exclude each other, are out of range, or are
 * not supported. */
enum status fault_rule_read(const json_t *canonical, struct fault_rule **ret_rule, struct error *err);

const char *fault_kind_name(enum fault_kind kind);
/* The name of the field number @index, from 0, of those that have no meaning for a kind, so that a rule with it is refused;
 * NULL: there is none. */
const char *fault_field_refused(enum fault_kind kind, size_t index);
/* The traits of a kind of fault. @kind: not FAULT_UNSPECIFIED. */
const struct fault_traits *fault_traits_of(enum fault_kind kind);

enum { FAULT_JOB_NAMES = 4 };

struct fault_context {
	enum fault_stage stage;
	const char *project;                    /* NULL: unknown; only rules for any project match */
	const char *job_names[FAULT_JOB_NAMES]; /* the names of the job; some may be NULL */
	unsigned trial;
	struct replica_key
		key; /* RUNNING, NETWORK: the container; other stages: the job alone; unset for calls */
	int64_t running_us; /* RUNNING, NETWORK: for how long it has run */
	/* CALL */
	const char *method;
	bool creates_job; /* the call creates a job: a quota fault applies to no other */
};

/* Whether the kind of @rule is for the context's stage, and each name and number in the rule matches the context. Time,
 * log pattern and probability are not considered. */
bool fault_fits(const struct fault_rule *rule, const struct fault_context *context);
/* Microseconds until a rule applies to a context that it fits; 0: it applies now; -1: it still waits for a line that
 * matches log_pattern. @matched: the container has already printed such a line. */
int64_t fault_wait_us(const struct fault_rule *rule, const struct fault_context *context, bool matched);
/* Draws whether a rule with a probability applies. For containers and jobs the same seed, rule and context always give
 * the same result; for calls, the same seed, rule and @draw (the number of the draw) do. */
bool fault_drawn(const struct fault_rule *rule, const struct fault_context *context, uint64_t seed,
		 uint64_t draw);

/* Whether @pattern ('*': any bytes, '?': any one byte) matches all of @name. */
bool fault_glob_fits(const char *pattern, const char *name);
