/* SPDX-License-Identifier: Apache-2.0 */
/* trainer.c: learns to read handwritten digits, on one machine or many: flags and the three roles.
 *
 *   ps       holds parameters, applies gradients, serves until it is killed
 *   worker   computes gradients on its share of the training data, then ends
 *   master   the same, and measures, reports and writes the model: its end is the job's end
 *
 * Which role this process has, and where the others are, is in the environment: CLUSTER_SPEC. */
#include "trainer.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct flags {
	unsigned epochs, batch, augment, hidden, seed, wait_s;
	float learning_rate;
	const char *data_dir, *output_dir, *ignored_dir;
	const char *predict, *model;
	bool print_model;
};

static const char usage[] =
	"usage: trainer [FLAG...]                              train, in the role that CLUSTER_SPEC names\n"
	"       trainer --predict FILE.csv --model MODEL       classify the rows of a file\n"
	"\n"
	"  --epochs=N           how often to go through the data      (20)\n"
	"  --batch=N            images per gradient                   (16)\n"
	"  --augment=N          shifted copies of each image to learn  (0)\n"
	"  --hidden=N           hidden units                          (32)\n"
	"  --learning-rate=X    step size                             (0.2)\n"
	"  --seed=N             of first weights and of the order     (1)\n"
	"  --data-dir=DIR       where digits-*.csv are                (.)\n"
	"  --output-dir=DIR     where the model goes; also --job-dir  (/tmp/model)\n"
	"  --print-model        print the model to stdout as well\n"
	"  --wait=SECONDS       how long a peer may be missing        (60)\n"
	"\n"
	"Values follow after \"=\" or as the next argument. If a flag comes twice, the last one counts.\n";

/* ---- helpers ---------------------------------------------------------------------------------------- */

void die(int status, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char text[1024];
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "%s\n", text); /* one write, so that lines of two threads do not mix */
	exit(status);
}

void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);
	if (!memory)
		die(1, "out of memory");
	return memory;
}

double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

void pause_ms(unsigned ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l }, NULL);
}

/* Prints a structured log entry: a line of JSON. Cloud Logging makes its member "severity" the entry's
 * severity. Takes over @entry. */
static void print_entry(json_t *entry)
{
	char *line = entry ? json_dumps(entry, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
	if (!line)
		die(1, "out of memory");
	puts(line);
	free(line);
	json_decref(entry);
}

/* ---- flags ------------------------------------------------------------------------------------------ */

static unsigned to_count(const char *flag, const char *text, unsigned min, unsigned max)
{
	char *end;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < min || value > max)
		die(2, "--%s=%s: must be a number from %u to %u", flag, text, min, max);
	return value;
}

static float to_rate(const char *flag, const char *text)
{
	char *end;
	float value = strtof(text, &end);
	if (end == text || *end || !(value > 0) || value > 1000)
		die(2, "--%s=%s: must be a number above 0", flag, text);
	return value;
}

static void set_output_dir(struct flags *flags, const char *dir)
{
	if (strncmp(dir, "gs://", 5) == 0)
		flags->ignored_dir = dir;
	else
		flags->output_dir = dir;
}

