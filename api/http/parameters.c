/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/parameters.h"

#include <string.h>
#include <strings.h>

typedef enum status (*take_parameter)(const struct query_pair *, struct parameters *, struct error *);

static enum status take_nothing(const struct query_pair *pair, struct parameters *parameters,
				struct error *err)
{
	(void)pair, (void)parameters, (void)err;
	return STATUS_OK;
}

/* Choice: "json;enum-encoding=int", which some of the service's own clients send, is answered like "json", with
 * the names of enum values: protobuf's JSON readers accept both names and numbers. */
static enum status take_alt(const struct query_pair *pair, struct parameters *parameters, struct error *err)
{
	size_t length = strcspn(pair->value, ";");

	(void)parameters;
	if (length == 4 && strncmp(pair->value, "json", 4) == 0)
		return STATUS_OK;
	return error_set(
		err, STATUS_INVALID_ARGUMENT, NULL,
		"Invalid value for the query parameter alt: \"%.64s\". trainyard answers with alt=json only.",
		pair->value);
}

static enum status take_callback(const struct query_pair *pair, struct parameters *parameters,
				 struct error *err)
{
	(void)parameters;
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "The query parameter %s is not supported: trainyard has no JSONP.", pair->name);
}

static enum status take_fields(const struct query_pair *pair, struct parameters *parameters,
			       struct error *err)
{
	(void)err;
	parameters->fields = *pair->value ? pair->value : NULL;
	return STATUS_OK;
}

static enum status take_pretty(const struct query_pair *pair, struct parameters *parameters,
			       struct error *err)
{
	if (strcasecmp(pair->value, "false") == 0 || strcmp(pair->value, "0") == 0) {
		parameters->compact = true;
	} else if (strcasecmp(pair->value, "true") == 0 || strcmp(pair->value, "1") == 0) {
		parameters->compact = false;
	} else {
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid value for the query parameter prettyPrint: it is true or false.");
	}
	return STATUS_OK;
}

static enum status take_form(const struct query_pair *pair, struct parameters *parameters, struct error *err)
{
	(void)err;
	parameters->form = strcmp(pair->value, "1") == 0 ? ERROR_FORM_1 : ERROR_FORM_2;
	return STATUS_OK;
}

/* The parameters that all methods have. Each may have a dollar sign in front of its name. */
static const struct {
	const char *name;
	take_parameter take;
} system_parameters[] = {
	{ ".xgafv", take_form },
	{ "access_token", take_nothing },
	{ "alt", take_alt },
	{ "callback", take_callback },
	{ "fields", take_fields },
	{ "key", take_nothing },
	{ "oauth_token", take_nothing },
	{ "prettyPrint", take_pretty },
	{ "quotaUser", take_nothing },
	{ "trace", take_nothing },
	{ "uploadType", take_nothing },
	{ "upload_protocol", take_nothing },
};

static bool is_absent(const struct query_pair *pair, const struct message *own,
		      const struct parameters *parameters)
{
	return parameters->blank_is_absent && !*pair->value && !(own && message_query_marks(own, pair->name));
}

static take_parameter system_parameter(const char *name)
{
	const bool dollar = *name == '$';

	for (size_t i = 0; i < sizeof(system_parameters) / sizeof(system_parameters[0]); i++)
		if (strcmp(system_parameters[i].name, name + dollar) == 0)
			return dollar || *name != '.' ? system_parameters[i].take : NULL;
	return NULL;
}

enum status parameters_take(const struct query *query, const struct message *own,
			    enum unknown_parameters unknown, struct parameters *parameters, json_t *rest,
			    struct error *err)
{
	enum status first = STATUS_OK;

	for (size_t i = 0; i < query->count; i++) {
		const struct query_pair *pair = &query->pairs[i];
		const bool known = own && message_query_knows(own, pair->name);
		take_parameter take = known ? NULL : system_parameter(pair->name);
		enum status rc = STATUS_OK;

		if (is_absent(pair, own, parameters))
			continue;
		if (take)
			rc = take(pair, parameters, first ? NULL : err);
		else if (rest && (known || unknown == UNKNOWN_KEPT))
			json_array_append_new(rest, json_pack("[ss]", pair->name, pair->value));
		if (!first)
			first = rc;
	}
	return first;
}
