/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/cloud_cp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/cloud_file.h"
#include "daemon/cli/cloud_objects.h"
#include "daemon/cli/cloud_transfer.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/terminal.h"
#include "daemon/main.h"

/* An object or a file that is to be copied. */
struct item {
	char *path;               /* path of a file on this machine; NULL: the item is an object */
	const char *bucket;       /* of an object; borrowed */
	struct cloud_found found; /* of an object; borrowed */
	char *below;              /* its name below the target if the target is a directory */
	char *inside; /* its name below the source that the word names; "": it is the source itself */
};

struct copying {
	const struct invocation *invocation;
	struct client *client;
	bool recursive;
	const char *target;
	struct cloud_url to; /* the target, if it is in Cloud Storage */
	struct source {
		struct cloud_url url;
		struct cloud_selection selection;
	} * sources; /* one for each word except the target */
	struct item *items;
	size_t item_count, item_size;
	struct cloud_progress progress;
	int exit_code;
};

static void copying_deinit(struct copying *copying)
{
	for (size_t i = 0; i < copying->item_count; i++) {
		free(copying->items[i].path);
		free(copying->items[i].below);
		free(copying->items[i].inside);
	}
	free(copying->items);
	for (size_t i = 0; copying->sources && i < copying->invocation->word_count; i++) {
		cloud_url_deinit(&copying->sources[i].url);
		cloud_selection_deinit(&copying->sources[i].selection);
	}
	free(copying->sources);
	cloud_url_deinit(&copying->to);
}

#define AUTO_COPYING __attribute__((cleanup(copying_deinit)))

/* Returns true if the sentence @words contains @name as a separate word. A name of one letter does not count, because
 * the letter may be a word of the sentence itself ("a"). */
static bool names(const char *words, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = words; length && (at = strstr(at, name)) != NULL; at++)
		if ((at == words || strchr(" \"'", at[-1])) && (!at[length] || strchr(" \"':,", at[length])))
			return length > 1;
	return false;
}

/* Prints the error of one item. Returns true if the next items can be copied; false: no daemon answers any more. */
static bool item_fail(struct copying *copying, const char *name, const struct error *err)
{
	struct error reported AUTO_ERROR = { 0 };
	struct text clean AUTO_TEXT = { 0 };
	int outcome;

	progress_clear();
	text_one_line(&clean, name, 0);
	if (names(main_words(err), clean.data) || client_is_unreached(copying->client))
		error_set(&reported, err->status, NULL, "%s", main_words(err));
	else
		error_set(&reported, err->status, NULL, "%s: %s", clean.data, main_words(err));
	outcome = ask_failure(copying->client, &reported);
	if (copying->exit_code != EXIT_UNREACHED)
		copying->exit_code = outcome;
	return outcome != EXIT_UNREACHED;
}

/* ---- sources ---- */

static struct item *item_add(struct copying *copying, int64_t size_bytes)
{
	if (copying->item_count == copying->item_size) {
		copying->item_size = copying->item_size ? 2 * copying->item_size : 64;
		copying->items = memory_resize(copying->items, copying->item_size, sizeof(*copying->items));
	}
	copying->progress.file_count++;
	if (size_bytes < 0)
		copying->progress.total_bytes = -1;
	else if (copying->progress.total_bytes >= 0)
		copying->progress.total_bytes += size_bytes;
	copying->items[copying->item_count] = (struct item){ 0 };
	return &copying->items[copying->item_count++];
}

/* Adds an object. If the source is a whole bucket, the name below a target directory begins with the bucket's name. */
static void object_add(struct copying *copying, const struct source *source, const struct cloud_found *found)
{
	struct item *item = item_add(copying, found->size_bytes);
	const bool whole = !*source->url.object;
	const char *inside = whole ? found->name : found->name + found->end;

	item->bucket = source->url.bucket;
	item->found = *found;
	item->below = whole ? memory_printf("%s/%s", source->url.bucket, found->name)
			    : memory_strdup(found->name + found->base);
	item->inside = memory_strdup(inside + (!whole && *inside == '/'));
}

