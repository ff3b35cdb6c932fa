# SPDX-License-Identifier: Apache-2.0
"""Every field, sent by plain HTTP, as by any client without a library. See test_fields.py."""
import http.client
import json
import os
import urllib.parse

import fields_cases

# method -> verb, what follows the resource's name
METHODS = {
    "getConfig": ("GET", ":getConfig"),
    "locations.get": ("GET", ""),
    "locations.list": ("GET", "/locations"),
    "jobs.cancel": ("POST", ":cancel"),
    "jobs.create": ("POST", "/jobs"),
    "jobs.get": ("GET", ""),
    "jobs.getIamPolicy": ("GET", ":getIamPolicy"),
    "jobs.list": ("GET", "/jobs"),
    "jobs.patch": ("PATCH", ""),
    "jobs.setIamPolicy": ("POST", ":setIamPolicy"),
    "jobs.testIamPermissions": ("POST", ":testIamPermissions"),
}


class Plain:
    def __init__(self):
        address = urllib.parse.urlsplit(os.environ["TRAINYARD_ENDPOINT"])
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)

    def call(self, method, body=None, name=None, parent=None, resource=None, **query):
        verb, tail = METHODS[method]
        query = {key: json.dumps(value) if isinstance(value, bool) else value for key, value in query.items()}
        address = f"/v1/{name or parent or resource}{tail}" + ("?" + urllib.parse.urlencode(query) if query else "")
        headers = {} if body is None else {"Content-Type": "application/json"}
        self.connection.request(verb, address, None if body is None else json.dumps(body), headers)
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        if response.status != 200:
            raise fields_cases.Refused(response.status, answer["error"]["message"])
        return answer


fields_cases.run(Plain(), "http")
