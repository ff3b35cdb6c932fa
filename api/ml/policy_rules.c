/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/policy_rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "api/ml/rules.h"
#include "api/training/forms.h"
#include "daemon/base/json.h"

enum { PATH_SIZE = 128 };

static bool is_word(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
			return false;
	return length > 0;
}

/* True if the text has one @ with characters on both sides, and no blanks. */
static bool is_mail(const char *text, size_t length)
{
	const char *at = memchr(text, '@', length);
	size_t left = at ? (size_t)(at - text) : 0;

	return left && left + 1 < length && is_word(text, length) && !memchr(at + 1, '@', length - left - 1);
}

static bool is_account(const char *text)
{
	return is_mail(text, strlen(text));
}

/* True for a service account's e-mail address, or an account of a cluster: PROJECT.svc.id.goog[NAMESPACE/NAME]. */
static bool is_service_account(const char *text)
{
	static const char pool[] = ".svc.id.goog[";
	const char *found = strstr(text, pool);
	const char *slash = found ? strchr(found, '/') : NULL;
	size_t length = strlen(text);

	if (!found)
		return is_account(text);
	return found > text && slash && slash > found + strlen(pool) && slash + 2 < text + length &&
	       text[length - 1] == ']' && is_word(text, length);
}

static bool is_domain(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-' &&
		    (*c != '.' || c == text || c[1] == '.' || !c[1]))
			return false;
	return strchr(text, '.') != NULL;
}

/* @text: the part after "principal://": a host with a path. */
static bool is_principal(const char *text)
{
	const char *slash = strchr(text, '/');

	return slash && slash > text && slash[1] && is_word(text, strlen(text));
}

/* MAIL?uid=NUMBER */
static bool is_deleted_account(const char *text)
{
	const char *uid = strstr(text, "?uid=");

	return uid && is_mail(text, (size_t)(uid - text)) && uid[5] &&
	       strspn(uid + 5, "0123456789") == strlen(uid + 5);
}

/* The kinds of members. A prefix without rest_valid is the whole member. */
static const struct member_kind {
	const char *prefix;
	bool (*rest_valid)(const char *rest); /* NULL: nothing follows */
	bool group;
} member_kinds[] = {
	{ "allUsers", NULL, false },
	{ "allAuthenticatedUsers", NULL, false },
	{ "user:", is_account, false },
	{ "serviceAccount:", is_service_account, false },
	{ "group:", is_account, true },
	{ "domain:", is_domain, false },
	{ "principal://", is_principal, false },
	{ "principalSet://", is_principal, false },
	{ "deleted:user:", is_deleted_account, false },
	{ "deleted:serviceAccount:", is_deleted_account, false },
	{ "deleted:group:", is_deleted_account, true },
	{ "deleted:principal://", is_principal, false },
};

/* Returns the kind of @member; NULL if it has none of the valid forms. */
static const struct member_kind *member_kind(const char *member)
{
	for (size_t i = 0; i < sizeof(member_kinds) / sizeof(member_kinds[0]); i++) {
		const struct member_kind *kind = &member_kinds[i];
		size_t length = strlen(kind->prefix);

		if (strncmp(member, kind->prefix, length) == 0 &&
		    (kind->rest_valid ? kind->rest_valid(member + length) : !member[length]))
			return kind;
	}
	return NULL;
}

bool policy_member_valid(const char *member)
{
	return member_kind(member) != NULL;
}

bool policy_has_conditions(const json_t *policy)
{
	size_t index;
	const json_t *binding;

	json_array_foreach(json_object_get(policy, "bindings"), index, binding)
		if (json_object_get(binding, "condition"))
			return true;
	return false;
}

static bool enough(const struct error *err)
{
	return err->violation_count >= RULES_FAULTS_MAX;
}

static void check_members(struct error *err, const json_t *members, const char *path)
{
	size_t index;
	const json_t *member;

	json_array_foreach((json_t *)members, index, member) {
		char field[PATH_SIZE + 24];

		if (enough(err))
			return;
		if (policy_member_valid(json_string_value(member)))
			continue;
		snprintf(field, sizeof(field), "%s[%zu]", path, index);
		error_add(err, STATUS_INVALID_ARGUMENT, field,
			  "'%.*s' is not a valid member. A member is allUsers, allAuthenticatedUsers, "
			  "user:MAIL, serviceAccount:MAIL, group:MAIL, domain:NAME, principal://… or "
			  "principalSet://….",
			  RULES_SHOWN_BYTES, json_string_value(member));
	}
}

static void check_role(struct error *err, const char *role, const char *path)
{
	char field[PATH_SIZE + 8];

	snprintf(field, sizeof(field), "%s.role", path);
	if (!role)
		error_add(err, STATUS_INVALID_ARGUMENT, field, "A role is required.");
	else if (!text_matches(role, "^((projects|organizations)/[^/[:space:]]+/)?roles/[A-Za-z0-9_.]+$"))
		error_add(err, STATUS_INVALID_ARGUMENT, field,
			  "'%.*s' is not a role. A role is roles/NAME, projects/PROJECT/roles/NAME or "
			  "organizations/NUMBER/roles/NAME.",
			  RULES_SHOWN_BYTES, role);
	else if (strstr(role, "_withcond_"))
		error_add(err, STATUS_INVALID_ARGUMENT, field,
			  "'%.*s' is not a role: policies of version 1 show it in place of a role that has a "
			  "condition. Read the policy with options.requestedPolicyVersion=3 before changing it.",
			  RULES_SHOWN_BYTES, role);
}

