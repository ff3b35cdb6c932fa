# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

setup(name="trainer", version="0.1", packages=find_packages())
