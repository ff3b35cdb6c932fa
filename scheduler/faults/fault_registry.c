/* SPDX-License-Identifier: Apache-2.0 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "scheduler/faults/fault_registry.h"

#include <pcre2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/engine.h"
#include "store/jobs/faults.h"

/* MATCH_STEPS_MAX: limit of the steps of one pattern on one line, so that no pattern delays the logs. MARKS_MAX: limit of
 * the containers that one rule remembers. */
enum { MATCH_STEPS_MAX = 1000000, MARKS_MAX = 10000, HOOKS_MAX = 2 };

struct page {
	struct fault_rule *rule;
	pcre2_code *pattern;
	uint64_t injections, draws;
	struct replica_key *marks; /* containers that have printed a line matching the pattern */
	size_t mark_count;
};

struct fault_registry {
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

void fault_registry_free(struct fault_registry *registry)
{
	if (!registry)
		return;
	for (size_t i = 0; i < registry->count; i++)
		page_deinit(&registry->pages[i]);
	free(registry->pages);
	pcre2_match_data_free(registry->match);
	pcre2_match_context_free(registry->context);
	pthread_mutex_destroy(&registry->mutex);
	free(registry);
}

static void counts_update(struct fault_registry *registry)
{
	size_t patterns = 0;

	for (size_t i = 0; i < registry->count; i++)
		patterns += registry->pages[i].pattern != NULL;
	atomic_store(&registry->patterns, patterns);
	atomic_store(&registry->rules, registry->count);
}

static pcre2_code *pattern_compile(const char *pattern)
{
	PCRE2_SIZE offset;
	int problem;

	return pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, FAULT_PATTERN_OPTIONS, &problem,
			     &offset, NULL);
}

/* Adds the rule to the registry as a page: the rule with its compiled pattern and its counts. On success, takes
 * ownership of @rule. */
static enum status page_add(struct fault_registry *registry, struct fault_rule *rule, uint64_t injections,
			    uint64_t draws, struct error *err)
{
	pcre2_code *pattern = rule->log_pattern ? pattern_compile(rule->log_pattern) : NULL;

	if (rule->log_pattern && !pattern) /* the pattern is valid, since it compiled when the rule was read */
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "There is no memory to compile the log_pattern now.");
	registry->pages = memory_resize(registry->pages, registry->count + 1, sizeof(*registry->pages));
	registry->pages[registry->count++] =
		(struct page){ .rule = rule, .pattern = pattern, .injections = injections, .draws = draws };
	counts_update(registry);
	return STATUS_OK;
}

/* Loads a stored rule. A rule of another release that this one does not accept has no effect, but is still listed. */
static enum status stored_take(struct fault_registry *registry, const struct stored_fault *stored,
			       struct error *err)
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
	rc = page_add(registry, rule, (uint64_t)stored->injections, (uint64_t)stored->draws, err);
	if (!rc)
		rule = NULL;
	return rc;
}

static struct page *page_find(struct fault_registry *registry, int64_t id)
{
	for (size_t i = 0; i < registry->count; i++)
		if (registry->pages[i].rule->id == id)
			return &registry->pages[i];
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

enum status fault_registry_open(struct store *store, uint64_t seed, struct fault_registry **ret_registry,
				struct error *err)
{
	struct fault_list list AUTO_FAULT_LIST = { 0 };
	struct fault_registry *registry = memory_calloc(1, sizeof(*registry));
	enum status rc;

