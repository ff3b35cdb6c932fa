/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/world_store_testing.h: the store of world_testing.h. Each change of a row is compared with the truth before
 * it is kept. */
#include <assert.h>

#include "store/job_progress.h"
#include "store/store.h"
#include "tests/unit/scheduler/world_testing.h"

/* ---- the store ---- */

/* The linker hands the scheduler these instead (--wrap). */
typeof(job_get_by_id) __wrap_job_get_by_id;
typeof(job_list_attended) __wrap_job_list_attended;
typeof(job_each_waiting) __wrap_job_each_waiting;
typeof(lease_list) __wrap_lease_list;
typeof(fault_injections_open) __wrap_fault_injections_open;
typeof(fault_registry_is_empty) __wrap_fault_registry_is_empty;
typeof(fault_registry_has) __wrap_fault_registry_has;
typeof(fault_registry_take) __wrap_fault_registry_take;
typeof(fault_registry_return) __wrap_fault_registry_return;
typeof(journal_read) __wrap_journal_read;
typeof(log_barrier) __wrap_log_barrier;
typeof(log_position_get) __wrap_log_position_get;
typeof(log_stderr_tail) __wrap_log_stderr_tail;
typeof(log_pump_open) __wrap_log_pump_open;
typeof(log_pump_offered) __wrap_log_pump_offered;
typeof(job_apply) __wrap_job_apply;
typeof(log_event) __wrap_log_event;
typeof(store_progress) __wrap_store_progress;

struct progress_board *__wrap_store_progress(struct store *store)
{
	static struct progress_board *board; /* one for all histories */

	(void)store;
	if (!board)
		board = progress_board_new();
	return board;
}

void __wrap_log_event(enum log_level level, const char *event, const char *format, ...)
{
	(void)level, (void)event, (void)format;
}

static struct job row_copy(const struct job *row)
{
	struct job copy = *row;

	copy.project = text_of(row->project);
	copy.job_id = text_of(row->job_id);
	copy.error_message = text_of(row->error_message);
	copy.plan = text_of(row->plan);
	copy.assignment = text_of(row->assignment);
	copy.outcome_message = text_of(row->outcome_message);
	copy.input = copy.output = NULL;
	return copy;
}

enum status __wrap_job_get_by_id(struct store *store, int64_t id, struct job **ret_job, struct error *err)
{
	(void)store, (void)err;
	if (world.cancels_when_read == id) {
		world.cancels_when_read = 0;
		client_cancel(client_job(id));
	}
	*ret_job = malloc(sizeof(**ret_job));
	**ret_job = row_copy(&client_job(id)->row);
	return STATUS_OK;
}

/* As JOB_WAITS of the statements. */
static bool merely_waits(const struct client_job *job)
{
	return job->row.state == JOB_QUEUED && !job->row.parent && !job->row.started_us &&
	       job->row.outcome == JOB_STATE_UNSPECIFIED && !job->searches && !job->injection_count;
}

enum status __wrap_job_list_attended(struct store *store, struct job_list *ret_list, struct error *err)
{
	(void)store, (void)err;
	*ret_list = (struct job_list){ .jobs = calloc(JOBS_MAX, sizeof(*ret_list->jobs)) };
	for (size_t i = 0; i < world.job_count; i++)
		if (!job_state_is_final(world.jobs[i].row.state) && !merely_waits(&world.jobs[i]))
			ret_list->jobs[ret_list->count++] = row_copy(&world.jobs[i].row);
	return STATUS_OK;
}

enum status __wrap_job_each_waiting(struct store *store,
				    void (*each)(void *arg, const struct waiting_job *job), void *arg,
				    struct error *err)
{
	(void)store, (void)err;
	for (size_t i = 0; i < world.job_count; i++) {
		const struct client_job *job = &world.jobs[i];

		if (merely_waits(job))
			each(arg, &(struct waiting_job){ .id = job->row.id,
							 .project = job->row.project,
							 .priority = job->row.priority,
							 .gpu_count = job->gpus,
							 .created_us = job->row.created_us,
							 .max_wait_us = job->waits_us });
	}
	return STATUS_OK;
}

enum status __wrap_lease_list(struct store *store, struct lease **ret_leases, size_t *ret_count,
			      struct error *err)
{
	(void)store, (void)err;
	*ret_leases = world.lease_count ? calloc(world.lease_count, sizeof(**ret_leases)) : NULL;
	*ret_count = world.lease_count;
	for (size_t i = 0; i < world.lease_count; i++) {
		(*ret_leases)[i] = world.leases[i];
		(*ret_leases)[i].device = strdup(world.leases[i].device);
	}
	return STATUS_OK;
}