static void file_add(struct copying *copying, const char *path, size_t base, size_t end, int64_t size_bytes)
{
	struct item *item = item_add(copying, size_bytes);
	const char *inside = path + end + strspn(path + end, "/");

	item->path = memory_strdup(path);
	item->below = base < end ? memory_strdup(path + base) : memory_strdup(inside);
	item->inside = memory_strdup(inside);
}

static void path_fail(struct copying *copying, const char *path, const char *reason)
{
	struct error err AUTO_ERROR = { 0 };
	struct text clean AUTO_TEXT = { 0 };

	progress_clear();
	text_one_line(&clean, *path ? path : "\"\"", 0);
	error_set(&err, STATUS_FAILED_PRECONDITION, NULL, "%s: %s", clean.data, reason);
	main_failure(&err);
	if (copying->exit_code != EXIT_UNREACHED)
		copying->exit_code = EXIT_FAILED;
}

static int any_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static void path_add(struct copying *copying, const char *path, size_t base, size_t end, bool is_word);

static void directory_add(struct copying *copying, const char *path, size_t base, size_t end)
{
	struct dirent **entries = NULL;
	const int count = scandir(path, &entries, any_name, alphasort);

	if (count < 0)
		path_fail(copying, path, strerror(errno));
	for (int i = 0; i < count; i++) {
		AUTO(string)
		char *below = memory_printf("%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
					    entries[i]->d_name);

		path_add(copying, below, base, end, false);
		free(entries[i]);
	}
	free(entries);
}

/* Adds a file or a directory. Below a directory, a link to a file is followed, but not a link to a directory: it may
 * lead to a directory above. */
static void path_add(struct copying *copying, const char *path, size_t base, size_t end, bool is_word)
{
	struct stat status, link;

	if (lstat(path, &link) != 0 || stat(path, &status) != 0)
		path_fail(copying, path, strerror(errno));
	else if (S_ISDIR(status.st_mode) && !copying->recursive)
		path_fail(copying, path, "it is a directory: -r copies its contents");
	else if (S_ISDIR(status.st_mode) && (is_word || !S_ISLNK(link.st_mode)))
		directory_add(copying, path, base, end);
	else if (S_ISDIR(status.st_mode))
		path_fail(copying, path, "it is a link to a directory, which is not followed");
	else if (!S_ISREG(status.st_mode) && !is_word)
		path_fail(copying, path, "it is no file");
	else
		file_add(copying, path, base, end, S_ISREG(status.st_mode) ? status.st_size : -1);
}

/* Adds a path of the command line. The last part of the path ("b" of "a/b/") is the first part of the names below the
 * target, except for ".", ".." and "/", of which only the contents are named. */
static void path_word_add(struct copying *copying, const char *word)
{
	size_t end = strlen(word), base;

	while (end > 1 && word[end - 1] == '/')
		end--;
	for (base = end; base > 0 && word[base - 1] != '/';)
		base--;
	if ((end - base == 1 && word[base] == '.') || (end - base == 2 && strncmp(word + base, "..", 2) == 0))
		base = end;
	path_add(copying, word, base, end, true);
}

static enum status word_add(struct copying *copying, size_t number, struct error *err)
{
	const char *word = copying->invocation->words[number];
	struct source *source = &copying->sources[number];
	enum status rc;

	if (!cloud_url_is(word)) {
		if (strcmp(word, "-") == 0)
			file_add(copying, word, 0, 1, -1);
		else
			path_word_add(copying, word);
		return STATUS_OK;
	}
	rc = cloud_url_read(word, &source->url, err);
	if (!rc)
		rc = cloud_select(copying->client, &source->url, copying->recursive, &source->selection, err);
	for (size_t i = 0; !rc && i < source->selection.count; i++)
		object_add(copying, source, &source->selection.found[i]);
	return rc;
}

