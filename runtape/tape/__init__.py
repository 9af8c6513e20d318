"""The tape: one append-only JSONL file per run, as SPEC.md describes it.

The way in is :class:`~runtape.tape.writer.TapeWriter`, the way out
:class:`~runtape.tape.reader.Tape`.
"""
