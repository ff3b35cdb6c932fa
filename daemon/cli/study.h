/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/study.h: `trainyard study`: the search of a tuning job. */
struct invocation;

int study_main(struct invocation *invocation);
