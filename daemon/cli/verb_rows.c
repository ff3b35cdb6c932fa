/* SPDX-License-Identifier: Apache-2.0 */
/* daemon/cli/verb_rows.c: the rows of verb.h, except those about jobs. */
#include "daemon/cli/verb_rows.h"
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
#include "daemon/cli/job_list.h"
#include "daemon/cli/requests.h"
#include "daemon/cli/reset.h"
#include "daemon/cli/state.h"
#include "daemon/cli/swarm.h"
#include "daemon/cli/terminal.h"
#include "daemon/cli/ui.h"
#include "daemon/cli/verb.h"
#include "daemon/env.h"
#include "daemon/gcs/gcs_mount.h"
#include "daemon/main.h"
#include "daemon/serve.h"
#include "daemon/swarm_nodes.h"
#include "daemon/version.h"
#include "scheduler/engine/swarm_agent.h"

static int serve_run(struct invocation *invocation)
{
	struct error err AUTO_ERROR = { 0 };

	if (swarm_nodes_add(&invocation->config, &err) == STATUS_OK)
		return serve_main(&invocation->config);
	main_failure(&err);
	return EXIT_NOT_STARTED;
}

static int gcs_mount_run(struct invocation *invocation)
{
	return gcs_mount_main(invocation->words);
}

static int swarm_agent_run(struct invocation *invocation)
{
	return swarm_agent_main(invocation->words);
}

static int version_run(struct invocation *invocation)
{
	struct text lines AUTO_TEXT = { 0 }, text AUTO_TEXT = { 0 };

	(void)invocation;
	version_write(&lines);
	text_wrap(&text, lines.data, 0);
	text_putc(&text, '\n');
	return main_output(&text);
}

static int completion_run(struct invocation *invocation)
{
	struct text text AUTO_TEXT = { 0 };

	completion_write(&text, invocation->words[0]);
	return main_output(&text);
}

#define RECURSIVE_OPTION                                                                                     \
	{                                                                                                    \
		.name = "recursive", .letter = 'r', .help = "with the contents of directories"               \
	}

