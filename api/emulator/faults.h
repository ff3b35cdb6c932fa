/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/faults.h: the rules of ordered faults as clients see them, and what they do to calls.
 *
 *   POST   /_trainyard/v1/faults           a new rule; answers it with its id
 *   GET    /_trainyard/v1/faults           all rules, with how often each hit
 *   GET    /_trainyard/v1/faults/{fault}   one
 *   DELETE /_trainyard/v1/faults/{fault}   takes one back; /_trainyard/v1/faults: all */

#include "api/http/http.h"

struct clock;
struct fault_registry;
struct store;

struct faults_context {
	struct store *store;
	struct fault_registry *registry;
	const struct clock *clock;               /* that late answers go by */
	const char *project_id, *project_number; /* of the project with a known number */
	const struct family *families;           /* rules may be about their calls; ends with a NULL name */
};

/* Its context is a struct faults_context. */
extern const struct route fault_routes[];

/* What a rule is. */
extern const struct message fault_message;

/* The gate through which calls go that rules may hit: those of Google's APIs, by the names of their methods
 * ("ml.projects.jobs.create"). @context must live as long as the gate is asked. */
struct call_gate faults_gate(struct faults_context *context);

/* Makes the rules of a file, which is a list of such or {"faults": […]}, those of the book that came from a file: rules
 * that are there already keep their hits, others go or come. INVALID_ARGUMENT: says what and where. */
enum status faults_file_take(struct faults_context *context, const char *path, struct error *err);
