# SPDX-License-Identifier: Apache-2.0
"""Discovery documents, for the ledger: which method a request calls, and which fields exist.

Fields are named by their JSON path: `jobs[].labels{}` is a map in each element of a list. In requests, `{name}` is a
parameter of the path and `?pageSize` one of the query; fields of the body have no mark."""
import re
import urllib.parse

ADDRESSES = ["/discovery/v1/apis/ml/v1/rest", "/discovery/v1/apis/aiplatform/v1/rest"]


def snake(name):
    """Converts camelCase to snake_case: consumedMLUnits -> consumed_ml_units"""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


class Method:
    def __init__(self, described, document):
        self.id, self.verb, self.path = described["id"], described["httpMethod"], described["path"]
        self.parameters = described.get("parameters", {})
        self.request = described.get("request", {}).get("$ref")
        self.response = described.get("response", {}).get("$ref")
        self.pattern = re.compile("/" + "".join(self._pieces()))
        self.request_fields = [self.parameter_row(name) for name in self.parameters] + document.rows(self.request)
        self.response_fields = document.rows(self.response)

    def _pieces(self):
        for literal, name in re.findall(r"([^{]+)|\{\+?([^}]+)\}", self.path):
            inside = self.parameters.get(name, {}).get("pattern", "[^/]+").removeprefix("^").removesuffix("$")
            yield re.escape(literal) if literal else f"(?:{inside})"

    def parameter_row(self, name):
        return f"{{{name}}}" if self.parameters[name]["location"] == "path" else "?" + name


class Document:
    """One document, or several without common method and schema names."""

    def __init__(self, *values):
        self.values, self.schemas = values, {name: schema for value in values for name, schema in value.get("schemas", {}).items()}
        self.name = ", ".join(f"{value['name']}:{value['version']}" for value in values)
        found = [Method(described, self) for value in values for described in self._described(value)]
        # Paths that end in a verb are first: other patterns would match the verb as part of a name.
        self.methods = {m.id: m for m in sorted(found, key=lambda m: (":" not in m.path, m.id))}
        self.parameters = list(dict.fromkeys("?" + name for value in values for name in value.get("parameters", {})))

    def _described(self, resource):
        yield from resource.get("methods", {}).values()
        for inner in resource.get("resources", {}).values():
            yield from self._described(inner)

    def methods_of(self, verb, path):
        """The methods that a request calls: none if the service is another one, two if services share a path."""
        path, found = urllib.parse.unquote(path), {}
        for method in self.methods.values():
            if method.verb == verb and method.pattern.fullmatch(path):
                found.setdefault(method.id.split(".")[0], method)
        return list(found.values())

    def method(self, verb, path):
        """The first of these methods, or None."""
        return next(iter(self.methods_of(verb, path)), None)

    # ---- fields of messages ----

    def _properties(self, kind):
        if "$ref" in kind:
            kind = self.schemas[kind["$ref"]]
        return kind.get("properties", {})

    def _unwrap(self, kind):
        """Returns a field's type inside lists and maps, and the suffix that these add to its path."""
        if kind.get("type") == "array":
            return kind["items"], "[]"
        if "additionalProperties" in kind and kind["additionalProperties"].get("type") != "any":
            return kind["additionalProperties"], "{}"
        return kind, ""

    def rows(self, schema):
        """The paths of all fields of a message, depth first. A message inside itself is not expanded."""
        return list(self._rows({"$ref": schema}, "", (schema,))) if schema else []

    def _rows(self, kind, prefix, above):
        for name, field in self._properties(kind).items():
            inner, mark = self._unwrap(field)
            yield prefix + name + mark
            if inner.get("$ref") not in above:
                yield from self._rows(inner, prefix + name + mark + ".", above + (inner.get("$ref"),))

    def seen(self, schema, value):
        """The paths of the fields that a value has, and of those that are not in the schema, as deep as rows() goes."""
        known, strange = set(), set()
        if schema:
            self._see({"$ref": schema}, value, "", (schema,), known, strange)
        return known, strange

    def _see(self, kind, value, prefix, above, known, strange):
        properties = self._properties(kind)
        if not properties or not isinstance(value, dict):
            return
        spelled = {snake(name): name for name in properties} | {name: name for name in properties}
        for key, content in value.items():
            if content is None:
                continue
            if key not in spelled:
                strange.add(prefix + key)
                continue
            inner, mark = self._unwrap(properties[spelled[key]])
            path = prefix + spelled[key] + mark
            known.add(path)
            if inner.get("$ref") not in above:
                for one in contents(content, mark):
                    self._see(inner, one, path + ".", above + (inner.get("$ref"),), known, strange)

    def parameters_seen(self, method, query):
        """The paths of a request's query parameters: those of the method, and those common to all methods."""
        spelled = {snake(name): name for name in method.parameters} | {name: name for name in method.parameters}
        own, common = set(), set()
        for name in query:
            if name in spelled:
                own.add(method.parameter_row(spelled[name]))
            elif "?" + name.removeprefix("$") in self.parameters:
                common.add("?" + name.removeprefix("$"))
            elif "?" + name in self.parameters:
                common.add("?" + name)
        own |= {method.parameter_row(n) for n, p in method.parameters.items() if p["location"] == "path"}
        return own, common


def contents(value, mark):
    """The elements of a list, the values of a map, or the single value."""
    if mark == "[]":
        return value if isinstance(value, list) else []
    if mark == "{}":
        return value.values() if isinstance(value, dict) else []
    return [value]
