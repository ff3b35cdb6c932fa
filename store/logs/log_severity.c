/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/log_severity.h"

static const char *const severity_names[] = { "DEFAULT", "DEBUG",    "INFO",  "NOTICE",   "WARNING",
					      "ERROR",   "CRITICAL", "ALERT", "EMERGENCY" };

const char *log_severity_name(int severity)
{
	if (severity < SEVERITY_DEFAULT)
		return severity_names[0];
	if (severity > SEVERITY_EMERGENCY)
		severity = SEVERITY_EMERGENCY;
	return severity_names[severity / 100];
}
