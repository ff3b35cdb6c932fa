// SPDX-License-Identifier: Apache-2.0
// Google's own Node library, pointed at trainyard. Prints one line of JSON a test; see test_clients.py.
'use strict';
const assert = require('node:assert/strict');
const { google } = require('googleapis');

const rootUrl = process.env.TRAINYARD_ENDPOINT + '/';
const project = process.env.GOOGLE_CLOUD_PROJECT;
const parent = `projects/${project}`;
const ml = google.ml({ version: 'v1', rootUrl });
const logging = google.logging({ version: 'v2', rootUrl });
const image = 'trainyard-test:1';
const machine = 'n1-standard-4';
const prefix = `node_${process.pid}`;
const nameOf = (id) => `${parent}/jobs/${id}`;

const shell = (text) => ({ imageUri: image, containerCommand: ['sh', '-c'], containerArgs: [text] });
const quick = (id, more = {}) => ({
  jobId: id, trainingInput: { region: 'us-central1', masterConfig: shell('echo quick') }, ...more });
const create = async (requestBody) => (await ml.projects.jobs.create({ parent, requestBody })).data;
const get = async (id) => (await ml.projects.jobs.get({ name: nameOf(id) })).data;

async function until(id, ...states) {
  const end = Date.now() + 60000;
  for (;;) {
    const job = await get(id);
    if (states.includes(job.state)) return job;
    assert.ok(!job.endTime, `${id} ended ${job.state}: ${job.errorMessage}`);
    assert.ok(Date.now() < end, `${id} is ${job.state}, not ${states}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function untilEnded(read) {
  const end = Date.now() + 60000;
  while (!(await read()).endTime) {
    assert.ok(Date.now() < end, 'it does not end');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function refused(call) {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('was not refused');
}

const policy = { version: 3, bindings: [
  { role: 'roles/ml.viewer', members: ['user:ada@example.com', 'group:team@example.com'] },
  { role: 'roles/ml.jobOwner', members: ['serviceAccount:robot@demo.iam.gserviceaccount.com'],
    condition: { expression: 'request.time.getHours() > 6', title: 'daytime' } }] };

// Reads, changes and tests the policy of a job that has none yet.
async function drivePolicy(jobs, resource) {
  assert.deepEqual((await jobs.getIamPolicy({ resource })).data, { etag: 'ACAB' });
  const set = (policy) => jobs.setIamPolicy({ resource, requestBody: { policy } });
  const put = (await set({ ...policy, etag: 'ACAB' })).data;
  assert.deepEqual(put.bindings, policy.bindings);
  assert.deepEqual((await jobs.getIamPolicy({ resource, 'options.requestedPolicyVersion': 3 })).data, put);
  const older = (await jobs.getIamPolicy({ resource })).data;
  assert.match(older.bindings[1].role, /^roles\/ml\.jobOwner_withcond_[0-9a-f]{20}$/);
  const error = await refused(set({ etag: 'ACAB' }));
  assert.equal(error.response.data.error.status, 'ABORTED');
  const permissions = ['ml.jobs.get', 'ml.jobs.fly', 'ml.jobs.cancel'];
  assert.deepEqual((await jobs.testIamPermissions({ resource, requestBody: { permissions } })).data,
    { permissions: ['ml.jobs.get', 'ml.jobs.cancel'] });
}

// Reads the configuration of the project and all its locations.
async function driveProject(projects) {
  const config = (await projects.getConfig({ name: parent })).data;
  assert.equal(config.serviceAccount,
    `service-${config.serviceAccountProject}@cloud-ml.google.com.iam.gserviceaccount.com`);
  const names = [];
  let pageToken;
  do {
    const { data } = await projects.locations.list({ parent, pageSize: 10, pageToken });
    names.push(...data.locations.map((l) => l.name));
    pageToken = data.nextPageToken;
  } while (pageToken);
  assert.deepEqual(names, [...new Set(names)].sort());
  const name = `${parent}/locations/us-central1`;
  assert.ok(names.includes(name));
  const location = (await projects.locations.get({ name })).data;
  assert.ok(location.capabilities[0].availableAccelerators.includes('NVIDIA_TESLA_T4'));
}

// The master's end would cut off what the workers have to say: it ends when each of the two has told it on port 2222.
const master = 'for i in 1 2; do echo ok | nc -l -p 2222 >/dev/null; done; echo master here';
const worker = 'echo worker here; host=$(echo "$CLUSTER_SPEC" | grep -o "cmle-training-master-[0-9a-f]*-0" | head -n 1); '
  + 'until [ "$(nc $host 2222 </dev/null 2>/dev/null)" = ok ]; do sleep 0.05; done';

const tests = {
  async 'creates a distributed job and follows it to its end'() {
    const id = `${prefix}_dist`;
    const job = await create({
      jobId: id,
      trainingInput: {
        scaleTier: 'CUSTOM', region: 'us-central1',
        masterType: machine, masterConfig: shell(master),
        workerType: machine, workerCount: '2', workerConfig: shell(worker),
        parameterServerType: machine, parameterServerCount: 1, parameterServerConfig: shell('while :; do sleep 0.1; done'),
      },
    });
    assert.equal(job.jobId, id);
    assert.equal(job.state, 'QUEUED');
    assert.equal(job.trainingInput.workerCount, '2');
    const ended = await until(id, 'SUCCEEDED');
    assert.ok(ended.startTime >= ended.createTime && ended.endTime >= ended.startTime);
  },

  async 'reads the log of a job'() {
    const filter = `resource.type="ml_job" AND resource.labels.job_id="${prefix}_dist" AND textPayload:"here" AND NOT resource.labels.task_name="service"`;
    const entries = [];
    let pageToken;
    do {
      const { data } = await logging.entries.list({
        requestBody: { resourceNames: [parent], filter, orderBy: 'timestamp asc', pageSize: 2, pageToken } });
      entries.push(...(data.entries ?? []));
      pageToken = data.nextPageToken;
    } while (pageToken);
    assert.deepEqual(entries.map((e) => `${e.resource.labels.task_name} ${e.textPayload}`).sort(),
      ['master-replica-0 master here', 'worker-replica-0 worker here', 'worker-replica-1 worker here']);
    assert.ok(entries.every((e) => e.severity === 'INFO'));
  },

  async 'lists jobs by filter, page after page'() {
    const ids = [0, 1, 2, 3, 4].map((i) => `${prefix}_list_${i}`);
    for (const id of ids) await create(quick(id));
    const seen = [];
    let pageToken;
    do {
      const { data } = await ml.projects.jobs.list({ parent, filter: `jobId:${prefix}_list_*`, pageSize: 2, pageToken });
      assert.ok(data.jobs.length <= 2);
      seen.push(...data.jobs.map((j) => j.jobId));
      pageToken = data.nextPageToken;
    } while (pageToken);
    assert.deepEqual(seen, ids.reverse());
    for (const id of ids) await until(id, 'SUCCEEDED');
  },

  async 'changes labels under an etag'() {
    const id = `${prefix}_list_0`;
    const { etag } = await get(id);
    const patch = (labels) => ml.projects.jobs.patch({
      name: nameOf(id), updateMask: 'labels,etag', requestBody: { labels, etag } });
    assert.deepEqual((await patch({ team: 'a' })).data.labels, { team: 'a' });
    const error = await refused(patch({ team: 'b' }));
    assert.equal(error.response.status, 409);
    assert.equal(error.response.data.error.status, 'ABORTED');
    assert.deepEqual((await get(id)).labels, { team: 'a' });
  },

  async 'cancels a running job'() {
    const id = `${prefix}_cancel`;
    await create({ jobId: id, trainingInput: { region: 'us-central1', masterConfig: shell('while :; do sleep 0.1; done') } });
    await until(id, 'RUNNING');
    assert.deepEqual((await ml.projects.jobs.cancel({ name: nameOf(id) })).data, {});
    await until(id, 'CANCELLED');
  },

  async 'keeps the policy of a job'() {
    await drivePolicy(ml.projects.jobs, nameOf(`${prefix}_list_1`));
  },

  async 'knows the project and its locations'() {
    await driveProject(ml.projects);
  },

  async 'works when built from the discovery document'() {
    const { projects } = await google.discoverAPI(`${rootUrl}discovery/v1/apis/ml/v1/rest`);
    const id = `${prefix}_discovered`;
    const name = nameOf(id);
    const requestBody = {
      jobId: id, trainingInput: { region: 'us-central1', masterConfig: shell('while :; do sleep 0.1; done') } };
    assert.equal((await projects.jobs.create({ parent, requestBody })).data.state, 'QUEUED');
    assert.equal((await projects.jobs.get({ name })).data.jobId, id);
    const labels = { from: 'discovery' };
    assert.deepEqual((await projects.jobs.patch({ name, updateMask: 'labels', requestBody: { labels } })).data.labels, labels);
    const { jobs } = (await projects.jobs.list({ parent, filter: `jobId=${id}` })).data;
    assert.deepEqual(jobs.map((j) => j.jobId), [id]);
    await drivePolicy(projects.jobs, name);
    await driveProject(projects);
    assert.deepEqual((await projects.jobs.cancel({ name })).data, {});
    await until(id, 'CANCELLED');
  },

  async 'drives custom jobs when built from the discovery document'() {
    for (const version of ['v1', 'v1beta1']) {
      const { projects } = await google.discoverAPI(`${rootUrl}discovery/v1/apis/aiplatform/${version}/rest`);
      const { customJobs, operations } = projects.locations;
      const location = `${parent}/locations/us-central1`;
      const pool = { machineSpec: { machineType: 'n1-standard-4' }, replicaCount: '1',
        containerSpec: { imageUri: 'trainyard-test:1', command: ['sh', '-c', 'while :; do sleep 0.1; done'] } };
      const requestBody = { displayName: `${prefix}_${version}`, jobSpec: { workerPoolSpecs: [pool] } };
      const { name } = (await customJobs.create({ parent: location, requestBody })).data;
      const filter = `display_name=${prefix}_${version}`;
      const listed = (await customJobs.list({ parent: location, filter, readMask: 'name' })).data;
      assert.deepEqual(listed, { customJobs: [{ name }] });
      assert.deepEqual((await customJobs.cancel({ name })).data, {});
      await untilEnded(async () => (await customJobs.get({ name })).data);
      const deleted = (await customJobs.delete({ name })).data;
      assert.equal((await operations.wait({ name: deleted.name, timeout: '5s' })).data.done, true);
      assert.equal((await refused(customJobs.get({ name }))).response.status, 404);
    }
  },

  async 'understands errors'() {
    const missing = await refused(get(`${prefix}_never`));
    assert.equal(missing.response.status, 404);
    assert.equal(missing.response.data.error.status, 'NOT_FOUND');
    const twice = await refused(create(quick(`${prefix}_list_1`)));
    assert.equal(twice.response.data.error.status, 'ALREADY_EXISTS');
    const bad = await refused(create(quick('not-an-id')));
    assert.equal(bad.response.status, 400);
    assert.equal(bad.response.data.error.details[0].fieldViolations[0].field, 'job.job_id');
    const unknown = await refused(create(quick(`${prefix}_x`, { trainingInputs: {} })));
    assert.match(unknown.message, /Unknown name "trainingInputs"/);
  },
};

require('./one_by_one.js').runTests(tests);
