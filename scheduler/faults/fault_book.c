/* SPDX-License-Identifier: Apache-2.0 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "scheduler/faults/fault_book.h"

#include <pcre2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/engine.h"
#include "store/jobs/faults.h"

/* MATCH_STEPS_MAX: of a pattern on one line, so that none holds up the logs. MARKS_MAX: containers that one rule
 * remembers. */
enum { MATCH_STEPS_MAX = 1000000, MARKS_MAX = 10000, HOOKS_MAX = 2 };

struct page {
	struct fault_rule *rule;
	pcre2_code *pattern;
	uint64_t hits, draws;
	struct replica_key *marks; /* containers with a line that fits the pattern */
	size_t mark_count;
};

struct fault_book {
	struct store *store;
	uint64_t seed;
	pthread_mutex_t mutex;
	pcre2_match_data *match;
	pcre2_match_context *context;
	struct page *pages; /* by id */
	size_t count;
	atomic_size_t rules, patterns; /* how many; read without the mutex */
	struct {
		void (*changed)(void *arg);
		void *arg;
	} hooks[HOOKS_MAX];
	size_t hook_count;
};

static void page_deinit(struct page *page)
{
	fault_rule_free(page->rule);
	pcre2_code_free(page->pattern);
	free(page->marks);
}

void fault_book_free(struct fault_book *book)
{
	if (!book)
		return;
	for (size_t i = 0; i < book->count; i++)
		page_deinit(&book->pages[i]);
	free(book->pages);
	pcre2_match_data_free(book->match);
	pcre2_match_context_free(book->context);
	pthread_mutex_destroy(&book->mutex);
	free(book);
}

static void counts_update(struct fault_book *book)
{
	size_t patterns = 0;

	for (size_t i = 0; i < book->count; i++)
		patterns += book->pages[i].pattern != NULL;
	atomic_store(&book->patterns, patterns);
	atomic_store(&book->rules, book->count);
}

static pcre2_code *pattern_compile(const char *pattern)
{
	PCRE2_SIZE offset;
	int problem;

	return pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, FAULT_PATTERN_OPTIONS, &problem,
			     &offset, NULL);
}

/* Takes @rule when it succeeds. */
static enum status page_add(struct fault_book *book, struct fault_rule *rule, uint64_t hits, uint64_t draws,
			    struct error *err)
{
	pcre2_code *pattern = rule->log_pattern ? pattern_compile(rule->log_pattern) : NULL;

	if (rule->log_pattern && !pattern) /* it compiled when the rule was read */
		return error_set(err, STATUS_UNAVAILABLE, NULL, "PCRE2 has no memory for a log_pattern now.");
	book->pages = memory_resize(book->pages, book->count + 1, sizeof(*book->pages));
	book->pages[book->count++] =
		(struct page){ .rule = rule, .pattern = pattern, .hits = hits, .draws = draws };
	counts_update(book);
	return STATUS_OK;
}

/* A rule that this release would not take, of another one, is left out; it is still listed. */
static enum status stored_take(struct fault_book *book, const struct stored_fault *stored, struct error *err)
{
	AUTO(json) json_t *canonical = NULL;
	AUTO(fault_rule) struct fault_rule *rule = NULL;
	struct error found AUTO_ERROR = { 0 };
	enum status rc = json_parse_own(stored->rule, &canonical, err);

	if (rc)
		return rc;
	rc = fault_rule_read(canonical, &rule, &found);
	if (rc == STATUS_INVALID_ARGUMENT) {
		log_event(LOG_WARNING, "fault-rule-left-out", "rule=%lld error=\"%s\"", (long long)stored->id,
			  found.text ? found.text : "");
		return STATUS_OK;
	}
	if (rc)
		return error_move(err, &found);
	rule->id = stored->id;
	rc = page_add(book, rule, (uint64_t)stored->hits, (uint64_t)stored->draws, err);
	if (!rc)
		rule = NULL;
	return rc;
}

static struct page *page_find(struct fault_book *book, int64_t id)
{
	for (size_t i = 0; i < book->count; i++)
		if (book->pages[i].rule->id == id)
			return &book->pages[i];
	return NULL;
}

static void mark_append(struct page *page, const struct replica_key *key)
{
	page->marks = memory_resize(page->marks, page->mark_count + 1, sizeof(*page->marks));
	page->marks[page->mark_count++] = *key;
}

static enum status mark_take(void *arg, const struct fault_mark *mark, struct error *err)
{
	struct page *page = page_find(arg, mark->fault);

