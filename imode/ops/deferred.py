"""The methods of Tensor whose operators are imported at first use; a test compares it with them."""

METHODS = """
    __dlpack__ __dlpack_device__ amax amin aminmax argmax argmin argsort argwhere bernoulli
    bernoulli_ bincount cauchy_ cummax cummin cumprod cumprod_ cumsum cumsum_ dist exponential_
    geometric_ hardshrink histc kthvalue log_normal_ log_softmax logsumexp masked_fill
    masked_fill_ masked_scatter masked_scatter_ masked_select max median min msort multinomial
    nonzero norm normal_ prelu put put_ random_ relu relu_ softmax sort take topk tril tril_
    triu triu_ uniform_ unique unique_consecutive
""".split()
