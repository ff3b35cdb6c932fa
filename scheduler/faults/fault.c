/* SPDX-License-Identifier: Apache-2.0 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "scheduler/faults/fault.h"

#include <math.h>
#include <pcre2.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>

#include "daemon/base/embedded_file.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"

/* The program that slows networks; empty if it could not be built for this machine. */
extern const struct embedded_file throttle_files[];

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

enum {
	GLOB_BYTES_MAX = 512,
	PATTERN_BYTES_MAX = 4096,
	COUNT_MAX = 1000000,
	SIGNAL_BASE = 128,
	EXIT_CODE_MAX = 255,
};
#define SECONDS_MAX 86400.0
/* The limits of a slowed network: a lower rate passes no packet within a second, a higher rate has no effect. */
#define BYTES_PER_S_MIN 2000
#define BYTES_PER_S_MAX INT64_C(4000000000)

/* The members that each rule for containers may have. */
#define OF_REPLICA (SAYS_NAME | SAYS_JOB | SAYS_REPLICA | SAYS_WHEN)

/* Rows of the table: a kind that ends a container, one that acts on a container's network, and any other. */
#define ENDS(NAME, SAYS, WORDS, ...)                                                                         \
	{                                                                                                    \
		.name = (NAME), .stage = STAGE_RUNNING, .says = OF_REPLICA | (SAYS), .words = (WORDS),       \
		__VA_ARGS__                                                                                  \
	}
#define LINKS(NAME, SAYS, WORDS)                                                                             \
	{                                                                                                    \
		.name = (NAME), .stage = STAGE_NETWORK, .says = OF_REPLICA | SAYS_SECONDS | (SAYS),          \
		.words = (WORDS)                                                                             \
	}
#define KIND(NAME, STAGE, SAYS)                                                                              \
	{                                                                                                    \
		.name = (NAME), .stage = (STAGE), .says = SAYS_NAME | (SAYS)                                 \
	}
static const struct fault_traits kinds[FAULT_KIND_COUNT] = {
	[FAULT_PREEMPT] = ENDS("preempt", 0, "is preempted", .end = END_LOST),
	[FAULT_OOM] = ENDS("oom", 0, "runs out of memory", .end = END_EXIT, .out_of_memory = true),
	[FAULT_EXIT] = ENDS("exit", SAYS_EXIT_CODE, "is ended with", .end = END_EXIT),
	[FAULT_CRASH] = ENDS("crash", SAYS_EXIT_CODE, "crashes with", .end = END_EXIT),
	[FAULT_STOP] = ENDS("stop", 0, "is stopped", .end = END_LOST, .graceful = true),
	[FAULT_STOCKOUT] = KIND("stockout", STAGE_QUEUED, SAYS_JOB | SAYS_SECONDS),
	[FAULT_IMAGE_PULL] = KIND("imagePull", STAGE_PREPARING, SAYS_JOB),
	[FAULT_QUOTA] = KIND("quota", STAGE_CALL, SAYS_METHOD),
	[FAULT_HTTP_STATUS] = KIND("httpStatus", STAGE_CALL, SAYS_METHOD | SAYS_HTTP_STATUS),
	[FAULT_TIMEOUT] = KIND("timeout", STAGE_CALL, SAYS_METHOD | SAYS_SECONDS),
	[FAULT_SLOW_NETWORK] = LINKS("slowNetwork", SAYS_RATE, "sends and gets at most"),
	[FAULT_CUT_NETWORK] = LINKS("cutNetwork", 0, "is cut off from its network"),
};

/* Each member of a rule with its path and its bit of enum fault_says, in the order in which errors list them. */
static const struct {
	const char *name, *path;
	unsigned said;
} fields[] = {
	{ "job", "job", SAYS_NAME },
	{ "role", "role", SAYS_REPLICA },
	{ "pool", "pool", SAYS_REPLICA },
	{ "replica", "replica", SAYS_REPLICA },
	{ "trial", "trial", SAYS_JOB },
	{ "attempt", "attempt", SAYS_JOB },
	{ "afterSeconds", "after_seconds", SAYS_WHEN },
	{ "logPattern", "log_pattern", SAYS_WHEN },
	{ "exitCode", "exit_code", SAYS_EXIT_CODE },
	{ "seconds", "seconds", SAYS_SECONDS },
	{ "method", "method", SAYS_METHOD },
	{ "httpStatus", "http_status", SAYS_HTTP_STATUS },
	{ "bytesPerSecond", "bytes_per_second", SAYS_RATE },
};

