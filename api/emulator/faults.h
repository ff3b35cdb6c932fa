/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/faults.h: fault injection: the rules for clients, and their effect on calls.
 *
 *   POST   /_trainyard/v1/faults           a new rule; answers it with its id
 *   GET    /_trainyard/v1/faults           all rules, with how often each was applied
 *   GET    /_trainyard/v1/faults/{fault}   one
 *   DELETE /_trainyard/v1/faults/{fault}   removes one; /_trainyard/v1/faults: all
 *   GET    /_trainyard/v1/faultKinds       the kinds of faults, and the fields that each does not take */

#include "api/http/http.h"

struct clock;
struct fault_registry;
struct store;

struct faults_context {
	struct store *store;
	struct fault_registry *registry;
	const struct clock *clock;               /* for late answers */
	const char *project_id, *project_number; /* of the one project with a known number */
	const struct family *families;           /* rules may name their calls; ends with a NULL name */
};

/* The context of these rows is a struct faults_context. */
extern const struct route fault_routes[];

/* A fault rule, as clients send it. */
extern const struct message fault_message;

/* The gate that injects faults into calls of Google's APIs, by the names of their methods ("ml.projects.jobs.create").
 * @context must live as long as the gate is used. */
struct call_gate faults_gate(struct faults_context *context);

/* Replaces the registry's rules that came from a file by those of this file (a list of rules or {"faults": […]}): rules
 * that exist already keep their counts, others are added or removed. INVALID_ARGUMENT: the error names the rule. */
enum status faults_file_take(struct faults_context *context, const char *path, struct error *err);
