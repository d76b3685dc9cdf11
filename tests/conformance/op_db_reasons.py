"""What differs in PyTorch's own samples (test_op_db.py), as data; a test holds each line.

What is missing stands in op_db_missing.txt.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Differs:
    """What differs in some entries, and why.

    observables: "outcome", "same", or a property's name as in observe.py; a gradient's: "grad.…".
    cases: the variants in which it differs, or all. rare: few samples show it, so that it need
    not show where not all are run.
    """

    entries: str
    observables: str
    reason: str
    cases: str = "function method inplace out mistake"
    rare: bool = False

    def excuses(self, entry, case, observable):
        """Whether a difference of an entry is what this is about."""
        names = self.entries.split()
        return (
            (entry.id in names or entry.name in names)
            and case in self.cases.split()
            and observable in self.observables.split()
        )


DIFFERS = [
    Differs("conj H mH", "is_view requires_grad", "Conjugation is done at once"),
    Differs(
        "fft.ifft fft.ihfft fft.ihfft2 fft.ihfftn svd svd_lowrank pca_lowrank", "is_view",
        "Conjugation is done at once", cases="function method",
    ),
    Differs(
        "fft.ihfft2 fft.ihfftn", "values",
        "ihfft2 and ihfftn write to out= along one dimension, too", cases="out",
    ),
    Differs(
        "linalg.householder_product", "grad.values twice.values",
        "PyTorch's formula undoes the reflections, which loses digits", cases="function", rare=True,
    ),
    Differs("matrix_exp", "values grad.values", "matrix_exp of float16 is right"),
    Differs("lu", "type", "a named tuple from the method, too", cases="method"),
    Differs("view_as_complex", "outcome", "There is no complex32"),
    Differs("complex", "dtype recorded", "There is no complex32"),
    Differs(
        "as_strided_scatter", "grad.values twice.values",
        "as_strided_scatter has the gradient of what was not replaced", cases="function",
    ),
    Differs("sgn", "grad.values", "The gradient of sgn is zeros", cases="function"),
    Differs(
        "sort msort argsort", "values grad.values", "sort and argsort are stable", rare=True,
    ),
    Differs(
        "nn.functional.layer_norm native_layer_norm native_batch_norm _native_batch_norm_legit",
        "grad.values",
        "a gradient of zero, of which PyTorch gives the rounding errors", rare=True,
    ),
    Differs(
        "grid_sampler_2d grid_sampler_3d nn.functional.grid_sample", "values grad.values",
        "Halves are sampled in float32", cases="function",
    ),
    Differs("gradient", "values", "a difference of halves is rounded once", rare=True),
    Differs(
        "polygamma special.polygamma special.airy_ai special.bessel_j0 special.bessel_j1 "
        "special.bessel_y0 special.bessel_y1",
        "values", "Special functions are more exact", rare=True,
    ),
    Differs("special.i1 special.i1e", "recorded", "Bessel functions of float16 have gradients"),
    Differs("mode", "values", "mode counts in order"),
    Differs(
        "logcumsumexp nn.functional.ctc_loss", "grad.values",
        "float32 of a sum of exponentials, each as far from what float64 gives as the other",
        rare=True,
    ),
    Differs(
        "renorm", "grad.values", "PyTorch's is NaN of complex numbers with an infinite norm",
        cases="function", rare=True,
    ),
    Differs(
        "__rdiv__ __rmod__ __rpow__ __rsub__", "outcome",
        "of an int as `self`, which Python's own signs never give: written in Python in PyTorch",
        cases="mistake",
    ),
    Differs(
        "nn.functional.linear_cross_entropy", "is_view recorded twice.values twice outcome",
        "options change nothing here; in PyTorch they leave out the second derivative",
        cases="function", rare=True,
    ),
    Differs(
        "histogramdd", "outcome",
        "it has no out= in Python either, which PyTorch says of another overload", cases="out",
    ),
    Differs(
        "_softmax_backward_data", "outcome",
        "formulas of derivatives are called as PyTorch's call them, not as its users could",
    ),
    Differs(
        "native_batch_norm _native_batch_norm_legit", "outcome",
        "what several results go into is not taken", cases="out",
    ),
    Differs(
        "native_layer_norm", "twice",
        "a bias without a weight is differentiated twice, too", cases="function", rare=True,
    ),
]  # fmt: skip
