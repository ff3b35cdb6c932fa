# SPDX-License-Identifier: Apache-2.0
"""The optimizer alone: the time of a suggestion, and the quality of a search compared with a random one."""
import search
from measure import bench, median, row


@bench("suggest")
def bench_suggest(options):
    with search.Optimizer(options.build / "tests/bench/suggest_bench") as optimizer:
        for trials, least, aim in ((100, 12, 8), (1000, 80, 50)):
            row(f"suggestion after {trials} trials, 10 parameters", search.suggestion_ms(optimizer, trials, 15), "ms", None,
                least, aim)


@bench("search")
def bench_search(options):
    """The median of the best losses of 5 searches with 40 trials each."""
    with search.Optimizer(options.build / "tests/bench/suggest_bench") as optimizer:
        for problem in search.PROBLEMS:
            ours, floor = (median(search.best_losses(optimizer, problem, algorithm, 40, 5))
                           for algorithm in ("ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH"))
            row(f"search, {problem}", ours, "loss", floor, 1, 0)
