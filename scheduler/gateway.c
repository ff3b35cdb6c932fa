/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/gateway.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/json.h"

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

/* The kinds of values that a variable can have. */
enum reported {
	STORAGE_URL,   /* "http://10.213.0.1:45001" */
	STORAGE_API,   /* "http://10.213.0.1:45001/storage/v1/" */
	METADATA_HOST, /* "metadata.google.internal" where that is enough, else "10.213.0.1:45001" */
	METADATA_IP,   /* "10.213.0.1", followed by the port if it is not 80 */
	TRUSTED,       /* the path of the certificates to trust */
	NO,            /* "false" */
};

/* Variables that lead programs to the gateway. The real service sets none of them, because its containers reach the real
 * hosts. Programs without such a variable call Cloud Storage by its real host names, which resolve to the gateway too;
 * the last variables make programs trust its certificates. */
static const struct variable {
	const char *name;
	enum reported reported;
} variables[] = {
	/* google-cloud-storage (Python, Node, Go, C#), gcsfs.
	 * Source: googleapis/google-cloud-go, storage/doc.go (read 2026-11-22) */
	{ "STORAGE_EMULATOR_HOST", STORAGE_URL },
	/* gcsfs from 2026 on asks a Google server over gRPC for the kind of each bucket, and waits for the answer;
	 * "false" turns this off.
	 * Source: its code, version 2026.10 (__init__.py) */
	{ "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", NO },
	/* google-cloud-cpp, and the libraries built on it: pyarrow, tensorflow-io.
	 * Source: https://cloud.google.com/cpp/docs/reference/storage/latest/storage-env (read 2026-11-22) */
	{ "CLOUD_STORAGE_EMULATOR_ENDPOINT", STORAGE_URL },
	/* TensorStore, with which JAX's programs write checkpoints.
	 * Source: google/tensorstore, docs/environment.rst (read 2026-11-22) */
	{ "TENSORSTORE_GCS_HTTP_URL", STORAGE_URL },
	/* gcloud storage, and the gsutil that comes with gcloud.
	 * Source: https://cloud.google.com/sdk/gcloud/reference/topic/endpoint-override (read 2026-11-22) */
	{ "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", STORAGE_API },
	/* google-auth (Python, Node, Go, Java), TensorFlow from 2.4 on. Set even if the default host name would be
	 * enough, because some of them give up early on a metadata server that no variable names. */
	{ "GCE_METADATA_HOST", METADATA_HOST },
	/* gcloud, apitools and older google-auth read only this variable. */
	{ "GCE_METADATA_ROOT", METADATA_HOST },
	/* The address at which google-auth of Python and Node look for a metadata server. Their default is
	 * 169.254.169.254, where there is none, or the host's own, which jobs must not use. */
	{ "GCE_METADATA_IP", METADATA_IP },
	/* TensorFlow's gs://, curl, requests.
	 * Source: https://github.com/tensorflow/tensorflow (curl_http_request.cc), https://curl.se/docs/sslcerts.html,
	 * https://requests.readthedocs.io/en/latest/user/advanced/ (read 2026-11-22) */
	{ "CURL_CA_BUNDLE", TRUSTED },
	/* OpenSSL, and with it Python's urllib, by which Keras fetches its data sets from storage.googleapis.com; Go.
	 * Both also trust the image's directory of certificates.
	 * Source: https://docs.openssl.org/3.0/man7/openssl-env/, https://pkg.go.dev/crypto/x509 (read 2026-11-22) */
	{ "SSL_CERT_FILE", TRUSTED },
	/* gRPC in every language but Go and Node: replaces its built-in certificates; requests, which prefers it to
	 * CURL_CA_BUNDLE; httplib2.
	 * Source: https://github.com/grpc/grpc/blob/master/doc/environment_variables.md,
	 * https://github.com/httplib2/httplib2 (certs.py; read 2026-11-25) */
	{ "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", TRUSTED },
	{ "REQUESTS_CA_BUNDLE", TRUSTED },
	{ "HTTPLIB2_CA_CERTS", TRUSTED },
	/* Node, in addition to its built-in certificates. Source: https://nodejs.org/api/cli.html (read 2026-11-22) */
	{ "NODE_EXTRA_CA_CERTS", TRUSTED },
};

/* The host names at which programs without such variables look for a metadata server: boto and others use the first,
 * google-cloud-logging the second (to the C library, the name with a final dot is a different one), TensorFlow before
 * 2.4 the third. */
static const char *const metadata_names[] = { "metadata.google.internal", "metadata.google.internal.",
					      "metadata" };

/* Other services of the cloud that training programs call. While the cloud is out of reach, these names resolve to the
 * gateway, which refuses the calls at once; otherwise the programs would wait for answers that cannot come. "%s" is the
 * job's region; in rows with @everywhere it is any other region too, because programs put models and data sets where
 * the accelerators are not. While the cloud can be reached, the job's log still mentions calls to services with
 * @watched, because these calls act on real data. */
