/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the tests of the readers of metrics share. */
#include <math.h>

#include "scheduler/tuning/metric_report.h"
#include "scheduler/tuning/study.h"
#include "tests/unit/testing.h"

#define STARTED_S 1700000000.0

static char accuracy_name[] = "accuracy", loss_name[] = "loss";
static const struct metric two_metrics[] = { { accuracy_name, false }, { loss_name, true } };

/* The exact contents that @report must have; NAN: not reported. */
struct expected {
	int64_t step;
	double elapsed_s, accuracy, loss;
};

static inline void value_expect(double value, double expected)
{
	if (isnan(expected))
		assert_true(isnan(value));
	else
		assert_true(value == expected);
}

static inline void expect_measurements(const struct metric_report *report, const struct expected *expected,
				       size_t count)
{
	assert_int_equal(report->measurement_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct measurement *measurement = &report->measurements[i];

		assert_int_equal(measurement->step, expected[i].step);
		assert_true(fabs(measurement->elapsed_s - expected[i].elapsed_s) < 1e-6);
		value_expect(measurement->values[0], expected[i].accuracy);
		value_expect(measurement->values[1], expected[i].loss);
		for (size_t metric = 2; metric < METRICS_MAX; metric++)
			assert_true(isnan(measurement->values[metric]));
	}
}
