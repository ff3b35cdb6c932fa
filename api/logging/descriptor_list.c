/* SPDX-License-Identifier: Apache-2.0 */
/* api/logging/descriptor_list.c: GET /v2/monitoredResourceDescriptors.
 *
 * Choice: of the service's hundreds of types, only those are listed that entries can have in trainyard: ml_job for
 * jobs, global for entries without a resource, and gce_instance, which Google's libraries use in a replica, because
 * they take it for a virtual machine.
 * Source: https://cloud.google.com/logging/docs/api/v2/resource-list (types and labels; from memory) */
#include <string.h>

#include "api/logging/handlers.h"
#include "api/logging/messages.h"
#include "api/logging/routes.h"
#include "api/message/message_write.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "store/page_token.h"
#include "store/store.h"

enum { PAGE_SIZE_DEFAULT = 100, PAGE_SIZE_MAX = 1000, LABELS_MAX = 4 };

static const struct descriptor {
	const char *type, *display_name, *description;
	struct {
		const char *key, *description;
	} labels[LABELS_MAX]; /* ends with a NULL key */
} descriptors[] = {
	{ "gce_instance",
	  "VM Instance",
	  "A virtual machine of Compute Engine.",
	  { { "project_id", "The project of the machine." },
	    { "instance_id", "The number of the machine." },
	    { "zone", "The zone of the machine." } } },
	{ "global", "Global", "An entry that is about its project alone.", { { "project_id", "The project." } } },
	{ "ml_job",
	  "Cloud ML Job",
	  "A training job.",
	  { { "project_id", "The project of the job." },
	    { "job_id", "The id of the job." },
	    { "task_name", "The replica that wrote the entry, or service." } } },
};
enum { DESCRIPTOR_COUNT = sizeof(descriptors) / sizeof(descriptors[0]) };

static const char bound_to[] = "monitored resource descriptors";

static void descriptor_put(struct writer *list, const struct descriptor *descriptor)
{
	struct writer item = element_message(list), labels;

	member_text(&item, "type", descriptor->type);
	member_text(&item, "displayName", descriptor->display_name);
	member_text(&item, "description", descriptor->description);
	labels = member_list(&item, "labels");
	for (size_t i = 0; i < LABELS_MAX && descriptor->labels[i].key; i++) {
		struct writer label = element_message(&labels);

		member_text(&label, "key", descriptor->labels[i].key);
		member_text(&label, "description", descriptor->labels[i].description);
		message_close(&label);
	}
	message_close(&labels);
	message_close(&item);
}

enum status descriptor_list(struct call *call, struct error *err)
{
	const struct logging_context *context = call->context;
	const struct page_key *key = store_page_key(context->store);
	const char *token = json_text_at(call->query, "pageToken");
	struct page_mark mark = { 0 };
	AUTO(string) char *next = NULL;
	struct writer page, list;
	unsigned size = 0;
	enum status rc = page_size_read(call->query, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, &size, err);
	int64_t end;

	if (!rc && token && *token)
		rc = page_token_read(key, bound_to, strlen(bound_to), token, &mark, err);
	if (rc)
		return rc;
	end = mark.numbers[0] + size < DESCRIPTOR_COUNT ? mark.numbers[0] + size : DESCRIPTOR_COUNT;
	page = message_open(&call->answer, &logging_list_descriptors_response);
	list = member_list(&page, "resourceDescriptors");
	for (int64_t i = mark.numbers[0]; i < end; i++)
		descriptor_put(&list, &descriptors[i]);
	message_close(&list);
	mark.numbers[0] = end;
	if (end < DESCRIPTOR_COUNT)
		next = page_token_write(key, bound_to, strlen(bound_to), &mark);
	member_text(&page, "nextPageToken", next);
	message_close(&page);
	return STATUS_OK;
}