static const struct {
	const char *name;
	bool watched; /* the job's log mentions calls even while the cloud can be reached */
	bool everywhere;
} cloud_names[] = {
	{ "storage.googleapis.com", false },
	{ "www.googleapis.com", false },
	{ "oauth2.googleapis.com", false },
	{ "accounts.google.com", false },
	{ "iamcredentials.googleapis.com", false },
	{ "sts.googleapis.com", false },
	{ "ml.googleapis.com", true },
	{ "aiplatform.googleapis.com", true },
	{ "%s-aiplatform.googleapis.com", true, .everywhere = true },
	{ "%s-ml.googleapis.com", true },
	{ "logging.googleapis.com", false },
	{ "monitoring.googleapis.com", true },
	{ "cloudtrace.googleapis.com", true },
	{ "telemetry.googleapis.com", true },
	{ "cloudprofiler.googleapis.com", true },
	{ "clouderrorreporting.googleapis.com", true },
	{ "cloudresourcemanager.googleapis.com", true },
	{ "cloudkms.googleapis.com", true },
	{ "sqladmin.googleapis.com", true },
	{ "generativelanguage.googleapis.com", true },
	{ "secretmanager.googleapis.com", true },
	{ "bigquery.googleapis.com", true },
	{ "bigquerystorage.googleapis.com", true },
	{ "bigtable.googleapis.com", true },
	{ "firestore.googleapis.com", true },
	{ "datastore.googleapis.com", true },
	{ "spanner.googleapis.com", true },
	{ "pubsub.googleapis.com", true },
	{ "dataflow.googleapis.com", true },
	{ "compute.googleapis.com", true },
	{ "tpu.googleapis.com", true },
	{ "artifactregistry.googleapis.com", false },
	{ "gcr.io", false },
	{ "%s-docker.pkg.dev", false },
};

static bool is_regional(const char *host, const char *region, const char *name)
{
	const size_t length = strlen(region);

	return strncmp(host, region, length) == 0 && strcmp(host + length, name + strlen("%s")) == 0;
}

/* The row of cloud_names that matches @host; -1: none does. */
static int cloud_name_find(const char *host, const char *region, const char *const *regions)
{
	for (size_t i = 0; i < COUNT_OF(cloud_names); i++) {
		const char *name = cloud_names[i].name;
		const bool is_pattern = *name == '%';

		if (is_pattern ? is_regional(host, region, name) : strcmp(host, name) == 0)
			return (int)i;
		for (size_t other = 0; cloud_names[i].everywhere && regions && regions[other]; other++)
			if (is_regional(host, regions[other], name))
				return (int)i;
	}
	return -1;
}

bool gateway_watches(const char *host, const char *region, const char *const *regions)
{
	const int found = cloud_name_find(host, region, regions);

	return found >= 0 && cloud_names[found].watched;
}

bool gateway_knows(const char *host, const char *region, const char *const *regions)
{
	return cloud_name_find(host, region, regions) >= 0;
}

void address_print(uint32_t address, char text[16])
{
	snprintf(text, 16, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255,
		 address & 255);
}

static json_t *variable_make(const struct variable *variable, const char *address,
			     const struct gateway_address *place)
{
	const unsigned storage_port = place->storage_port ? place->storage_port : place->port;
	const bool plain = place->port_80;

	switch (variable->reported) {
	case STORAGE_URL:
		return json_sprintf("%s=http://%s:%u", variable->name, address, storage_port);
	case STORAGE_API:
		return json_sprintf("%s=http://%s:%u/storage/v1/", variable->name, address, storage_port);
	case METADATA_HOST:
		return plain ? json_sprintf("%s=%s", variable->name, metadata_names[0])
			     : json_sprintf("%s=%s:%u", variable->name, address, place->port);
	case METADATA_IP:
		return plain ? json_sprintf("%s=%s", variable->name, address)
			     : json_sprintf("%s=%s:%u", variable->name, address, place->port);
	case TRUSTED:
		return json_sprintf("%s=" GATEWAY_TRUSTED, variable->name);
	case NO:
		return json_sprintf("%s=false", variable->name);
	}
	return NULL;
}

/* Appends the line "NAME:ADDRESS", unless @hosts has it already. */
static void host_append(json_t *hosts, const char *name, const char *region, const char *address)
{
	const char *mark = strstr(name, "%s");
	AUTO(json)
	json_t *host = mark ? json_sprintf("%s%s:%s", region, mark + strlen("%s"), address)
			    : json_sprintf("%s:%s", name, address);
	size_t i;
	json_t *other;

	json_array_foreach(hosts, i, other) {
		if (json_equal(host, other))
			return;
	}
	json_array_append(hosts, host);
}

static void hosts_append(json_t *hosts, const struct plan *plan, const char *address,
			 const struct gateway_address *place)
{
	const char *region = plan->region ? plan->region : "us-central1";

	for (size_t i = 0; i < COUNT_OF(metadata_names); i++)
		host_append(hosts, metadata_names[i], region, address);
	for (size_t i = 0; place->ca_bundle && place->served[i]; i++)
		host_append(hosts, place->served[i], region, address);
	for (size_t i = 0; i < COUNT_OF(cloud_names); i++) {
		if (!place->cut_off && !(place->watched && cloud_names[i].watched))
			continue;
		host_append(hosts, cloud_names[i].name, region, address);
		for (size_t other = 0; cloud_names[i].everywhere && place->regions && place->regions[other];
		     other++)
			host_append(hosts, cloud_names[i].name, place->regions[other], address);
	}
}

void gateway_environment(const struct plan *plan, uint32_t address, const struct gateway_address *place,
			 json_t *environment, json_t *hosts)
{
	char text[16];

	address_print(address, text);
	for (size_t i = 0; i < COUNT_OF(variables); i++)
		if (variables[i].reported != TRUSTED || place->ca_bundle)
			json_array_append_new(environment, variable_make(&variables[i], text, place));
	hosts_append(hosts, plan, text, place);
}
