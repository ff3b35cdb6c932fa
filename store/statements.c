/* SPDX-License-Identifier: Apache-2.0 */
#include "store/statements.h"

#include <assert.h>
#include <stddef.h>

#define ON(role)   (1u << (role))
#define ON_STATE   (ON(STATE_WRITER) | ON(STATE_READER))
#define ON_LOGS    (ON(LOGS_WRITER) | ON(LOGS_READER))
#define ON_OBJECTS (ON(OBJECTS_WRITER) | ON(OBJECTS_READER))

/* The columns of a job, in the order in which job_rows.c reads them; the position in the queue comes after them. */
#define JOB_COLUMNS                                                                                                   \
	"id, project, job_id, state, priority, version, created_us, started_us, running_us, ended_us, error_message," \
	" labels, input, output, plan, verdict, verdict_message, attempt, torn_down, announced,"                      \
	" assignment, ml_units_per_hour, coalesce(parent, 0), trial,"                                                 \
	" kind, location, display_name, updated_us, error_code, verdict_code, web_access, traits,"                         \
	" reason_bytes"

/* The part of error_message that is the reason, without the hint to the logs. */
#define REASON "CAST(substr(CAST(error_message AS BLOB), 1, reason_bytes) AS TEXT)"

/* SQLite uses the indexes job_unfinished and job_ended only for conditions that are written exactly like theirs. */
#define JOB_IS_UNFINISHED "(state < 4 OR state = 6)"
#define JOB_IS_FINAL      "state > 3 AND state <> 6"

/* A client's job that has never been started. Its plan and documents are not needed before its turn, because it runs
 * no trials (JOB_TRAIT_SEARCH), has no outcome, and no fault was injected into it. */
#define JOB_WAITS                                                                                            \
	"state = 1 AND parent IS NULL AND started_us = 0 AND verdict = 0 AND traits & 1 = 0"                 \
	" AND NOT EXISTS (SELECT 1 FROM fault_hit WHERE fault_hit.job = job.id)"

/* The position of clients' jobs in the queue: higher priority first, then earlier creation. */
#define JOB_POSITION                                                                                         \
	" CASE state WHEN 1 THEN 1"                                                                          \
	" + (SELECT count(*) FROM job AS ahead WHERE ahead.state = 1 AND ahead.parent IS NULL"               \
	"    AND ahead.priority > job.priority)"                                                             \
	" + (SELECT count(*) FROM job AS ahead WHERE ahead.state = 1 AND ahead.parent IS NULL"               \
	"    AND ahead.priority = job.priority"                                                              \
	"    AND ahead.id < job.id) ELSE 0 END"

/* The names of all jobs except those of trials, read from the index job_any. */
#define JOB_NAMES                                                                                            \
	"SELECT job.id, job.project, job.job_id, pipeline_id AS of_pipeline,"                                \
	" coalesce(pipeline.display_name, job.display_name) AS name, job.created_us FROM job"                \
	" LEFT JOIN pipeline ON pipeline.job = job.id AND pipeline.deleted = 0"                              \
	" WHERE job.parent IS NULL AND (job.deleted = 0 OR pipeline_id IS NOT NULL)"
#define BEGINS(COLUMN) "substr(" COLUMN ", 1, length(:reference)) = :reference"

/* The columns of a fault's injection, in the order in which faults.c reads them. */
#define FAULT_INJECTION_COLUMNS                                                                              \
	"job, attempt, stage, role, idx, restart, fault, kind, exit_code, until_us, line,"                   \
	" bytes_per_s"

/* The columns of an operation, in the order in which operations.c reads them. */
#define OPERATION_COLUMNS "id, project, location, operation_id, target, created_us"

/* The columns of pipelines and models, in the order in which pipelines.c and models.c read them. */
#define PIPELINE_COLUMNS                                                                                            \
	"pipeline.id, pipeline.project, pipeline.location, pipeline_id, display_name, labels, pipeline.input, job," \
	" pipeline.created_us, model_id, model.input, version"
#define PIPELINE_JOIN "pipeline LEFT JOIN model ON model.pipeline = pipeline.id"
#define MODEL_COLUMNS                                                                                              \
	"model.id, model.project, model.location, model_id, version, model.input, artifact_uri, model.created_us," \
	" first_us, pipeline_id, job,"                                                                             \
	" (SELECT json_group_array(alias) FROM model_alias WHERE " SAME_MODEL(                                     \
		"model_alias") "  AND model_alias.version = model.version)"
#define MODEL_JOIN "model CROSS JOIN pipeline ON pipeline.id = model.pipeline"
#define SAME_MODEL(TABLE)                                                                                    \
	TABLE ".project = model.project AND " TABLE ".location = model.location AND " TABLE                  \
	      ".model_id = model.model_id"

#define ENTRY_ROW   "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define ENTRY_ROW_4 ENTRY_ROW "," ENTRY_ROW "," ENTRY_ROW "," ENTRY_ROW
static_assert(ENTRIES_AT_ONCE == 16, "ENTRIES_INSERT has as many rows");

/* Stores how far a container's stream was read: the greater position, or the new one if it is of another container
 * of the replica (restart -1: unknown). */
#define REACH_PUT_COLUMN(STREAM, COLUMN)                                                                     \
	" " STREAM COLUMN " = CASE WHEN restart NOT IN (-1, excluded.restart)"                               \
	" OR (excluded." STREAM "_ns, excluded." STREAM "_behind, excluded." STREAM "_parts)"                \
	" > (" STREAM "_ns, " STREAM "_behind, " STREAM "_parts)"                                            \
	" THEN excluded." STREAM COLUMN " ELSE " STREAM COLUMN " END"