/* ---- targets ---- */

/* Returns true if the target is a directory, so that names are appended to it; false: it is the name of the one file or
 * directory that is copied. */
static bool target_is_directory(const struct copying *copying)
{
	const char *target = copying->to.bucket ? copying->to.object : copying->target;
	const size_t length = strlen(target);
	struct stat status;

	if (length ? target[length - 1] == '/' : copying->to.bucket != NULL)
		return true;
	if (copying->to.bucket) {
		AUTO(json) json_t *object = NULL;

		/* For one file, an existing object with this name is the target, even if other objects are below it. */
		return cloud_is_directory(copying->client, &copying->to) &&
		       (copying->recursive || cloud_stat(copying->client, copying->to.bucket,
							 copying->to.object, &object, NULL) != STATUS_OK);
	}
	return stat(target, &status) == 0 && S_ISDIR(status.st_mode);
}

static char *path_join(const char *directory, const char *name)
{
	const size_t length = strlen(directory);

	return memory_printf("%s%s%s", directory,
			     !length || !*name || directory[length - 1] == '/' ? "" : "/", name);
}

static enum status to_cloud(struct copying *copying, const struct item *item, const char *name,
			    struct error *err)
{
	AUTO(string) char *object = path_join(copying->to.object, name);
	const struct cloud_url to = { copying->to.bucket, *name ? object : copying->to.object };
	int fd;
	enum status rc;

	if (!*to.object || (*name && item->path && strcmp(item->path, "-") == 0))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "the object needs a name: gs://BUCKET/OBJECT");
	if (!utf8_valid(to.object, strlen(to.object)))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "its name is not UTF-8, which the name of an object must be");
	if (!item->path)
		return cloud_copy(copying->client, item->bucket, &item->found, &to, &copying->progress, err);
	fd = strcmp(item->path, "-") == 0 ? dup(STDIN_FILENO) : open(item->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, STATUS_ABORTED, NULL, "it cannot be read: %s", strerror(errno));
	rc = cloud_upload(copying->client, fd, &to, &copying->progress, err);
	close(fd);
	return rc;
}

/* Returns false for an object name that would lead outside of the target directory, or that no file can have. */
static bool name_is_safe(const char *name)
{
	while (*name) {
		const size_t length = strcspn(name, "/");

		if (!length || (length == 1 && *name == '.') || (length == 2 && strncmp(name, "..", 2) == 0))
			return false;
		name += length + (name[length] == '/');
	}
	return true;
}

static enum status to_file(struct copying *copying, const struct item *item, const char *name,
			   struct error *err)
{
	AUTO(string) char *path = *name ? path_join(copying->target, name) : memory_strdup(copying->target);
	struct cloud_file file AUTO_CLOUD_FILE = { .fd = -1 };
	enum status rc;

	if (!name_is_safe(name))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "a file cannot have this name; copy the object alone, and name the file");
	if (*path && path[strlen(path) - 1] == '/') {
		copying->progress.files_done++;
		return cloud_directory_make(path, err);
	}
	rc = cloud_file_open(&file, path, err);
	if (!rc)
		rc = cloud_download(copying->client, item->bucket, &item->found, file.fd, &copying->progress,
				    err);
	return rc ? rc : cloud_file_keep(&file, err);
}

static bool item_copy(struct copying *copying, const struct item *item, bool into)
{
	struct error err AUTO_ERROR = { 0 };
	const char *name = into ? item->below : item->inside;
	AUTO(string)
	char *url = item->path ? memory_strdup(item->path) : cloud_url_text(item->bucket, item->found.name);
	enum status rc;

	if (copying->to.bucket)
		rc = to_cloud(copying, item, name, &err);
	else if (strcmp(copying->target, "-") == 0)
		rc = cloud_download(copying->client, item->bucket, &item->found, STDOUT_FILENO,
				    &copying->progress, &err);
	else
		rc = to_file(copying, item, name, &err);
	return rc ? item_fail(copying, url, &err) : true;
}

