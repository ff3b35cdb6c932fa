/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/cloud_ls.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/cloud_objects.h"
#include "daemon/cli/cloud_transfer.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/job_create.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"

enum { SIZE_COLUMN = 10, TIME_COLUMN = 19, TIME_SHOWN = 32 };

struct listing {
	const struct cloud_url *url;
	bool is_long, names_only;
	json_t *items, *prefixes; /* results for -o json; NULL: lines are printed instead */
	size_t depth; /* parts of the pattern; of longer names only the directory is shown; 0: no limit */
	char *directory; /* the directory that was shown last */
	size_t count, object_count;
	int64_t total_bytes;
};

/* ---- lines ---- */

static void url_print(const char *bucket, const char *object)
{
	struct text url AUTO_TEXT = { 0 };

	cloud_url_write(&url, bucket, object);
	if (terminal_width(stdout)) {
		struct text reported AUTO_TEXT = { 0 };

		text_one_line(&reported, url.data, 0);
		puts(reported.data);
	} else {
		puts(url.data);
	}
}

static void row_print(const struct listing *listing, const char *size, const char *time, const char *bucket,
		      const char *object)
{
	if (listing->is_long && !listing->names_only)
		printf("%*s  %-*s  ", SIZE_COLUMN, size, TIME_COLUMN, time);
	url_print(bucket, object);
}

/* Writes a time in local time, to the second. */
static void moment_write(const char *time, char reported[TIME_SHOWN])
{
	const time_t s = time_read(time, 0) / 1000000;
	struct tm local;

	localtime_r(&s, &local);
	strftime(reported, TIME_SHOWN, "%Y-%m-%d %H:%M:%S", &local);
}

static void object_show(struct listing *listing, const json_t *object)
{
	const int64_t bytes = json_int_at(object, "size", 0);
	const char *name = json_text_at(object, "name");
	struct text size AUTO_TEXT = { 0 };
	char time[TIME_SHOWN];

	listing->count++;
	listing->object_count++;
	listing->total_bytes += bytes;
	if (listing->items) {
		json_array_append(listing->items, (json_t *)object);
		return;
	}
	size_append(&size, bytes);
	moment_write(json_text_at(object, "updated"), time);
	row_print(listing, size.data, time, listing->url->bucket, name ? name : "");
}

static void directory_show(struct listing *listing, const char *name)
{
	if (listing->directory && strcmp(listing->directory, name) == 0)
		return;
	free(listing->directory);
	listing->directory = memory_strdup(name);
	listing->count++;
	if (listing->prefixes)
		json_array_append_new(listing->prefixes, json_string(name));
	else
		row_print(listing, "", "", listing->url->bucket, name);
}

/* ---- lists ---- */

static void found_show(struct listing *listing, const json_t *object)
{
	const char *name = json_text_at(object, "name"), *end = name;

	for (size_t part = 0; end && part < listing->depth; part++)
		end = strchr(end, '/') ? strchr(end, '/') + 1 : NULL;
	if (!listing->depth || !end || !name) {
		object_show(listing, object);
	} else {
		AUTO(string) char *directory = memory_strndup(name, (size_t)(end - name));

		directory_show(listing, directory);
	}
}

static enum status page_show(void *arg, const json_t *page, struct error *err)
{
	struct listing *listing = arg;
	const json_t *one;
	size_t index;

	(void)err;
	json_array_foreach(json_object_get(page, "prefixes"), index, one)
		directory_show(listing, json_string_value(one));
	json_array_foreach(json_object_get(page, "items"), index, one)
		found_show(listing, one);
	return fflush(stdout) == 0 ? STATUS_OK : STATUS_ABORTED;
}

static enum status pattern_list(struct listing *listing, struct client *client, bool recursive,
				struct error *err)
{
	const char *bucket = listing->url->bucket, *pattern = listing->url->object;
	size_t length = strlen(pattern);
	enum status rc;

