/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/dialect.h"

#include <ctype.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "scheduler/plan/dialect_parts.h"
#include "scheduler/plan/expansion.h"
#include "scheduler/plan/trial_plan.h"

static const struct dialect *const dialects[] = { &dialect_ml, &dialect_aiplatform };

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static const struct dialect *dialect_named(const char *name)
{
	for (size_t i = 0; name && i < COUNT_OF(dialects); i++)
		if (strcmp(dialects[i]->name, name) == 0)
			return dialects[i];
	return &dialect_ml;
}

const struct dialect *dialect_of(const struct plan *plan)
{
	return dialect_named(plan->dialect);
}

/* ---- names ---- */

void hash_hex(const char *name, char *ret_hex, size_t bytes)
{
	unsigned char hash[crypto_generichash_BYTES];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)name, strlen(name), NULL, 0);
	sodium_bin2hex(ret_hex, bytes * 2 + 1, hash, bytes);
}

void replica_address_name(const struct plan *plan, enum role role, unsigned index,
			  char ret_name[REPLICA_NAME_MAX])
{
	snprintf(ret_name, REPLICA_NAME_MAX, "cmle-training-%s-%s-%u", dialect_of(plan)->pools[role],
		 plan->cluster_id, index);
}

void replica_host_name(const struct plan *plan, enum role role, unsigned index,
		       char ret_name[REPLICA_NAME_MAX])
{
	char address[REPLICA_NAME_MAX];
	char suffix[7];

	replica_address_name(plan, role, index, address);
	hash_hex(address, suffix, 3);
	snprintf(ret_name, REPLICA_NAME_MAX, "%.57s-%.5s", address, suffix);
}

void replica_task_name(const struct plan *plan, enum role role, unsigned index,
		       char ret_name[REPLICA_NAME_MAX])
{
	const struct dialect *dialect = dialect_of(plan);

	snprintf(ret_name, REPLICA_NAME_MAX, "%s%s%u", dialect->pools[role], dialect->task_infix, index);
}

void replica_sentence_name(const struct plan *plan, enum role role, unsigned index,
			   char ret_name[REPLICA_NAME_MAX])
{
	const struct dialect *dialect = dialect_of(plan);

	snprintf(ret_name, REPLICA_NAME_MAX, "%s%s%u", dialect->pools[role], dialect->sentence_infix, index);
}

bool replicas_have_names(const struct plan *plan)
{
	return dialect_of(plan)->names_alone || plan_replica_count(plan) > 1;
}

/* ---- parts of specifications ---- */

json_t *pool_addresses(const struct plan *plan, enum role role)
{
	json_t *addresses = json_array();
	char name[REPLICA_NAME_MAX];

	for (unsigned i = 0; i < plan->pools[role].count; i++) {
		replica_address_name(plan, role, i, name);
		json_array_append_new(addresses, json_sprintf("%s:%d", name, CLUSTER_PORT));
	}
	return addresses;
}

json_t *task_make(const char *type, unsigned index)
{
	return json_pack("{s:s, s:I}", "type", type, "index", (json_int_t)index);
}

void task_add_trial(json_t *task, const struct plan *plan)
{
	if (plan->trial)
		json_object_set_new(task, "trial", json_sprintf("%u", plan->trial));
}

void task_add_cloud(json_t *task, const struct plan *plan)
{
	char id[17];

	hash_hex(plan->cluster_id, id, 8);
	json_object_set_new(task, "cloud", json_sprintf("w%s-ml", id));
}

/* ---- the environment ---- */

enum status variable_add(json_t *environment, const char *name, const char *value, struct error *err)
{
	const size_t bytes = strlen(name) + strlen("=") + strlen(value) + 1;

	if (bytes > ENVIRONMENT_MAX)
		return error_set(
			err, STATUS_INVALID_ARGUMENT, "args",
			"The environment variable %s would have %zu bytes; a program can be given at most %d.", name,
			bytes, ENVIRONMENT_MAX);
	json_array_append_new(environment, json_sprintf("%s=%s", name, value));
	return STATUS_OK;
}

enum status trial_variables_add(json_t *environment, const struct plan *plan, struct error *err)
{
	char number[16];
	enum status rc;

	snprintf(number, sizeof(number), "%u", plan->trial);
	rc = variable_add(environment, "CLOUD_ML_TRIAL_ID", number, err);
	return rc ? rc : variable_add(environment, "CLOUD_ML_HP_METRIC_FILE", METRIC_FILE, err);
}

enum status ranks_add(json_t *environment, const struct plan *plan, enum role role, unsigned index,
		      struct error *err)
{
	char master[REPLICA_NAME_MAX], port[12], rank[12], size[12];
	const struct {
		const char *name, *value;
	} variables[] = {
		{ "MASTER_ADDR", master }, { "MASTER_PORT", port }, { "RANK", rank }, { "WORLD_SIZE", size }
	};
	enum status rc = STATUS_OK;

