/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/conditions.c: preconditions of requests.
 * Source: https://cloud.google.com/storage/docs/request-preconditions (read 2026-11-22) */
#include "api/storage/bucket_parts.h"
#include "daemon/base/json.h"

/* -1 means "not given". A given negative number, -1 too, becomes INT64_MIN, which matches no generation. */
int64_t condition_of(const json_t *given, const char *name)
{
	const int64_t number = json_int_at(given, name, -1);

	return number < 0 && json_object_get(given, name) ? INT64_MIN : number;
}

struct conditions conditions_read(const struct call *call)
{
	return (struct conditions){
		.generation_match = condition_of(call->query, "ifGenerationMatch"),
		.generation_not_match = condition_of(call->query, "ifGenerationNotMatch"),
		.metageneration_match = condition_of(call->query, "ifMetagenerationMatch"),
		.metageneration_not_match = condition_of(call->query, "ifMetagenerationNotMatch"),
	};
}

struct conditions source_conditions_read(const struct call *call)
{
	return (struct conditions){
		.generation_match = condition_of(call->query, "ifSourceGenerationMatch"),
		.generation_not_match = condition_of(call->query, "ifSourceGenerationNotMatch"),
		.metageneration_match = condition_of(call->query, "ifSourceMetagenerationMatch"),
		.metageneration_not_match = condition_of(call->query, "ifSourceMetagenerationNotMatch"),
	};
}

int64_t generation_read(const struct call *call, const char *parameter)
{
	return json_int_at(call->query, parameter, 0);
}

enum status error_conditions(struct error *err)
{
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "At least one of the pre-conditions you specified did not hold.");
}

static enum status condition_answer(struct call *call, enum condition_outcome outcome, bool *ret_unchanged,
				    struct error *err)
{
	*ret_unchanged = outcome == CONDITIONS_UNCHANGED;
	if (outcome == CONDITIONS_UNCHANGED)
		call->http_status = 304;
	return outcome == CONDITIONS_FAILED ? error_conditions(err) : STATUS_OK;
}

enum status conditions_answer(struct call *call, const struct conditions *conditions,
			      const struct object *object, bool *ret_unchanged, struct error *err)
{
	return condition_answer(call,
				conditions_check(conditions, object->generation, object->metageneration),
				ret_unchanged, err);
}

struct conditions bucket_conditions_read(const struct call *call)
{
	struct conditions conditions = conditions_read(call);

	conditions.generation_match = conditions.generation_not_match = -1;
	return conditions;
}

enum status bucket_conditions_answer(struct call *call, const struct bucket *bucket, bool *ret_unchanged,
				     struct error *err)
{
	const struct conditions conditions = bucket_conditions_read(call);

	return condition_answer(call, conditions_check(&conditions, 1, bucket->metageneration), ret_unchanged,
				err);
}
