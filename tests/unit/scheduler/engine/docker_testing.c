/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/scheduler/engine/docker_testing.h"

const struct rule *rule_find(struct lab *lab, const char *line, bool first)
{
	static const struct rule usual[] = {
		{ "/info", 200, "{\"ServerVersion\":\"9\",\"NCPU\":2,\"MemTotal\":1000}", 0, 0 },
		{ "/events", 200, NULL, 0, 0 },
		{ "/containers/json", 200, "[]", 0, 0 },
		{ "/networks", 200, "[]", 0, 0 },
		{ "/_ping", 200, "OK", 0, 0 },
		{ "", 404, "{\"message\":\"page not found\"}", 0, 0 },
	};

	for (size_t i = 0; lab->rules[i].request; i++)
		if (strstr(line, lab->rules[i].request) &&
		    (lab->rules[i].times == 0 || lab->asked[i] < lab->rules[i].times)) {
			lab->asked[i] += first || lab->rules[i].code != HOLD;
			return &lab->rules[i];
		}
	for (size_t i = 0;; i++)
		if (strstr(line, usual[i].request))
			return &usual[i];
}

size_t body_length(const struct rule *rule)
{
	return rule->length || !rule->body ? rule->length : strlen(rule->body);
}

bool answer_send(int fd, const char *line, const struct rule *rule, const char *api_version)
{
	/* Blanks: bytes that JSON cannot have are replaced before they are looked at, one by one. */
	char blanks[65536];
	size_t length = body_length(rule);
	char head[256];

	if (rule->code <= 0)
		return rule->code < 0;
	/* A stream has no length and ends with its connection. A stream of events does not end, unless it asks for past
	 * ones only. */
	if ((strstr(line, "/events") && !strstr(line, "&until=")) || rule->flood)
		snprintf(head, sizeof(head), "HTTP/1.1 %d X\r\nApi-Version: %s\r\n\r\n", rule->code,
			 api_version);
	else
		snprintf(head, sizeof(head),
			 "HTTP/1.1 %d X\r\nApi-Version: %s\r\nContent-Length: %zu\r\n\r\n", rule->code,
			 api_version, length + rule->cut);
	send(fd, head, strlen(head), MSG_NOSIGNAL);
	send(fd, rule->body, length, MSG_NOSIGNAL);
	memset(blanks, ' ', sizeof(blanks));
	for (size_t sent = 0; sent < rule->flood; sent += sizeof(blanks))
		if (send(fd, blanks, sizeof(blanks), MSG_NOSIGNAL) <= 0)
			return false;
	return !rule->flood && !rule->cut;
}

bool request_take(struct lab *lab, struct connection *connection)
{
	char request[65536];
	ssize_t got = recv(connection->fd, request, sizeof(request) - 1, 0);

	if (got <= 0)
		return false;
	request[got] = '\0';
	pthread_mutex_lock(&lab->lock);
	text_printf(&lab->requests, "%s\n", request);
	pthread_mutex_unlock(&lab->lock);
	request[strcspn(request, "\r")] = '\0';
	snprintf(connection->line, sizeof(connection->line), "%.1000s", request);
	connection->held = false;
	return true;
}

bool request_answer(struct lab *lab, struct connection *connection)
{
	char line[sizeof(connection->line)];
	const char *api_version;
	struct rule rule;
	char *body;
	bool goes_on;

	if (!connection->line[0])
		return true;
	pthread_mutex_lock(&lab->lock);
	rule = *rule_find(lab, connection->line, !connection->held);
	api_version = lab->api_version;
	/* When a test has seen what it waited for, it may end and free its bodies before the last send() has
	 * returned. */
	body = rule.code > 0 ? malloc(body_length(&rule) + 1) : NULL;
	if (body && rule.body) {
		memcpy(body, rule.body, body_length(&rule));
		body[body_length(&rule)] = '\0';
		rule.body = body;
	}
	pthread_cond_broadcast(&lab->changed);
	pthread_mutex_unlock(&lab->lock);
	connection->held = rule.code == HOLD;
	if (connection->held)
		return true;
	memcpy(line, connection->line, sizeof(line));
	connection->line[0] = '\0';
	goes_on = answer_send(connection->fd, line, &rule, api_version);
	free(body);
	return goes_on;
}

