"""Made-up registries of any size: about 25 lines and 820 bytes a recipient."""

from __future__ import annotations

_RECIPIENT = '''\
[recipients.weather_{n}]
kind = "http"
description = "Current weather of a city, number {n}, in the units that were asked for."
api_docs = """
Send the name of a city and the number of days to look ahead.
The answer is JSON with one entry a day.
"""
method = "GET"
url = "https://weather.example/v{n}/{{city}}"
query = {{ days = "{{days}}", units = "{{units}}" }}
required_args = ["city"]
timeout = 7.5
max_output = 65536
idempotent = true
tags = ["weather", "group{group}"]

[recipients.weather_{n}.parameters]
city = {{ type = "string", minLength = 1, description = "Name of the city" }}
days = {{ type = "integer", minimum = 1, maximum = 7, default = 1 }}
units = {{ type = "string", enum = ["metric", "imperial"], default = "metric" }}

[[recipients.weather_{n}.example_messages]]
arguments = {{ city = "Paris", days = 3 }}

'''


def recipients(number: int) -> str:
    """Return a registry of so many recipients."""
    return "version = 1\n\n" + "".join(_RECIPIENT.format(n=n, group=n % 7) for n in range(number))
