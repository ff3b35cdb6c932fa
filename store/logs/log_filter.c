/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/log_filter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/timestamp.h"
#include "store/filter/filter_path.h"
#include "store/logs/log_severity.h"

static bool severity_parse(const char *name, int64_t *ret_number)
{
	char *end;

	for (int severity = SEVERITY_DEFAULT; severity <= SEVERITY_EMERGENCY; severity += 100) {
		if (strcasecmp(log_severity_name(severity), name) != 0)
			continue;
		*ret_number = severity;
		return true;
	}
	*ret_number = strtol(name, &end, 10);
	return end != name && *end == '\0';
}

#define IN_EXTRA(name)                                                                                       \
	{                                                                                                    \
		.path = name ".*", .kind = MATCH_JSON, .traits = TRAIT_CAMEL, .sql = "e.extra",              \
		.root = "$." name                                                                            \
	}

#define INSERT_ID                                                                                            \
	"CASE typeof(e.insert_id) WHEN 'integer' THEN printf('%016d', e.insert_id) ELSE e.insert_id END"
#define LOG_NAME "('projects/' || s.project || '/logs/' || s.log_name)"

/* The plus keeps SQLite from using the index on time for the filter's own comparisons. log_query.c adds a comparison
 * that is to use the index: with the interval of all times that can match, or with the end of the previous page. */
static const struct filter_field fields[] = {
	{ .path = "timestamp",
	  .kind = MATCH_TIME,
	  .traits = TRAIT_ALWAYS,
	  .sql = "+e.ts",
	  .text_sql = "+e.ts" },
	{ .path = "receiveTimestamp",
	  .kind = MATCH_TIME,
	  .traits = TRAIT_ALWAYS,
	  .sql = "e.received_ns",
	  .text_sql = "e.received_ns" },
	{ .path = "severity",
	  .kind = MATCH_ENUM,
	  .traits = TRAIT_ALWAYS,
	  .sql = "e.severity",
	  .text_sql = "severity_name(e.severity)",
	  .parse = severity_parse },
	{ .path = "insertId", .kind = MATCH_EXACT, .traits = TRAIT_ALWAYS, .sql = INSERT_ID },
	{ .path = "textPayload", .kind = MATCH_TEXT, .sql = "CASE e.kind WHEN 0 THEN e.payload END" },
	{ .path = "jsonPayload.*",
	  .kind = MATCH_JSON,
	  .sql = "CASE e.kind WHEN 1 THEN e.payload END",
	  .root = "$" },
	{ .path = "protoPayload.*",
	  .kind = MATCH_JSON,
	  .sql = "CASE e.kind WHEN 2 THEN e.payload END",
	  .root = "$" },
	{ .path = "logName", .kind = MATCH_TEXT, .traits = TRAIT_SHARED | TRAIT_ALWAYS, .sql = LOG_NAME },
	{ .path = "resource.type",
	  .kind = MATCH_TEXT,
	  .traits = TRAIT_SHARED | TRAIT_ALWAYS,
	  .sql = "s.resource_type" },
	{ .path = "resource.labels.*",
	  .kind = MATCH_JSON,
	  .traits = TRAIT_SHARED | TRAIT_KEYS,
	  .sql = "s.resource_labels",
	  .root = "$" },
	{ .path = "labels.*",
	  .kind = MATCH_JSON,
	  .traits = TRAIT_SHARED | TRAIT_KEYS,
	  .sql = "s.labels",
	  .root = "$",
	  .also_sql = "e.extra",
	  .also_root = "$.labels" },
	IN_EXTRA("trace"),
	IN_EXTRA("spanId"),
	IN_EXTRA("traceSampled"),
	{ .path = "httpRequest.*",
	  .kind = MATCH_JSON,
	  .traits = TRAIT_CAMEL | TRAIT_DURATIONS, /* latency */
	  .sql = "e.extra",
	  .root = "$.httpRequest" },
	IN_EXTRA("operation"),
	IN_EXTRA("sourceLocation"),
	IN_EXTRA("split"),
	{ .path = NULL },
};

static const char *const row_texts[] = { "e.payload", "e.extra", NULL };
static const char *const shared_texts[] = { "s.log_name", "s.resource_type", "s.resource_labels", "s.labels",
					    NULL };

/* Pairs of columns: whether it is JSON, and the text. */
static const char search_texts[] = "e.kind <> 0, e.payload, 1, e.extra, 0, " LOG_NAME ", 0, s.resource_type,"
				   " 1, s.resource_labels, 1, s.labels, 0, " INSERT_ID;

/* When all entries are read in the order of time, the source of each is read with it. When only those of a few jobs are
 * read, the sources that match are found first. */
static const struct filter_schema along_time = {
	.fields = fields,
	.shared_open = "(",
	.shared_close = ")",
	.row_texts = row_texts,
	.shared_texts = shared_texts,
	.log_name = "s.log_name",
	.project = "s.project",
	.search = search_texts,
};
static const struct filter_schema along_jobs = {
	.fields = fields,
	.shared_open =
		"e.source IN (SELECT s.id FROM source AS s WHERE s.job IN (:job0, :job1, :job2, :job3) AND (",
	.shared_close = "))",
	.row_texts = row_texts,
	.shared_texts = shared_texts,
	.log_name = "s.log_name",
	.project = "s.project",
	.search = search_texts,
};