static void flags_init(struct flags *flags, int argc, char **argv)
{
	/* clang-format off */
	*flags = (struct flags){ .epochs = 20, .batch = 16, .hidden = 32, .seed = 1, .wait_s = 60,
		.learning_rate = 0.2f, .data_dir = ".", .output_dir = "/tmp/model" };
	static const struct option options[] = {
		{ "augment",       required_argument, NULL, 'a' },
		{ "batch",         required_argument, NULL, 'b' },
		{ "data-dir",      required_argument, NULL, 'd' },
		{ "epochs",        required_argument, NULL, 'e' },
		{ "help",          no_argument,       NULL, 'H' },
		{ "hidden",        required_argument, NULL, 'h' },
		{ "job-dir",       required_argument, NULL, 'o' },
		{ "learning-rate", required_argument, NULL, 'r' },
		{ "model",         required_argument, NULL, 'm' },
		{ "output-dir",    required_argument, NULL, 'o' },
		{ "predict",       required_argument, NULL, 'p' },
		{ "print-model",   no_argument,       NULL, 'P' },
		{ "seed",          required_argument, NULL, 's' },
		{ "wait",          required_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 },
	};
	int letter, which = 0;
	while ((letter = getopt_long(argc, argv, "", options, &which)) != -1) {
		const char *name = options[which].name;
		switch (letter) {
		case 'a': flags->augment = to_count(name, optarg, 0, 1000); break;
		case 'b': flags->batch = to_count(name, optarg, 1, 10000); break;
		case 'd': flags->data_dir = optarg; break;
		case 'e': flags->epochs = to_count(name, optarg, 1, 100000); break;
		case 'h': flags->hidden = to_count(name, optarg, 1, MAX_HIDDEN); break;
		case 'H': exit(fputs(usage, stdout) < 0);
		case 'm': flags->model = optarg; break;
		case 'o': set_output_dir(flags, optarg); break;
		case 'p': flags->predict = optarg; break;
		case 'P': flags->print_model = true; break;
		case 'r': flags->learning_rate = to_rate(name, optarg); break;
		case 's': flags->seed = to_count(name, optarg, 0, UINT32_MAX); break;
		case 'w': flags->wait_s = to_count(name, optarg, 0, 86400); break;
		default: die(2, "see --help");
		}
		/* clang-format on */
	}
	if (optind < argc)
		die(2, "%s: there are no arguments besides flags", argv[optind]);
	if (!flags->predict != !flags->model)
		die(2, "--predict and --model need each other");
}

static struct image *read_data(const struct flags *flags, const char *name, size_t *ret_count)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", flags->data_dir, name);
	return images_read(path, ret_count);
}

/* ---- training: what master and workers have in common ------------------------------------------------ */

struct training {
	const struct flags *flags;
	struct parameters parameters;
	struct image *images; /* this trainer's share */
	size_t count;
	float *model, *gradient;
	float step; /* shrinks from 1 towards 0, so that training comes to rest */
	uint64_t random;
};

static void training_init(struct training *t, const struct flags *flags, const struct cluster *cluster,
			  struct shard *local, double deadline_s)
{
	memset(t, 0, sizeof(*t));
	t->flags = flags;
	t->random = flags->seed + ((uint64_t)cluster_trainer_index(cluster) << 32);

	size_t total;
	t->images = read_data(flags, "digits-train.csv", &total);
	for (size_t i = cluster_trainer_index(cluster); i < total; i += cluster_trainer_count(cluster))
		t->images[t->count++] = t->images[i];
	if (t->count == 0)
		die(1, "more trainers than images");
	printf("%s %u: trains on %zu of %zu images\n", role_names[cluster->role], cluster->index, t->count,
	       total);

	t->model = model_new(flags->hidden, &t->random);
	t->gradient = allocate(model_size(flags->hidden), sizeof(float));
	parameters_open(&t->parameters, cluster, local, model_size(flags->hidden), deadline_s);
}

static void training_deinit(struct training *t)
{
	parameters_close(&t->parameters);
	free(t->images);
	free(t->model);
	free(t->gradient);
}

static void shuffle(struct training *t)
{
	for (size_t left = t->count; left > 1; left--) {
		size_t pick = random_next(&t->random) % left;
		struct image image = t->images[pick];
		t->images[pick] = t->images[left - 1];
		t->images[left - 1] = image;
	}
}

/* One gradient from the images at @start, and one step. Returns the sum of their losses. */
static double train_batch(struct training *t, size_t start, size_t batch, bool shift)
{
	double loss = 0;
	memset(t->gradient, 0, model_size(t->flags->hidden) * sizeof(float));
	for (size_t i = start; i < start + batch; i++) {
		struct image image = shift ? image_shifted(&t->images[i], &t->random) : t->images[i];
		loss += model_gradient(t->model, t->flags->hidden, &image, t->step / batch, t->gradient);
	}
	parameters_step(&t->parameters, t->gradient, t->model);
	return loss;
}

/* Goes once through the share and its shifted copies. Returns the mean loss, each image's measured just
 * before it was learnt. */
