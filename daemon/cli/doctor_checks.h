/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/doctor_checks.h: the checks of `trainyard doctor`. Thread: the first. */
#include <jansson.h>

#include "daemon/address_file.h"
#include "daemon/base/text.h"

struct config;

enum check_outcome { OUTCOME_GOOD, OUTCOME_NOTE, OUTCOME_BAD };

/* The facts that checks share. */
struct doctor {
	const struct config *config;
	struct address address; /* address of the state directory's daemon */
	bool daemon_runs;
	json_t *engine;     /* the engine's own description of itself; NULL: it does not answer */
	char *engine_fault; /* why the engine does not answer */
	const char *nodes_fault; /* why the nodes of --engine swarm are not known; NULL: they are */
};

/* The result of a check: a sentence, and advice unless all is good. */
struct finding {
	enum check_outcome outcome;
	struct text reported, advice;
};

struct check {
	const char *name; /* NULL ends the checks */
	void (*run)(const struct doctor *doctor, struct finding *finding);
};
extern const struct check doctor_checks[];
