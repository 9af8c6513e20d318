"""The story `runtape demo` tells, and the stand-in that answers for a model in it."""
