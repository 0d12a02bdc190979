from __future__ import annotations

from importlib.util import find_spec

# The HTML report needs the extra [report]; where it is not installed its tests are not collected.
collect_ignore = [] if find_spec("pygal") else ["test_report_charts.py"]
