/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/input_text.h"

#include <string.h>

#include "api/message/names.h"
#include "api/ml/cluster.h"
#include "api/ml/messages.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"

/* The service adds the member run_on_raw_vm between job_dir and python_version, if the job has no TPU. */
static void mark_raw_vm(json_t *ordered)
{
	json_object_set_new(ordered, "run_on_raw_vm", json_true());
}

static json_t *input_ordered(const json_t *input)
{
	AUTO(json) json_t *snake = message_to_snake(&ml_training_input, input);
	AUTO(json) json_t *ordered = json_object();
	bool raw_vm = !input_has_tpu(input);

	for (const struct field *field = ml_training_input.fields; field->name; field++) {
		AUTO(string) char *name = name_to_snake(field->name);
		json_t *value = json_object_get(snake, name);

		if (value)
			json_object_set(ordered, name, value);
		if (raw_vm && strcmp(field->name, "jobDir") == 0)
			mark_raw_vm(ordered);
	}
	return TAKE(ordered);
}

/* Escapes the characters with a meaning in HTML. They occur only inside strings, because JSON's own syntax does not
 * use them. */
static void html_safe(struct text *text, const char *json)
{
	for (const char *c = json; *c; c++) {
		if (strchr("=<>&'", *c))
			text_printf(text, "\\u%04x", (unsigned char)*c);
		else
			text_putc(text, *c);
	}
}

char *input_text(const json_t *input)
{
	AUTO(json) json_t *ordered = input_ordered(input);
	AUTO(string) char *plain = json_dump_compact(ordered);
	struct text safe AUTO_TEXT = { 0 };

	html_safe(&safe, plain);
	return text_take(&safe);
}