static bool is_job_equality(const struct filter_node *node)
{
	return filter_names(node, "resource.labels.job_id") && node->operator== OP_EQ;
}

/* The only comparison with a job that every matching entry fulfils; NULL: there is none, or there are several. */
static struct filter_node *job_node_of(struct filter_node *root)
{
	struct filter_node *found = NULL;

	if (!root)
		return NULL;
	if (root->kind != FILTER_AND)
		return is_job_equality(root) ? root : NULL;
	for (struct filter_node *child = root->child; child; child = child->next) {
		if (!is_job_equality(child))
			continue;
		if (found)
			return NULL;
		found = child;
	}
	return found;
}

/* An upper bound between 12 and 4 seconds before the present is assumed to come from gcloud's log streaming. Source:
 * gcloud 578, observed: "timestamp<" the present minus five seconds. */
static const int64_t margin_from_ns = 12000000000, margin_to_ns = 4000000000;

static bool is_behind(int64_t time_ns, int64_t now_ns)
{
	return time_ns >= now_ns - margin_from_ns && time_ns <= now_ns - margin_to_ns;
}

static bool is_margin(const struct filter_node *node, int64_t now_ns, int64_t ahead_ns, int64_t *ret_time_ns)
{
	if (!filter_names(node, "timestamp") || (node->operator!= OP_LT && node->operator!= OP_LE) ||
	    !time_parse(node->value, ret_time_ns))
		return false;
	if (is_behind(*ret_time_ns, now_ns))
		return true;
	*ret_time_ns += ahead_ns; /* the client's clock is that much ahead */
	return is_behind(*ret_time_ns, now_ns);
}

/* Removes the upper bound from a stream's filter; see log_query_run(). */
static void margin_lift(struct log_filter *filter, int64_t now_ns, int64_t ahead_ns)
{
	struct filter_node *root = filter->tree.root;
	int64_t time_ns;

	if (!root || root->kind != FILTER_AND || !job_node_of(root) ||
	    filter_interval_of(root, "timestamp").from_ns == INT64_MIN)
		return;
	for (struct filter_node **at = &root->child; *at;) {
		if (is_margin(*at, now_ns, ahead_ns, &time_ns)) {
			if (time_ns - ((*at)->operator== OP_LT) < filter->margin_ns)
				filter->margin_ns = time_ns - ((*at)->operator== OP_LT);
			*at = (*at)->next;
			root->child_count--;
		} else {
			at = &(*at)->next;
		}
	}
}

enum status log_filter_init(struct log_filter *filter, const char *text, int64_t now_ns, int64_t ahead_ns,
			    struct error *err)
{
	enum status rc;

	*filter = (struct log_filter){ .text = text, .margin_ns = INT64_MAX };
	rc = filter_parse(text, NULL, &filter->tree, err);
	if (rc)
		return rc;
	if (now_ns)
		margin_lift(filter, now_ns, ahead_ns);
	filter->timestamp = filter_interval_of(filter->tree.root, "timestamp");
	filter->job_node = job_node_of(filter->tree.root);
	filter->job_label = filter->job_node ? filter->job_node->value : NULL;
	return STATUS_OK;
}

/* Replaces the comparison JOB in the filter by (JOB OR (OWNER AND TRIAL)). */
void log_filter_add_trial(struct log_filter *filter, const char *owner, const char *trial)
{
	static const char *path[] = { "labels", "ml.googleapis.com/trial_id" };
	enum { OF_JOB, OF_BOTH, OF_OWNER, OF_TRIAL };
	struct filter_node *node = filter->job_node, *nodes = filter->of_trial;

	nodes[OF_TRIAL] = (struct filter_node){
		.kind = FILTER_COMPARE, .operator= OP_EQ, .path = path, .path_length = 2, .value = trial
	};
	nodes[OF_OWNER] = *node;
	nodes[OF_OWNER].value = owner;
	nodes[OF_OWNER].next = &nodes[OF_TRIAL];
	nodes[OF_BOTH] =
		(struct filter_node){ .kind = FILTER_AND, .child = &nodes[OF_OWNER], .child_count = 2 };
	nodes[OF_JOB] = *node;
	nodes[OF_JOB].next = &nodes[OF_BOTH];
	*node = (struct filter_node){
		.kind = FILTER_OR, .next = node->next, .child = &nodes[OF_JOB], .child_count = 2
	};
}

void log_filter_deinit(struct log_filter *filter)
{
	filter_deinit(&filter->tree);
}

enum status log_filter_sql(const struct log_filter *filter, bool of_jobs, struct filter_sql *ret_sql,
			   struct error *err)
{
	return filter_sql_make(of_jobs ? &along_jobs : &along_time, filter->text, filter->tree.root, ret_sql,
			       err);
}
