/* SPDX-License-Identifier: Apache-2.0 */
/* daemon/cli/verb_rows.c: the rows of verb.h. */
#include "daemon/clean.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/background.h"
#include "daemon/cli/cloud_cp.h"
#include "daemon/cli/cloud_ls.h"
#include "daemon/cli/completion.h"
#include "daemon/cli/doctor.h"
#include "daemon/cli/exec.h"
#include "daemon/cli/fault.h"
#include "daemon/cli/invocation.h"
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
#include "daemon/cli/requests.h"
#include "daemon/cli/reset.h"
#include "daemon/cli/shell.h"
#include "daemon/cli/study.h"
#include "daemon/cli/ui.h"
#include "daemon/cli/verb.h"
#include "daemon/env.h"
#include "daemon/gcs/gcs_mount.h"
#include "daemon/main.h"
#include "daemon/serve.h"
#include "daemon/version.h"

static int serve_run(struct invocation *invocation)
{
	return serve_main(&invocation->config);
}

static int gcs_mount_run(struct invocation *invocation)
{
	return gcs_mount_main(invocation->words);
}

static int version_run(struct invocation *invocation)
{
	struct text text AUTO_TEXT = { 0 };

	(void)invocation;
	version_write(&text);
	return main_output(&text);
}

static int completion_run(struct invocation *invocation)
{
	struct text text AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };

	if (completion_write(&text, invocation->words[0], &err))
		return main_usage_error("completion ", &err);
	return main_output(&text);
}

#define OPTIONS(...)                                                                                         \
	(const struct verb_option[])                                                                         \
	{                                                                                                    \
		__VA_ARGS__,                                                                                 \
		{                                                                                            \
			.name = NULL                                                                         \
		}                                                                                            \
	}

#define RECURSIVE_OPTION                                                                                     \
	{                                                                                                    \
		.name = "recursive", .letter = 'r', .help = "with the contents of directories"               \
	}