void fault_rule_free(struct fault_rule *rule)
{
	if (!rule)
		return;
	free(rule->project);
	free(rule->job);
	free(rule->log_pattern);
	free(rule->method);
	free(rule);
}

const char *fault_kind_name(enum fault_kind kind)
{
	return kind > FAULT_UNSPECIFIED && kind < FAULT_KIND_COUNT ? kinds[kind].name : "unspecified";
}

const char *fault_field_refused(enum fault_kind kind, size_t index)
{
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		if (!(kinds[kind].says & fields[i].said) && index-- == 0)
			return fields[i].name;
	return NULL;
}

const struct fault_traits *fault_traits_of(enum fault_kind kind)
{
	return &kinds[kind];
}

static enum fault_kind kind_of(const char *name)
{
	for (int kind = 1; name && kind < FAULT_KIND_COUNT; kind++)
		if (strcmp(kinds[kind].name, name) == 0)
			return (enum fault_kind)kind;
	return FAULT_UNSPECIFIED;
}

static void refuse(struct error *err, const char *field, const char *text)
{
	error_add(err, STATUS_INVALID_ARGUMENT, field, "%s", text);
}

static void kind_read(const json_t *canonical, struct fault_rule *rule, struct error *err)
{
	rule->kind = kind_of(json_text_at(canonical, "fault"));
	if (rule->kind == FAULT_UNSPECIFIED) {
		refuse(err, "fault", "The field is required.");
		return;
	}
	if (rule->kind == FAULT_SLOW_NETWORK && !throttle_files[0].data)
		refuse(err, "fault",
		       "slowNetwork is not offered: this trainyard was built for a machine that its throttle does not know.");
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		if (json_object_get(canonical, fields[i].name) && !(kinds[rule->kind].says & fields[i].said))
			error_add(err, STATUS_INVALID_ARGUMENT, fields[i].path,
				  "The field has no meaning for the fault %s.", kinds[rule->kind].name);
}

static bool text_read(const json_t *canonical, const char *name, const char *path, size_t most,
		      char **ret_text, struct error *err)
{
	const char *value = json_text_at(canonical, name);

	if (!value)
		return true;
	/* An empty value is likely an unset variable of a script; it would match everything. */
	if (!*value)
		refuse(err, path, "The value must not be empty: leave the field out to match any.");
	if (strlen(value) > most)
		error_add(err, STATUS_INVALID_ARGUMENT, path, "The value is longer than %zu bytes.", most);
	*ret_text = memory_strdup(value);
	return *ret_text != NULL;
}

/* Reads the name of a Vertex AI worker pool; @pools is in the order of enum role. False: another name. */
static bool pool_parse(const char *name, int *ret_role)
{
	static const char *const pools[ROLE_COUNT] = { "workerpool0", "workerpool1", "workerpool2",
						       "workerpool3" };

	for (int role = 0; role < ROLE_COUNT; role++)
		if (strcmp(pools[role], name) == 0) {
			*ret_role = role;
			return true;
		}
	return false;
}

static void who_read(const json_t *canonical, struct fault_rule *rule, struct error *err)
{
	const char *role = json_text_at(canonical, "role"), *pool = json_text_at(canonical, "pool");
	const int64_t replica = json_int_at(canonical, "replica", -1);
	const int64_t trial = json_int_at(canonical, "trial", 0);
	const int64_t attempt = json_int_at(canonical, "attempt", 0);
	enum role parsed;

	rule->role = -1;
	if (role && !role_parse(role, &parsed))
		refuse(err, "role", "Expected one of master, worker, ps and evaluator.");
	else if (role)
		rule->role = (int)parsed;
	if (pool && !pool_parse(pool, &rule->role))
		refuse(err, "pool", "Expected one of workerpool0, workerpool1, workerpool2 and workerpool3.");
	if (json_object_get(canonical, "replica") && replica < 0)
		refuse(err, "replica", "The value must not be negative.");
	if (json_object_get(canonical, "trial") && trial < 1)
		refuse(err, "trial", "The value must be at least 1.");
	if (json_object_get(canonical, "attempt") && attempt < 1)
		refuse(err, "attempt", "The value must be at least 1.");
	else if (rule->kind == FAULT_STOCKOUT && attempt > 1)
		refuse(err, "attempt",
		       "A job waits for resources only before its first attempt: it can only be 1.");
	rule->replica = (int)replica;
	rule->trial = (unsigned)trial;
	rule->attempt = (unsigned)attempt;
}

