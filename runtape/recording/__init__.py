"""Recording a run of an agent: at the HTTP wire of its SDK, around its tools, and what it tells us.

The recorder never raises into the agent and never changes what it gets. Faults of its own are
counted, warned of once (:class:`RecordingWarning`), and left as ``record_error`` events.
"""

from __future__ import annotations

from runtape.recording.journal import RecordingWarning
from runtape.recording.recorder import Recorder, record

__all__ = ["Recorder", "RecordingWarning", "record"]