enum status __wrap_fault_injections_open(struct store *store, struct fault_injection_list *ret_list,
					 struct error *err)
{
	(void)store, (void)err;
	*ret_list = (struct fault_injection_list){ .injections = calloc(JOBS_MAX * INJECTIONS_MAX,
									sizeof(*ret_list->injections)) };
	for (size_t i = 0; i < world.job_count; i++)
		for (size_t at = 0;
		     !job_state_is_final(world.jobs[i].row.state) && at < world.jobs[i].injection_count;
		     at++) {
			struct fault_injection *injection = &ret_list->injections[ret_list->count++];

			*injection = world.jobs[i].injections[at];
			injection->line = strdup("as ordered");
		}
	return STATUS_OK;
}

/* ---- ordered faults ---- */

bool __wrap_fault_registry_is_empty(const struct fault_registry *registry)
{
	(void)registry;
	return !world.fault_seed;
}

bool __wrap_fault_registry_has(struct fault_registry *registry, int64_t id)
{
	(void)registry, (void)id;
	return true;
}

/* Injects a fault into about one context in eight; the same context always gets the same answer. */
bool __wrap_fault_registry_take(struct fault_registry *registry, const struct fault_context *context,
				struct fault_order *ret_order, int64_t *ret_wait_us)
{
	static const struct fault_order of_containers[] = {
		{ 1, .kind = FAULT_PREEMPT },
		{ 1, .kind = FAULT_OOM, .exit_code = 137 },
		{ 1, .kind = FAULT_EXIT, .exit_code = 3 },
		{ 1, .kind = FAULT_CRASH, .exit_code = 139 },
		{ 1, .kind = FAULT_STOP },
		{ 1, .kind = FAULT_PREEMPT },
	};
	static const struct fault_order of_stages[] = {
		[STAGE_QUEUED] = { 1, .kind = FAULT_STOCKOUT, .seconds_us = 5000000 },
		[STAGE_PREPARING] = { 1, .kind = FAULT_IMAGE_PULL },
		[STAGE_NETWORK] = { 1, .kind = FAULT_CUT_NETWORK, .seconds_us = 2000000 },
	};
	const struct replica_key *key = &context->key;
	uint64_t hash = world.fault_seed;
	const uint64_t of[] = { (uint64_t)key->job, key->attempt, (uint64_t)key->role,
				key->index,         key->restart, (uint64_t)context->stage };