const struct verb verbs[] = {
	{ .name = "exec",
	  .words = "-- COMMAND...",
	  .summary = "run a command beside a daemon of its own",
	  .detail =
		  "Starts a daemon for COMMAND alone, with free ports and a state directory that goes with it, and\n"
		  "sets what `trainyard env` prints, TRAINYARD_ENDPOINT and TRAINYARD_GRPC_ENDPOINT in the command's\n"
		  "environment. When the command ends, its jobs are stopped and nothing is left in the engine.\n"
		  "The exit code is the command's; 125: the daemon or the command did not start; 1 in the place of 0:\n"
		  "something of the daemon is left.\n"
		  "\n"
		  "    trainyard exec -- pytest\n"
		  "    trainyard exec --gpus 2 --state-dir ./state -- python submit.py\n"
		  "\n"
		  "A --state-dir that is named stays, with its jobs, logs and objects. --listen, --grpc and --state-dir\n"
		  "count on the command line alone: in the environment and the configuration file they are for the\n"
		  "user's own daemon. By default the log has warnings only.\n",
	  .options = OPTIONS({ .name = "start-timeout",
			       .hint = "TIME",
			       .help = "how long the daemon may take to serve: 30s, 5m (default 2m)" }),
	  .command = true,
	  .config = CONFIG_SERVE,
	  .config_first = exec_config,
	  .config_defaults = (const char *const[]){ "--log-level=warning", NULL },
	  .run = exec_main },
	{ .name = "start",
	  .words = "",
	  .summary = "start the daemon in the background",
	  .detail =
		  "Returns when the daemon serves. It takes the options of `trainyard serve`; its log is daemon.log in\n"
		  "the state directory. One that runs already, or that another `start` has just begun, is told of.\n"
		  "Exit codes: 0 it serves, 2 wrong usage or configuration, 125 it did not start.\n",
	  .config = CONFIG_SERVE,
	  .run = start_main },
	{ .name = "stop",
	  .words = "",
	  .summary = "end the daemon of the state directory",
	  .detail =
		  "Running jobs go on, and the next start takes them up, unless the daemon was started with --stop-jobs.\n",
	  .config = CONFIG_STOP,
	  .run = stop_main },
	{ .name = "status",
	  .words = "",
	  .summary = "tell whether a daemon serves, and how it is",
	  .options = OPTIONS({ .name = "wait", .help = "wait until it serves and reaches its engine" },
			     { .name = "timeout",
			       .hint = "TIME",
			       .help = "how long at most: 30s, 2m (default 60s); then exit 124" }),
	  .detail =
		  "Exit codes: 0 it serves, 1 another program answers or the token is wrong, 3 no daemon answers,\n"
		  "124 it took longer than --timeout.\n",
	  .calls = true,
	  .lists = true,
	  .run = status_main },
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
		  "A package is installed and run in IMAGE: trainyard-runtime, unless another is named, which\n"
		  "deploy/runtime/build makes; with --api ml that of runtime version 2.11. The engine of this machine\n"
		  "builds a directory, as IMAGE or by the directory's name.\n"
		  "\n"
		  "Exit codes: 0 succeeded, 1 failed, 4 cancelled, 125 the job was refused.\n",
	  .options = OPTIONS(
		  { .name = "workers", .hint = "N", .help = "so many workers beside the first replica" },
		  { .name = "ps", .hint = "N", .help = "so many parameter servers" },
		  { .name = "package",
		    .hint = "DIR",
		    .help = "run the Python package in DIR; one with a setup.py is packed as that says" },
		  { .name = "module",
		    .hint = "NAME",
		    .help = "which module of the package (default its task, else its __main__)" },
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
		    .help = "a variable of the program; NAME alone: as it is here" },
		  { .name = "gs",
		    .hint = "gs://PREFIX",
		    .help = "where it writes to: AIP_MODEL_DIR and the like, or --job-dir" },
		  { .name = "name",
		    .hint = "NAME",
		    .help = "what the job is called (default: of the image and the time)" },
		  SUBMIT_OPTIONS),
	  .calls = true,
	  .most = 1,
	  .command = true,
	  .run = run_main },
	{ .name = "submit",
	  .words = "",
	  .summary = "submit a job that a file describes",
	  .detail =
		  "FILE is YAML or JSON, - for stdin: what gcloud takes as --config of training jobs, custom jobs and\n"
		  "tuning jobs, or a whole job or pipeline as its API has it. What gcloud takes from flags has defaults:\n"
		  "a name of the file's and the time, the region, one trial. Then it goes on as `trainyard run`.\n"
		  "\n"
		  "    trainyard submit -f job.yaml\n"
		  "    trainyard submit -f job.yaml --plan\n"
		  "\n"
		  "Exit codes: 0 succeeded, 1 failed, 4 cancelled, 125 the job was refused.\n",
	  .options = OPTIONS(
		  { .name = "file", .letter = 'f', .hint = "FILE", .help = "the job" },
		  { .name = "plan",
		    .help = "print what would run, and what the cloud would do otherwise; submit nothing" },
		  { .name = "name",
		    .hint = "NAME",
		    .help = "what the job is called, whatever the file says" },
		  SUBMIT_OPTIONS),
	  .calls = true,
	  .run = submit_main },
	{ .name = "jobs",
	  .words = "",
	  .summary = "list jobs of all APIs and locations",
	  .detail =
		  "Lists the jobs that have not ended and the 20 newest that have, with why they wait or failed.\n"
		  "An id is shown by its beginning, which names the job in other commands as well.\n",
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
		    .help = "only lines that fit an extended regular expression" },
		  { .name = "since",
		    .hint = "TIME",
		    .help = "only lines since 10m, 2h, or a time as 2026-11-26T08:00:00Z" },
		  { .name = "tail",
		    .letter = 'n',
		    .hint = "N",
		    .help = "at most so many of the lines that are there" },
		  { .name = "timestamps",
		    .letter = 't',
		    .help = "when each line was written, in local time" },
		  PROJECT_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = 1,
	  .run = logs_main },
	{ .name = "wait",
	  .words = "JOB...",
	  .summary = "wait until jobs end, or are in a state",
	  .detail = "Exit codes: 0 all succeeded, 1 one failed, 4 one was cancelled, 124 it took too long.\n"
		    "\n" JOB_WORDS_DETAIL,
	  .options = OPTIONS({ .name = "for",
			       .hint = "STATE",
			       .values = job_states,
			       .help = "until they are in this state, or past it: RUNNING" },
			     { .name = "timeout",
			       .hint = "TIME",
			       .help = "how long at most: 90s, 15m, 2h (default: for ever)" },
			     PROJECT_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = VERB_WORDS_MAX,
	  .run = wait_main },
	{ .name = "rerun",
	  .words = "JOB [-- ARGUMENT...]",
	  .summary = "run a job once more, with changes",
	  .detail =
		  "Submits a job as JOB was, under a new name, with what is given here in the place of its image and\n"
		  "arguments; then it goes on as `trainyard run`.\n"
		  "\n" JOB_WORDS_DETAIL,
	  .options =
		  OPTIONS({ .name = "image", .hint = "IMAGE", .help = "the image of each pool of replicas" },
			  { .name = "name", .hint = "NAME", .help = "what the new job is called" },
			  PROJECT_OPTION, DETACH_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = 1,
	  .command = true,
	  .run = rerun_main },
	{ .name = "cancel",
	  .words = "JOB...",
	  .summary = "end jobs",
	  .detail = "Returns when the daemon has stored the wish; `trainyard wait` waits for the end.\n"
		    "\n" JOB_WORDS_DETAIL,
	  .options = OPTIONS(PROJECT_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = VERB_WORDS_MAX,
	  .run = cancel_main },
	{ .name = "delete",
	  .words = "JOB...",
	  .summary = "delete jobs of Vertex AI that have ended",
	  .detail = JOB_WORDS_DETAIL,
	  .options = OPTIONS(PROJECT_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = VERB_WORDS_MAX,
	  .run = delete_main },
	{ .name = "shell",
	  .words = "JOB[/REPLICA] [-- COMMAND...]",
	  .summary = "run a shell, or a command, in a replica",
	  .detail =
		  "Runs COMMAND, or bash or sh, beside the program of a replica: worker-1 or workerpool0-0; without\n"
		  "one, the first. On a terminal it has a terminal of the same size; else stdin, stdout and stderr go\n"
		  "through pipes. The exit code is the command's; 125: it did not start. Of a tuning job --trial says\n"
		  "whose replica.\n"
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
	  .summary = "show the search of a tuning job",
	  .detail =
		  "Its goal, the best trial so far, a plot of measured values and of the model's beliefs, and the\n"
		  "trials with their parameters. With --watch it is drawn anew until the job ends, and the exit code\n"
		  "is that of `trainyard wait`.\n"
		  "\n" JOB_WORDS_DETAIL,
	  .options = OPTIONS(
		  { .name = "watch", .letter = 'w', .help = "show changes as they come" },
		  { .name = "all", .letter = 'a', .help = "all trials, and not the newest 20 and the best" },
		  { .name = "csv", .help = "all trials as a table of comma-separated values" },
		  PROJECT_OPTION),
	  .calls = true,
	  .lists = true,
	  .least = 1,
	  .most = 1,
	  .run = study_main },
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
	{ .name = "requests",
	  .words = "",
	  .summary = "show the last requests of clients",
	  .detail =
		  "The last 1000 requests that the daemon answered, the oldest first: when, the HTTP status, how long it\n"
		  "took, the path without its query, the client's name, and why it was refused. Bodies and tokens are\n"
		  "not kept. Requests from inside jobs are not shown.\n"
		  "\n"
		  "    trainyard requests -f --failed\n",
	  .options = OPTIONS({ .name = "follow", .letter = 'f', .help = "go on with new requests" },
			     { .name = "failed", .help = "only those that were refused or failed" },
			     { .name = "tail",
			       .letter = 'n',
			       .hint = "N",
			       .help = "only the last N of those that are there" }),
	  .calls = true,
	  .lists = true,
	  .run = requests_main },
	{ .name = "ui",
	  .words = "[JOB]",
	  .summary = "open the console in the browser",
	  .detail =
		  "Opens the daemon's page, or that of JOB. Where the daemon asks for a token the link brings a ticket,\n"
		  "which is good once and for five minutes. Where there is no browser the link is printed, with the token\n"
		  "in it.\n"
		  "\n" JOB_WORDS_DETAIL,
	  .options = OPTIONS({ .name = "print", .help = "print the link and open nothing" }, PROJECT_OPTION),
	  .calls = true,
	  .most = 1,
	  .run = ui_main },
	{ .name = "reset",
	  .words = "",
	  .summary = "stop all jobs and remove all state",
	  .detail =
		  "Cancels the jobs that run, waits for their ends, and removes all jobs, logs, objects, buckets, models\n"
		  "and faults. The daemon goes on. On a terminal it asks before.\n"
		  "Exit codes: 0 nothing is left, 1 no was answered, 124 jobs did not stop in time.\n",
	  .options = OPTIONS({ .name = "yes", .letter = 'y', .help = "do not ask" },
			     { .name = "timeout",
			       .hint = "TIME",
			       .help = "how long jobs may take to stop (default 5m); then exit 124" }),
	  .calls = true,
	  .run = reset_main },
	{ .name = "cp",
	  .words = "SOURCE... TARGET",
	  .summary = "copy files and objects of Cloud Storage",
	  .detail =
		  "Between files of this machine and gs://BUCKET/OBJECT, both ways, and within Cloud Storage; - is\n"
		  "stdin or stdout. *, ?, [...] and ** (which crosses slashes) stand in names of objects. A target that\n"
		  "ends with / is a directory, and so are a bucket and a directory that is there.\n"
		  "\n"
		  "    trainyard cp -r data gs://my-bucket/\n"
		  "    trainyard cp 'gs://my-bucket/jobs/1/*.json' results/\n"
		  "    trainyard cp gs://my-bucket/model.bin - | sha256sum\n"
		  "\n"
		  "Checksums are compared: a copy that differs is not kept, and the command fails.\n",
	  .options = OPTIONS(RECURSIVE_OPTION),
	  .calls = true,
	  .least = 2,
	  .most = VERB_WORDS_MAX,
	  .run = cp_main },
	{ .name = "ls",
	  .words = "[gs://BUCKET[/OBJECT]]...",
	  .summary = "list buckets and objects",
	  .detail =
		  "Without a name it lists the buckets of the project. *, ?, [...] and ** (which crosses slashes)\n"
		  "stand in names of objects.\n",
	  .options =
		  OPTIONS({ .name = "long", .letter = 'l', .help = "with sizes, times, and their sum" },
			  { .name = "recursive",
			    .letter = 'r',
			    .help = "all objects below a directory or in a bucket" },
			  { .name = "project",
			    .hint = "ID",
			    .help = "whose buckets (default $CLOUDSDK_CORE_PROJECT, else local-project)" }),
	  .calls = true,
	  .lists = true,
	  .most = VERB_WORDS_MAX,
	  .run = ls_main },
	{ .name = "cat",
	  .words = "gs://BUCKET/OBJECT...",
	  .summary = "print objects",
	  .detail = "One behind the other, as `trainyard cp gs://BUCKET/OBJECT -` prints one.\n",
	  .calls = true,
	  .least = 1,
	  .most = VERB_WORDS_MAX,
	  .run = cat_main },
	{ .name = "rm",
	  .words = "gs://BUCKET/OBJECT...",
	  .summary = "delete objects and buckets",
	  .detail = "Asks nothing. A directory, a bucket and gs://BUCKET/** need -r.\n",
	  .options = OPTIONS(RECURSIVE_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = VERB_WORDS_MAX,
	  .run = rm_main },
	{ .name = "fault",
	  .words = "[add KIND [MEMBER=VALUE]... | ls | rm ID... | rm all]",
	  .summary = "order faults, list them and take them back",
	  .detail =
		  "A rule says what happens, to which job or request, and when; its number is printed. Kinds and\n"
		  "members are those of the API: preempt, oom, exit, crash, stop, stockout, imagePull, quota,\n"
		  "httpStatus, timeout, slowNetwork, cutNetwork.\n"
		  "\n"
		  "    trainyard fault add exit job='my_*' role=worker replica=1 exitCode=137\n"
		  "    trainyard fault ls\n"
		  "    trainyard fault rm all\n",
	  .calls = true,
	  .lists = true,
	  .most = VERB_WORDS_MAX,
	  .run = fault_main },
	{ .name = "clock",
	  .words = "[advance TIME]",
	  .summary = "tell the daemon's time, or put it forward",
	  .detail =
		  "A clock can be put forward where the daemon was started with --clock steppable, and never goes back.\n"
		  "\n"
		  "    trainyard clock advance 7d\n",
	  .calls = true,
	  .lists = true,
	  .most = 2,
	  .run = clock_main },
	{ .name = "doctor",
	  .words = "",
	  .summary = "check this machine for all that jobs need",
	  .detail =
		  "Looks at the engine, the port, memory, disk, GPUs, /gcs, and the variables of clients, and says what to\n"
		  "do where something is missing. It changes nothing.\n"
		  "\n"
		  "Exit codes: 0 jobs can run, 1 something is wrong, 2 wrong usage or configuration.\n",
	  .lists = true,
	  .config = CONFIG_CLEAN,
	  .run = doctor_main },
	{ .name = "serve",
	  .words = "",
	  .summary = "serve the emulated APIs on this machine",
	  .detail =
		  "Serves the emulated APIs until SIGTERM or SIGINT. Each option is also a variable in the\n"
		  "environment (--stop-grace is TRAINYARD_STOP_GRACE) and a line of the configuration file.\n",
	  .config = CONFIG_SERVE,
	  .run = serve_run },
	{ .name = "env",
	  .words = "",
	  .summary = "print the shell lines that point clients here",
	  .detail =
		  "Prints the lines that point gcloud and the client libraries at this machine's trainyard:\n"
		  "    eval \"$(trainyard env)\"            sh, bash, zsh\n"
		  "    trainyard env --shell fish | source\n"
		  "    trainyard env --shell github >> \"$GITHUB_ENV\"\n"
		  "\n"
		  "For client libraries it keeps a credentials file in the state directory, once a daemon has run on it\n"
		  "as the same user: its tokens are this emulator's own, and good for nothing else.\n"
		  "With --grpc they are told which certificates to trust when they speak gRPC, or REST at its port.\n",
	  .options = OPTIONS({ .name = "shell",
			       .hint = "NAME",
			       .values = (const char *const[]){ "sh", "fish", "github", NULL },
			       .help = "the form of the lines: sh, fish or github (default sh)" },
			     { .name = "unset", .help = "take the variables away again" }),
	  .config = CONFIG_ENV,
	  .run = env_main },
	{ .name = "clean",
	  .words = "",
	  .summary = "remove what an instance has left in the engine",
	  .detail =
		  "Removes what an instance has left, once its daemon does not come back: its containers, killed\n"
		  "when they run, and its networks in the engine, its /gcs, and what trials' programs wrote for it.\n"
		  "Says one line for each. Others' are not touched. The state directory itself stays, with jobs, logs and\n"
		  "objects: the next serve on it tries jobs that ran again. Refused while a daemon of the instance runs, or\n"
		  "a process of any user holds its name.\n"
		  "\n"
		  "Exit codes: 0 nothing is left, 1 something is, it was refused or there is no such instance, 2 wrong usage.\n",
	  .options = OPTIONS(
		  { .name = "instance",
		    .hint = "NAME",
		    .help = "the instance to clean, where its state directory is lost (default: that of --state-dir)" },
		  { .name = "list", .help = "print the instances that the engine has things of, and end" },
		  { .name = "dry-run", .help = "print what would be removed, and remove nothing" },
		  { .name = "force",
		    .help = "go on although a process holds the instance's name: it is no daemon of it" }),
	  .config = CONFIG_CLEAN,
	  .run = clean_main },
	{ .name = "completion",
	  .words = "SHELL",
	  .word_values = (const char *const[]){ "bash", "zsh", "fish", NULL },
	  .summary = "print the completions of bash, zsh or fish",
	  .detail = "    source <(trainyard completion bash)\n"
		    "    trainyard completion fish | source\n",
	  .least = 1,
	  .most = 1,
	  .run = completion_run },
	{ .name = "version",
	  .words = "",
	  .summary = "print the version of trainyard and of its libraries",
	  .run = version_run },
	{ .name = "gcs-mount", .words = "", .least = 2, .most = 2, .run = gcs_mount_run },
	{ .name = NULL },
};
