"""The operators that imode.special has under names of its own, or imode has, too."""

from imode.ops.pointwise import (  # noqa: F401 - they declare the operators
    functions,
    functions_of_two,
    sign_and_rounding,
    special_bessel,
    special_gamma,
    special_normal,
)
from imode.ops.reductions import scan  # noqa: F401
from imode.ops.schema import alias, published

_DECLARED = published()

_SAME = (
    *("digamma", "erf", "erfc", "erfinv", "exp2", "expm1", "i0", "log1p", "log_softmax", "logit"),
    *("logsumexp", "polygamma", "round", "sinc", "softmax", "xlogy"),
)
_OTHERS = {
    "expit": "sigmoid",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "gammaln": "lgamma",
    "multigammaln": "mvlgamma",
    "psi": "digamma",
}
for _name, _operator in (dict(zip(_SAME, _SAME)) | _OTHERS).items():
    alias(f"special_{_name}", _DECLARED[_operator], "function")