static double train_epoch(struct training *t, unsigned epoch)
{
	double loss = 0;
	t->step = 1.0f - (epoch - 1.0f) / t->flags->epochs;
	for (unsigned copy = 0; copy <= t->flags->augment; copy++) {
		shuffle(t);
		for (size_t start = 0; start < t->count; start += t->flags->batch) {
			size_t left = t->count - start;
			loss += train_batch(t, start, left < t->flags->batch ? left : t->flags->batch,
					    copy > 0);
		}
	}
	return loss / t->count / (1 + t->flags->augment);
}

/* ---- the roles ---------------------------------------------------------------------------------------- */

static int run_ps(const struct flags *flags, const struct cluster *cluster)
{
	shard_serve(shard_new(cluster, flags->learning_rate));
	return 0;
}

static int run_worker(const struct flags *flags, const struct cluster *cluster)
{
	struct training t;
	training_init(&t, flags, cluster, NULL, now_s() + flags->wait_s);
	parameters_pull(&t.parameters, t.model);
	printf("worker %u: has the first parameters\n", cluster->index);
	double loss = 0;
	for (unsigned epoch = 1; epoch <= flags->epochs; epoch++)
		loss = train_epoch(&t, epoch);
	printf("worker %u: done after %u epochs, loss %.4f\n", cluster->index, flags->epochs, loss);
	training_deinit(&t);
	return 0;
}

/* True if a worker still has to be waited for. Ends the process if a worker vanished before its share was
 * done. */
static bool must_wait(const struct cluster *cluster, const uint32_t *attendance, bool for_absent)
{
	bool wait = false;
	for (unsigned i = 0; i < cluster->count[ROLE_WORKER]; i++) {
		if (attendance[i] == WORKER_LOST)
			die(1, "worker %u (%s) vanished before its share was done", i,
			    cluster->addresses[ROLE_WORKER][i]);
		wait |= attendance[i] == WORKER_TRAINING || (for_absent && attendance[i] == WORKER_ABSENT);
	}
	return wait;
}

/* The end of the master ends the job, and kills workers that still run: so see the workers off first. */
static void wait_for_workers(struct training *t, const struct cluster *cluster, double deadline_s)
{
	uint32_t attendance[MAX_TASKS];
	parameters_roll(&t->parameters, attendance);
	while (must_wait(cluster, attendance, now_s() < deadline_s)) {
		pause_ms(20);
		parameters_roll(&t->parameters, attendance);
	}
	for (unsigned i = 0; i < cluster->count[ROLE_WORKER]; i++) {
		if (attendance[i] == WORKER_ABSENT)
			print_entry(json_pack("{ss ss si}", "severity", "WARNING", "message",
					      "a worker never came: its share of the data was not learnt",
					      "worker", i));
	}
}

static void make_dirs(const char *path)
{
	char part[4096];
	if ((size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part))
		die(1, "%s: too long", path);
	for (char *end = part + 1; *end; end++) {
		if (*end != '/')
			continue;
		*end = '\0';
		mkdir(part, 0777);
		*end = '/';
	}
	if (mkdir(part, 0777) && errno != EEXIST)
		die(1, "%s: %s", path, strerror(errno));
}

static void write_model(const struct flags *flags, const float *model)
{
	size_t count;
	unsigned char *bytes = model_to_bytes(model, flags->hidden, &count);
	char path[4200];
	make_dirs(flags->output_dir);
	snprintf(path, sizeof(path), "%s/model.bin", flags->output_dir);
	bytes_write(path, bytes, count);
	printf("model written: %s, %zu bytes, cksum %u\n", path, count, bytes_checksum(bytes, count));
	if (flags->print_model)
		bytes_print_base64(bytes, count);
	free(bytes);
}

static double accuracy(struct score score)
{
	return (double)score.right / score.count;
}

/* Trains and reports. Returns the loss of the last epoch. */
static double train_and_report(struct training *t, const struct image *test, size_t test_count)
{
	double start_s = now_s(), loss = 0;
	for (unsigned epoch = 1; epoch <= t->flags->epochs; epoch++) {
		loss = train_epoch(t, epoch);
		struct score score = model_score(t->model, t->flags->hidden, test, test_count);
		printf("epoch %u/%u: loss %.4f, test accuracy %.4f, after %.2f s\n", epoch, t->flags->epochs,
		       loss, accuracy(score), now_s() - start_s);
	}
	return loss;
}