/* Title and expression are required. Source: https://cloud.google.com/iam/docs/conditions-overview#structure */
static void check_condition(struct error *err, const json_t *condition, const char *path)
{
	static const char *const required[] = { "title", "expression" };

	for (size_t i = 0; condition && i < sizeof(required) / sizeof(required[0]); i++) {
		char field[PATH_SIZE + 24];

		snprintf(field, sizeof(field), "%s.condition.%s", path, required[i]);
		if (!json_text_at(condition, required[i]))
			error_add(err, STATUS_INVALID_ARGUMENT, field,
				  "A condition has a title and an expression.");
	}
}

static void check_binding(struct error *err, const json_t *binding, size_t index)
{
	const json_t *members = json_object_get(binding, "members");
	char path[PATH_SIZE], members_path[PATH_SIZE + 16];

	snprintf(path, sizeof(path), "policy.bindings[%zu]", index);
	snprintf(members_path, sizeof(members_path), "%s.members", path);
	check_role(err, json_text_at(binding, "role"), path);
	if (!members)
		error_add(err, STATUS_INVALID_ARGUMENT, members_path, "A binding needs at least one member.");
	check_members(err, members, members_path);
	check_condition(err, json_object_get(binding, "condition"), path);
}

/* Counts each occurrence of a member. False: there are too many, so the members are not checked one by one. */
static bool check_counts(struct error *err, const json_t *bindings)
{
	size_t principals = 0, groups = 0, index, at;
	const json_t *binding, *member;

	json_array_foreach((json_t *)bindings, index, binding) {
		json_array_foreach(json_object_get(binding, "members"), at, member) {
			const struct member_kind *kind = member_kind(json_string_value(member));

			principals++;
			groups += kind && kind->group;
		}
	}
	if (principals > POLICY_PRINCIPALS_MAX)
		error_add(err, STATUS_INVALID_ARGUMENT, "policy.bindings",
			  "The bindings have %zu members, more than the %d that a policy can have.",
			  principals, POLICY_PRINCIPALS_MAX);
	if (groups > POLICY_GROUPS_MAX)
		error_add(err, STATUS_INVALID_ARGUMENT, "policy.bindings",
			  "The bindings have %zu groups as members, more than the %d that a policy can have.",
			  groups, POLICY_GROUPS_MAX);
	return principals <= POLICY_PRINCIPALS_MAX;
}

static void check_audit_log(struct error *err, const json_t *log, const char *path)
{
	char field[PATH_SIZE + 24];

	snprintf(field, sizeof(field), "%s.log_type", path);
	if (!json_text_at(log, "logType"))
		error_add(err, STATUS_INVALID_ARGUMENT, field, "A log type is required.");
	snprintf(field, sizeof(field), "%s.exempted_members", path);
	check_members(err, json_object_get(log, "exemptedMembers"), field);
}

static void check_audit_config(struct error *err, const json_t *config, size_t index)
{
	const json_t *logs = json_object_get(config, "auditLogConfigs");
	char path[PATH_SIZE];
	size_t at;
	const json_t *log;

	snprintf(path, sizeof(path), "policy.audit_configs[%zu].service", index);
	if (!json_text_at(config, "service"))
		error_add(err, STATUS_INVALID_ARGUMENT, path, "A service is required.");
	snprintf(path, sizeof(path), "policy.audit_configs[%zu].audit_log_configs", index);
	if (!logs)
		error_add(err, STATUS_INVALID_ARGUMENT, path,
			  "An audit config needs at least one audit log config.");
	json_array_foreach((json_t *)logs, at, log) {
		if (enough(err))
			return;
		snprintf(path, sizeof(path), "policy.audit_configs[%zu].audit_log_configs[%zu]", index, at);
		check_audit_log(err, log, path);
	}
}

static void check_version(struct error *err, const json_t *policy)
{
	int64_t version = json_int_at(policy, "version", 0);

	if (version != 0 && version != 1 && version != 3)
		error_add(err, STATUS_INVALID_ARGUMENT, "policy.version",
			  "The version of a policy is 0, 1 or 3, not %lld.", (long long)version);
	else if (version != 3 && policy_has_conditions(policy))
		error_add(err, STATUS_INVALID_ARGUMENT, "policy.version",
			  "A policy with conditions must say that its version is 3.");
}

enum status policy_rules_check(const json_t *policy, struct error *err)
{
	const json_t *bindings = json_object_get(policy, "bindings");
	struct error found AUTO_ERROR = { 0 };
	size_t index;
	const json_t *element;

	check_version(&found, policy);
	if (!check_counts(&found, bindings))
		return error_move(err, &found);
	json_array_foreach((json_t *)bindings, index, element) {
		if (enough(&found))
			break;
		check_binding(&found, element, index);
	}
	json_array_foreach(json_object_get(policy, "auditConfigs"), index, element) {
		if (enough(&found))
			break;
		check_audit_config(&found, element, index);
	}
	return found.status ? error_move(err, &found) : STATUS_OK;
}