	(void)err;
	if (page)
		mark_append(page, &mark->key);
	return STATUS_OK;
}

enum status fault_book_open(struct store *store, uint64_t seed, struct fault_book **ret_book,
			    struct error *err)
{
	struct fault_list list AUTO_FAULT_LIST = { 0 };
	struct fault_book *book = memory_calloc(1, sizeof(*book));
	enum status rc;

	book->store = store;
	book->seed = seed;
	pthread_mutex_init(&book->mutex, NULL);
	book->match = pcre2_match_data_create(1, NULL);
	book->context = pcre2_match_context_create(NULL);
	rc = book->match && book->context
		     ? fault_list_read(store, &list, err)
		     : error_set(err, STATUS_UNAVAILABLE, NULL, "PCRE2 has no memory to match with");
	if (!rc)
		pcre2_set_match_limit(book->context, MATCH_STEPS_MAX);
	for (size_t i = 0; !rc && i < list.count; i++)
		rc = stored_take(book, &list.faults[i], err);
	if (!rc)
		rc = fault_marks_read(store, mark_take, book, err);
	if (rc) {
		fault_book_free(book);
		return rc;
	}
	*ret_book = book;
	return STATUS_OK;
}

void fault_book_on_change(struct fault_book *book, void (*changed)(void *arg), void *arg)
{
	if (book->hook_count == HOOKS_MAX)
		abort();
	book->hooks[book->hook_count].changed = changed;
	book->hooks[book->hook_count++].arg = arg;
}

static void tell(const struct fault_book *book)
{
	for (size_t i = 0; i < book->hook_count; i++)
		book->hooks[i].changed(book->hooks[i].arg);
}

static void page_remove(struct fault_book *book, struct page *page)
{
	page_deinit(page);
	memmove(page, page + 1, (size_t)(&book->pages[book->count] - (page + 1)) * sizeof(*page));
	book->count--;
}

/* Stores the rule of the last page, which goes again when that fails: none is known to the next start alone. */
static enum status page_store(struct fault_book *book, const char *text, bool from_file, int64_t *ret_id,
			      struct error *err)
{
	struct page *page = &book->pages[book->count - 1];
	enum status rc = fault_insert(book->store, text, from_file, &page->rule->id, err);

	if (!rc) {
		*ret_id = page->rule->id;
		return STATUS_OK;
	}
	page_remove(book, page);
	counts_update(book);
	return rc;
}

enum status fault_book_add(struct fault_book *book, const json_t *canonical, bool from_file, int64_t *ret_id,
			   struct error *err)
{
	AUTO(fault_rule) struct fault_rule *rule = NULL;
	AUTO(string) char *text = json_dump_compact(canonical);
	enum status rc = fault_rule_read(canonical, &rule, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&book->mutex);
	if (book->count >= FAULT_RULES_MAX)
		rc = error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, "There are %d fault rules already.",
			       FAULT_RULES_MAX);
	if (!rc)
		rc = page_add(book, rule, 0, 0, err);
	if (!rc) {
		rule = NULL;
		rc = page_store(book, text, from_file, ret_id, err);
	}
	pthread_mutex_unlock(&book->mutex);
	if (!rc)
		tell(book);
	return rc;
}

enum status fault_book_remove(struct fault_book *book, int64_t id, struct error *err)
{
	struct page *page;
	enum status rc;

	pthread_mutex_lock(&book->mutex);
	rc = fault_delete(book->store, id, err);
	page = rc ? NULL : page_find(book, id);
	if (page)
		page_remove(book, page);
	counts_update(book);
	pthread_mutex_unlock(&book->mutex);
	if (!rc)
		tell(book);
	return rc;
}

enum status fault_book_clear(struct fault_book *book, struct error *err)
{
	enum status rc;

	pthread_mutex_lock(&book->mutex);
	rc = fault_delete_all(book->store, err);
	while (!rc && book->count)
		page_remove(book, &book->pages[book->count - 1]);
	counts_update(book);
	pthread_mutex_unlock(&book->mutex);
	if (!rc)
		tell(book);
	return rc;
}

bool fault_book_is_empty(const struct fault_book *book)
{
	return atomic_load(&book->rules) == 0;
}

bool fault_book_has(struct fault_book *book, int64_t id)
{
	bool there;

	if (fault_book_is_empty(book))
		return false;
	pthread_mutex_lock(&book->mutex);
	there = page_find(book, id) != NULL;
	pthread_mutex_unlock(&book->mutex);
	return there;
}