/* Reads a number of @canonical. NaN, which is in no range: the member is not a number. */
static double number_at(const json_t *canonical, const char *name)
{
	const json_t *value = json_object_get(canonical, name);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static int64_t seconds_read(const json_t *canonical, const char *name, const char *path, struct error *err)
{
	const double value = number_at(canonical, name);

	if (!json_object_get(canonical, name))
		return 0;
	if (value >= 0 && value <= SECONDS_MAX)
		return (int64_t)(value * 1e6);
	refuse(err, path, "The value must be from 0 to 86400 seconds.");
	return 0;
}

static void pattern_check(const char *pattern, struct error *err)
{
	PCRE2_UCHAR words[256];
	PCRE2_SIZE offset;
	int problem;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, FAULT_PATTERN_OPTIONS,
					 &problem, &offset, NULL);

	if (!code) {
		pcre2_get_error_message(problem, words, COUNT_OF(words));
		error_add(err, STATUS_INVALID_ARGUMENT, "log_pattern", "%s (at byte %zu).",
			  (const char *)words, offset);
	}
	pcre2_code_free(code);
}

static void when_read(const json_t *canonical, struct fault_rule *rule, struct error *err)
{
	const int64_t count = json_int_at(canonical, "count", 0);

	rule->after_us = seconds_read(canonical, "afterSeconds", "after_seconds", err);
	rule->seconds_us = seconds_read(canonical, "seconds", "seconds", err);
	/* Less than a microsecond would count as unset. */
	if (number_at(canonical, "seconds") >= 0 && number_at(canonical, "seconds") < 1e-6)
		refuse(err, "seconds",
		       "The value must be above 0: leave it out for a fault that does not end.");
	if (json_object_get(canonical, "probability")) {
		rule->probability = number_at(canonical, "probability");
		if (!(rule->probability > 0 && rule->probability <= 1))
			refuse(err, "probability", "The value must be above 0 and at most 1.");
	}
	if (json_object_get(canonical, "count") && (count < 1 || count > COUNT_MAX))
		refuse(err, "count", "The value must be from 1 to 1000000.");
	rule->count = count ? (unsigned)count : rule->probability > 0 ? 0 : 1;
	if (rule->log_pattern)
		pattern_check(rule->log_pattern, err);
}

static bool code_is_crash(int64_t code)
{
	return code == SIGABRT || code == SIGSEGV || code == SIGNAL_BASE + SIGABRT ||
	       code == SIGNAL_BASE + SIGSEGV;
}

static void what_read(const json_t *canonical, struct fault_rule *rule, struct error *err)
{
	const int64_t code = json_int_at(canonical, "exitCode", -1);
	const int64_t http = json_int_at(canonical, "httpStatus", 0);
	const int64_t rate = json_int_at(canonical, "bytesPerSecond", 0);
	const bool coded = json_object_get(canonical, "exitCode") != NULL;

	if (rule->kind == FAULT_EXIT && (!coded || code < 0 || code > EXIT_CODE_MAX))
		refuse(err, "exit_code", "The fault exit needs an exit code from 0 to 255.");
	if (rule->kind == FAULT_CRASH && coded && !code_is_crash(code))
		refuse(err, "exit_code", "A crash ends with 6, 11, 134 or 139.");
	if (rule->kind == FAULT_HTTP_STATUS && http != 429 && http != 500 && http != 503 && http != 504)
		refuse(err, "http_status", "Expected one of 429, 500, 503 and 504.");
	if ((rule->kind == FAULT_HTTP_STATUS || rule->kind == FAULT_TIMEOUT) && !rule->method)
		refuse(err, "method", "The field is required.");
	if (rule->kind == FAULT_SLOW_NETWORK && (rate < BYTES_PER_S_MIN || rate > BYTES_PER_S_MAX))
		refuse(err, "bytes_per_second",
		       "The fault slowNetwork needs a value from 2000 to 4000000000 bytes a second.");
	rule->bytes_per_s = rate;
	rule->http_status = (int)http;
	rule->exit_code = coded                       ? (int)code
			  : rule->kind == FAULT_CRASH ? SIGNAL_BASE + SIGSEGV
			  : rule->kind == FAULT_OOM   ? SIGNAL_BASE + SIGKILL
						      : 0;
}