static const struct verb daemon_verbs[] = {
	{ .name = "exec",
	  .words = "-- COMMAND...",
	  .summary = "run a command beside a daemon of its own",
	  .detail =
		  "Starts a daemon for COMMAND alone, with free ports and a state directory that goes with it, and\n"
		  "sets what `trainyard env` prints in the command's environment.\n"
		  "When the command ends, its jobs are stopped and nothing is left in the engine.\n"
		  "The exit code is the command's; 125: the daemon or the command did not start; 1 in the place of 0:\n"
		  "something of the daemon is left.\n"
		  "\n"
		  "    trainyard exec -- pytest\n"
		  "    trainyard exec --gpus 2 --state-dir ./state -- python submit.py\n"
		  "\n"
		  "A --state-dir that is named stays, with its jobs, logs and objects. --listen, --grpc and --state-dir\n"
		  "count on the command line alone: in the environment and the configuration file they are for the\n"
		  "user's own daemon. By default the log has warnings only.\n",
	  .options = OPTIONS(
		  { .name = "start-timeout",
		    .hint = "TIME",
		    .help = "how long the daemon may take to serve: 30s, 5m (default 2m)" },
		  { .name = "import",
		    .hint = "DIR",
		    .help = "begin with the state in DIR, which trainyard export has made" },
		  { .name = "export",
		    .hint = "DIR",
		    .help = "once the command has ended and the jobs are stopped, copy the state to DIR" }),
	  .command = true,
	  .config = CONFIG_SERVE,
	  .config_first = exec_config,
	  .config_defaults = (const char *const[]){ "--log-level=warning", NULL },
	  .logs = true,
	  .run = exec_main },
	{ .name = "start",
	  .words = "",
	  .synonyms = "up",
	  .summary = "start the daemon in the background",
	  .detail =
		  "Returns when the daemon serves. It takes the options of `trainyard serve`; its log is daemon.log in\n"
		  "the state directory. If one runs already, or another `start` has just begun one, it says so.\n"
		  "Exit codes: 0 it serves, 2 wrong usage or configuration, 125 it did not start.\n",
	  .config = CONFIG_SERVE,
	  .run = start_main },
	{ .name = "stop",
	  .words = "",
	  .synonyms = "down",
	  .summary = "end the daemon of the state directory",
	  .detail =
		  "Running jobs go on, and the next start takes them up, unless the daemon was started with --stop-jobs.\n",
	  .config = CONFIG_STOP,
	  .run = stop_main },
	{ .name = "status",
	  .words = "",
	  .synonyms = "info",
	  .summary = "tell whether a daemon serves, and how it is",
	  .options = OPTIONS({ .name = "wait", .help = "wait until it serves and reaches its engine" },
			     { .name = "timeout",
			       .hint = "TIME",
			       .help = "how long at most: 30s, 2m; 0 only looks (default 60s); then exit 124" }),
	  .detail =
		  "Exit codes: 0 it serves, 1 another program answers or the token is wrong, 3 no daemon answers,\n"
		  "124 it took longer than --timeout.\n",
	  .calls = true,
	  .lists = true,
	  .run = status_main },
	{ .name = "ui",
	  .words = "[JOB]",
	  .names_jobs = true,
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
	{ .name = "serve",
	  .words = "",
	  .summary = "serve the emulated APIs on this machine",
	  .detail =
		  "Serves the emulated APIs until SIGTERM or SIGINT. Each option is also a variable in the\n"
		  "environment (--stop-grace is TRAINYARD_STOP_GRACE) and a line of the configuration file.\n",
	  .config = CONFIG_SERVE,
	  .logs = true,
	  .run = serve_run },
	{ .name = NULL },
};

static const struct verb storage_verbs[] = {
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
			    .help = "the buckets' project (default $CLOUDSDK_CORE_PROJECT, else local-project)" }),
	  .calls = true,
	  .lists = true,
	  .most = VERB_WORDS_MAX,
	  .run = ls_main },
	{ .name = "cat",
	  .words = "gs://BUCKET/OBJECT...",
	  .summary = "print objects",
	  .detail = "Prints them one after the other, as `trainyard cp gs://BUCKET/OBJECT -` prints one.\n",
	  .calls = true,
	  .least = 1,
	  .most = VERB_WORDS_MAX,
	  .run = cat_main },
	{ .name = "rm",
	  .words = "gs://BUCKET/OBJECT...",
	  .summary = "delete objects and buckets",
	  .detail = "It does not ask before. A directory, a bucket and gs://BUCKET/** need -r.\n",
	  .options = OPTIONS(RECURSIVE_OPTION),
	  .calls = true,
	  .least = 1,
	  .most = VERB_WORDS_MAX,
	  .run = rm_main },
	{ .name = NULL },
};

static const struct verb test_verbs[] = {
	{ .name = "fault",
	  .words = "[add KIND [MEMBER=VALUE]... | ls | rm ID... | rm all]",
	  .word_values = (const char *const[]){ "add", "ls", "rm", NULL },
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
	  .word_values = (const char *const[]){ "advance", NULL },
	  .summary = "tell the daemon's time, or put it forward",
	  .detail =
		  "A clock can be put forward where the daemon was started with --clock steppable, and never goes back.\n"
		  "\n"
		  "    trainyard clock advance 7d\n",
	  .calls = true,
	  .lists = true,
	  .most = 2,
	  .run = clock_main },
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
	{ .name = "export",
	  .words = "DIR",
	  .summary = "copy the whole state of the daemon to a folder",
	  .detail =
		  "Makes DIR with all jobs, their logs, searches and trials, faults, and objects, as they are now; the\n"
		  "daemon and its jobs go on. Tokens and keys are not part of it, but environments of jobs are: DIR is\n"
		  "for its owner alone. The daemon may be on another machine.\n"
		  "\n"
		  "    trainyard export before-the-demo\n"
		  "    trainyard import before-the-demo\n",
	  .calls = true,
	  .least = 1,
	  .most = 1,
	  .run = export_main },
	{ .name = "import",
	  .words = "DIR",
	  .summary = "put an exported state in the place of the daemon's",
	  .detail =
		  "Puts what `trainyard export` has written to DIR in the place of all jobs, logs, objects and faults.\n"
		  "It is checked as a whole before: what is damaged, or of a later release, is refused and changes nothing.\n"
		  "Jobs of this daemon must have ended. The daemon closes for a moment and opens again at the same\n"
		  "address. Jobs that had not ended in DIR begin again, as after a loss of their machines. On a terminal\n"
		  "it asks before; elsewhere a daemon that has jobs or objects needs --yes.\n"
		  "\n"
		  "Exit codes: 0 the state is there, 1 it was refused, 124 the daemon did not come back.\n",
	  .options = OPTIONS({ .name = "yes", .letter = 'y', .help = "do not ask" }),
	  .calls = true,
	  .least = 1,
	  .most = 1,
	  .run = import_main },
	{ .name = NULL },
};

