/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/aiplatform/aiplatform_testing.h: jobs as a client sends them, and patches to them. */
#include "api/aiplatform/messages.h"
#include "api/aiplatform/rules.h"
#include "tests/unit/api/message/json_testing.h"

static const struct aiplatform_settings strict = { .lenient = false };

#define POOL                                                                                                 \
	"{'machineSpec':{'machineType':'n1-standard-4'},'replicaCount':'1',"                                 \
	"'containerSpec':{'imageUri':'gcr.io/p/i:1'}}"
#define PYTHON_PACKAGE                                                                                       \
	"{'executorImageUri':'us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py310:latest',"               \
	"'packageUris':['gs://bucket/p.tar.gz'],'pythonModule':'trainer.task'"
#define STUDY                                                                                                \
	"{'metrics':[{'metricId':'acc','goal':'MAXIMIZE'}],"                                                 \
	"'parameters':[{'parameterId':'lr','doubleValueSpec':{'minValue':0.1,'maxValue':1}}]}"

/* Applies @patch to @base: objects member by member, arrays element by element; null removes, other values replace. */
static inline void json_lay(json_t *base, const json_t *patch)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)patch, key, value) {
		json_t *present = json_object_get(base, key);

		if (json_is_null(value))
			json_object_del(base, key);
		else if (json_is_object(value) && json_is_object(present) && json_object_size(value))
			json_lay(present, value);
		else
			json_object_set(base, key, value);
	}
}

/* @body in the canonical form of @message; the test fails if the front end refuses it. */
static inline json_t *canonical_of(const struct message *message, const json_t *body)
{
	struct error err AUTO_ERROR = { 0 };
	json_t *canonical = NULL;

	if (message_read(message, body, "", &canonical, &err))
		fail_msg("the front end refuses it: %s", err.text);
	return canonical;
}

/* @base with @patch applied, in canonical form. */
static inline json_t *patched(const struct message *message, const char *base, const char *patch)
{
	AUTO(json) json_t *body = json_of(base);
	AUTO(json) json_t *over = json_of(patch);

	json_lay(body, over);
	return canonical_of(message, body);
}

/* A patch and the result: NULL: accepted, or the whole text of the error, with | in place of tabs. */
struct rule_row {
	const char *patch, *found;
};

typedef enum status (*rules_check)(const json_t *, struct error *);

static inline void assert_rule_rows(const struct message *message, const char *base, rules_check check,
				    const struct rule_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		AUTO(json) json_t *resource = patched(message, base, rows[i].patch);
		AUTO(string) char *wanted = NULL;
		struct error err AUTO_ERROR = { 0 };
		const enum status status = check(resource, &err);

		if (!rows[i].found) {
			if (status)
				fail_msg("%s: %s", rows[i].patch, err.text);
			continue;
		}
		if (!status)
			fail_msg("%s was taken", rows[i].patch);
		assert_int_equal(status, STATUS_INVALID_ARGUMENT);
		if (asprintf(&wanted, "List of found errors:\t%s\t", rows[i].found) < 0)
			fail();
		for (char *c = wanted; (c = strchr(c, '|'));)
			*c = '\t';
		if (strcmp(err.text, wanted) != 0)
			fail_msg("%s:\n%s\nbut expected\n%s", rows[i].patch, err.text, wanted);
	}
}
