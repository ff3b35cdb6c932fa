/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/trial_curves.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/job_run.h"
#include "scheduler/reconciler.h"
#include "scheduler/search/look.h"
#include "scheduler/search/trial_directory.h"
#include "scheduler/tuning/measurements.h"

/* Returns where the metrics of trial @number are kept. */
static struct trial_metrics **slot_make(struct tuner *tuner, unsigned number)
{
	struct trial_metrics **grown;

	if (number <= tuner->metric_size)
		return &tuner->metrics[number - 1];
	grown = memory_resize(tuner->metrics, number, sizeof(struct trial_metrics *));
	memset(grown + tuner->metric_size, 0, (number - tuner->metric_size) * sizeof(struct trial_metrics *));
	tuner->metrics = grown;
	tuner->metric_size = number;
	return &tuner->metrics[number - 1];
}

/* The arguments of callbacks for curves: the tuning job, and the data that its trials share. */
struct owner {
	struct tuner *tuner;
	const struct reconciler *reconciler;
	const struct job_run *run;
};

static struct trial_metrics *metrics_make(const struct owner *owner, unsigned number, int64_t run,
					  int64_t running_us)
{
	struct trial_metrics **slot = slot_make(owner->tuner, number);
	AUTO(string) char *directory = trial_directory_path(owner->reconciler, run);
	const struct trial_source place = { .directory = directory,
					    .objects = owner->reconciler->objects,
					    .job_dir = owner->run->plan->job_dir,
					    .number = number,
					    .since = owner->run->plan->objects_since };

	if (!*slot)
		*slot = trial_metrics_new(owner->tuner->study, &place, (double)running_us / 1e6);
	return *slot;
}

/* A damaged curve does not stop the search: it continues as if nothing had been reported. */
static enum status curve_load(void *arg, const struct trial_curve *curve, struct error *err)
{
	const struct owner *owner = arg;
	struct error problem AUTO_ERROR = { 0 };
	struct trial_metrics *metrics = metrics_make(owner, curve->number, curve->run, curve->running_us);

	(void)err;
	if (trial_metrics_resume(metrics, curve->points, &problem)) {
		log_event(LOG_ERROR, "curve-unread", "run=%" PRId64 " error=\"%s\"", curve->run,
			  problem.text ? problem.text : "");
		owner->tuner->metrics[curve->number - 1] = NULL;
		trial_metrics_free(metrics);
	} else if (curve->outcome != OUTCOME_OPEN) {
		trial_metrics_finish(metrics);
	}
	return STATUS_OK;
}

enum status curves_load(struct tuner *tuner, const struct reconciler *reconciler, const struct job_run *run,
			struct error *err)
{
	struct owner owner = { tuner, reconciler, run };

	return trial_curves_visit(reconciler->store, run->row->id, curve_load, &owner, err);
}

struct trial_metrics *curve_of(struct look *look, const struct stored_trial *stored)
{
	const struct owner owner = { look->tuner, look->reconciler, look->run };

	return metrics_make(&owner, stored->number, stored->run, stored->running_us);
}

void curve_finish(struct tuner *tuner, const struct reconciler *reconciler, unsigned number, int64_t run)
{
	struct trial_metrics **slot = &tuner->metrics[number - 1];

	trial_directory_remove(reconciler, run);
	if (tuner->study->stopping != STOPPING_NONE) {
		trial_metrics_finish(*slot);
		return;
	}
	trial_metrics_free(*slot);
	*slot = NULL;
}

/* ---- running trials ---- */

static void curve_read(struct look *look, size_t index, struct trial_curve *curves, size_t *count)
{
	const struct stored_trial *stored = &look->list.trials[index];
	struct trial_metrics *metrics = curve_of(look, stored);

	trial_metrics_read(metrics);
	if (!trial_metrics_changed(metrics))
		return;
	curves[(*count)++] = (struct trial_curve){ .number = stored->number,
						   .run = stored->run,
						   .points = trial_metrics_text(metrics) };
}

enum status curves_read(struct look *look, struct error *err)
{
	struct trial_curve *curves = memory_calloc(look->open + 1, sizeof(*curves));
	size_t count = 0;
	enum status rc = STATUS_OK;

	for (size_t i = 0; i < look->list.count; i++)
		if (look->list.trials[i].outcome == OUTCOME_OPEN && look->list.trials[i].state == JOB_RUNNING)
			curve_read(look, i, curves, &count);
	if (count)
		rc = trial_curves_put(look->reconciler->store, curves, count, err);
	for (size_t i = 0; i < count; i++) {
		if (!rc)
			trial_metrics_stored(look->tuner->metrics[curves[i].number - 1]);
		free((char *)curves[i].points);
	}
	free(curves);
	return rc;
}