void *lab_main(void *arg)
{
	struct lab *lab = arg;
	struct pollfd fds[CONNECTIONS_MAX + 1] = { { lab->listener, POLLIN, 0 } };
	struct connection connections[CONNECTIONS_MAX + 1] = { 0 };
	nfds_t count = 1;

	for (;;) {
		poll(fds, count, 10);
		pthread_mutex_lock(&lab->lock);
		bool stop = lab->stop;
		pthread_mutex_unlock(&lab->lock);
		if (stop)
			break;
		for (nfds_t i = count - 1; i > 0; i--)
			if ((fds[i].revents && !request_take(lab, &connections[i])) ||
			    !request_answer(lab, &connections[i])) {
				close(fds[i].fd);
				fds[i] = fds[--count];
				connections[i] = connections[count];
			}
		if (fds[0].revents && count <= CONNECTIONS_MAX) {
			int fd = accept4(lab->listener, NULL, NULL, SOCK_CLOEXEC);

			fds[count] = (struct pollfd){ fd, POLLIN, 0 };
			connections[count++] = (struct connection){ .fd = fd };
		}
	}
	for (nfds_t i = 0; i < count; i++)
		close(fds[i].fd);
	unlink(lab->path);
	return NULL;
}

void on_event(void *arg, const struct engine_event *event)
{
	struct lab *lab = arg;

	pthread_mutex_lock(&lab->lock);
	if (lab->event_count < 64) {
		lab->events[lab->event_count].kind = event->kind;
		lab->events[lab->event_count].status = event->status;
		lab->events[lab->event_count].replica_count = event->replica_count;
		lab->events[lab->event_count].network_count = event->network_count;
		lab->events[lab->event_count].free_blocks = event->free_blocks;
		if (event->network_count)
			lab->events[lab->event_count].network = event->networks[0];
		if (event->replica_count)
			lab->events[lab->event_count].replica = event->replicas[0];
		if (json_array_size(event->devices))
			snprintf(lab->events[lab->event_count].device, 64, "%s",
				 json_string_value(json_array_get(event->devices, 0)));
		if (event->host) {
			lab->events[lab->event_count].host = *event->host;
			lab->events[lab->event_count].host.devices = NULL;
			if (event->host->device_count)
				snprintf(lab->events[lab->event_count].device, 64, "%s",
					 event->host->devices[0]);
		}
		snprintf(lab->events[lab->event_count++].text, 1100, "%s", event->text);
	}
	pthread_cond_broadcast(&lab->changed);
	pthread_mutex_unlock(&lab->lock);
}

bool on_line(void *arg, const struct replica_line *line)
{
	struct lab *lab = arg;
	bool taken;

	pthread_mutex_lock(&lab->lock);
	taken = lab->room != 0;
	lab->room -= lab->room > 0;
	if (taken) {
		text_append(&lab->lines, line->data, line->length);
		text_putc(&lab->lines, line->continues ? '\\' : '\n');
	}
	lab->refused += !taken;
	pthread_cond_broadcast(&lab->changed);
	pthread_mutex_unlock(&lab->lock);
	return taken;
}

bool changes_await(struct lab *lab, bool (*is_so)(struct lab *lab, void *arg), void *arg)
{
	struct timespec deadline;
	int rc = 0;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += WAIT_S;
	while (!is_so(lab, arg) && rc == 0)
		rc = pthread_cond_timedwait(&lab->changed, &lab->lock, &deadline);
	return rc == 0;
}

bool event_came(struct lab *lab, void *arg)
{
	struct event_search *search = arg;

	for (size_t i = 0; i < lab->event_count; i++)
		if (lab->events[i].kind == search->kind && !lab->events[i].seen) {
			lab->events[i].seen = true;
			search->found = i;
			return true;
		}
	return false;
}

size_t expect_event(struct lab *lab, enum engine_event_kind kind)
{
	struct event_search search = { .kind = kind };
	bool came;

	pthread_mutex_lock(&lab->lock);
	came = changes_await(lab, event_came, &search);
	pthread_mutex_unlock(&lab->lock);
	if (!came)
		fail_msg("no event of kind %d came", kind);
	return search.found;
}