static bool is_marked(const struct page *page, const struct replica_key *key)
{
	for (size_t i = 0; i < page->mark_count; i++)
		if (replica_keys_equal(&page->marks[i], key))
			return true;
	return false;
}

static bool is_used_up(const struct page *page)
{
	return page->rule->count && page->hits >= page->rule->count;
}

/* 0: it hits now; otherwise the time until it may, INT64_MAX: none is known. */
static int64_t page_ask(struct fault_book *book, struct page *page, const struct fault_scene *scene)
{
	const bool call = scene->stage == STAGE_CALL;
	int64_t wait_us;

	if (is_used_up(page) || !fault_fits(page->rule, scene))
		return INT64_MAX;
	wait_us = fault_wait_us(page->rule, scene, page->pattern && is_marked(page, &scene->key));
	if (wait_us)
		return wait_us > 0 ? wait_us : INT64_MAX;
	if (call && page->rule->probability > 0)
		page->draws++;
	return fault_drawn(page->rule, scene, book->seed, call ? page->draws : 0) ? 0 : INT64_MAX;
}

bool fault_book_take(struct fault_book *book, const struct fault_scene *scene, struct fault_order *ret_order,
		     int64_t *ret_wait_us)
{
	bool taken = false;

	*ret_wait_us = INT64_MAX;
	if (fault_book_is_empty(book))
		return false;
	pthread_mutex_lock(&book->mutex);
	for (size_t i = 0; !taken && i < book->count; i++) {
		struct page *page = &book->pages[i];
		const struct fault_rule *rule = page->rule;
		const int64_t wait_us = page_ask(book, page, scene);

		taken = wait_us == 0;
		if (wait_us < *ret_wait_us)
			*ret_wait_us = wait_us;
		if (!taken)
			continue;
		page->hits++;
		*ret_order = (struct fault_order){ rule->id,         rule->kind,        rule->exit_code,
						   rule->seconds_us, rule->http_status, rule->bytes_per_s };
	}
	pthread_mutex_unlock(&book->mutex);
	return taken;
}

void fault_book_return(struct fault_book *book, int64_t rule)
{
	struct page *page;

	pthread_mutex_lock(&book->mutex);
	page = page_find(book, rule);
	if (page && page->hits)
		page->hits--;
	pthread_mutex_unlock(&book->mutex);
}

enum status fault_book_count(struct fault_book *book, int64_t rule, struct error *err)
{
	const struct page *page;
	int64_t draws;

	pthread_mutex_lock(&book->mutex);
	page = page_find(book, rule);
	draws = page ? (int64_t)page->draws : 0;
	pthread_mutex_unlock(&book->mutex);
	return fault_count(book->store, rule, draws, err);
}

static bool line_fits(const struct fault_book *book, const struct page *page, const struct replica_line *line)
{
	size_t length = line->length;

	/* As in its log entry. */
	while (length && (line->data[length - 1] == '\n' || line->data[length - 1] == '\r'))
		length--;
	return pcre2_match(page->pattern, (PCRE2_SPTR)line->data, length, 0, 0, book->match, book->context) >=
	       0;
}

/* One that cannot be stored is remembered until the next start alone. */
static void mark_store(struct fault_book *book, const struct page *page, const struct replica_key *key)
{
	const struct fault_mark mark = { *key, page->rule->id };
	struct error err AUTO_ERROR = { 0 };

	if (fault_mark_put(book->store, &mark, &err))
		log_event(LOG_ERROR, "fault-mark-unstored", "rule=%lld error=\"%s\"",
			  (long long)page->rule->id, err.text ? err.text : "");
}

static bool page_mark(struct fault_book *book, struct page *page, const struct replica_line *line)
{
	if (!page->pattern || is_used_up(page) || page->mark_count >= MARKS_MAX ||
	    is_marked(page, &line->key) || !line_fits(book, page, line))
		return false;
	mark_append(page, &line->key);
	mark_store(book, page, &line->key);
	return true;
}

bool fault_book_line(struct fault_book *book, const struct replica_line *line)
{
	bool marked = false;

	if (atomic_load(&book->patterns) == 0)
		return false;
	pthread_mutex_lock(&book->mutex);
	for (size_t i = 0; i < book->count; i++)
		marked = page_mark(book, &book->pages[i], line) || marked;
	pthread_mutex_unlock(&book->mutex);
	return marked;
}
