"""What helps, and what it breaks.

:mod:`proposals` makes remedies of a finished `why`, :mod:`changes` makes bodies of a remedy,
:mod:`measuring` runs them, :mod:`grading` says PASS, PART or FAIL, and :mod:`facts` is what all of
it tells while it happens.
"""