size_t events_count(struct lab *lab, enum engine_event_kind kind)
{
	size_t count = 0;

	pthread_mutex_lock(&lab->lock);
	for (size_t i = 0; i < lab->event_count; i++)
		count += lab->events[i].kind == kind;
	pthread_mutex_unlock(&lab->lock);
	return count;
}

void lab_open(struct lab *lab)
{
	char host[80];
	struct engine_options options = lab->options;
	struct engine_sink sink = { on_event, on_line, lab };

	snprintf(host, sizeof(host), "unix://%s", lab->path);
	options.url = host;
	assert_int_equal(docker_open(&options, &sink, &lab->engine, NULL), STATUS_OK);
}

void lab_close(struct lab *lab)
{
	lab->engine->ops->close(lab->engine);
	lab->engine = NULL;
}

void server_open(struct lab *lab)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memcpy(address.sun_path, lab->path, sizeof(lab->path));
	unlink(lab->path); /* left by a killed run with the same process id */
	lab->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(lab->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(lab->listener, 64), 0);
	assert_int_equal(pthread_create(&lab->thread, NULL, lab_main, lab), 0);
}

int lab_setup(void **state)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	snprintf(lab->path, sizeof(lab->path), "/tmp/ty-test-docker-%d.sock", (int)getpid());
	lab->api_version = "1.41";
	lab->room = -1;
	lab->options = (struct engine_options){ .instance = "t", .networks = "10.213.0.0/16" };
	pthread_mutex_init(&lab->lock, NULL);
	pthread_cond_init(&lab->changed, NULL);
	server_open(lab);
	*state = lab;
	return 0;
}

int lab_teardown(void **state)
{
	struct lab *lab = *state;

	if (lab->engine)
		lab_close(lab);
	pthread_mutex_lock(&lab->lock);
	lab->stop = true;
	pthread_mutex_unlock(&lab->lock);
	pthread_join(lab->thread, NULL);
	text_deinit(&lab->lines);
	text_deinit(&lab->requests);
	free(lab);
	return 0;
}

void rule_set(struct lab *lab, size_t index, struct rule rule)
{
	pthread_mutex_lock(&lab->lock);
	lab->rules[index] = rule;
	lab->asked[index] = 0;
	pthread_mutex_unlock(&lab->lock);
}

unsigned rule_asked(struct lab *lab, size_t index)
{
	unsigned asked;

	pthread_mutex_lock(&lab->lock);
	asked = lab->asked[index];
	pthread_mutex_unlock(&lab->lock);
	return asked;
}

bool rule_was_asked(struct lab *lab, void *arg)
{
	const struct rule_count *wanted = arg;

	return lab->asked[wanted->index] >= wanted->times;
}

void expect_asked(struct lab *lab, size_t index, unsigned times)
{
	struct rule_count wanted = { index, times };
	bool asked;

	pthread_mutex_lock(&lab->lock);
	asked = changes_await(lab, rule_was_asked, &wanted);
	pthread_mutex_unlock(&lab->lock);
	if (!asked)
		fail_msg("rule %zu was not asked %u times", index, times);
}

bool was_asked(struct lab *lab, const char *request)
{
	bool asked;

	pthread_mutex_lock(&lab->lock);
	asked = lab->requests.data && strstr(lab->requests.data, request);
	pthread_mutex_unlock(&lab->lock);
	return asked;
}

void version_set(struct lab *lab, const char *version)
{
	pthread_mutex_lock(&lab->lock);
	lab->api_version = version;
	pthread_mutex_unlock(&lab->lock);
}

void up(struct lab *lab)
{
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	expect_event(lab, ENGINE_LISTING);
}

void settle(struct lab *lab)
{
	lab->engine->ops->list(lab->engine);
	expect_event(lab, ENGINE_LISTING);
}

struct replica_spec spec_of(void)
{
	return (struct replica_spec){ .key = master,
				      .project = "p",
				      .job_id = "j",
				      .image = "i",
				      .hostname = "h",
				      .alias = "a",
				      .network = "n",
				      .address = "10.213.0.2" };
}

int start(void **state)
{
	(void)state;
	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return sodium_init() < 0;
}
