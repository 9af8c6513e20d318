"""Why did the model do that: the search, and what runs it.

Two halves meet in :mod:`protocol`. The *search* (:mod:`search` and the passes it names) is
sequential code that knows numbers only. The *driver* (:mod:`driver`) plays the world to it:
:mod:`variants` makes trees and bodies of a context, :mod:`sampling` gets judged replies,
:mod:`observations` counts them, :mod:`narration` tells :mod:`facts`, and :mod:`assembly` puts the
result together. :mod:`distribution` is what `rerun` and `odds` answer.
"""