static int run_master(const struct flags *flags, const struct cluster *cluster)
{
	if (flags->ignored_dir)
		print_entry(json_pack(
			"{ss ss ss ss}", "severity", "WARNING", "message",
			"this trainer cannot write to Cloud Storage: the model goes to a local directory",
			"jobDir", flags->ignored_dir, "outputDir", flags->output_dir));
	double deadline_s = now_s() + flags->wait_s;
	static struct shard *local; /* for the life of the process, as the cluster */
	if (cluster_holder_role(cluster) == ROLE_MASTER)
		local = shard_new(cluster, flags->learning_rate);
	if (local && cluster->count[ROLE_WORKER])
		shard_serve_in_background(local);

	size_t test_count;
	struct image *test = read_data(flags, "digits-test.csv", &test_count);
	struct training t;
	training_init(&t, flags, cluster, local, deadline_s);
	parameters_hand_out(&t.parameters, t.model);
	struct score before = model_score(t.model, flags->hidden, t.images, t.count);
	printf("start: loss %.4f, %u parameters, %u trainers, %u parameter servers\n", before.loss,
	       t.parameters.count, cluster_trainer_count(cluster), cluster->count[ROLE_PS]);

	double loss = train_and_report(&t, test, test_count);
	wait_for_workers(&t, cluster, deadline_s);
	parameters_pull(&t.parameters, t.model);
	struct score final = model_score(t.model, flags->hidden, test, test_count);
	write_model(flags, t.model);
	printf("final test accuracy %.4f (%zu of %zu)\n", accuracy(final), final.right, final.count);
	print_entry(json_pack("{ss ss sf sf si}", "severity", "INFO", "message", "training finished",
			      "accuracy", accuracy(final), "loss", isfinite(loss) ? loss : -1.0, "epochs",
			      flags->epochs));
	training_deinit(&t);
	free(test);
	if (!(loss < before.loss)) /* also when it is not a number */
		die(1, "the loss did not fall: %.4f, then %.4f", before.loss, loss);
	return 0;
}

static int run_predict(const struct flags *flags)
{
	unsigned hidden;
	float *model = model_read(flags->model, &hidden);
	size_t count, right = 0;
	struct image *images = images_read(flags->predict, &count);
	for (size_t i = 0; i < count; i++) {
		float odds[DIGITS];
		unsigned digit = model_predict(model, hidden, images[i].pixels, odds);
		right += digit == images[i].digit;
		if (digit != images[i].digit)
			printf("row %zu: a %u, taken for a %u with odds of %.2f\n", i + 1, images[i].digit,
			       digit, odds[digit]);
	}
	printf("accuracy %.4f (%zu of %zu)\n", (double)right / count, right, count);
	free(images);
	free(model);
	return 0;
}

static void end_now(int number)
{
	_exit(128 + number);
}

int main(int argc, char **argv)
{
	/* Without this, lines wait in a buffer until the end when stdout is a pipe, as in a container. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Process 1 of a container ignores the signals that it does not handle: "stop" would take its full
	 * grace time and then kill. */
	signal(SIGTERM, end_now);
	signal(SIGINT, end_now);
	/* The name of a replica that is not up yet may be asked of a far DNS server, which may not answer: ask
	 * for a second rather than for ten, because wire_connect() asks again. */
	setenv("RES_OPTIONS", "timeout:1 attempts:1", 0);

	struct flags flags;
	flags_init(&flags, argc, argv);
	if (flags.predict)
		return run_predict(&flags);

	static int (*const run[ROLE_COUNT])(const struct flags *, const struct cluster *) = {
		[ROLE_MASTER] = run_master,
		[ROLE_WORKER] = run_worker,
		[ROLE_PS] = run_ps,
	};
	static struct cluster cluster; /* for the life of the process: the threads that serve read it */
	cluster_init(&cluster, getenv("CLUSTER_SPEC"));
	int status = run[cluster.role](&flags, &cluster);
	if (fflush(stdout))
		die(1, "stdout: %s", strerror(errno));
	return status;
}
