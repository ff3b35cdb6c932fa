/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/search_decide.h: what is due for a tuning job and its trials: tuner.h has the table. Pure: it follows from
 * what the look has seen, and is left in it. Thread: any. */
struct look;

void search_decide(struct look *look);
