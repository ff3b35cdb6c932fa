/* SPDX-License-Identifier: Apache-2.0 */
#include "store/statements.h"

#include <stddef.h>

#define ON(role) (1u << (role))
#define ON_STATE (ON(STATE_WRITER) | ON(STATE_READER))
#define ON_LOGS  (ON(LOGS_WRITER) | ON(LOGS_READER))

/* In the order in which job_rows.c reads them, before the place in the queue. */
#define JOB_COLUMNS                                                                                                   \
	"id, project, job_id, state, priority, version, created_us, started_us, running_us, ended_us, error_message," \
	" labels, input, output, plan, verdict, verdict_message, attempt, torn_down, announced,"                      \
	" assignment, ml_units_per_hour"

/* Who goes first: those of higher priority, then those of the same who came earlier. */
#define JOB_POSITION                                                                                         \
	" CASE state WHEN 1 THEN 1"                                                                          \
	" + (SELECT count(*) FROM job AS ahead WHERE ahead.state = 1 AND ahead.priority > job.priority)"     \
	" + (SELECT count(*) FROM job AS ahead WHERE ahead.state = 1 AND ahead.priority = job.priority"      \
	"    AND ahead.id < job.id) ELSE 0 END"

const struct statement statements[STATEMENT_COUNT] = {
	[STATE_META_GET] = { ON(STATE_WRITER), "SELECT value FROM meta WHERE name = :name" },
	[STATE_META_PUT] = { ON(STATE_WRITER), "INSERT INTO meta (name, value) VALUES (:name, :value)"
					       " ON CONFLICT DO UPDATE SET value = excluded.value" },
	[JOB_INSERT] = { ON(STATE_WRITER),
			 "INSERT INTO job (project, job_id, state, priority, created_us, labels, input, output, plan,"
			 " ml_units_per_hour)"
			 " VALUES (:project, :job_id, 1, :priority, :now, :labels, :input, :output, :plan,"
			 " :ml_units_per_hour)"
			 " ON CONFLICT (project, job_id) DO NOTHING RETURNING id" },
	[JOB_BY_ID] = { ON_STATE, "SELECT " JOB_COLUMNS "," JOB_POSITION " FROM job WHERE id = :id" },
	[JOB_BY_NAME] = { ON_STATE, "SELECT " JOB_COLUMNS "," JOB_POSITION
				    " FROM job WHERE project = :project AND job_id = :job_id" },
	[JOB_ROW] = { ON(STATE_READER), "SELECT " JOB_COLUMNS ", 0 FROM job WHERE id = :id" },
	[JOB_SET_LABELS] = { ON(STATE_WRITER),
			     "UPDATE job SET labels = :labels, version = version + 1 WHERE id = :id" },
	[JOB_CANCEL] = { ON(STATE_WRITER),
			 "UPDATE job SET state = :cancelling, verdict = :cancelled, verdict_message = :message,"
			 " version = version + 1 WHERE id = :id AND verdict IN (0, 2)" },
	[JOB_ADVANCE] = { ON(STATE_WRITER),
			  "UPDATE job SET state = :to,"
			  " started_us = coalesce(:started, started_us), running_us = coalesce(:running, running_us),"
			  " ended_us = coalesce(:ended, ended_us), error_message = coalesce(:message, error_message),"
			  " output = coalesce(:output, output), assignment = coalesce(:assignment, assignment),"
			  " verdict = coalesce(:verdict, verdict),"
			  " verdict_message = CASE WHEN :verdict IS NULL THEN verdict_message ELSE :verdict_message END,"
			  " attempt = attempt + :retries, torn_down = coalesce(:torn_down, torn_down),"
			  " announced = CASE WHEN :announces THEN attempt ELSE announced END,"
			  " version = version + :changes"
			  " WHERE id = :id AND state = :from AND (:decides = 0 OR verdict = 0)" },
	[JOB_UNFINISHED] = { ON(STATE_READER),
			     "SELECT " JOB_COLUMNS ", 0 FROM job WHERE state IN (1, 2, 3, 6) ORDER BY id" },
	[JOB_QUEUE] = { ON(STATE_READER), "SELECT id FROM job WHERE state = 1 ORDER BY priority DESC, id" },
	[LEASE_INSERT] = { ON(STATE_WRITER), "INSERT INTO lease (job, role, replica, device, shared)"
					     " VALUES (:job, :role, :replica, :device, :shared)" },
	[LEASES] = { ON(STATE_READER), "SELECT job, role, replica, device, shared FROM lease WHERE job > 0"
				       " ORDER BY job, role, replica, device" },
	[OUTBOX_INSERT] = { ON(STATE_WRITER), "INSERT INTO outbox (job, severity, time_ns, line)"
					      " VALUES (:job, :severity, :time, :line)" },
	[OUTBOX_AFTER] = { ON(STATE_WRITER),
			   "SELECT outbox.id, outbox.job, severity, time_ns, line, project, job_id"
			   " FROM outbox CROSS JOIN job ON job.id = outbox.job"
			   " WHERE outbox.id > :after ORDER BY outbox.id" },
	[OUTBOX_DELETE] = { ON(STATE_WRITER), "DELETE FROM outbox WHERE id <= :reached" },
	[POLICY_OF_JOB] = { ON_STATE, "SELECT job.id, coalesce(policy.version, 0), policy.policy"
				      " FROM job LEFT JOIN policy ON policy.job = job.id"
				      " WHERE job.project = :project AND job.job_id = :job_id" },
	[POLICY_PUT] = { ON(STATE_WRITER),
			 "INSERT INTO policy (job, version, policy) VALUES (:job, :version, :policy)"
			 " ON CONFLICT (job) DO UPDATE SET version = excluded.version, policy = excluded.policy" },

	[LOGS_META_GET] = { ON(LOGS_WRITER), "SELECT value FROM meta WHERE name = :name" },
	[LOGS_META_PUT] = { ON(LOGS_WRITER), "INSERT INTO meta (name, value) VALUES (:name, :value)"
					     " ON CONFLICT DO UPDATE SET value = excluded.value" },
	[SOURCE_INSERT] = { ON(LOGS_WRITER),
			    "INSERT INTO source (project, log_name, job, resource_type, resource_labels, labels,"
			    " job_label) VALUES (:project, :log_name, :job, :type, :resource_labels, :labels,"
			    " :resource_labels ->> '$.job_id')"
			    " ON CONFLICT DO NOTHING" },
	[SOURCE_ID] = { ON(LOGS_WRITER),
			"SELECT id FROM source WHERE project = :project AND log_name = :log_name AND job = :job"
			" AND resource_type = :type AND resource_labels = :resource_labels AND labels = :labels" },
	[SOURCE_BY_ID] = { ON(LOGS_READER),
			   "SELECT project, log_name, resource_type, resource_labels, labels FROM source WHERE id = :id" },
	[SOURCE_NAMES] = { ON(LOGS_READER),
			   "SELECT DISTINCT log_name FROM source WHERE project = :project AND log_name > :after"
			   " ORDER BY log_name LIMIT :count" },
	/* The same entry sent twice by a client is one. */
	[ENTRY_INSERT] = { ON(LOGS_WRITER),
			   "INSERT INTO entry (job, ts, insert_id, source, severity, kind, stream, received_ns, extra, payload)"
			   " VALUES (:job, :ts, :insert_id, :source, :severity, :kind, :stream, :received, :extra, :payload)"
			   " ON CONFLICT DO NOTHING" },
	[ENTRY_LAST] = { ON(LOGS_WRITER), "SELECT ts, typeof(insert_id) = 'text' FROM entry WHERE job = :job"
					  " ORDER BY ts DESC, insert_id DESC LIMIT 1" },
	/* Bounded, however much a job wrote that was no stderr of this replica. */
	[ENTRY_STDERR_TAIL] = { ON(LOGS_READER),
				"SELECT CASE kind WHEN 1 THEN coalesce(payload ->> '$.message', payload) ELSE payload END"
				" FROM (SELECT source, stream, kind, payload FROM entry WHERE job = :job"
				"       ORDER BY ts DESC, insert_id DESC LIMIT 50000)"
				" WHERE stream = 2 AND source IN (SELECT id FROM source WHERE job = :job"
				"       AND resource_labels ->> '$.task_name' = :task)"
				" LIMIT :count" },
	[POSITION_PUT] = { ON(LOGS_WRITER),
			   "INSERT INTO replica_position (job, attempt, role, replica, stdout_ns, stderr_ns)"
			   " VALUES (:job, :attempt, :role, :replica, :stdout, :stderr)"
			   " ON CONFLICT DO UPDATE SET stdout_ns = max(stdout_ns, excluded.stdout_ns),"
			   " stderr_ns = max(stderr_ns, excluded.stderr_ns)" },
	[POSITION_GET] = { ON_LOGS, "SELECT stdout_ns, stderr_ns FROM replica_position WHERE job = :job"
				    " AND attempt = :attempt AND role = :role AND replica = :replica" },
};
