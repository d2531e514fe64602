"""The paper's bisection over the share, for one k, in NumPy: what people run today.

Reads two vectors of float64 from files, and prints the seconds of CPU and the bound on the gain. A step is two passes and a
partial sort; 34 steps fix the share to ten digits.
"""

import sys
import time

import numpy as np


def bisection(positive, negative, k, steps=34):
    total = positive + negative
    constant = positive * np.log(positive / total) + negative * np.log(negative / total)
    low, high, bound = 0.0, 1.0, np.inf
    for _ in range(steps):
        share = (low + high) / 2
        h = constant - positive * np.log(share) - negative * np.log(1 - share)
        top = np.argpartition(h, len(h) - k)[len(h) - k :]
        bound = min(bound, h[top].sum())
        if positive[top].sum() / share > negative[top].sum() / (1 - share):
            low = share
        else:
            high = share
    return bound


def main():
    positive, negative, k = np.fromfile(sys.argv[1]), np.fromfile(sys.argv[2]), int(sys.argv[3])
    start = time.process_time()
    bound = bisection(positive, negative, k)
    print(time.process_time() - start, repr(float(bound)))


main()
