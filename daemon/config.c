/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/base/nearest.h"
#include "daemon/config_items.h"
#include "daemon/help_text.h"
#include "scheduler/engine/engine.h"

/* Where a value comes from: for error messages about the value, and for lists. */
struct origin {
	enum config_source source;
	const char *file;
	unsigned line;
	unsigned reading; /* each reading of one source has a number, from 1; later readings have higher numbers */
};

static void *field_of(struct config *config, const struct config_item *item)
{
	return (char *)config + item->offset;
}

static void list_clear(struct config_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->values[i]);
	free(list->values);
	*list = (struct config_list){ 0 };
}

void config_deinit(struct config *config)
{
	for (const struct config_item *item = config_items; item->name; item++) {
		if (item->type == CONFIG_TEXT)
			free(*(char **)field_of(config, item));
		else if (item->type == CONFIG_LIST)
			list_clear(field_of(config, item));
	}
	*config = (struct config){ 0 };
}

static char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

/* "--listen", "TRAINYARD_LISTEN" or "trainyard.conf:3: listen". */
static void place_write(struct text *text, const struct origin *origin, const struct config_item *item)
{
	switch (origin->source) {
	case CONFIG_COMMAND_LINE:
		text_printf(text, "--%s", item->name);
		break;
	case CONFIG_ENVIRONMENT:
		text_puts(text, item->environment);
		break;
	case CONFIG_FILE:
		text_printf(text, "%s:%u: %s", origin->file, origin->line, item->name);
		break;
	case CONFIG_DEFAULT:
		if (item->compute_from)
			text_puts(text, item->compute_from);
		else
			text_printf(text, "the default of --%s", item->name);
		break;
	}
}

static enum status refuse(const struct config_item *item, const struct origin *origin, const char *value,
			  const char *expected, struct error *err)
{
	struct text place AUTO_TEXT = { 0 };
	struct error problem AUTO_ERROR = { 0 };
	const char *more = item->advice;

	place_write(&place, origin, item);
	if (!more && item->check && item->check(value, &problem))
		more = problem.text;
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s: \"%s\" is not %s%s%s", place.data, value,
			 expected, more ? "; " : "", more ? more : "");
}

static enum status text_check(const struct config_item *item, const struct origin *origin, const char *value,
			      struct error *err)
{
	for (const char *c = value; *c; c++)
		if (iscntrl((unsigned char)*c))
			return refuse(item, origin, value, "a text without control characters", err);
	if (!utf8_valid(value, strlen(value)))
		return refuse(item, origin, value, "UTF-8", err);
	return item->valid(value) ? STATUS_OK : refuse(item, origin, value, item->expected, err);
}

static enum status set_text(struct config *config, const struct config_item *item,
			    const struct origin *origin, const char *value, struct error *err)
{
	char **field = field_of(config, item);
	enum status rc = text_check(item, origin, value, err);
	char *copy;

	if (rc)
		return rc;
	copy = memory_strdup(value);
	free(*field);
	*field = copy;
	return STATUS_OK;
}

void config_list_add(struct config_list *list, const char *value)
{
	char **grown = memory_realloc(list->values, (list->count + 1) * sizeof(*grown));

	list->values = grown;
	grown[list->count] = memory_strdup(value);
	list->count++;
}

/* Adds to a list option. The first value of each reading of a source replaces the values of earlier readings. */
static enum status set_list(struct config *config, const struct config_item *item,
			    const struct origin *origin, const char *value, struct error *err)
{
	struct config_list *list = field_of(config, item);
	AUTO(string) char *copy = memory_strdup(value);
	char *rest = copy;
	enum status rc = STATUS_OK;

	if (list->reading != origin->reading)
		list_clear(list);
	list->reading = origin->reading;
	while (!rc && rest) {
		const char *term = trim(strsep(&rest, ","));

		rc = text_check(item, origin, term, err);
		if (!rc)
			config_list_add(list, term);
	}
	return rc;
}

static enum status set_number(struct config *config, const struct config_item *item,
			      const struct origin *origin, const char *value, struct error *err)
{
	int64_t *field = field_of(config, item);
	const char *unit = !isdigit((unsigned char)*value) ? ""
			   : strcmp(item->placeholder, "SECONDS") == 0
				   ? "; it counts seconds, and takes no unit"
			   : strcmp(item->placeholder, "MIB") == 0 ? "; it counts MiB, and takes no unit"
								   : "";
	char expected[128];
	long long number;

	errno = 0;
	number = strtoll(value, NULL, 10);
	if (*value && strspn(value, "0123456789") == strlen(value) && !errno && number >= item->min &&
	    number <= item->max) {
		*field = number;
		return STATUS_OK;
	}
	if (item->max == INT64_MAX && !errno)
		snprintf(expected, sizeof(expected), "a number from %lld on%s", (long long)item->min, unit);
	else
		snprintf(expected, sizeof(expected), "a number from %lld to %lld%s", (long long)item->min,
			 (long long)item->max, unit);
	return refuse(item, origin, value, expected, err);
}