	registry->store = store;
	registry->seed = seed;
	pthread_mutex_init(&registry->mutex, NULL);
	registry->match = pcre2_match_data_create(1, NULL);
	registry->context = pcre2_match_context_create(NULL);
	rc = registry->match && registry->context
		     ? fault_list_read(store, &list, err)
		     : error_set(err, STATUS_UNAVAILABLE, NULL, "there is no memory to match a log_pattern");
	if (!rc)
		pcre2_set_match_limit(registry->context, MATCH_STEPS_MAX);
	for (size_t i = 0; !rc && i < list.count; i++)
		rc = stored_take(registry, &list.faults[i], err);
	if (!rc)
		rc = fault_marks_read(store, mark_take, registry, err);
	if (rc) {
		fault_registry_free(registry);
		return rc;
	}
	*ret_registry = registry;
	return STATUS_OK;
}

void fault_registry_on_change(struct fault_registry *registry, void (*changed)(void *arg), void *arg)
{
	if (registry->hook_count == HOOKS_MAX)
		abort();
	registry->hooks[registry->hook_count].changed = changed;
	registry->hooks[registry->hook_count++].arg = arg;
}

static void tell(const struct fault_registry *registry)
{
	for (size_t i = 0; i < registry->hook_count; i++)
		registry->hooks[i].changed(registry->hooks[i].arg);
}

static void page_remove(struct fault_registry *registry, struct page *page)
{
	page_deinit(page);
	memmove(page, page + 1, (size_t)(&registry->pages[registry->count] - (page + 1)) * sizeof(*page));
	registry->count--;
}

/* Stores the rule of the last page. If that fails, the page is removed, because the rule would be gone after a restart. */
static enum status page_store(struct fault_registry *registry, const char *text, bool from_file,
			      int64_t *ret_id, struct error *err)
{
	struct page *page = &registry->pages[registry->count - 1];
	enum status rc = fault_insert(registry->store, text, from_file, &page->rule->id, err);

	if (!rc) {
		*ret_id = page->rule->id;
		return STATUS_OK;
	}
	page_remove(registry, page);
	counts_update(registry);
	return rc;
}

enum status fault_registry_add(struct fault_registry *registry, const json_t *canonical, bool from_file,
			       int64_t *ret_id, struct error *err)
{
	AUTO(fault_rule) struct fault_rule *rule = NULL;
	AUTO(string) char *text = json_dump_compact(canonical);
	enum status rc = fault_rule_read(canonical, &rule, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&registry->mutex);
	if (registry->count >= FAULT_RULES_MAX)
		rc = error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, "There are %d fault rules already.",
			       FAULT_RULES_MAX);
	if (!rc)
		rc = page_add(registry, rule, 0, 0, err);
	if (!rc) {
		rule = NULL;
		rc = page_store(registry, text, from_file, ret_id, err);
	}
	pthread_mutex_unlock(&registry->mutex);
	if (!rc)
		tell(registry);
	return rc;
}

enum status fault_registry_remove(struct fault_registry *registry, int64_t id, struct error *err)
{
	struct page *page;
	enum status rc;

	pthread_mutex_lock(&registry->mutex);
	rc = fault_delete(registry->store, id, err);
	page = rc ? NULL : page_find(registry, id);
	if (page)
		page_remove(registry, page);
	counts_update(registry);
	pthread_mutex_unlock(&registry->mutex);
	if (!rc)
		tell(registry);
	return rc;
}

enum status fault_registry_clear(struct fault_registry *registry, struct error *err)
{
	enum status rc;

	pthread_mutex_lock(&registry->mutex);
	rc = fault_delete_all(registry->store, err);
	while (!rc && registry->count)
		page_remove(registry, &registry->pages[registry->count - 1]);
	counts_update(registry);
	pthread_mutex_unlock(&registry->mutex);
	if (!rc)
		tell(registry);
	return rc;
}

bool fault_registry_is_empty(const struct fault_registry *registry)
{
	return atomic_load(&registry->rules) == 0;
}

bool fault_registry_has(struct fault_registry *registry, int64_t id)
{
	bool there;

	if (fault_registry_is_empty(registry))
		return false;
	pthread_mutex_lock(&registry->mutex);
	there = page_find(registry, id) != NULL;
	pthread_mutex_unlock(&registry->mutex);
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
	return page->rule->count && page->injections >= page->rule->count;
}

/* Whether the page's rule applies: 0: now; INT64_MAX: not before an event; otherwise the microseconds until it may
 * apply. */