#define REACH_PUT(STREAM)                                                                                    \
	REACH_PUT_COLUMN(STREAM, "_ns")                                                                      \
	"," REACH_PUT_COLUMN(STREAM, "_behind") "," REACH_PUT_COLUMN(STREAM, "_parts") "," REACH_PUT_COLUMN( \
		STREAM, "_parts_ns")
/* The columns of a reading position, in the order in which logs.c reads them. */
#define REACH_COLUMNS                                                                                        \
	" stdout_ns, stdout_behind, stdout_parts, stdout_parts_ns,"                                          \
	" stderr_ns, stderr_behind, stderr_parts, stderr_parts_ns"

#define LOG_SOURCE_IDS "SELECT id FROM source WHERE project = :project AND log_name = :log_name AND job = :job"

/* The last lines of a replica's stderr. Looks at LOOKED_AT entries at most, because the job may have many others. */
#define STDERR_TAIL(LOOKED_AT, ORDER)                                                                        \
	"SELECT CASE kind WHEN 1 THEN coalesce(json_extract(payload, '$.message'), payload) ELSE payload END" \
	" FROM (SELECT source, stream, kind, received_ns, payload FROM entry WHERE job = :job"               \
	"       ORDER BY ts DESC, insert_id DESC LIMIT " LOOKED_AT ")"                                       \
	" WHERE stream = 2 AND source IN (SELECT id FROM source WHERE job = :job"                            \
	"       AND json_extract(resource_labels, '$.task_name') = :task"                                    \
	"       AND json_extract(labels, '$.\"ml.googleapis.com/trial_id\"') IS :trial)" ORDER " LIMIT :count"

/* The columns of buckets and objects, in the order in which buckets.c and object_rows.c read them. */
#define BUCKET_COLUMNS "id, name, project, created_us, updated_us, metageneration, metadata"
#define OBJECT_COLUMNS                                                                                          \
	"name, generation, metageneration, size_bytes, created_us, updated_us, content_type, metadata, crc32c," \
	" md5, component_count, blob"

/* The columns of assemblies and their parts, in the order in which assemblies.c and assembly_parts.c read them. */
#define ASSEMBLY_COLUMNS "id, name, created_us, json_extract(metadata, '$.storageClass')"
#define PART_COLUMNS     "number, size_bytes, created_us, crc32c, md5, blob"

