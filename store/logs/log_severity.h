/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_severity.h: the severities of log entries and their names. */

/* Source: https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry#LogSeverity */
enum log_severity {
	SEVERITY_DEFAULT = 0,
	SEVERITY_DEBUG = 100,
	SEVERITY_INFO = 200,
	SEVERITY_NOTICE = 300,
	SEVERITY_WARNING = 400,
	SEVERITY_ERROR = 500,
	SEVERITY_CRITICAL = 600,
	SEVERITY_ALERT = 700,
	SEVERITY_EMERGENCY = 800,
};
/* Returns the name, such as "ERROR"; a number between two severities gives the lower one's name. */
const char *log_severity_name(int severity);
