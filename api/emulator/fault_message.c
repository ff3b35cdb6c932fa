/* SPDX-License-Identifier: Apache-2.0 */
/* A fault rule as a message. Choice: it is trainyard's own; the service has none like it. */
#include "api/emulator/faults.h"
#include "api/emulator/fields.h"
#include "api/message/message.h"

#define VALUE(NAME, NUMBER, HELP)                                                                            \
	{                                                                                                    \
		.name = (NAME), .number = (NUMBER), .help = (HELP)                                           \
	}

static const struct enum_value kind_values[] = {
	VALUE("FAULT_UNSPECIFIED", 0, "Refused: a fault has to be named."),
	VALUE("preempt", 1, "A replica's machine goes: it is killed and begins anew on an empty disk."),
	VALUE("oom", 2, "A replica is killed as out of memory."),
	VALUE("exit", 3, "A replica is killed and counted as ended with exitCode."),
	VALUE("crash", 4, "The same with the code of SIGSEGV or SIGABRT: the whole job is tried again."),
	VALUE("stop", 5, "A replica's machine is shut down: SIGTERM, then as preempt."),
	VALUE("stockout", 6,
	      "No machine is left for the job: it waits for the time in seconds, or fails if none is given."),
	VALUE("imagePull", 7, "The job's image is not found."),
	VALUE("quota", 8, "Calls that create jobs are refused for want of quota."),
	VALUE("httpStatus", 9, "Calls are answered with an error."),
	VALUE("timeout", 10, "Calls are answered after the time in seconds; if none is given, their "
			     "connection is closed."),
	VALUE("slowNetwork", 11,
	      "A replica sends and receives bytesPerSecond at most, for the time in seconds; for good if "
	      "none is given."),
	VALUE("cutNetwork", 12,
	      "A replica is cut off from its network for the time in seconds; for good if none is given. Its "
	      "program goes on."),
	{ .name = NULL },
};
static const struct enum_type kind_type = { "trainyard.Fault.Kind", kind_values, .is_own = true };

#define ONE_OF(GROUP, NAME, TYPE, HELP)                                                                      \
	{                                                                                                    \
		.name = (NAME), .type = FIELD_##TYPE, .flags = FIELD_PRESENCE, .oneof = (GROUP),             \
		.help = (HELP)                                                                               \
	}

static const struct field fault_fields[] = {
	FIELD("id", INT64, FIELD_OUTPUT_ONLY, "The number of the rule."),
	{ .name = "fault",
	  .type = FIELD_ENUM,
	  .flags = FIELD_REQUIRED,
	  .enum_type = &kind_type,
	  .help = "What happens." },
	FIELD("project", STRING, FIELD_PRESENCE,
	      "Only jobs or calls of this project (its id); * and ? are wildcards."),
	FIELD("job", STRING, FIELD_PRESENCE,
	      "Which job, by id, number or display name; * and ? are wildcards."),
	ONE_OF("who", "role", STRING, "Which replicas: master, worker, ps or evaluator."),
	ONE_OF("who", "pool", STRING, "The same by the pools of Vertex AI: workerpool0 to workerpool3."),
	FIELD("replica", INT32, FIELD_PRESENCE, "Which replica of each role, by index."),
	FIELD("trial", INT32, FIELD_PRESENCE, "Which trial of a tuning job, from 1."),
	FIELD("attempt", INT32, FIELD_PRESENCE, "Which try of the whole job, from 1."),
	ONE_OF("when", "afterSeconds", DOUBLE, "How long after its start a replica is hit; 0: at once."),
	ONE_OF("when", "logPattern", STRING,
	       "Hits a replica once it prints a line that this regular expression (PCRE2) matches."),
	FIELD("exitCode", INT32, FIELD_PRESENCE, "The exit code, of exit and crash."),
	FIELD("seconds", DOUBLE, FIELD_PRESENCE,
	      "Of stockout, timeout, slowNetwork and cutNetwork: how long."),
	FIELD("bytesPerSecond", INT64, 0, "Of slowNetwork: from 2000 to 4000000000."),
	FIELD("method", STRING, FIELD_PRESENCE,
	      "Which calls: ml.projects.jobs.create, storage.objects.get …; * and ? are wildcards."),
	FIELD("httpStatus", INT32, 0, "429, 500, 503 or 504."),
	FIELD("count", INT32, FIELD_PRESENCE,
	      "How often it hits at most; unless given, once, or with a probability any number of times."),
	FIELD("probability", DOUBLE, FIELD_PRESENCE,
	      "Hits each replica, job or call with this chance, always the same ones with the same --seed."),
	FIELD("hits", INT64, FIELD_OUTPUT_ONLY, "How often it hit."),
	FIELD("createTime", TIMESTAMP, FIELD_OUTPUT_ONLY, "Since when it holds."),
	FIELD("lastHitTime", TIMESTAMP, FIELD_OUTPUT_ONLY, "When it hit last."),
	{ .name = NULL },
};
const struct message fault_message = { "trainyard.Fault", fault_fields, "A fault, what it hits and when.",
				       .is_own = true };