const struct statement statements[STATEMENT_COUNT] = {
	[STATE_META_GET] = { ON(STATE_WRITER), "SELECT value FROM meta WHERE name = :name" },
	[STATE_META_PUT] = { ON(STATE_WRITER), "INSERT INTO meta (name, value) VALUES (:name, :value)"
					       " ON CONFLICT DO UPDATE SET value = excluded.value" },
	[CHANGE_BEGIN] = { ON(STATE_WRITER) | ON(OBJECTS_WRITER), "SAVEPOINT change" },
	[CHANGE_END] = { ON(STATE_WRITER) | ON(OBJECTS_WRITER), "RELEASE change" },
	[JOB_INSERT] = { ON(STATE_WRITER),
			 "INSERT INTO job (project, job_id, state, priority, created_us, labels, input, output, plan,"
			 " ml_units_per_hour, parent, trial, kind, location, display_name, web_access, traits, updated_us,"
			 " replica_count, gpu_count, max_wait_us)"
			 " VALUES (:project, :job_id, 1, :priority, :now, :labels, :input, :output, :plan,"
			 " :ml_units_per_hour, :parent, :trial, :kind, :location, :display_name, :web_access, :traits, :now,"
			 " :replica_count, :gpu_count, :max_wait_us)"
			 " ON CONFLICT (project, job_id) DO NOTHING" },
	[JOB_BY_ID] = { ON_STATE, "SELECT " JOB_COLUMNS "," JOB_POSITION " FROM job WHERE id = :id" },
	[JOB_BY_NAME] = { ON_STATE,
			  "SELECT " JOB_COLUMNS "," JOB_POSITION
			  " FROM job WHERE project = :project AND job_id = :job_id AND kind = 0 AND parent IS NULL" },
	[JOB_ROW] = { ON_STATE, "SELECT " JOB_COLUMNS ", 0 FROM job WHERE id = :id" },
	[JOB_SET_LABELS] = { ON(STATE_WRITER),
			     "UPDATE job SET labels = :labels, version = version + 1, updated_us = max(:now, updated_us) WHERE id = :id" },
	[JOB_CANCEL] = { ON(STATE_WRITER),
			 "UPDATE job SET state = :cancelling, verdict = :cancelled, verdict_message = :message,"
			 " verdict_code = 1, version = version + 1, updated_us = max(:now, updated_us) WHERE id = :id AND verdict IN (0, 2)" },
	/* max(): the times stay in order (created, started, running, ended) even if the clock was set back in between. */
	[JOB_ADVANCE] = { ON(STATE_WRITER),
			  "UPDATE job SET state = :to,"
			  " started_us = coalesce(max(:started, created_us), started_us),"
			  " running_us = coalesce(max(:running, created_us, coalesce(:started, started_us)), running_us),"
			  " ended_us = coalesce(max(:ended, created_us, coalesce(:started, started_us),"
			  " coalesce(:running, running_us)), ended_us), error_message = coalesce(:message, error_message),"
			  " error_code = CASE WHEN :message IS NULL THEN error_code ELSE :error_code END,"
			  " reason_bytes = CASE WHEN :message IS NULL THEN reason_bytes ELSE :reason_bytes END,"
			  " output = coalesce(:output, output), assignment = coalesce(:assignment, assignment),"
			  " verdict = coalesce(:verdict, verdict),"
			  " verdict_message = CASE WHEN :verdict IS NULL THEN verdict_message ELSE :verdict_message END,"
			  " verdict_code = CASE WHEN :verdict IS NULL THEN verdict_code ELSE :verdict_code END,"
			  " attempt = attempt + :retries, torn_down = coalesce(:torn_down, torn_down),"
			  " announced = CASE WHEN :announces THEN attempt ELSE announced END,"
			  " version = version + :changes, updated_us = CASE WHEN :changes THEN max(:now, updated_us) ELSE updated_us END"
			  " WHERE id = :id AND state = :from AND (:decides = 0 OR verdict = 0)" },
	[JOB_IS_IN_STATE] = { ON(STATE_WRITER), "SELECT 1 FROM job WHERE id = :id AND state = :from" },
	[JOB_UNFINISHED] = { ON(STATE_READER),
			     "SELECT " JOB_COLUMNS ", 0 FROM job WHERE " JOB_IS_UNFINISHED " ORDER BY id" },
	[JOB_ATTENDED] = { ON(STATE_READER), "SELECT " JOB_COLUMNS ", 0 FROM job WHERE " JOB_IS_UNFINISHED
					     " AND NOT (" JOB_WAITS ") ORDER BY id" },
	[JOB_WAITING] = { ON(STATE_READER),
			  "SELECT id, project, priority, gpu_count, created_us, max_wait_us FROM job"
			  " WHERE " JOB_WAITS " ORDER BY priority DESC, id" },
	[JOB_QUEUE] = { ON(STATE_READER),
			"SELECT id FROM job WHERE state = 1 AND parent IS NULL ORDER BY priority DESC, id" },
	[JOB_UNFINISHED_NAMED] = { ON(STATE_READER), "SELECT 1 FROM job WHERE project = :project"
						     " AND job_id = :job_id AND " JOB_IS_UNFINISHED },
	/* The display name and the labels of a pipeline replace those of its job. */
	[JOB_SUMMARY] = { ON(STATE_READER),
			  "SELECT kind, job.project, job.location, job_id, pipeline_id,"
			  " coalesce(pipeline.display_name, job.display_name), coalesce(pipeline.labels, job.labels), state,"
			  " job.created_us, started_us, ended_us, " REASON ", replica_count, gpu_count"
			  " FROM job LEFT JOIN pipeline ON pipeline.job = job.id AND pipeline.deleted = 0"
			  " WHERE job.id = :id" },
	[JOB_NOT_TRIALS] = { ON(STATE_READER),
			     "SELECT value FROM json_each(:jobs) WHERE NOT EXISTS"
			     " (SELECT 1 FROM job WHERE job.id = value AND parent IS NOT NULL)" },
	/* One row for each job, read from indexes only. A pipeline's job is reported with the pipeline's kind, 3. */
	[JOB_STATES] = { ON(STATE_READER),
			 "SELECT CASE WHEN pipeline.id IS NULL THEN kind ELSE 3 END, state FROM job"
			 " LEFT JOIN pipeline ON pipeline.job = job.id AND pipeline.deleted = 0"
			 " WHERE job.parent IS NULL AND (job.deleted = 0 OR pipeline.id IS NOT NULL)" },
	[JOB_OLDEST_ENDED] = { ON(STATE_READER),
			       "SELECT id FROM job WHERE parent IS NULL AND " JOB_IS_FINAL " AND torn_down = 1"
			       " AND ended_us < :before AND NOT EXISTS (SELECT 1 FROM pipeline"
			       "  CROSS JOIN model ON model.pipeline = pipeline.id WHERE pipeline.job = job.id"
			       "  AND model.deleted = 0 AND model.version > 0)"
			       " ORDER BY ended_us, id LIMIT 1" },
	[JOB_FIRST_ENDED] = { ON(STATE_READER),
			      "SELECT id FROM job WHERE parent IS NULL AND " JOB_IS_FINAL " AND torn_down = 1"
			      " ORDER BY ended_us, id LIMIT 1" },
	[MODEL_ALIASES_PURGE] = { ON(STATE_WRITER), "DELETE FROM model_alias" },
	[OPERATIONS_PURGE] = { ON(STATE_WRITER), "DELETE FROM operation" },
	[JOB_ENDED] = { ON_STATE,
			"SELECT " JOB_IS_FINAL " AND torn_down = 1 FROM job WHERE id = :id AND parent IS NULL" },
	[JOB_TRIAL_IDS] = { ON_STATE, "SELECT id FROM job WHERE parent = :id" },
	[JOB_PURGE] = { ON(STATE_WRITER), "DELETE FROM job WHERE id = :id" },
	[LEASE_PURGE] = { ON(STATE_WRITER), "DELETE FROM lease WHERE job = :id" },
	[POLICY_PURGE] = { ON(STATE_WRITER), "DELETE FROM policy WHERE job = :id" },
	[JOURNAL_PURGE] = { ON(STATE_WRITER), "DELETE FROM journal WHERE job = :id" },
	[FAULT_INJECTION_PURGE] = { ON(STATE_WRITER), "DELETE FROM fault_hit WHERE job = :id" },
	[FAULT_MARK_PURGE] = { ON(STATE_WRITER), "DELETE FROM fault_mark WHERE job = :id" },
	[CURVE_PURGE] = { ON(STATE_WRITER), "DELETE FROM curve WHERE run = :id" },
	[TRIAL_PURGE] = { ON(STATE_WRITER), "DELETE FROM trial WHERE run = :id" },
	[MODEL_PURGE] = { ON(STATE_WRITER),
			  "DELETE FROM model WHERE pipeline = (SELECT id FROM pipeline WHERE job = :id)" },
	[PIPELINE_PURGE] = { ON(STATE_WRITER), "DELETE FROM pipeline WHERE job = :id" },
	[JOB_QUEUED_COUNT] = { ON(STATE_READER), "SELECT count(*), coalesce(min(created_us), 0) FROM job"
						 " WHERE state = 1 AND parent IS NULL" },
	[JOB_REFERRED] = { ON(STATE_READER),
			   "SELECT id, CASE WHEN :reference IN (job_id, of_pipeline) THEN 0"
			   " WHEN name = :reference THEN 1 ELSE 2 END AS met"
			   " FROM (" JOB_NAMES ") WHERE (:project IS NULL OR project = :project)"
			   " AND (" BEGINS("job_id") " OR " BEGINS("of_pipeline") " OR " BEGINS(
				   "name") ")"
					   " ORDER BY created_us DESC, id DESC" },
	[JOB_NEWEST] = { ON(STATE_READER),
			 "SELECT id, 0 FROM (" JOB_NAMES ") WHERE (:project IS NULL OR project = :project)"
			 " ORDER BY created_us DESC, id DESC LIMIT 1" },
	[LEASE_INSERT] = { ON(STATE_WRITER), "INSERT INTO lease (job, role, replica, device, shared, node)"
					     " VALUES (:job, :role, :replica, :device, :shared, :node)" },
	[LEASES] = { ON(STATE_READER), "SELECT job, role, replica, device, shared, node FROM lease WHERE job > 0"
				       " ORDER BY job, role, replica, device" },
	[OUTBOX_INSERT] = { ON(STATE_WRITER), "INSERT INTO outbox (job, severity, time_ns, line)"
					      " VALUES (:job, :severity, :time, :line)" },
	/* A trial's lines belong to its tuning job. Column 8 is, in the last line of a Vertex AI job, the job's
	 * outcome, in all other lines 0; column 9 is 1 for all lines of Vertex AI jobs. */
	[OUTBOX_AFTER] = { ON(STATE_WRITER),
			   "SELECT outbox.id, owner.id, severity, time_ns, line, owner.project, owner.job_id, job.trial,"
			   " CASE WHEN job.kind > 0 AND job.torn_down AND outbox.id ="
			   " (SELECT max(later.id) FROM outbox AS later WHERE later.job = job.id)"
			   " THEN job.verdict ELSE 0 END, job.kind > 0"
			   " FROM outbox CROSS JOIN job ON job.id = outbox.job"
			   " CROSS JOIN job AS owner ON owner.id = coalesce(job.parent, job.id)"
			   " WHERE outbox.id > :after ORDER BY outbox.id" },
	[OUTBOX_DELETE] = { ON(STATE_WRITER), "DELETE FROM outbox WHERE id <= :reached" },
	[POLICY_OF_JOB] = { ON_STATE,
			    "SELECT job.id, coalesce(policy.version, 0), policy.policy"
			    " FROM job LEFT JOIN policy ON policy.job = job.id"
			    " WHERE job.project = :project AND job.job_id = :job_id AND job.kind = 0"
			    " AND job.parent IS NULL" },
	[TRIAL_OF_JOB] = { ON(STATE_READER),
			   "SELECT owner.job_id, job.trial FROM job CROSS JOIN job AS owner ON owner.id = job.parent"
			   " WHERE job.project = :project AND job.job_id = :job_id AND job.kind = 1" },
	[TRIAL_INSERT] = { ON(STATE_WRITER), "INSERT INTO trial (job, number, run, known, parameters)"
					     " VALUES (:job, :number, :run, :known, :parameters)" },
	/* Reads the trials and one index of their jobs, not the table of jobs. */
	[TRIALS] = { ON_STATE,
		     "SELECT number, run, outcome, known, ended_as, stopped_early, parameters, final_step, final,"
		     " state, started_us, running_us, ended_us FROM trial CROSS JOIN job INDEXED BY job_of_trial"
		     " ON job.parent = trial.job AND job.trial = trial.number"
		     " WHERE trial.job = :job ORDER BY number" },
	[TRIAL_RUNS] = { ON(STATE_READER),
			 "SELECT number, job_id, " REASON " FROM trial CROSS JOIN job ON job.id = trial.run"
			 " WHERE trial.job = :job ORDER BY number" },
	[TRIAL_END] = { ON(STATE_WRITER),
			"UPDATE trial SET outcome = :outcome, final_step = :final_step, final = :final,"
			" ended_as = 1 + (SELECT max(ended_as) FROM trial AS other WHERE other.job = :job)"
			" WHERE job = :job AND number = :number AND outcome = 0" },
	[TRIAL_STOP] = { ON(STATE_WRITER),
			 "UPDATE trial SET stopped_early = 1 WHERE job = :job AND number = :number"
			 " AND outcome = 0 AND stopped_early = 0" },
	[RESOURCE_BY_NAME] = { ON_STATE, "SELECT " JOB_COLUMNS ", 0 FROM job WHERE project = :project"
					 " AND job_id = :job_id AND kind = :kind AND location = :location"
					 " AND deleted = 0" },
	[RESOURCE_DELETE] = { ON(STATE_WRITER),
			      "UPDATE job SET deleted = 1, version = version + 1, updated_us = :now WHERE id = :id" },
	[OPERATION_INSERT] = { ON(STATE_WRITER),
			       "INSERT INTO operation (project, location, operation_id, target, created_us)"
			       " VALUES (:project, :location, :operation_id, :target, :now) RETURNING id" },
	[OPERATION_BY_NAME] = { ON_STATE,
				"SELECT " OPERATION_COLUMNS " FROM operation WHERE project = :project"
				" AND operation_id = :operation_id AND location = :location"
				" AND (:target IS NULL OR target = :target)" },
	[OPERATION_ROW] = { ON(STATE_READER), "SELECT " OPERATION_COLUMNS " FROM operation WHERE id = :id" },
	[OPERATION_DELETE] = { ON(STATE_WRITER), "DELETE FROM operation WHERE id = :id" },
	[OPERATIONS_DROP] = { ON(STATE_WRITER),
			      "DELETE FROM operation WHERE id <= :reached OR created_us < :before" },
	[PIPELINE_INSERT] = { ON(STATE_WRITER),
			      "INSERT INTO pipeline (project, location, pipeline_id, display_name, labels, input, job,"
			      " created_us) VALUES (:project, :location, :pipeline_id, :display_name, :labels, :input, :job,"
			      " :now) RETURNING id" },
	[PIPELINE_BY_NAME] = { ON_STATE, "SELECT " PIPELINE_COLUMNS " FROM " PIPELINE_JOIN
					 " WHERE pipeline.project = :project AND pipeline_id = :pipeline_id"
					 " AND pipeline.location = :location AND pipeline.deleted = 0" },
	[PIPELINE_ROW] = { ON_STATE,
			   "SELECT " PIPELINE_COLUMNS " FROM " PIPELINE_JOIN " WHERE pipeline.id = :id" },
	[PIPELINE_DELETE] = { ON(STATE_WRITER), "UPDATE pipeline SET deleted = 1 WHERE id = :id" },
	[MODEL_INSERT] = { ON(STATE_WRITER),
			   "INSERT INTO model (pipeline, project, location, model_id, input, artifact_uri)"
			   " VALUES (:pipeline, :project, :location, :model_id, :input, :artifact_uri)" },
	/* One row if the name is taken: 1 by a model, 0 by a pipeline that may still upload one. No row: it is free. */
	[MODEL_CLAIM] = { ON(STATE_WRITER),
			  "SELECT model.version > 0 FROM " MODEL_JOIN
			  " CROSS JOIN job ON job.id = pipeline.job"
			  " WHERE model.project = :project AND model.location = :location AND model_id = :model_id"
			  " AND model.deleted = 0 AND (model.version > 0 OR job.state NOT IN (5, 7))"
			  " ORDER BY model.version DESC LIMIT 1" },
	[MODEL_UPLOAD] = { ON(STATE_WRITER),
			   "UPDATE model SET created_us = :now,"
			   " version = 1 + coalesce((SELECT max(version) FROM model AS other WHERE " SAME_MODEL(
				   "other") " AND other.deleted = 0), 0),"
					    " first_us = coalesce((SELECT first_us FROM model AS other WHERE " SAME_MODEL(
						    "other") " AND other.deleted = 0 AND other.version > 0 LIMIT 1), :now)"
							     " WHERE pipeline = (SELECT id FROM pipeline WHERE job = :job) AND version = 0"
							     " RETURNING id" },
	[MODEL_BY_NAME] = { ON_STATE,
			    "SELECT " MODEL_COLUMNS " FROM " MODEL_JOIN
			    " WHERE model.project = :project AND model.location = :location AND model_id = :model_id"
			    " AND model.deleted = 0 AND version > 0 AND version = coalesce(:version,"
			    " (SELECT version FROM model_alias WHERE project = :project AND location = :location"
			    "  AND model_id = :model_id AND alias = :alias))" },
	[MODEL_ROW] = { ON_STATE, "SELECT " MODEL_COLUMNS " FROM " MODEL_JOIN " WHERE model.id = :id" },
	[MODEL_DELETE] = { ON(STATE_WRITER),
			   "UPDATE model SET deleted = 1 WHERE project = :project AND location = :location"
			   " AND model_id = :model_id AND deleted = 0 AND version > 0" },
	[MODEL_ALIAS_PUT] = { ON(STATE_WRITER),
			      "INSERT INTO model_alias (project, location, model_id, alias, version)"
			      " VALUES (:project, :location, :model_id, :alias, :version)"
			      " ON CONFLICT DO UPDATE SET version = excluded.version" },
	[MODEL_ALIASES_DELETE] = { ON(STATE_WRITER), "DELETE FROM model_alias WHERE project = :project"
						     " AND location = :location AND model_id = :model_id" },
	[CURVE_PUT] = { ON(STATE_WRITER), "INSERT INTO curve (run, points) VALUES (:run, :points)"
					  " ON CONFLICT (run) DO UPDATE SET points = excluded.points" },
	[CURVES] = { ON(STATE_READER),
		     "SELECT trial.number, trial.run, trial.outcome, job.running_us, curve.points FROM trial"
		     " CROSS JOIN curve ON curve.run = trial.run CROSS JOIN job ON job.id = trial.run"
		     " WHERE trial.job = :job ORDER BY number" },
	[FAULTS] = { ON(STATE_READER),
		     "SELECT id, rule, from_file, created_us, hits, draws, last_hit_us FROM fault WHERE id > 0"
		     " ORDER BY id" },
	[FAULT_INSERT] = { ON(STATE_WRITER), "INSERT INTO fault (rule, from_file, created_us)"
					     " VALUES (:rule, :from_file, :now) RETURNING id" },
	[FAULT_DELETE] = { ON(STATE_WRITER), "DELETE FROM fault WHERE id BETWEEN :first AND :last" },
	[FAULT_COUNT] = { ON(STATE_WRITER), "UPDATE fault SET hits = hits + 1, draws = max(draws, :draws),"
					    " last_hit_us = :now WHERE id = :id" },
	[FAULT_THERE] = { ON(STATE_WRITER), "SELECT 1 FROM fault WHERE id = :id" },
	[FAULT_INJECTION_INSERT] = { ON(STATE_WRITER),
				     "INSERT INTO fault_hit (" FAULT_INJECTION_COLUMNS
				     ") VALUES (:job, :attempt, :stage, :role,"
				     " :index, :restart, :fault, :kind, :exit_code, :until, :line, :bytes_per_s)"
				     " ON CONFLICT DO NOTHING" },
	[FAULT_INJECTIONS_OF_JOB] = { ON(STATE_READER),
				      "SELECT " FAULT_INJECTION_COLUMNS " FROM fault_hit WHERE job = :job"
				      " OR job IN (SELECT id FROM job WHERE parent = :job)" },
	[FAULT_INJECTIONS_OPEN] = { ON(STATE_READER),
				    "SELECT " FAULT_INJECTION_COLUMNS " FROM fault_hit"
				    " WHERE job IN (SELECT id FROM job WHERE " JOB_IS_UNFINISHED ")" },
	[JOURNAL_INSERT] = { ON(STATE_WRITER),
			     "INSERT INTO journal (job, seq, time_us, kind, attempt, role, idx, restart, cause, number, flags)"
			     " VALUES (:job, (SELECT coalesce(max(seq), 0) + 1 FROM journal WHERE job = :job), :time, :kind,"
			     " coalesce(nullif(:attempt, 0), (SELECT attempt FROM job WHERE id = :job)), :role, :index, :restart,"
			     " :cause, :number, :flags)" },
	[JOURNAL_BLAME_SET] = { ON(STATE_WRITER),
				"UPDATE journal SET flags = flags | :blamed WHERE job = :job AND kind = :ended"
				" AND attempt = :attempt AND role = :role AND idx = :index AND restart = :restart" },
	[JOURNAL] = { ON(STATE_READER),
		      "SELECT time_us, kind, attempt, role, idx, restart, cause, number, flags"
		      " FROM journal WHERE job = :job ORDER BY seq" },
	[FAULT_MARK_INSERT] = { ON(STATE_WRITER),
				"INSERT INTO fault_mark (job, attempt, role, idx, restart, fault)"
				" SELECT id, :attempt, :role, :index, :restart, :fault FROM job"
				" WHERE id = :job AND " JOB_IS_UNFINISHED " ON CONFLICT DO NOTHING" },
	[FAULT_MARKS] = { ON(STATE_READER),
			  "SELECT job, attempt, role, idx, restart, fault FROM fault_mark WHERE job > 0" },
	[FAULT_MARKS_DELETE] = { ON(STATE_WRITER),
				 "DELETE FROM fault_mark WHERE fault BETWEEN :first AND :last" },
	[POLICY_PUT] = { ON(STATE_WRITER),
			 "INSERT INTO policy (job, version, policy) VALUES (:job, :version, :policy)"
			 " ON CONFLICT (job) DO UPDATE SET version = excluded.version, policy = excluded.policy" },

	[LOGS_META_GET] = { ON_LOGS, "SELECT value FROM meta WHERE name = :name" },
	[LOGS_META_PUT] = { ON(LOGS_WRITER), "INSERT INTO meta (name, value) VALUES (:name, :value)"
					     " ON CONFLICT DO UPDATE SET value = excluded.value" },
	[SOURCE_INSERT] = { ON(LOGS_WRITER),
			    "INSERT INTO source (project, log_name, job, resource_type, resource_labels, labels,"
			    " job_label) VALUES (:project, :log_name, :job, :type, :resource_labels, :labels,"
			    " json_extract(:resource_labels, '$.job_id'))"
			    " ON CONFLICT DO NOTHING" },
	[SOURCE_ID] = { ON(LOGS_WRITER),
			"SELECT id FROM source WHERE project = :project AND log_name = :log_name AND job = :job"
			" AND resource_type = :type AND resource_labels = :resource_labels AND labels = :labels" },
	[SOURCE_NAMES] = { ON(LOGS_READER),
			   "SELECT DISTINCT log_name FROM source WHERE project = :project AND log_name > :after"
			   " ORDER BY log_name LIMIT :count" },
	/* An entry that a client sends twice is stored once. */
	/* Deletes at most :count entries, because the log of one job may have millions. */
	[ENTRY_PURGE] = { ON(LOGS_WRITER),
			  "DELETE FROM entry WHERE (job, ts, insert_id, source) IN (SELECT job, ts, insert_id, source"
			  " FROM entry WHERE job = :job ORDER BY ts, insert_id LIMIT :count)" },
	/* Reads a bounded number of rows, whichever log they are of. */
	[LOG_ENTRY_SLICE] = { ON(LOGS_WRITER),
			      "SELECT ts, insert_id, source, received_ns <= :until AND source IN (" LOG_SOURCE_IDS ")"
			      " FROM entry WHERE job = :job AND (ts, insert_id, source) > (:from, :from_id, :from_source)"
			      " AND ts <= :end ORDER BY ts, insert_id, source LIMIT :count" },
	[LOG_ENTRY_PURGE] = { ON(LOGS_WRITER),
			      "DELETE FROM entry WHERE job = :job"
			      " AND (ts, insert_id, source) > (:from, :from_id, :from_source)"
			      " AND (ts, insert_id, source) <= (:to, :to_id, :to_source)"
			      " AND received_ns <= :until AND source IN (" LOG_SOURCE_IDS ")" },
	[LOG_SOURCES] = { ON(LOGS_WRITER), LOG_SOURCE_IDS },
	[LOG_SOURCE_PURGE] = { ON(LOGS_WRITER), "DELETE FROM source WHERE id = :source" },
	[LOG_NEXT_JOB] = { ON(LOGS_READER), "SELECT min(job) FROM source WHERE project = :project"
					    " AND log_name = :log_name AND job > :after" },
	[REPLICA_POSITION_PURGE] = { ON(LOGS_WRITER), "DELETE FROM replica_position WHERE job = :job" },
	[DATED_JOB_PURGE] = { ON(LOGS_WRITER), "DELETE FROM dated_job WHERE job = :job" },
	[SOURCE_PURGE] = { ON(LOGS_WRITER), "DELETE FROM source WHERE job = :job" },
	[ENTRY_INSERT] = { ON(LOGS_WRITER), /* bound by position: enum entry_parameter of store/logs/log_batch.c */
			   "INSERT INTO entry (job, ts, insert_id, source, severity, kind, stream, received_ns, extra, payload)"
			   " VALUES " ENTRY_ROW " ON CONFLICT DO NOTHING" },
	[ENTRIES_INSERT] = { ON(LOGS_WRITER),
			     "INSERT INTO entry (job, ts, insert_id, source, severity, kind, stream, received_ns, extra, payload)"
			     " VALUES " ENTRY_ROW_4 "," ENTRY_ROW_4 "," ENTRY_ROW_4 "," ENTRY_ROW_4
			     " ON CONFLICT DO NOTHING" },
	[ENTRY_LAST] = { ON(LOGS_WRITER), "SELECT ts, typeof(insert_id) = 'text' FROM entry WHERE job = :job"
					  " ORDER BY ts DESC, insert_id DESC LIMIT 1" },
	/* Looks at 100 entries at most, because a running replica may have written any number of lines since. */
	[ENTRY_LAST_SAID] = { ON(LOGS_READER),
			      "SELECT CASE kind WHEN 0 THEN payload ELSE json_extract(payload, '$.message') END"
			      " FROM (SELECT stream, kind, payload FROM entry WHERE job = :job"
			      " ORDER BY ts DESC, insert_id DESC LIMIT 100)"
			      " WHERE (stream = 0) = :by_service LIMIT 1" },
	[DATED_JOB_GET] = { ON_LOGS, "SELECT last_ns, named FROM dated_job WHERE job = :job" },
	[DATED_JOB_PUT] = { ON(LOGS_WRITER),
			    "INSERT INTO dated_job (job, last_ns, named) VALUES (:job, :last, :named)"
			    " ON CONFLICT DO UPDATE SET last_ns = excluded.last_ns, named = excluded.named" },
	[ENTRY_STDERR_TAIL] = { ON(LOGS_READER), STDERR_TAIL("50000", "") },
	[ENTRY_STDERR_TAIL_DATED] = { ON(LOGS_READER), STDERR_TAIL("5000", " ORDER BY received_ns DESC") },
	[POSITION_PUT] = { ON(LOGS_WRITER),
			   "INSERT INTO replica_position (job, attempt, role, replica, restart," REACH_COLUMNS
			   ")"
			   " VALUES (:job, :attempt, :role, :replica, :restart,"
			   " :stdout, :stdout_behind, :stdout_parts, :stdout_parts_ns,"
			   " :stderr, :stderr_behind, :stderr_parts, :stderr_parts_ns)"
			   " ON CONFLICT DO UPDATE SET restart = excluded.restart," REACH_PUT(
				   "stdout") "," REACH_PUT("stderr") },
	[POSITION_GET] = { ON_LOGS, "SELECT restart," REACH_COLUMNS " FROM replica_position WHERE job = :job"
				    " AND attempt = :attempt AND role = :role AND replica = :replica" },

	[GENERATION_NEXT] = { ON(OBJECTS_WRITER), "UPDATE meta SET value = max(:now, value + 1)"
						  " WHERE name = 'generation' RETURNING value" },
	[BUCKET_FIRST] = { ON(OBJECTS_READER), "SELECT name FROM bucket ORDER BY project, name LIMIT 1" },
	[BUCKET_BY_NAME] = { ON_OBJECTS, "SELECT " BUCKET_COLUMNS " FROM bucket WHERE name = :name" },
	[BUCKETS_FROM] = { ON(OBJECTS_READER),
			   "SELECT " BUCKET_COLUMNS " FROM bucket WHERE project = :project AND name >= :from"
			   " ORDER BY name" },
	[BUCKET_INSERT] = { ON(OBJECTS_WRITER),
			    "INSERT INTO bucket (name, project, created_us, updated_us, metadata)"
			    " VALUES (:name, :project, :now, :now, :metadata)" },
	[BUCKET_UPDATE] = { ON(OBJECTS_WRITER), "UPDATE bucket SET metadata = :metadata, updated_us = :now,"
						" metageneration = metageneration + 1 WHERE id = :id" },
	[BUCKET_DELETE] = { ON(OBJECTS_WRITER), "DELETE FROM bucket WHERE id = :id" },
	[BUCKET_HOLDS] = { ON(OBJECTS_WRITER), "SELECT 1 FROM object WHERE bucket = :bucket LIMIT 1" },
	/* One row for each bucket that exists; without an object of this name, its columns are null. */
	[OBJECT_BY_NAME] = { ON_OBJECTS, "SELECT " OBJECT_COLUMNS ", holder FROM"
					 " (SELECT id AS holder FROM bucket WHERE name = :bucket)"
					 " LEFT JOIN object ON bucket = holder AND name = :name" },
	/* The object of this name; and the first object, in the order of names, that is not before the name with a
	 * slash at its end. */
	[OBJECT_VIEW] = { ON(OBJECTS_READER),
			   "SELECT " OBJECT_COLUMNS " FROM object"
			   " WHERE bucket = (SELECT id FROM bucket WHERE name = :bucket) AND name = :name"
			   " UNION ALL SELECT * FROM (SELECT " OBJECT_COLUMNS " FROM object"
			   " WHERE bucket = (SELECT id FROM bucket WHERE name = :bucket) AND name >= :name || '/'"
			   " ORDER BY name LIMIT 1)" },
	[OBJECTS_FROM] = { ON(OBJECTS_READER), "SELECT " OBJECT_COLUMNS " FROM object"
					       " WHERE bucket = :bucket AND name >= :from ORDER BY name" },
	[OBJECT_PUT] = { ON(OBJECTS_WRITER),
			 "INSERT OR REPLACE INTO object (bucket, " OBJECT_COLUMNS ")"
			 " VALUES (:bucket, :name, :generation, 1, :size, :now, :now, :content_type, :metadata,"
			 " :crc32c, :md5, :component_count, :blob)" },
	[OBJECT_UPDATE] = { ON(OBJECTS_WRITER),
			    "UPDATE object SET content_type = :content_type, metadata = :metadata,"
			    " updated_us = :now, metageneration = metageneration + 1"
			    " WHERE bucket = :bucket AND name = :name" },
	[OBJECT_DELETE] = { ON(OBJECTS_WRITER),
			    "DELETE FROM object WHERE bucket = :bucket AND name = :name" },
	/* The user of a blob's file: 1 an object, 2 an unfinished upload. No row: it is unused. */
	[BLOB_USE] = { ON_OBJECTS, "SELECT * FROM (SELECT 1 FROM object WHERE blob = :blob LIMIT 1)"
				   " UNION ALL SELECT 2 FROM session WHERE blob = :blob AND answer IS NULL"
				   " UNION ALL SELECT 2 FROM part WHERE blob = :blob" },
	[SESSION_INSERT] = { ON(OBJECTS_WRITER),
			     "INSERT INTO session (id, bucket, name, content_type, metadata, generation_match,"
			     " generation_not_match, metageneration_match, metageneration_not_match, crc32c, md5,"
			     " total_bytes, created_us, blob)"
			     " VALUES (:id, :bucket, :name, :content_type, :metadata, :generation_match,"
			     " :generation_not_match, :metageneration_match, :metageneration_not_match, :crc32c,"
			     " :md5, :total, :now, :blob)" },
	[SESSION_GET] = { ON_OBJECTS,
			  "SELECT bucket, name, content_type, metadata, generation_match, generation_not_match,"
			  " metageneration_match, metageneration_not_match, crc32c, md5, total_bytes, created_us,"
			  " blob, answer FROM session WHERE id = :id" },
	[SESSION_ANSWER] = { ON(OBJECTS_WRITER), "UPDATE session SET answer = :answer WHERE id = :id" },
	[SESSION_DELETE] = { ON(OBJECTS_WRITER), "DELETE FROM session WHERE id = :id" },
	[SESSIONS_OLD] = { ON(OBJECTS_WRITER), "DELETE FROM session WHERE created_us < :before"
					       " RETURNING bucket, blob" },
	[ASSEMBLY_INSERT] = { ON(OBJECTS_WRITER),
			      "INSERT INTO assembly (id, bucket, name, content_type, metadata, created_us)"
			      " VALUES (:id, :bucket, :name, :content_type, :metadata, :now)" },
	[ASSEMBLY_GET] = { ON_OBJECTS, "SELECT " ASSEMBLY_COLUMNS ", content_type, metadata FROM assembly"
				       " WHERE id = :id AND bucket = :bucket" },
	[ASSEMBLIES_FROM] = { ON(OBJECTS_READER), "SELECT " ASSEMBLY_COLUMNS " FROM assembly"
						  " WHERE bucket = :bucket AND (name, id) > (:name, :id)"
						  " AND created_us >= :since ORDER BY name, id" },
	[ASSEMBLY_OLD] = { ON(OBJECTS_WRITER),
			   "SELECT assembly.id, bucket.name FROM assembly JOIN bucket ON bucket.id = bucket"
			   " WHERE assembly.created_us < :before LIMIT 1" },
	[ASSEMBLY_OF_BUCKET] = { ON(OBJECTS_WRITER),
				 "SELECT assembly.id, bucket.name FROM assembly JOIN bucket ON bucket.id = bucket"
				 " WHERE bucket = :bucket LIMIT 1" },
	[ASSEMBLY_DELETE] = { ON(OBJECTS_WRITER), "DELETE FROM assembly WHERE id = :id" },
	[PART_INSERT] = { ON(OBJECTS_WRITER),
			  "INSERT INTO part (assembly, " PART_COLUMNS ")"
			  " VALUES (:assembly, :number, :size, :now, :crc32c, :md5, :blob)" },
	[PART_GET] = { ON_OBJECTS,
		       "SELECT " PART_COLUMNS " FROM part WHERE assembly = :assembly AND number = :number" },
	[PARTS_AFTER] = { ON(OBJECTS_READER),
			  "SELECT " PART_COLUMNS " FROM part"
			  " WHERE assembly = :assembly AND number > :after ORDER BY number" },
	[PART_DELETE] = { ON(OBJECTS_WRITER),
			  "DELETE FROM part WHERE assembly = :assembly AND number = :number"
			  " RETURNING blob" },
	[PARTS_DELETE] = { ON(OBJECTS_WRITER), "DELETE FROM part WHERE assembly = :assembly RETURNING blob" },
	[POST_COMMIT_ADD] = { ON(OBJECTS_WRITER),
			      "INSERT INTO post_commit (bucket, name, blob) VALUES (:bucket, :name, :blob)" },
	[POST_COMMIT_AFTER] = { ON(OBJECTS_READER), "SELECT id, bucket, name, blob FROM post_commit"
						    " WHERE id > :after ORDER BY id LIMIT :count" },
	[POST_COMMIT_DELETE] = { ON(OBJECTS_WRITER), "DELETE FROM post_commit WHERE id = :id" },
};