static int64_t page_ask(struct fault_registry *registry, struct page *page,
			const struct fault_context *context)
{
	const bool call = context->stage == STAGE_CALL;
	int64_t wait_us;

	if (is_used_up(page) || !fault_fits(page->rule, context))
		return INT64_MAX;
	wait_us = fault_wait_us(page->rule, context, page->pattern && is_marked(page, &context->key));
	if (wait_us)
		return wait_us > 0 ? wait_us : INT64_MAX;
	if (call && page->rule->probability > 0)
		page->draws++;
	return fault_drawn(page->rule, context, registry->seed, call ? page->draws : 0) ? 0 : INT64_MAX;
}

bool fault_registry_take(struct fault_registry *registry, const struct fault_context *context,
			 struct fault_order *ret_order, int64_t *ret_wait_us)
{
	bool taken = false;

	*ret_wait_us = INT64_MAX;
	if (fault_registry_is_empty(registry))
		return false;
	pthread_mutex_lock(&registry->mutex);
	for (size_t i = 0; !taken && i < registry->count; i++) {
		struct page *page = &registry->pages[i];
		const struct fault_rule *rule = page->rule;
		const int64_t wait_us = page_ask(registry, page, context);

		taken = wait_us == 0;
		if (wait_us < *ret_wait_us)
			*ret_wait_us = wait_us;
		if (!taken)
			continue;
		page->injections++;
		*ret_order = (struct fault_order){ rule->id,         rule->kind,        rule->exit_code,
						   rule->seconds_us, rule->http_status, rule->bytes_per_s };
	}
	pthread_mutex_unlock(&registry->mutex);
	return taken;
}

void fault_registry_return(struct fault_registry *registry, int64_t rule)
{
	struct page *page;

	pthread_mutex_lock(&registry->mutex);
	page = page_find(registry, rule);
	if (page && page->injections)
		page->injections--;
	pthread_mutex_unlock(&registry->mutex);
}

enum status fault_registry_count(struct fault_registry *registry, int64_t rule, struct error *err)
{
	const struct page *page;
	int64_t draws;

	pthread_mutex_lock(&registry->mutex);
	page = page_find(registry, rule);
	draws = page ? (int64_t)page->draws : 0;
	pthread_mutex_unlock(&registry->mutex);
	return fault_count(registry->store, rule, draws, err);
}

static bool line_fits(const struct fault_registry *registry, const struct page *page,
		      const struct replica_line *line)
{
	size_t length = line->length;

	/* The line without its end, as in its log entry. */
	while (length && (line->data[length - 1] == '\n' || line->data[length - 1] == '\r'))
		length--;
	return pcre2_match(page->pattern, (PCRE2_SPTR)line->data, length, 0, 0, registry->match,
			   registry->context) >= 0;
}

/* Stores that the container has printed a line matching the rule's pattern. On failure the fact is only kept until the
 * next restart. */
static void mark_store(struct fault_registry *registry, const struct page *page,
		       const struct replica_key *key)
{
	const struct fault_mark mark = { *key, page->rule->id };
	struct error err AUTO_ERROR = { 0 };

	if (fault_mark_put(registry->store, &mark, &err))
		log_event(LOG_ERROR, "fault-log-match-unstored", "rule=%lld error=\"%s\"",
			  (long long)page->rule->id, err.text ? err.text : "");
}

static bool page_mark(struct fault_registry *registry, struct page *page, const struct replica_line *line)
{
	if (!page->pattern || is_used_up(page) || page->mark_count >= MARKS_MAX ||
	    is_marked(page, &line->key) || !line_fits(registry, page, line))
		return false;
	mark_append(page, &line->key);
	mark_store(registry, page, &line->key);
	return true;
}

bool fault_registry_line(struct fault_registry *registry, const struct replica_line *line)
{
	bool marked = false;

	if (atomic_load(&registry->patterns) == 0)
		return false;
	pthread_mutex_lock(&registry->mutex);
	for (size_t i = 0; i < registry->count; i++)
		marked = page_mark(registry, &registry->pages[i], line) || marked;
	pthread_mutex_unlock(&registry->mutex);
	return marked;
}
