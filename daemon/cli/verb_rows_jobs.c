/* SPDX-License-Identifier: Apache-2.0 */
/* daemon/cli/verb_rows_jobs.c: the rows of verb.h that are about jobs. */
#include "daemon/cli/ask.h"
#include "daemon/cli/job_create.h"
#include "daemon/cli/job_describe.h"
#include "daemon/cli/job_end.h"
#include "daemon/cli/job_file.h"
#include "daemon/cli/job_list.h"
#include "daemon/cli/job_log.h"
#include "daemon/cli/job_rerun.h"
#include "daemon/cli/job_run.h"
#include "daemon/cli/job_wait.h"
#include "daemon/cli/queue.h"
#include "daemon/cli/shell.h"
#include "daemon/cli/study.h"
#include "daemon/cli/verb_rows.h"

const struct verb job_verbs[] = {
	{ .name = "run",
	  .words = "[IMAGE] [-- ARGUMENT...]",
	  .summary = "run an image or a Python package as a job, with its log to the end",
	  .detail =
		  "Submits a job that runs IMAGE, prints its log as `trainyard logs -f` does, and ends as it ends.\n"
		  "Ctrl-C leaves the job running.\n"
		  "\n"
		  "    trainyard run my-image:1 -- --epochs=3\n"
		  "    trainyard run --workers 2 --gpu T4:1 my-image:1\n"
		  "    trainyard run --package trainer --module trainer.task -- --epochs=3\n"
		  "    trainyard run --image-build . -- --epochs=3\n"
		  "\n"
		  "A package is installed and run in IMAGE; without IMAGE in trainyard-runtime, which\n"
		  "deploy/runtime/build makes, or with --api ml in the image of runtime version 2.11.\n"
		  "--image-build uses the engine of this machine, and names the image IMAGE, or else after the\n"
		  "directory.\n"
		  "\n"
		  "Exit codes: 0 succeeded, 1 failed, 4 cancelled, 125 the job was refused.\n",
	  .options = OPTIONS(
		  { .name = "workers",
		    .hint = "N",
		    .synonyms = "replicas",
		    .help = "number of workers beside the first replica" },
		  { .name = "ps", .hint = "N", .help = "number of parameter servers" },
		  { .name = "package",
		    .hint = "DIR",
		    .help = "run the Python package in DIR; if it has a setup.py, that packs it" },
		  { .name = "module",
		    .hint = "NAME",
		    .help = "the module to run (default: the package's task, else its __main__)" },
		  { .name = "image-build",
		    .hint = "DIR",
		    .help = "build the image of DIR, which has a Dockerfile, and run it" },
		  { .name = "machine",
		    .hint = "TYPE",
		    .help = "the machine of each replica (default n1-standard-4, or what the GPU needs)" },
		  { .name = "gpu",
		    .hint = "TYPE:COUNT",
		    .help = "GPUs of each replica but parameter servers: T4:1, A100, NVIDIA_L4:2" },
		  { .name = "api",
		    .hint = "NAME",
		    .values = run_apis,
		    .help = "vertex: a custom job (default); ml: a job of AI Platform Training" },
		  { .name = "env",
		    .letter = 'e',
		    .hint = "NAME=VALUE",
		    .repeats = true,
		    .help = "a variable of the program; NAME alone: with the value that it has here" },
		  { .name = "gs",
		    .hint = "gs://PREFIX",
		    .help = "where the program writes: it gets AIP_MODEL_DIR and the like, or --job-dir" },
		  { .name = "name",
		    .hint = "NAME",
		    .help = "the job's name (default: made of the image and the time)" },
		  SUBMIT_OPTIONS),
	  .calls = true,
	  .most = 1,
	  .command = true,
	  .run = run_main },
	{ .name = "submit",
	  .words = "[FILE]",
	  .most = 1,
	  .summary = "submit a job that a file describes",
	  .detail =
		  "FILE is YAML or JSON, - for stdin: what gcloud takes as --config of training jobs, custom jobs and\n"
		  "tuning jobs, or a whole job or pipeline as its API has it. What gcloud takes from flags has defaults:\n"
		  "a name made of the file's and the time, region us-central1, one trial. Then it goes on\n"
		  "as `trainyard run`.\n"
		  "\n"
		  "    trainyard submit job.yaml\n"
		  "    trainyard submit job.yaml --plan\n"
		  "\n"
		  "Exit codes: 0 succeeded, 1 failed, 4 cancelled, 125 the job was refused.\n",
	  .options = OPTIONS(
		  { .name = "file", .letter = 'f', .hint = "FILE", .help = "the same as FILE without -f" },
		  { .name = "plan",
		    .help = "print what would run, and what the cloud would do otherwise; submit nothing" },
		  { .name = "name",
		    .hint = "NAME",
		    .help = "the job's name, in place of the file's" },
		  SUBMIT_OPTIONS),
	  .calls = true,
	  .run = submit_main },
	{ .name = "jobs",
	  .words = "",
	  .synonyms = "ps list get top",
	  .summary = "list jobs of all APIs and locations",
	  .detail =
		  "Lists the jobs that have not ended and the 20 newest that have, with why they wait or failed.\n"
		  "Of each id the beginning is shown, by which other commands find the job as well.\n",
	  .options = OPTIONS(
		  { .name = "all", .letter = 'a', .help = "every job" },
		  { .name = "state",
		    .hint = "STATE",
		    .repeats = true,
		    .values = job_states,
		    .help = "only jobs in this state, such as RUNNING" },
		  { .name = "label",
		    .letter = 'l',
		    .hint = "KEY=VALUE",
		    .repeats = true,
		    .help = "only jobs with this label" },
		  { .name = "filter",
		    .hint = "TERMS",
		    .help = "only jobs that fit, such as 'family=customJobs AND location=us-central1'" },
		  PROJECT_OPTION, { .name = "watch", .letter = 'w', .help = "show changes as they come" }),
	  .calls = true,
	  .lists = true,
	  .run = jobs_main },
	{ .name = "describe",
	  .words = "JOB",
	  .synonyms = "inspect",
	  .names_jobs = true,
	  .summary = "tell all about a job",
	  .detail =
		  "Its state and why, its times, a timeline of all that became of it, how its replicas ended and what\n"
		  "they were given, and what the cloud would do otherwise.\n"
		  "\n" JOB_WORDS_DETAIL,
	  .options = OPTIONS(PROJECT_OPTION),
	  .calls = true,
	  .lists = true,
	  .least = 1,
	  .most = 1,
	  .run = describe_main },
	{ .name = "why",
	  .words = "JOB",
	  .names_jobs = true,
	  .summary = "tell why a job waits or failed",
	  .detail =
		  "Its state, the cause, the replica by which it failed with the last lines of that, and what to do.\n"
		  "\n" JOB_WORDS_DETAIL,
	  .options = OPTIONS(PROJECT_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = 1,
	  .run = why_main },
	{ .name = "logs",
	  .words = "JOB",
	  .synonyms = "attach",
	  .names_jobs = true,
	  .summary = "print a job's log, or follow it",
	  .detail =
		  "Lines of replicas go to stdout, with the replica's name where a job has several; lines of the\n"
		  "service go to stderr. With -f new lines follow until the job has ended, also over a restart of the\n"
		  "daemon; Ctrl-C leaves the job running.\n"
		  "\n" JOB_WORDS_DETAIL,
	  .options = OPTIONS(
		  { .name = "follow", .letter = 'f', .help = "go on with new lines until the job ends" },
		  { .name = "replica",
		    .letter = 'r',
		    .hint = "NAME",
		    .repeats = true,
		    .help = "only lines of this replica: worker-1, workerpool0-0, service" },
		  { .name = "trial", .hint = "N", .help = "only lines of this trial of a tuning job" },
		  { .name = "severity",
		    .hint = "NAME",
		    .values = log_severities,
		    .help = "only lines as severe, or more: INFO, WARNING, ERROR" },
		  { .name = "grep",
		    .hint = "REGEX",
		    .help = "only lines that match an extended regular expression" },
		  { .name = "since",
		    .hint = "TIME",
		    .help = "only lines since 10m, 2h, or a time as 2026-11-26T08:00:00Z" },
		  { .name = "tail",
		    .letter = 'n',
		    .hint = "N",
		    .help = "at most N of the lines that are there, the last ones" },
		  { .name = "timestamps",
		    .letter = 't',
		    .help = "print when each line was written, in local time" },
		  { .name = "output",
		    .letter = 'o',
		    .hint = "FORMAT",
		    .values = log_outputs,
		    .help = "print text, or one JSON object for each line, those of the service too" },
		  PROJECT_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = 1,
	  .run = logs_main },
	{ .name = "wait",
	  .words = "JOB...",
	  .names_jobs = true,
	  .summary = "wait until jobs end, or are in a state",
	  .detail = "A daemon that restarts is waited for, up to a minute.\n"
		    "Exit codes: 0 all succeeded, 1 one failed, 4 one was cancelled, 124 it took too long.\n"
		    "\n" JOB_WORDS_DETAIL,
	  .options = OPTIONS({ .name = "for",
			       .hint = "STATE",
			       .values = job_states,
			       .help = "wait until they are in this state, or past it: RUNNING" },
			     { .name = "timeout",
			       .hint = "TIME",
			       .help = "how long at most: 90s, 15m, 2h; 0 only looks (default: for ever)" },
			     PROJECT_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = VERB_WORDS_MAX,
	  .run = wait_main },
	{ .name = "rerun",
	  .words = "JOB [-- ARGUMENT...]",
	  .names_jobs = true,
	  .summary = "run a job once more, with changes",
	  .detail =
		  "Submits a job as JOB was, under a new name, with what is given here in the place of its image and\n"
		  "arguments; then it goes on as `trainyard run`.\n"
		  "\n" JOB_WORDS_DETAIL,
	  .options =
		  OPTIONS({ .name = "image", .hint = "IMAGE", .help = "the image of each pool of replicas" },
			  { .name = "name", .hint = "NAME", .help = "the name of the new job" },
			  PROJECT_OPTION, DETACH_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = 1,
	  .command = true,
	  .run = rerun_main },
	{ .name = "cancel",
	  .words = "JOB...",
	  .synonyms = "kill",
	  .names_jobs = true,
	  .summary = "end jobs",
	  .detail = "Returns when the daemon has stored the request; `trainyard wait` waits for the end.\n"
		    "\n" JOB_WORDS_DETAIL,
	  .options = OPTIONS(PROJECT_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = VERB_WORDS_MAX,
	  .run = cancel_main },
	{ .name = "delete",
	  .words = "JOB...",
	  .names_jobs = true,
	  .summary = "delete jobs of Vertex AI that have ended",
	  .detail = JOB_WORDS_DETAIL,
	  .options = OPTIONS(PROJECT_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = VERB_WORDS_MAX,
	  .run = delete_main },
	{ .name = "shell",
	  .words = "JOB[/REPLICA] [-- COMMAND...]",
	  .names_jobs = true,
	  .summary = "run a shell, or a command, in a replica",
	  .detail =
		  "Runs COMMAND, or bash or sh, beside the program of a replica: worker-1 or workerpool0-0; without\n"
		  "one, the first. On a terminal it has a terminal of the same size; else stdin, stdout and stderr go\n"
		  "through pipes. The exit code is the command's; 125: it did not start. Of a tuning job --trial names\n"
		  "the trial of the replica.\n"
		  "\n"
		  "    trainyard shell my_job\n"
		  "    trainyard shell my_job/worker-1 -- nvidia-smi\n"
		  "    tar c src | trainyard shell my_job -- tar x -C /tmp\n"
		  "\n" JOB_WORDS_DETAIL,
	  .options = OPTIONS({ .name = "trial", .hint = "N", .help = "the trial of a tuning job" },
			     PROJECT_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = 1,
	  .command = true,
	  .run = shell_main },
	{ .name = "study",
	  .words = "JOB",
	  .names_jobs = true,
	  .summary = "show the search of a tuning job",
	  .detail =
		  "Its goal, the best trial so far, a plot of measured values and of the model's beliefs, and the\n"
		  "trials with their parameters. With --watch it is drawn anew until the job ends, and the exit code\n"
		  "is that of `trainyard wait`.\n"
		  "\n" JOB_WORDS_DETAIL,
	  .options = OPTIONS(
		  { .name = "watch", .letter = 'w', .help = "show changes as they come" },
		  { .name = "all", .letter = 'a', .help = "all trials, not only the newest 20 and the best" },
		  { .name = "csv", .help = "all trials as a table of comma-separated values" },
		  PROJECT_OPTION),
	  .calls = true,
	  .lists = true,
	  .least = 1,
	  .most = 1,
	  .run = study_main },
	{ .name = NULL },
};

const struct verb queue_verbs[] = {
	{ .name = "queue",
	  .words = "",
	  .summary = "show the jobs that wait, and their reasons",
	  .detail =
		  "The jobs that wait, in the order of their turns: the resources each asks for, why it does not start\n"
		  "now, and behind which job; before them, how much of this machine is in use.\n",
	  .calls = true,
	  .lists = true,
	  .run = queue_main },
	{ .name = "gpus",
	  .words = "",
	  .summary = "show which replicas hold the GPUs",
	  .calls = true,
	  .lists = true,
	  .run = gpus_main },
	{ .name = NULL },
};