	while (length > 1 && pattern[length - 1] == '/')
		length--;
	AUTO(string) char *itself = memory_strndup(pattern, length);
	AUTO(string) char *below = memory_printf("%s/**", itself);
	if (!recursive && !strstr(pattern, "**"))
		for (const char *at = itself; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
			listing->depth++;
	rc = cloud_list(client, &(struct cloud_query){ .bucket = bucket, .glob = itself }, page_show, listing,
			err);
	if (rc || strstr(pattern, "**"))
		return rc;
	return cloud_list(client, &(struct cloud_query){ .bucket = bucket, .glob = below }, page_show,
			  listing, err);
}

static enum status name_list(struct listing *listing, struct client *client, bool recursive,
			     struct error *err)
{
	const struct cloud_url *url = listing->url;
	const size_t length = strlen(url->object);
	const bool is_directory = !length || url->object[length - 1] == '/';
	AUTO(string) char *prefix = memory_printf("%s%s", url->object, is_directory ? "" : "/");
	AUTO(json) json_t *object = NULL;

	listing->depth = 0;
	if (!is_directory && cloud_stat(client, url->bucket, url->object, &object, NULL) == STATUS_OK)
		object_show(listing, object);
	return cloud_list(client,
			  &(struct cloud_query){ .bucket = url->bucket,
						 .prefix = prefix,
						 .delimiter = recursive ? NULL : "/" },
			  page_show, listing, err);
}

static enum status word_list(struct listing *listing, const struct cloud_url *url, struct client *client,
			     bool recursive, struct error *err)
{
	const size_t before = listing->count;
	enum status rc = STATUS_OK;

	listing->url = url;
	if (cloud_name_is_pattern(url->object))
		rc = pattern_list(listing, client, recursive, err);
	if (!rc && listing->count == before)
		rc = name_list(listing, client, recursive, err);
	if (!rc && listing->count == before && *url->object) {
		AUTO(string) char *reported = cloud_url_text(url->bucket, url->object);

		return error_set(err, STATUS_NOT_FOUND, NULL, "there is nothing at %s", reported);
	}
	return rc;
}

/* Prints an error about one word of the command line, with the word: errors of the API name no bucket. */
static int word_fail(const struct client *client, const char *word, const struct error *err)
{
	struct error reported AUTO_ERROR = { 0 };

	if (strstr(main_words(err), word))
		return ask_failure(client, err);
	error_set(&reported, err->status, NULL, "%s: %s", word, main_words(err));
	return ask_failure(client, &reported);
}

/* ---- ls ---- */

static int buckets_list(const struct invocation *invocation, struct client *client, struct listing *listing)
{
	AUTO(string) char *project = submit_project(invocation), *token = NULL;
	struct error err AUTO_ERROR = { 0 };

	do {
		struct text path AUTO_TEXT = { 0 };
		AUTO(json) json_t *page = NULL;
		const json_t *bucket;
		size_t index;

		text_puts(&path, "/storage/v1/b?project=");
		text_percent(&path, project, URL_UNRESERVED);
		text_puts(&path, token ? "&pageToken=" : "");
		text_percent(&path, token ? token : "", URL_UNRESERVED);
		if (client_call(client, "GET", path.data, NULL, &page, &err))
			return ask_failure(client, &err);
		json_array_foreach(json_object_get(page, "items"), index, bucket) {
			const char *name = json_text_at(bucket, "name");
			char time[TIME_SHOWN];

			moment_write(json_text_at(bucket, "timeCreated"), time);
			if (listing->items)
				json_array_append(listing->items, (json_t *)bucket);
			else
				row_print(listing, "", time, name ? name : "", "");
		}
		listing->count += json_array_size(json_object_get(page, "items"));
		free(token);
		token = memory_strdup(json_text_at(page, "nextPageToken"));
	} while (token);
	if (!listing->count && terminal_width(stdout) && invocation_prints(invocation, "table"))
		printf("Project %s has no buckets.\n", project);
	return EXIT_GOOD;
}

static int words_list(const struct invocation *invocation, struct client *client, struct listing *listing)
{
	int exit_code = EXIT_GOOD;

	for (const char *const *word = invocation->words; *word && exit_code != EXIT_UNREACHED; word++) {
		struct error err AUTO_ERROR = { 0 };
		struct cloud_url url AUTO_CLOUD_URL = { 0 };

		if (!cloud_url_is(*word))
			error_set(&err, STATUS_INVALID_ARGUMENT, NULL, "\"%s\" is not gs://BUCKET/OBJECT",
				  *word);
		else
			cloud_url_read(*word, &url, &err);
		if (!url.bucket)
			return main_usage_error("ls ", &err);
		if (word_list(listing, &url, client, invocation_flag(invocation, "recursive"), &err))
			exit_code = word_fail(client, *word, &err);
	}
	return exit_code;
}

static int listing_end(const struct listing *listing)
{
	struct text text AUTO_TEXT = { 0 };

	if (listing->items) {
		AUTO(json)
		json_t *answer =
			json_pack("{s:O,s:O}", "items", listing->items, "prefixes", listing->prefixes);

		json_write(&text, answer);
		text_putc(&text, '\n');
	} else if (listing->is_long && !listing->names_only && listing->object_count > 1) {
		struct text size AUTO_TEXT = { 0 };

		size_append(&size, listing->total_bytes);
		text_printf(&text, "%s%*s  %zu objects%s\n", terminal_style(stdout, STYLE_DIM), SIZE_COLUMN,
			    size.data, listing->object_count, terminal_style(stdout, STYLE_NONE));
	}
	return main_output(&text);
}

int ls_main(struct invocation *invocation)
{
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *items = invocation_prints(invocation, "json") ? json_array() : NULL;
	AUTO(json) json_t *prefixes = items ? json_array() : NULL;
	struct listing listing = { .is_long = invocation_flag(invocation, "long"),
				   .names_only = invocation_prints(invocation, "name"),
				   .items = items,
				   .prefixes = prefixes };
	int exit_code = ask_storage_open(invocation, &client), written;

	if (exit_code)
		return exit_code;
	exit_code = invocation->word_count ? words_list(invocation, client, &listing)
					   : buckets_list(invocation, client, &listing);
	free(listing.directory);
	if (exit_code == EXIT_USAGE || exit_code == EXIT_UNREACHED)
		return exit_code;
	written = listing_end(&listing);
	return exit_code ? exit_code : written;
}

/* ---- rm ---- */

static enum status found_remove(struct client *client, const struct cloud_url *url,
				const struct cloud_selection *selection, struct error *err)
{
	struct text path AUTO_TEXT = { 0 };
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < selection->count; i++) {
		progress_show("%zu of %zu objects", i, selection->count);
		rc = cloud_delete(client, url->bucket, selection->found[i].name, 0, err);
		if (rc == STATUS_NOT_FOUND) { /* another client was faster */
			error_deinit(err);
			rc = STATUS_OK;
		}
	}
	progress_clear();
	if (rc || *url->object)
		return rc;
	text_puts(&path, "/storage/v1/b/");
	text_percent(&path, url->bucket, URL_UNRESERVED);
	return client_call(client, "DELETE", path.data, NULL, NULL, err);
}

