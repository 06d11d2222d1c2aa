from types import SimpleNamespace
from typing import Any

# The families are made from the table of `contend list models`.
def __getattr__(name: str) -> Any: ...