/* ---- the commands ---- */

static int targets_check(const struct copying *copying, bool into)
{
	struct error err AUTO_ERROR = { 0 };

	if (into || copying->item_count <= 1 || strcmp(copying->target, "-") == 0)
		return EXIT_GOOD;
	/* The items are the contents of one directory, and the target is the name of the new directory. */
	if (copying->recursive && copying->invocation->word_count == 2 && *copying->items[0].inside)
		return EXIT_GOOD;
	error_set(&err, STATUS_INVALID_ARGUMENT, NULL,
		  "%zu files cannot all be %s: a target that ends with \"/\" is a directory",
		  copying->item_count, copying->target);
	return main_usage_error("cp ", &err);
}

/* Finds the items of all source words; @count: the number of words before the target. */
static int sources_read(struct copying *copying, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct error err AUTO_ERROR = { 0 };

		if (word_add(copying, i, &err) && !item_fail(copying, copying->invocation->words[i], &err))
			break;
	}
	return copying->exit_code;
}

static int all_copy(struct copying *copying)
{
	const bool into = target_is_directory(copying);
	const int exit_code = targets_check(copying, into);

	if (exit_code)
		return exit_code;
	if (!copying->to.bucket)
		cloud_file_guard();
	cloud_progress_begin(&copying->progress);
	for (size_t i = 0; i < copying->item_count; i++)
		if (!item_copy(copying, &copying->items[i], into))
			break;
	cloud_progress_end(&copying->progress);
	return copying->exit_code;
}

static int words_refuse(const char *verb, const char *reason)
{
	struct error err AUTO_ERROR = { 0 };

	error_set(&err, STATUS_INVALID_ARGUMENT, NULL, "%s", reason);
	return main_usage_error(verb, &err);
}

int cp_main(struct invocation *invocation)
{
	struct copying copying AUTO_COPYING = { .invocation = invocation,
						.recursive = invocation_flag(invocation, "recursive") };
	const size_t last = invocation->word_count - 1;
	AUTO(client) struct client *client = NULL;
	struct error err AUTO_ERROR = { 0 };
	int exit_code;

	copying.target = invocation->words[last];
	for (size_t i = 0; i < last; i++)
		if (!cloud_url_is(invocation->words[i]) && !cloud_url_is(copying.target))
			return words_refuse("cp ", "neither source nor target is gs://BUCKET/OBJECT");
	if (cloud_url_is(copying.target) && cloud_url_read(copying.target, &copying.to, &err))
		return main_usage_error("cp ", &err);
	exit_code = ask_storage_open(invocation, &client);
	if (exit_code)
		return exit_code;
	copying.client = client;
	copying.sources = memory_calloc(invocation->word_count, sizeof(*copying.sources));
	if (sources_read(&copying, last) == EXIT_UNREACHED)
		return EXIT_UNREACHED;
	return copying.item_count ? all_copy(&copying) : copying.exit_code;
}

int cat_main(struct invocation *invocation)
{
	struct copying copying AUTO_COPYING = { .invocation = invocation, .target = "-" };
	AUTO(client) struct client *client = NULL;
	int exit_code;

	for (size_t i = 0; i < invocation->word_count; i++)
		if (!cloud_url_is(invocation->words[i]))
			return words_refuse("cat ", "an object is named gs://BUCKET/OBJECT");
	exit_code = ask_storage_open(invocation, &client);
	if (exit_code)
		return exit_code;
	copying.client = client;
	copying.sources = memory_calloc(invocation->word_count, sizeof(*copying.sources));
	sources_read(&copying, invocation->word_count);
	for (size_t i = 0; i < copying.item_count; i++)
		if (!item_copy(&copying, &copying.items[i], false))
			break;
	return copying.exit_code;
}
