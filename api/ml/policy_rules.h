/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/policy_rules.h: checks of a policy beyond the types of its fields.
 *
 * Pure. Thread: any.
 * Source: https://cloud.google.com/iam/docs/reference/rest/v1/Policy (read 2026-11-20) */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"

/* Choice: limits of ours, because the service names no exact one ("a few 10s of KB"); 1500 long members must fit. */
enum { POLICY_PRINCIPALS_MAX = 1500, POLICY_GROUPS_MAX = 250, POLICY_BYTES_MAX = 256 * 1024 };

/* Checks a canonical Policy. *err has all violations, with paths that begin with "policy". */
enum status policy_rules_check(const json_t *policy, struct error *err);

/* True for "allUsers", "user:me@example.com" and the other forms of members. */
bool policy_member_valid(const char *member);
/* True when a binding of the policy has a condition. */
bool policy_has_conditions(const json_t *policy);