enum status fault_rule_read(const json_t *canonical, struct fault_rule **ret_rule, struct error *err)
{
	AUTO(fault_rule) struct fault_rule *rule = memory_calloc(1, sizeof(*rule));
	struct error found AUTO_ERROR = { 0 };

	kind_read(canonical, rule, &found);
	text_read(canonical, "project", "project", GLOB_BYTES_MAX, &rule->project, &found);
	text_read(canonical, "job", "job", GLOB_BYTES_MAX, &rule->job, &found);
	text_read(canonical, "method", "method", GLOB_BYTES_MAX, &rule->method, &found);
	text_read(canonical, "logPattern", "log_pattern", PATTERN_BYTES_MAX, &rule->log_pattern, &found);
	who_read(canonical, rule, &found);
	when_read(canonical, rule, &found);
	what_read(canonical, rule, &found);
	if (found.status)
		return error_move(err, &found);
	*ret_rule = TAKE(rule);
	return STATUS_OK;
}

bool fault_glob_fits(const char *pattern, const char *name)
{
	const char *star = NULL,
		   /* the pattern at the last '*', and the start in @name of the part tried after it */
		   *from = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			from = name;
		} else if (*pattern && (*pattern == '?' || *pattern == *name)) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++from;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

static bool is_named(const struct fault_rule *rule, const struct fault_context *context)
{
	for (int i = 0; i < FAULT_JOB_NAMES; i++)
		if (context->job_names[i] && fault_glob_fits(rule->job, context->job_names[i]))
			return true;
	return false;
}

static bool replica_fits(const struct fault_rule *rule, const struct fault_context *context)
{
	return (rule->role < 0 || rule->role == (int)context->key.role) &&
	       (rule->replica < 0 || (unsigned)rule->replica == context->key.index);
}

static bool is_of_replica(const struct fault_context *context)
{
	return context->stage == STAGE_RUNNING || context->stage == STAGE_NETWORK;
}

bool fault_fits(const struct fault_rule *rule, const struct fault_context *context)
{
	if (kinds[rule->kind].stage != context->stage)
		return false;
	if (rule->project && !(context->project && fault_glob_fits(rule->project, context->project)))
		return false;
	if (rule->job && !is_named(rule, context))
		return false;
	if (context->stage == STAGE_CALL)
		return (rule->kind != FAULT_QUOTA || context->creates_job) &&
		       (!rule->method || fault_glob_fits(rule->method, context->method));
	if ((rule->trial && rule->trial != context->trial) ||
	    (rule->attempt && rule->attempt != context->key.attempt))
		return false;
	return !is_of_replica(context) || replica_fits(rule, context);
}

int64_t fault_wait_us(const struct fault_rule *rule, const struct fault_context *context, bool matched)
{
	if (!is_of_replica(context))
		return 0;
	if (rule->log_pattern)
		return matched ? 0 : -1;
	return context->running_us < rule->after_us ? rule->after_us - context->running_us : 0;
}

bool fault_drawn(const struct fault_rule *rule, const struct fault_context *context, uint64_t seed,
		 uint64_t draw)
{
	const uint64_t what[] = { (uint64_t)rule->id,          (uint64_t)context->stage,
				  (uint64_t)context->key.job,  context->key.attempt,
				  (uint64_t)context->key.role, context->key.index,
				  context->key.restart,        draw };
	unsigned char key[crypto_shorthash_KEYBYTES] = "trainyard fault";
	unsigned char hash[crypto_shorthash_BYTES];
	uint64_t number;

	if (rule->probability <= 0)
		return true;
	memcpy(key, &seed, sizeof(seed));
	crypto_shorthash(hash, (const unsigned char *)what, sizeof(what), key);
	memcpy(&number, hash, sizeof(number));
	return (double)(number >> 11) * 0x1p-53 < rule->probability;
}
