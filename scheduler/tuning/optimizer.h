/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/optimizer.h: NLopt's optimizers, freed at the end of their scope. */
#include <nlopt.h>

#include "daemon/base/cleanup.h"

static inline void optimizer_destroy(nlopt_opt optimizer)
{
	nlopt_destroy(optimizer);
}

DEFINE_AUTO(optimizer, nlopt_opt, optimizer_destroy)