static enum status set_flag(struct config *config, const struct config_item *item,
			    const struct origin *origin, const char *value, struct error *err)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };
	bool *field = field_of(config, item);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(words[i], value) == 0) {
			*field = i % 2;
			return STATUS_OK;
		}
	}
	return refuse(item, origin, value, "true or false", err);
}

static enum status set_choice(struct config *config, const struct config_item *item,
			      const struct origin *origin, const char *value, struct error *err)
{
	struct text expected AUTO_TEXT = { 0 };
	struct nearest nearest = { .wanted = value };
	char hint[NEAREST_HINT_SIZE];
	unsigned *field = field_of(config, item);

	for (unsigned i = 0; item->choices[i]; i++) {
		if (strcmp(item->choices[i], value) == 0) {
			*field = i;
			return STATUS_OK;
		}
		text_printf(&expected, "%s%s", i ? ", " : "one of ", item->choices[i]);
		nearest_look(&nearest, item->choices[i]);
	}
	text_puts(&expected, nearest_hint(&nearest, "", hint));
	return refuse(item, origin, value, expected.data, err);
}

static enum status item_set(struct config *config, const struct config_item *item,
			    const struct origin *origin, const char *value, struct error *err)
{
	enum status (*const set[])(struct config *, const struct config_item *, const struct origin *,
				   const char *, struct error *) = {
		[CONFIG_TEXT] = set_text,     [CONFIG_NUMBER] = set_number, [CONFIG_FLAG] = set_flag,
		[CONFIG_CHOICE] = set_choice, [CONFIG_LIST] = set_list,
	};
	enum status rc = set[item->type](config, item, origin, value, err);

	if (!rc && item->offset == offsetof(struct config, listen))
		config->listen_source = origin->source;
	if (!rc && item->offset == offsetof(struct config, docker_config))
		config->docker_config_source = origin->source;
	return rc;
}

static const struct config_item *item_find(const char *name, size_t length)
{
	for (const struct config_item *item = config_items; item->name; item++)
		if (strlen(item->name) == length && strncmp(item->name, name, length) == 0)
			return item;
	return NULL;
}

static const struct origin of_defaults = { .source = CONFIG_DEFAULT, .reading = 1 };

/* Sets the fixed defaults. check_complete() sets computed defaults later. */
static enum status read_defaults(struct config *config, struct error *err)
{
	enum status rc = STATUS_OK;

	for (const struct config_item *item = config_items; item->name && !rc; item++)
		if (item->otherwise)
			rc = item_set(config, item, &of_defaults, item->otherwise, err);
	return rc;
}

/* Computes the defaults of options without a value, and checks them. A computed default may be impossible or invalid;
 * this is an error only if @command uses the option. */
static enum status check_complete(struct config *config, enum config_command command, struct error *err)
{
	enum status rc = STATUS_OK;

	for (const struct config_item *item = config_items; item->name && !rc; item++) {
		AUTO(string) char *computed = NULL;

		if (!item->compute || *(char **)field_of(config, item) || !(item->commands & command))
			continue;
		computed = item->compute();
		rc = computed ? item_set(config, item, &of_defaults, computed, err)
			      : error_set(err, STATUS_INVALID_ARGUMENT, NULL,
					  "--%s: it has no default here because HOME is not set: give it",
					  item->name);
	}
	return rc;
}

/* ---- unknown names ---- */

static enum status name_refuse(const struct origin *origin, const char *name, struct error *err)
{
	struct nearest nearest = { .wanted = name };
	char hint[NEAREST_HINT_SIZE];

	/* @name is that of the environment variable */
	if (strncasecmp(name, "TRAINYARD_", strlen("TRAINYARD_")) == 0)
		nearest.wanted += strlen("TRAINYARD_");
	for (const struct config_item *item = config_items; item->name; item++)
		if (item->offset != offsetof(struct config, file))
			nearest_look(&nearest, item->name);
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s:%u: unknown option \"%s\"%s", origin->file,
			 origin->line, name, nearest_hint(&nearest, "", hint));
}

