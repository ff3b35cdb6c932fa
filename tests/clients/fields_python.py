# SPDX-License-Identifier: Apache-2.0
"""Every field, sent by Google's own Python library. See test_fields.py."""
import os

from google.auth.credentials import AnonymousCredentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

import fields_cases

ml = build("ml", "v1", static_discovery=True, cache_discovery=False, credentials=AnonymousCredentials(),
           client_options={"api_endpoint": os.environ["TRAINYARD_ENDPOINT"] + "/"})


class Library:
    def call(self, method, **parameters):
        of = ml.projects()
        *resources, method = method.split(".")
        for resource in resources:
            of = getattr(of, resource)()
        # A parameter whose name is not valid in Python has another name in this library.
        parameters = {name.replace("$.", "x__").replace(".", "_"): value for name, value in parameters.items()}
        try:
            return getattr(of, method)(**parameters).execute()
        except HttpError as error:
            raise fields_cases.Refused(error.status_code, error.reason) from None


fields_cases.run(Library(), "python")
