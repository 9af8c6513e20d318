"""Who answers the reruns: SDK callers, a function, the cache, and the one gate in front of them."""