/* Appends the names of the commands that take the option: "serve and env". */
static void takers_write(struct text *text, const struct config_item *item)
{
	static const struct {
		enum config_command command;
		const char *name;
	} commands[] = { { CONFIG_SERVE, "serve" },
			 { CONFIG_ENV, "env" },
			 { CONFIG_CLEAN, "clean" },
			 { CONFIG_STOP, "stop" } };

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (item->commands & commands[i].command)
			text_printf(text, "%s%s", text->length ? " and " : "", commands[i].name);
}

struct command_line {
	enum config_command command;
	const char *const *beside; /* names of the command's own options, which are not in config_items; NULL: none */
	const char *const *arguments;
	const char *const *defaults; /* "--name=value": defaults of the command, which replace those of config_items;
	                              * NULL: none */
	bool passes_on; /* the command takes words after "--" */
};

/* Refuses a word of the command line. @item: the option of this name if other commands take it; NULL: no command has
 * such an option. */
static enum status word_refuse(const struct command_line *line, const char *word,
			       const struct config_item *item, struct error *err)
{
	const bool is_option = strncmp(word, "--", 2) == 0 && word[2];
	const char *bare = word + strspn(word, "-");
	AUTO(string) char *name = memory_strndup(bare, strcspn(bare, "="));
	struct nearest nearest = { .wanted = name ? name : "" };
	struct text takers AUTO_TEXT = { 0 };
	char hint[NEAREST_HINT_SIZE];

	if (item) {
		takers_write(&takers, item);
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "unknown option \"--%s\": it is one of %s", item->name, takers.data);
	}
	for (item = config_items; item->name; item++)
		if (item->commands & line->command)
			nearest_look(&nearest, item->name);
	for (const char *const *beside = line->beside; beside && *beside; beside++)
		nearest_look(&nearest, *beside);
	for (item = config_items; item->name; item++)
		if (item->commands & line->command)
			nearest_look_synonyms(&nearest, item->name, item->synonyms);
	nearest_hint(&nearest, "--", hint);
	if (!is_option)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "unexpected argument \"%s\"%s", word,
				 line->passes_on ? CONFIG_PASSES_ON : hint);
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "unknown option \"%.*s\"%s",
			 (int)strcspn(word, "="), word, hint);
}

static enum status read_line(struct config *config, const struct origin *origin, char *line,
			     struct error *err)
{
	const struct config_item *item;
	char *equals, *name;

	line = trim(line);
	if (*line == '\0' || *line == '#')
		return STATUS_OK;
	equals = strchr(line, '=');
	if (!equals)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "%s:%u: the line is not \"name = value\"", origin->file, origin->line);
	*equals = '\0';
	name = trim(line);
	item = item_find(name, strlen(name));
	if (!item || item->offset == offsetof(struct config, file))
		return name_refuse(origin, name, err);
	return item_set(config, item, origin, trim(equals + 1), err);
}

static void file_close(FILE *file)
{
	fclose(file);
}

DEFINE_AUTO(file, FILE *, file_close)

/* @path must be a copy, because reading the file may replace config->file. */
static enum status read_file(struct config *config, const char *path, unsigned reading, struct error *err)
{
	AUTO(file) FILE *file = fopen(path, "re");
	AUTO(string) char *line = NULL;
	struct origin origin = { .source = CONFIG_FILE, .file = path, .reading = reading };
	size_t size = 0;
	enum status rc = STATUS_OK;

	if (!file)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "the configuration file %s cannot be read: %s", path, strerror(errno));
	errno = 0;
	while (!rc && getline(&line, &size, file) >= 0) {
		origin.line++;
		rc = read_line(config, &origin, line, err);
	}
	if (!rc && ferror(file))
		rc = error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			       "the configuration file %s cannot be read: %s", path, strerror(errno));
	return rc;
}

/* Reads the environment variables. An empty variable counts as unset. */
static enum status read_environment(struct config *config, unsigned reading, struct error *err)
{
	const struct origin origin = { .source = CONFIG_ENVIRONMENT, .reading = reading };
	enum status rc = STATUS_OK;

	for (const struct config_item *item = config_items; item->name && !rc; item++) {
		const char *value = getenv(item->environment);

		if (value && *value)
			rc = item_set(config, item, &origin, value, err);
	}
	return rc;
}

/* Reads the option at **at and moves *at past it. */
static enum status read_argument(struct config *config, const struct command_line *line,
				 const struct origin *origin, const char *const **at, struct error *err)
{
	const char *word = *(*at)++;
	const char *name = word + 2;
	const size_t length = strncmp(word, "--", 2) == 0 ? strcspn(name, "=") : 0;
	const struct config_item *item = length ? item_find(name, length) : NULL;
	const char *value;

	if (!item || !(item->commands & line->command))
		return word_refuse(line, word, item, err);
	if (name[length] == '=')
		value = name + length + 1;
	else if (item->type == CONFIG_FLAG)
		value = "true";
	else if (**at)
		value = *(*at)++;
	else
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--%s needs a value: %s", item->name,
				 item->placeholder);
	return item_set(config, item, origin, value, err);
}

