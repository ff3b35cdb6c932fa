/* SPDX-License-Identifier: Apache-2.0 */
#include "store/filter/filter_interval.h"

#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"
#include "store/filter/filter_path.h"

static const struct filter_interval always = { INT64_MIN, INT64_MAX };

static struct filter_interval interval_of_compare(const struct filter_node *node)
{
	int64_t time;

	if (!time_parse(node->value, &time))
		return always;
	switch (node->operator) {
	case OP_EQ:
		return (struct filter_interval){ time, time };
	case OP_GT:
		return (struct filter_interval){ time == INT64_MAX ? time : time + 1, INT64_MAX };
	case OP_GE:
		return (struct filter_interval){ time, INT64_MAX };
	case OP_LT:
		return (struct filter_interval){ INT64_MIN, time == INT64_MIN ? time : time - 1 };
	case OP_LE:
		return (struct filter_interval){ INT64_MIN, time };
	default:
		return always;
	}
}

/* Joins two intervals: AND (@meet) gives what both have, OR the smallest interval that has both. */
static void interval_join(struct filter_interval *whole, struct filter_interval part, bool meet)
{
	bool later = part.from_ns > whole->from_ns, earlier = part.to_ns < whole->to_ns;

	if (later == meet)
		whole->from_ns = part.from_ns;
	if (earlier == meet)
		whole->to_ns = part.to_ns;
}

struct filter_interval filter_interval_of(const struct filter_node *root, const char *path)
{
	struct filter_interval whole;

	if (!root)
		return always;
	if (filter_names(root, path))
		return interval_of_compare(root);
	if (root->kind != FILTER_AND && root->kind != FILTER_OR)
		return always;
	whole = filter_interval_of(root->child, path);
	for (const struct filter_node *child = root->child->next; child; child = child->next)
		interval_join(&whole, filter_interval_of(child, path), root->kind == FILTER_AND);
	return whole;
}

enum status filter_created_make(const struct filter_schema *schema, const char *filter,
				struct filter_sql *ret_sql, struct filter_interval *ret_created,
				struct error *err)
{
	struct filter tree AUTO_FILTER = { 0 };
	enum status rc = filter_parse(filter, "filter", &tree, err);

	if (!rc)
		rc = filter_sql_make(schema, filter, tree.root, ret_sql, err);
	if (!rc)
		*ret_created = filter_interval_of(tree.root, "createTime");
	return rc;
}
