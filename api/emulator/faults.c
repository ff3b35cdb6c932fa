/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/emulator/fault_method.h"
#include "daemon/base/json.h"
#include "daemon/base/timestamp.h"
#include "scheduler/faults/fault_registry.h"
#include "store/jobs/faults.h"

static json_t *time_json(int64_t wall_us)
{
	struct text text AUTO_TEXT = { 0 };

	text_time_micros(&text, wall_us);
	return json_string(text.data);
}

static enum status fault_render(const struct stored_fault *fault, json_t **ret_object, struct error *err)
{
	AUTO(json) json_t *rule = NULL;
	AUTO(json) json_t *object = json_pack("{s:o}", "id", json_sprintf("%lld", (long long)fault->id));
	enum status rc = json_parse_own(fault->rule, &rule, err);

	if (rc)
		return rc;
	json_object_update(object, rule);
	json_object_set_new(object, "hits", json_sprintf("%lld", (long long)fault->injections));
	json_object_set_new(object, "createTime", time_json(fault->created_us));
	if (fault->last_injection_us)
		json_object_set_new(object, "lastHitTime", time_json(fault->last_injection_us));
	*ret_object = TAKE(object);
	return STATUS_OK;
}

static enum status id_read(const struct call *call, int64_t *ret_id, struct error *err)
{
	const char *text = call_param(call, "fault");
	char *end;

	errno = 0;
	*ret_id = strtoll(text, &end, 10);
	if (errno || *end || *ret_id <= 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, "fault", "The number of a rule is expected.");
	return STATUS_OK;
}

/* Answers with one rule as it is now. */
static enum status fault_answer(struct call *call, int64_t id, struct error *err)
{
	const struct faults_context *context = call->context;
	struct fault_list list AUTO_FAULT_LIST = { 0 };
	enum status rc = fault_list_read(context->store, &list, err);

	for (size_t i = 0; !rc && i < list.count; i++) {
		AUTO(json) json_t *object = NULL;

		if (list.faults[i].id != id)
			continue;
		rc = fault_render(&list.faults[i], &object, err);
		if (!rc)
			json_write(&call->answer, object);
		return rc;
	}
	return rc ? rc
		  : error_set(err, STATUS_NOT_FOUND, NULL, "There is no fault rule %lld.", (long long)id);
}

static enum status fault_create(struct call *call, struct error *err)
{
	const struct faults_context *context = call->context;
	int64_t id;
	enum status rc = fault_method_check(context->families, call->body, err);

	if (!rc)
		rc = fault_registry_add(context->registry, call->body, false, &id, err);
	return rc ? rc : fault_answer(call, id, err);
}

static enum status fault_get(struct call *call, struct error *err)
{
	int64_t id;
	enum status rc = id_read(call, &id, err);

	return rc ? rc : fault_answer(call, id, err);
}

static enum status kind_list(struct call *call, struct error *err)
{
	AUTO(json) json_t *answer = json_object();
	json_t *kinds = json_array();

	for (int kind = FAULT_UNSPECIFIED + 1; kind < FAULT_KIND_COUNT; kind++) {
		json_t *refused = json_array();
		const char *name;

		for (size_t i = 0; (name = fault_field_refused((enum fault_kind)kind, i)) != NULL; i++)
			json_array_append_new(refused, json_string(name));
		json_array_append_new(kinds,
				      json_pack("{s:s, s:o}", "fault", fault_kind_name((enum fault_kind)kind),
						"refusedFields", refused));
	}
	(void)err;
	json_object_set_new(answer, "faultKinds", kinds);
	json_write(&call->answer, answer);
	return STATUS_OK;
}

static enum status fault_list(struct call *call, struct error *err)
{
	const struct faults_context *context = call->context;
	struct fault_list list AUTO_FAULT_LIST = { 0 };
	AUTO(json) json_t *answer = json_object();
	json_t *faults = json_array();
	enum status rc = fault_list_read(context->store, &list, err);

	json_object_set_new(answer, "faults", faults);
	for (size_t i = 0; !rc && i < list.count; i++) {
		json_t *object = NULL;

		rc = fault_render(&list.faults[i], &object, err);
		if (!rc)
			json_array_append_new(faults, object);
	}
	if (!rc)
		json_write(&call->answer, answer);
	return rc;
}

static enum status fault_remove(struct call *call, struct error *err)
{
	const struct faults_context *context = call->context;
	int64_t id;
	enum status rc = id_read(call, &id, err);

	return rc ? rc : fault_registry_remove(context->registry, id, err);
}

static enum status fault_remove_all(struct call *call, struct error *err)
{
	const struct faults_context *context = call->context;

	return fault_registry_clear(context->registry, err);
}

static const struct field kind_fields[] = {
	{ .name = "fault", .type = FIELD_STRING, .help = "The kind of fault." },
	{ .name = "refusedFields",
	  .type = FIELD_STRING,
	  .flags = FIELD_REPEATED,
	  .help = "The fields of a fault that have no meaning for this kind." },
	{ .name = NULL },
};
static const struct message kind_message = { "trainyard.FaultKind", kind_fields,
					     "A kind of fault.", .is_own = true };
static const struct field kind_list_fields[] = {
	{ .name = "faultKinds",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_REPEATED,
	  .message = &kind_message,
	  .help = "All kinds." },
	{ .name = NULL },
};
static const struct message kind_list_message = { "trainyard.FaultKindList", kind_list_fields,
						  "The kinds of faults.", .is_own = true };

static const struct field fault_list_fields[] = {
	{ .name = "faults",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_REPEATED,
	  .message = &fault_message,
	  .help = "By their numbers." },
	{ .name = NULL },
};
static const struct message fault_list_message = { "trainyard.FaultList", fault_list_fields,
						   "The faults that are ordered.", .is_own = true };

#define FAULTS "/_trainyard/v1/faults"

const struct route fault_routes[] = {
	{ .method = "POST",
	  .path = FAULTS,
	  .handler = fault_create,
	  .body = &fault_message,
	  .body_root = "",
	  .doc = METHOD_DOC_NAMED("faults.create", NULL, fault_message, "Orders a fault.") },
	{ .method = "GET",
	  .path = FAULTS,
	  .handler = fault_list,
	  .doc = METHOD_DOC_NAMED("faults.list", NULL, fault_list_message,
				  "Lists the faults that are ordered, with how often each hit.") },
	{ .method = "GET",
	  .path = "/_trainyard/v1/faultKinds",
	  .handler = kind_list,
	  .doc = METHOD_DOC_NAMED("faultKinds.list", NULL, kind_list_message,
				  "Lists the kinds of faults, with the fields that each does not take.") },
	{ .method = "DELETE", .path = FAULTS, .handler = fault_remove_all },
	{ .method = "GET", .path = FAULTS "/{fault}", .handler = fault_get },
	{ .method = "DELETE", .path = FAULTS "/{fault}", .handler = fault_remove },
	{ .method = NULL },
};
