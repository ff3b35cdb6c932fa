/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/study_limits.h"

#include "daemon/base/json.h"

static const struct {
	const char *name;
	size_t offset;
} rules[] = {
	{ "least_us", offsetof(struct study_limits, least_us) },
	{ "least_until_us", offsetof(struct study_limits, least_until_us) },
	{ "least_trials", offsetof(struct study_limits, least_trials) },
	{ "most_us", offsetof(struct study_limits, most_us) },
	{ "most_until_us", offsetof(struct study_limits, most_until_us) },
	{ "most_trials", offsetof(struct study_limits, most_trials) },
	{ "idle_trials", offsetof(struct study_limits, idle_trials) },
	{ "idle_us", offsetof(struct study_limits, idle_us) },
};
enum { RULE_COUNT = sizeof(rules) / sizeof(rules[0]) };

static int64_t *rule_of(const struct study_limits *limits, size_t index)
{
	return (int64_t *)(void *)((char *)limits + rules[index].offset);
}

json_t *study_limits_to_json(const struct study_limits *limits)
{
	json_t *object = json_object();

	for (size_t i = 0; i < RULE_COUNT; i++)
		if (*rule_of(limits, i))
			json_object_set_new(object, rules[i].name, json_integer(*rule_of(limits, i)));
	if (limits->interrupts)
		json_object_set_new(object, "interrupts", json_true());
	return object;
}

struct study_limits study_limits_from_json(const json_t *value)
{
	struct study_limits limits = { .interrupts = json_true_at(value, "interrupts") };

	for (size_t i = 0; i < RULE_COUNT; i++)
		*rule_of(&limits, i) = json_int_at(value, rules[i].name, 0);
	return limits;
}

bool study_limits_any(const struct study_limits *limits)
{
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (*rule_of(limits, i))
			return true;
	return false;
}

#define NEVER INT64_MAX

/* The instant @limit_us after @from_us, at which a rule applies; NEVER: there is no such rule. */
static int64_t after(int64_t from_us, int64_t limit_us)
{
	int64_t instant;

	return !limit_us || __builtin_add_overflow(from_us, limit_us, &instant) ? NEVER : instant;
}

/* The monotonic time at which the wall clock will reach @wall_us if it is not set; NEVER: there is no such rule. */
static int64_t of_wall(int64_t wall_us, const struct study_progress *progress)
{
	int64_t instant;

	return !wall_us || __builtin_sub_overflow(wall_us, progress->wall_us, &instant) ||
			       __builtin_add_overflow(instant, progress->now_us, &instant)
		       ? NEVER
		       : instant;
}

static bool has_passed(int64_t instant_us, const struct study_progress *progress)
{
	return progress->now_us >= instant_us;
}

static bool is_to_come(int64_t instant_us, const struct study_progress *progress)
{
	return instant_us != NEVER && progress->now_us < instant_us;
}

size_t study_limits_room(const struct study_limits *limits, const struct study_progress *progress)
{
	if (is_to_come(after(progress->begun_us, limits->least_us), progress) ||
	    is_to_come(of_wall(limits->least_until_us, progress), progress) ||
	    progress->completed < (size_t)limits->least_trials)
		return SIZE_MAX;
	if (has_passed(after(progress->begun_us, limits->most_us), progress) ||
	    has_passed(of_wall(limits->most_until_us, progress), progress))
		return 0;
	if (progress->has_progress &&
	    ((limits->idle_trials && progress->ended_since_best >= (size_t)limits->idle_trials) ||
	     has_passed(after(progress->best_us, limits->idle_us), progress)))
		return 0;
	if (!limits->most_trials)
		return SIZE_MAX;
	return progress->trials < (size_t)limits->most_trials ? (size_t)limits->most_trials - progress->trials
							      : 0;
}

int64_t study_limits_next_us(const struct study_limits *limits, const struct study_progress *progress)
{
	const int64_t instants[] = {
		after(progress->begun_us, limits->least_us),
		of_wall(limits->least_until_us, progress),
		after(progress->begun_us, limits->most_us),
		of_wall(limits->most_until_us, progress),
		progress->has_progress ? after(progress->best_us, limits->idle_us) : NEVER,
	};
	int64_t next = NEVER;

	for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++)
		if (is_to_come(instants[i], progress) && instants[i] < next)
			next = instants[i];
	return next == NEVER ? 0 : next;
}