static int word_remove(struct client *client, const char *word, bool recursive)
{
	struct error err AUTO_ERROR = { 0 };
	struct cloud_url url AUTO_CLOUD_URL = { 0 };
	struct cloud_selection selection AUTO_CLOUD_SELECTION = { 0 };
	enum status rc = cloud_url_read(word, &url, &err);

	if (!rc && !recursive && strspn(url.object, "*/") == strlen(url.object) && strstr(url.object, "**"))
		rc = error_set(&err, STATUS_FAILED_PRECONDITION, NULL,
			       "%s matches a whole bucket: give -r to include its contents", word);
	if (!rc)
		rc = cloud_select(client, &url, recursive, &selection, &err);
	if (!rc)
		rc = found_remove(client, &url, &selection, &err);
	return rc ? word_fail(client, word, &err) : EXIT_GOOD;
}

int rm_main(struct invocation *invocation)
{
	AUTO(client) struct client *client = NULL;
	struct error err AUTO_ERROR = { 0 };
	int exit_code;

	for (const char *const *word = invocation->words; *word; word++)
		if (!cloud_url_is(*word)) {
			error_set(&err, STATUS_INVALID_ARGUMENT, NULL, "\"%s\" is not gs://BUCKET/OBJECT",
				  *word);
			return main_usage_error("rm ", &err);
		}
	exit_code = ask_storage_open(invocation, &client);
	if (exit_code)
		return exit_code;
	for (const char *const *word = invocation->words; *word && exit_code != EXIT_UNREACHED; word++) {
		const int outcome = word_remove(client, *word, invocation_flag(invocation, "recursive"));

		exit_code = outcome ? outcome : exit_code;
	}
	return exit_code;
}