static const struct verb machine_verbs[] = {
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
			     { .name = "unset", .help = "unset the variables" }),
	  .config = CONFIG_ENV,
	  .run = env_main },
	{ .name = "clean",
	  .words = "",
	  .summary = "remove what an instance has left in the engine",
	  .detail =
		  "Removes what an instance has left, once its daemon does not come back: its containers, killed\n"
		  "when they run, its networks and its marker in the engine, its /gcs, and what trials' programs wrote for it.\n"
		  "Prints one line for each. Nothing of other instances is touched. The state directory itself\n"
		  "stays, with jobs, logs and objects: the next serve on it starts jobs again that ran. Refused\n"
		  "while a daemon of the instance runs, or a process of any user holds its name.\n"
		  "\n"
		  "Exit codes: 0 nothing is left, 1 something is, it was refused or there is no such instance, 2 wrong usage.\n",
	  .options = OPTIONS(
		  { .name = "instance",
		    .hint = "NAME",
		    .help = "the instance to clean, where its state directory is lost (default: that of --state-dir)" },
		  { .name = "list", .help = "print the instances of which the engine has something, and end" },
		  { .name = "dry-run", .help = "print what would be removed, and remove nothing" },
		  { .name = "force",
		    .help = "go on although a process holds the instance's name: for one that is not its "
			    "daemon" }),
	  .config = CONFIG_CLEAN,
	  .run = clean_main },
	{ .name = "swarm",
	  .words = "up|down|status",
	  .word_values = (const char *const[]){ "up", "down", "status", NULL },
	  .summary = "make and show the agents of a Docker Swarm's nodes",
	  .detail =
		  "`swarm up` starts an agent on each node: a service of this program's own image, by which a daemon reaches\n"
		  "the node's engine. --engine is a manager of the swarm. The image goes to the engines of --engine and\n"
		  "--node; any other node needs it before (`docker load`). `swarm up` may be repeated.\n"
		  "\n"
		  "`swarm down` removes the agents, their network and keys, and the image from the same engines.\n"
		  "\n"
		  "`swarm status` shows for each node its state, agent, CPUs, memory, GPUs (generic resources with GPU in\n"
		  "their name) and how many of them are held, replicas of jobs, address and labels.\n"
		  "\n"
		  "    trainyard swarm up --node gpu1=ssh://me@gpu1.example\n"
		  "    trainyard swarm status --engine ssh://me@manager.example\n"
		  "\n"
		  "Exit codes of up: 0 all nodes that are not down have an agent that answers, 1 one has not.\n",
	  .options = OPTIONS({ .name = "unencrypted",
			       .help = "up: do not encrypt the network of the agents (ESP); the agents still "
				       "use TLS" },
			     { .name = "image",
			       .hint = "NAME",
			       .help = "up: an image of trainyard that all nodes have or pull, instead of this program's own" },
			     { .name = "socket",
			       .hint = "PATH",
			       .help = "up: where the nodes' engines listen (default /var/run/docker.sock)" },
			     { .name = "timeout",
			       .hint = "TIME",
			       .help = "up: how long agents may take to start: 30s, 2m (default 60s)" }),
	  .lists = true,
	  .least = 1,
	  .most = 1,
	  .config = CONFIG_CLEAN,
	  .run = swarm_main },
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
	{ .name = "job-names", .words = "", .calls = true, .run = job_names_main },
	{ .name = "swarm-agent", .words = "", .most = 1, .run = swarm_agent_run },
	{ .name = "gcs-mount", .words = "", .least = 3, .most = 3, .run = gcs_mount_run },
	{ .name = NULL },
};

const struct verb_group verb_groups[] = {
	{ "The daemon", daemon_verbs },
	{ "Jobs", job_verbs },
	{ "Queue", queue_verbs },
	{ "Cloud Storage", storage_verbs },
	{ "Tests and state", test_verbs },
	{ "This machine", machine_verbs },
	{ .title = NULL },
};