static enum status read_arguments(struct config *config, const struct command_line *line, unsigned reading,
				  struct error *err)
{
	const struct origin origin = { .source = CONFIG_COMMAND_LINE, .reading = reading };
	const char *const *arguments = line->arguments;
	enum status rc = STATUS_OK;

	while (*arguments && !rc)
		rc = read_argument(config, line, &origin, &arguments, err);
	return rc;
}

/* The arguments and the environment may name the configuration file, but their values take precedence over those in the
 * file. So both are read twice: first to find the file's name, then again after the file. */
static enum status read_all(struct config *config, const struct command_line *line, struct error *err)
{
	AUTO(string) char *path = NULL;
	const char *const *own = line->defaults;
	enum status rc = read_defaults(config, err);

	while (!rc && own && *own)
		rc = read_argument(config, line, &of_defaults, &own, err);
	if (!rc)
		rc = read_environment(config, 2, err);
	if (!rc)
		rc = read_arguments(config, line, 3, err);
	if (rc || !config->file)
		return rc;
	path = memory_strdup(config->file);
	rc = read_file(config, path, 4, err);
	if (!rc)
		rc = read_environment(config, 5, err);
	return rc ? rc : read_arguments(config, line, 6, err);
}

enum status config_read(struct config *ret_config, enum config_command command, const char *const *arguments,
			struct error *err)
{
	return config_read_beside(ret_config, command, NULL, NULL, false, arguments, err);
}

enum status config_read_beside(struct config *ret_config, enum config_command command,
			       const char *const *defaults, const char *const *beside, bool passes_on,
			       const char *const *arguments, struct error *err)
{
	struct config config AUTO_CONFIG = { 0 };
	enum status rc =
		read_all(&config, &(struct command_line){ command, beside, arguments, defaults, passes_on }, err);

	if (!rc && config.engine && strcmp(config.engine, ENGINE_SWARM) == 0) {
		free(config.engine);
		config.engine = engine_url_default();
		config.swarm = true;
	}
	if (!rc)
		rc = check_complete(&config, command, err);
	if (rc)
		return rc;
	*ret_config = config;
	config = (struct config){ 0 };
	return STATUS_OK;
}

/* Returns the value of the option in a list of "--name=value"; "true" for a flag without a value; NULL: not in the list. */
static const char *value_in(const char *const *list, const struct config_item *item)
{
	const size_t length = strlen(item->name);

	for (; list && *list; list++)
		if (strncmp(*list + 2, item->name, length) == 0 &&
		    ((*list)[2 + length] == '=' || (*list)[2 + length] == '\0'))
			return (*list)[2 + length] ? *list + 2 + length + 1 : "true";
	return NULL;
}

/* Appends the help of one option: "--log-level LEVEL", its meaning, its values and its default. */
static void item_help_write(struct text *text, const struct config_item *item, const char *otherwise)
{
	struct text help AUTO_TEXT = { 0 };
	char option[64];

	snprintf(option, sizeof(option), "--%s%s%s", item->name, item->placeholder ? " " : "",
		 item->placeholder ? item->placeholder : "");
	text_puts(&help, item->help);
	for (size_t i = 0; item->choices && item->choices[i]; i++)
		text_printf(&help, "%s%s", i ? ", " : ": ", item->choices[i]);
	if (otherwise || item->default_words)
		text_printf(&help, " (default %s)", otherwise ? otherwise : item->default_words);
	help_entry_write(text, option, help.data);
}

void config_help_write(struct text *text, enum config_command command, const char *const *first,
		       const char *const *defaults)
{
	const char *group = NULL, *reported = NULL;

	for (const struct config_item *item = config_items; item->name; item++) {
		AUTO(string) char *computed = item->compute ? item->compute() : NULL;
		const char *own = value_in(first, item) ? value_in(first, item) : value_in(defaults, item);
		const char *otherwise = own ? own : computed ? computed : item->otherwise;

		group = item->group ? item->group : group;
		if (!(item->commands & command))
			continue;
		if (command == CONFIG_SERVE && group != reported)
			text_printf(text, "%s%s\n", reported ? "\n" : "", group);
		reported = group;
		item_help_write(text, item, own || item->type != CONFIG_FLAG ? otherwise : NULL);
	}
}
