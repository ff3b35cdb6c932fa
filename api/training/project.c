/* SPDX-License-Identifier: Apache-2.0 */
/* api/training/project.c: the project that a call names. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/training/context.h"

enum { PROJECT_MAX = 100 };

const char *training_project(const struct call *call)
{
	const struct training_context *context = call->context;
	const char *named = call_param(call, "project");

	return strcmp(named, context->project_number) == 0 ? context->project_id : named;
}

/* Checks that the project of the call has the form of an id, a number or a domain-scoped id ("example.com:project"). A
 * project of another form could not be named in a log query. */
enum status training_project_check(const struct call *call, const char *field, struct error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:";
	const char *project = training_project(call);
	size_t length = strspn(project, allowed);

	if (length && !project[length] && length <= PROJECT_MAX)
		return STATUS_OK;
	return error_set(err, STATUS_INVALID_ARGUMENT, field,
			 "'%.100s' is not the id or the number of a project.", project);
}

static bool is_number(const char *project)
{
	size_t length = strspn(project, "0123456789");

	return length && !project[length] && length < PROJECT_NUMBER_SIZE - 1 && *project != '0';
}

/* Derives a number from the project's id. It has twelve digits, as those of the cloud's projects have. */
static void number_derive(const char *project, char ret_number[PROJECT_NUMBER_SIZE])
{
	static const unsigned char key[crypto_shorthash_KEYBYTES] = "project number.";
	unsigned char hash[crypto_shorthash_BYTES];
	unsigned long long value = 0;

	crypto_shorthash(hash, (const unsigned char *)project, strlen(project), key);
	for (size_t i = 0; i < sizeof(hash); i++)
		value = value << 8 | hash[i];
	snprintf(ret_number, PROJECT_NUMBER_SIZE, "%llu", 100000000000 + value % 900000000000);
}

void training_project_number(const struct call *call, char ret_number[PROJECT_NUMBER_SIZE])
{
	const struct training_context *context = call->context;
	const char *project = training_project(call);

	if (strcmp(project, context->project_id) == 0)
		snprintf(ret_number, PROJECT_NUMBER_SIZE, "%s", context->project_number);
	else if (is_number(project))
		snprintf(ret_number, PROJECT_NUMBER_SIZE, "%s", project);
	else
		number_derive(project, ret_number);
}