	(void)registry;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		hash = (hash ^ of[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
	*ret_wait_us = INT64_MAX;
	if (hash % 8)
		return false;
	assert(context->stage != STAGE_CALL && context->stage < sizeof(of_stages) / sizeof(of_stages[0]));
	*ret_order =
		context->stage == STAGE_RUNNING ? of_containers[hash / 8 % 6] : of_stages[context->stage];
	return true;
}

void __wrap_fault_registry_return(struct fault_registry *registry, int64_t rule)
{
	(void)registry, (void)rule;
}

static const struct fault_injection *injection_of(const struct client_job *job, const struct replica_key *key)
{
	for (size_t i = 0; i < job->injection_count; i++)
		if (job->injections[i].stage == STAGE_RUNNING &&
		    replica_keys_equal(&job->injections[i].key, key))
			return &job->injections[i];
	return NULL;
}

/* ---- the store, once more ---- */

enum status __wrap_journal_read(struct store *store, int64_t job, struct journal *ret_journal,
				struct error *err)
{
	const struct client_job *of = client_job(job);

	(void)store, (void)err;
	ret_journal->count = of->journal_count;
	ret_journal->rows = calloc(JOURNAL_MAX, sizeof(*ret_journal->rows));
	memcpy(ret_journal->rows, of->journal, of->journal_count * sizeof(of->journal[0]));
	return STATUS_OK;
}

void __wrap_log_barrier(struct store *store, void (*done)(void *arg), void *arg)
{
	(void)store, (void)done;
	assert_true(world.barrier_count < BARRIERS_MAX);
	world.barriers[world.barrier_count++] = arg;
}

enum status __wrap_log_position_get(struct store *store, const struct replica_key *key,
				    struct log_position *ret_position, struct error *err)
{
	(void)store, (void)key, (void)err;
	*ret_position = (struct log_position){ 0 };
	return STATUS_OK;
}

enum status __wrap_log_stderr_tail(struct store *store, int64_t job, unsigned trial, const char *task,
				   unsigned lines, char **ret_tail, struct error *err)
{
	(void)store, (void)job, (void)trial, (void)task, (void)lines, (void)err;
	*ret_tail = strdup("");
	return STATUS_OK;
}

void __wrap_log_pump_open(struct log_pump *pump, const struct plan *plan, int64_t owner,
			  const struct replica_key *key)
{
	(void)pump, (void)plan, (void)owner, (void)key;
}

void __wrap_log_pump_offered(struct log_pump *pump, const struct replica_key *key, struct log_position *from)
{
	(void)pump, (void)key, (void)from;
}

static size_t trials_with(const struct client_job *of, enum trial_outcome outcome)
{
	size_t count = 0;

	for (size_t i = 0; i < of->trial_count; i++)
		count += of->trials[i].outcome == outcome;
	return count;
}

/* A search fails for the trial that failed last. */
static void search_failure_check(const struct client_job *job, const struct job_change *change)
{
	const size_t failed = trials_with(job, OUTCOME_INFEASIBLE), half = job->trial_limit / 2;
	const bool too_many = job->failed_limit ? failed >= job->failed_limit
						: failed && (!trials_with(job, OUTCOME_COMPLETED) ||
							     failed > (half > 1 ? half : 1));
	const char *named = strstr(change->outcome_message, "Trial #");
	unsigned last = 0;

	for (size_t i = 0; i < job->trial_count; i++)
		if (job->trials[i].outcome == OUTCOME_INFEASIBLE &&
		    (!last || job->trials[i].ended_as > job->trials[last - 1].ended_as))
			last = (unsigned)i + 1;
	if (!too_many)
		VIOLATE("job %d fails, and %zu trials failed", (int)job->row.id, failed);
	if (!named || (unsigned)atoi(named + strlen("Trial #")) != last)
		VIOLATE("job %d does not blame trial %u: %s", (int)job->row.id, last,
			change->outcome_message);
}

static void search_check(const struct client_job *job, const struct job_change *change)
{
	const size_t open = trials_with(job, OUTCOME_OPEN);
	bool started = false, ran = false, lingers = false;

	for (size_t i = 0; i < job->trial_count; i++) {
		const struct job *row = &client_job(job->trials[i].run)->row;

		started = started || row->started_us;
		ran = ran || row->running_us;
		lingers = lingers || !job_state_is_final(row->state);
	}
	if (change->to == JOB_PREPARING && job->row.state == JOB_QUEUED && !started && open)
		VIOLATE("job %d is PREPARING, and none of its trials", (int)job->row.id);
	if (change->to == JOB_RUNNING && !ran)
		VIOLATE("job %d is RUNNING, and none of its trials", (int)job->row.id);
	if (job_state_is_final(change->to) && (open || lingers))
		VIOLATE("job %d ends in %s before its trials", (int)job->row.id, job_state_name(change->to));
	if (change->decides && change->outcome == JOB_FAILED)
		search_failure_check(job, change);
	if (change->decides && change->outcome == JOB_SUCCEEDED &&
	    (open || (job->trial_count < job->trial_limit && !job->exhausted)))
		VIOLATE("job %d succeeds after %zu of %u trials, and %zu are open", (int)job->row.id,
			job->trial_count, job->trial_limit, open);
}

/* A job that is being cancelled does not wait any more. */
static void lines_check(const struct job *row, const struct job_change *change)
{
	for (size_t i = 0; i < change->line_count; i++)
		if (row->state == JOB_CANCELLING && strstr(change->lines[i].text, " waits for "))
			VIOLATE("job %d is being cancelled, and is told: %s", (int)row->id,
				change->lines[i].text);
}

/* A job that a stored stockout holds is not let in before its time. Fails with: decision_on_commit() that keeps the row after a
 * change of lines and injections alone: the walk along the queue let the job in, before the fault had its effect. */
static void stockout_check(const struct client_job *job, const struct job_change *change)
{
	for (size_t i = 0; i < job->injection_count; i++)
		if (job->row.state == JOB_QUEUED && change->to == JOB_PREPARING && !world.clock_set &&
		    job->injections[i].stage == STAGE_QUEUED && job->injections[i].until_us > world.wall_us)
			VIOLATE("job %d is let in, and a stockout holds it", (int)job->row.id);
}

/* What the truth must say where a row says so. */
static void change_check(const struct job_change *change)
{
	const struct client_job *job = client_job(change->job);
	const struct job *row = &job->row;
	const bool troubled = job->troubled || world.image_refused;
	bool master_succeeded = false, failed = job->injection_count, all_started = true;
	unsigned begun = 0;

	for (size_t i = 0; i < world.container_count; i++) {
		const struct container *container = &world.containers[i];
		const struct replica_key *key = &container->status.key;

		if (key->job != row->id)
			continue;
		if (job_state_is_final(change->to) && container->exists)
			VIOLATE("job %d ends in %s and leaves %s", (int)row->id, job_state_name(change->to),
				key_text(key));
		if (key->attempt != row->attempt)
			continue;
		begun += !key->restart;
		all_started = all_started && (container->started || key->restart);
		if (container->truth == BY_ITSELF && container->status.exit_code)
			failed = true;
		if (container->truth == KILLED_OUTSIDE)
			failed = true;
		if (container->truth == BY_ITSELF && !container->status.exit_code && key->role == ROLE_MASTER)
			master_succeeded = true;
	}
	if (change->to != row->state && !job_state_may_follow(row->state, change->to))
		VIOLATE("job %d goes from %s to %s", (int)row->id, job_state_name(row->state),
			job_state_name(change->to));
	lines_check(row, change);
	stockout_check(job, change);
	if (job->searches)
		search_check(job, change);
	if (!job->searches && change->to == JOB_RUNNING && row->state != JOB_RUNNING && !change->decides &&
	    (!all_started || begun < job->workers + 1) && !troubled)
		VIOLATE("job %d is RUNNING, but not all replicas were started", (int)row->id);
	if (!change->decides || (job->searches && change->outcome != JOB_CANCELLED))
		return;
	if (change->outcome == JOB_SUCCEEDED && !master_succeeded)
		VIOLATE("job %d succeeds without its master", (int)row->id);
	if (change->outcome == JOB_FAILED && strstr(change->outcome_message, "exited with") && !failed)
		VIOLATE("job %d is to blame for what it did not do: %s", (int)row->id,
			change->outcome_message);
	if (change->outcome == JOB_FAILED && !failed && !troubled)
		VIOLATE("job %d fails, and nothing was wrong: %s", (int)row->id, change->outcome_message);
	if (change->outcome == JOB_CANCELLED && !job->cancelled) {
		const int64_t limit_us = row->running_us ? job->running_us : job->waits_us;
		const int64_t since_us = row->running_us ? row->running_us : row->created_us;

		if (!limit_us)
			VIOLATE("job %d is cancelled, and nobody asked", (int)row->id);
		if (!world.clock_set && world.wall_us - since_us < limit_us)
			VIOLATE("job %d is cancelled before its time", (int)row->id);
	}
	if (change->outcome == JOB_PREPARING && row->attempt >= 7)
		VIOLATE("job %d is tried for ever", (int)row->id);
}

static struct journal_row *end_find(struct client_job *job, const struct journal_row *of)
{
	for (size_t i = 0; i < job->journal_count; i++) {
		struct journal_row *row = &job->journal[i];

		if (row->kind == JOURNAL_ENDED && row->attempt == of->attempt && row->role == of->role &&
		    row->index == of->index && row->restart == of->restart)
			return row;
	}
	return NULL;
}

/* A row that tells of a replica's end is true. */
static void journal_check(const struct job_change *change, const struct journal_row *row)
{
	const struct replica_key key = { change->job, row->attempt, (enum role)row->role, row->index,
					 row->restart };
	const struct container *container = container_find(&key);
	const struct fault_injection *injection = injection_of(client_job(change->job), &key);
	const bool ordered = row->flags & JOURNAL_ORDERED;

	if (row->kind != JOURNAL_ENDED)
		return;
	if (ordered && (!injection || injection->exit_code != row->number))
		VIOLATE("the journal says that the end of %s was ordered", key_text(&key));
	if (!ordered && row->cause == END_LOST && (!container || !client_job(change->job)->troubled))
		VIOLATE("the journal says that %s was lost", key_text(&key));
	if (!ordered && row->cause == END_EXIT && (!container || container->status.exit_code != row->number))
		VIOLATE("the journal says that %s ended with %d", key_text(&key), (int)row->number);
	if (end_find(client_job(change->job), row))
		VIOLATE("the journal has the end of %s twice", key_text(&key));
}

static void journal_blame(struct client_job *job, const struct journal_row *row)
{
	const struct replica_key key = { job->row.id, row->attempt, (enum role)row->role, row->index,
					 row->restart };
	const struct container *container = container_find(&key);
	struct journal_row *end = end_find(job, row);

	if (!end) {
		VIOLATE("the journal blames %s and does not have its end", key_text(&key));
		return;
	}
	end->flags |= JOURNAL_BLAMED;
	if (end->cause == END_EXIT && !(end->flags & JOURNAL_ORDERED) &&
	    (!container || (container->truth != BY_ITSELF && container->truth != KILLED_OUTSIDE)))
		VIOLATE("the journal blames %s for what it did not do", key_text(&key));
}

static void journal_append(struct client_job *job, const struct job_change *change)
{
	for (size_t i = 0; i < change->journal_count; i++) {
		journal_check(change, &change->journal[i]);
		if (change->journal[i].kind == JOURNAL_BLAME)
			journal_blame(job, &change->journal[i]);
		else if (job->journal_count == JOURNAL_MAX)
			VIOLATE("the journal of job %d has no end", (int)job->row.id);
		else
			job->journal[job->journal_count++] = change->journal[i];
	}
}

static void leases_take(const struct job_change *change)
{
	for (size_t i = 0; i < change->lease_count; i++) {
		const struct lease *lease = &change->leases[i];

		for (size_t at = 0; at < world.lease_count; at++)
			if (strcmp(world.leases[at].device, lease->device) == 0)
				VIOLATE("jobs %d and %d hold one device", (int)lease->job,
					(int)world.leases[at].job);
		if (world.lease_count == LEASES_MAX)
			return;
		world.leases[world.lease_count] = *lease;
		world.leases[world.lease_count++].device = device_names[*lease->device - '0'];
	}
	if (!job_state_is_final(change->to))
		return;
	for (size_t at = 0; at < world.lease_count;)
		if (world.leases[at].job == change->job)
			world.leases[at] = world.leases[--world.lease_count];
		else
			at++;
}

static void injections_append(struct client_job *job, const struct job_change *change)
{
	for (size_t i = 0; i < change->injection_count && job->injection_count < INJECTIONS_MAX; i++) {
		struct fault_injection *injection = &job->injections[job->injection_count++];

		*injection = change->injections[i];
		injection->line = NULL;
		TELL("  order: kind %d for %s", injection->kind, key_text(&injection->key));
	}
}

static void change_apply(struct job_change *change)
{
	struct job *row = &client_job(change->job)->row;

	change->applied = row->state == change->from && (!change->decides || !row->outcome);
	if (!change->applied)
		return;
	change_check(change);
	TELL("store: job %d %s -> %s%s%s%s %s", (int)row->id, job_state_name(change->from),
	     job_state_name(change->to), change->decides ? " decided " : "",
	     change->decides ? job_state_name(change->outcome) : "", change->retries ? " retries" : "",
	     change->decides && change->outcome_message ? change->outcome_message : "");
	for (size_t i = 0; i < change->line_count; i++) {
		TELL("  log: %s", change->lines[i].text);
		client_job(change->job)->engine_lines +=
			strncmp(change->lines[i].text, "Waiting for the container engine", 32) == 0;
	}
	injections_append(client_job(change->job), change);
	leases_take(change);
	journal_append(client_job(change->job), change);
	row->state = change->to;
	row->started_us = change->started_us ? change->started_us : row->started_us;
	row->running_us = change->running_us ? change->running_us : row->running_us;
	row->ended_us = change->ended_us ? change->ended_us : row->ended_us;
	if (change->error_message) {
		text_replace(&row->error_message, change->error_message);
		row->reason_bytes = change->reason_bytes;
	}
	if (change->assignment)
		text_replace(&row->assignment, change->assignment);
	if (change->decides || change->retries) {
		row->outcome = change->decides ? change->outcome : JOB_STATE_UNSPECIFIED;
		row->outcome_code = change->decides ? change->outcome_code : 0;
		text_replace(&row->outcome_message, change->decides ? change->outcome_message : NULL);
	}
	if (change->tears_down || change->retries)
		row->torn_down = change->tears_down && !change->retries;
	row->attempt += change->retries;
	if (change->announces)
		row->announced = row->attempt;
}

static bool store_works(struct error *err)
{
	if (!has_effect()) {
		error_set(err, STATUS_INTERNAL, NULL, "the daemon is dead");
		return false;
	}
	if (!world.stores_failing)
		return true;
	world.stores_failing--;
	TELL("store: refuses a change");
	error_set(err, STATUS_INTERNAL, NULL, "the disk is full");
	return false;
}

enum status __wrap_job_apply(struct store *store, struct job_change *changes, size_t count, struct error *err)
{
	(void)store;
	if (!store_works(err))
		return STATUS_INTERNAL;
	for (size_t i = 0; i < count; i++)
		change_apply(&changes[i]);
	return STATUS_OK;
}