	if (role > ROLE_WORKER)
		return STATUS_OK;
	replica_address_name(plan, ROLE_MASTER, 0, master);
	snprintf(port, sizeof(port), "%d", MEETING_PORT);
	snprintf(rank, sizeof(rank), "%u", plan_replica_ordinal(plan, role, index));
	snprintf(size, sizeof(size), "%u", plan_replica_ordinal(plan, ROLE_PS, 0));
	for (size_t i = 0; !rc && i < sizeof(variables) / sizeof(variables[0]); i++)
		rc = variable_add(environment, variables[i].name, variables[i].value, err);
	return rc;
}

enum status replica_environment(const struct plan *plan, enum role role, unsigned index,
				json_t **ret_environment, struct error *err)
{
	AUTO(json) json_t *environment = json_array();
	enum status rc = dialect_of(plan)->environment(plan, role, index, environment, err);

	if (!rc)
		*ret_environment = TAKE(environment);
	return rc;
}

static bool is_reserved(const struct dialect *dialect, const char *variable)
{
	for (const char *const *name = dialect->reserved; *name; name++) {
		const size_t length = strlen(*name);

		if (strncmp(variable, *name, length) == 0 && variable[length] == '=')
			return true;
	}
	return false;
}

/* The state of replacing $(NAME) in the arguments and variables of one replica. */
struct expanding {
	const struct dialect *dialect;
	const json_t *environment;
	size_t bytes; /* of all words so far */
};

/* Writes @word as the program receives it: with each $(NAME) replaced by that variable, if the dialect does so. @name names
 * the word in an error. */
static enum status word_expand(struct expanding *expanding, const char *name, const char *word,
			       struct text *ret_text, struct error *err)
{
	text_clear(ret_text);
	if (!expanding->dialect->expands)
		text_puts(ret_text, word);
	else if (!text_expand(word, expanding->environment, ENVIRONMENT_MAX, ret_text))
		return error_set(err, STATUS_INVALID_ARGUMENT, "args",
				 "%s is too long after its variables are replaced: a program can be given at "
				 "most %d bytes in one argument or variable.",
				 name, ENVIRONMENT_MAX);
	expanding->bytes += ret_text->length + 1;
	if (expanding->bytes > PROGRAM_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, "args",
				 "The command, arguments and environment of a replica are too long: a program "
				 "can be given at most %d bytes in all.",
				 PROGRAM_MAX);
	return STATUS_OK;
}

/* Expands each "NAME=value" as one word: a name cannot contain "$(". */
enum status replica_environment_extend(const struct plan *plan, enum role role, json_t *environment,
				       struct error *err)
{
	struct expanding expanding = { dialect_of(plan), environment, 0 };
	struct text text AUTO_TEXT = { 0 };
	const json_t *variable;
	size_t i;

	json_array_foreach(plan->pools[role].env, i, variable) {
		const char *word = json_string_value(variable);
		AUTO(string) char *name = memory_strndup(word, strcspn(word, "="));
		enum status rc;

		if (is_reserved(expanding.dialect, word))
			continue;
		rc = word_expand(&expanding, name, word, &text, err);
		if (rc)
			return rc;
		environment_set(environment, text.data);
	}
	return STATUS_OK;
}

static enum status words_expand(struct expanding *expanding, const json_t *words, json_t **ret_words,
				struct error *err)
{
	AUTO(json) json_t *expanded = words ? json_array() : NULL;
	struct text text AUTO_TEXT = { 0 };
	const json_t *word;
	size_t i;

	json_array_foreach(words, i, word) {
		enum status rc = word_expand(expanding, "An argument", json_string_value(word), &text, err);

		if (rc)
			return rc;
		json_array_append_new(expanded, json_string(text.data));
	}
	*ret_words = TAKE(expanded);
	return STATUS_OK;
}

enum status replica_command(const struct plan *plan, enum role role, const json_t *environment,
			    json_t **ret_command, json_t **ret_args, struct error *err)
{
	const struct pool *pool = &plan->pools[role];
	struct expanding expanding = { dialect_of(plan), environment, 0 };
	AUTO(json) json_t *command = NULL;
	enum status rc = words_expand(&expanding, pool->command, &command, err);

	if (!rc)
		rc = words_expand(&expanding, pool->args, ret_args, err);
	if (!rc)
		*ret_command = TAKE(command);
	return rc;
}

/* ---- other texts and values ---- */

json_t *launcher_options(const struct plan *plan)
{
	json_t *options = json_array();

	for (const char *const *word = dialect_of(plan)->launcher_words; *word; word++)
		json_array_append_new(options, json_string(*word));
	return options;
}

const char *pools_text(const struct plan *plan, unsigned roles, char ret_text[POOLS_TEXT_SIZE])
{
	size_t used = 0;

	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		const bool is_last = roles >> role == 1;
		const char *word = plan->pools[role].count == 1 ? "The" : "Each";

		if (roles >> role & 1)
			used += (size_t)snprintf(ret_text + used, POOLS_TEXT_SIZE - used, "%s%c%s %s",
						 !used     ? ""
						 : is_last ? " and "
							   : ", ",
						 used ? tolower((unsigned char)*word) : *word, word + 1,
						 dialect_of(plan)->nouns[role]);
	}
	return ret_text;
}

char *service_agent_email(const char *dialect, const char *project_number)
{
	return memory_printf("service-%s@%s", project_number, dialect_named(dialect)->service_agent);
}
