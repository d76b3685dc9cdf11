"""One sample call of an operator in one library, in every mode and variant, as observations."""

import contextlib

from .observe import attempt, dtype_name, failure, observe, saved

# What `torch` has by the same name is called otherwise: with a number for the reduction.
OTHERWISE = ("adaptive_max_pool1d", "binary_cross_entropy_with_logits", "kl_div")

_PADS = {f"{kind}_pad{n}d_backward" for kind in ("reflection", "replication") for n in (1, 2, 3)}
_LEGIT = {f"_native_batch_norm_legit{way}" for way in ("", ".no_stats", "_no_training")}
_BACKWARD = {
    *("avg_pool2d_backward", "convolution_backward", "embedding_dense_backward"),
    *("max_pool2d_with_indices_backward", "native_dropout_backward", "native_group_norm_backward"),
    *("native_layer_norm_backward", "native_batch_norm_backward"),
}

# What PyTorch calls itself, with arguments that fit, where a suite asks for what is accident.
# Values and gradients of ordinary numbers are compared by test_ops.py.
EXCEPT = {
    # With others PyTorch reads what is not there, or names them by what fails inside.
    "bad_input": {"copy", "_segment_reduce_backward", *_PADS, *_BACKWARD},
    # In which order bfloat16 is rounded.
    "bfloat16": {
        *("_log_softmax", "_scaled_mm_v2", "native_batch_norm", "convolution_backward"),
        *("_segment_reduce_backward", *_LEGIT, *_PADS),
    },
    # Formulas by NaN, infinity and complex numbers, of what is hardly differentiated twice.
    "derivatives": {
        *("_dirichlet_grad", "_sample_dirichlet", "_standard_gamma", "_standard_gamma_grad"),
        *("_scaled_mm_v2", "native_batch_norm", "native_dropout", "native_layer_norm"),
        *("_segment_reduce_backward", *_LEGIT, *_PADS, *_BACKWARD),
    },
    "out": {"copy", "embedding_dense_backward", "reflection_pad2d"},
    # From what the second derivative is made.
    "recorded": {
        *("native_dropout", "native_dropout_backward", "native_group_norm"),
        *("convolution_backward", "embedding_dense_backward"),
    },
    # `_convolution` is `convolution` with flags: of both PyTorch records the latter, of which it
    # has the sizes of the bias, and takes empty results by the kernel that the strides choose.
    "saved": {
        *("_convolution", "_segment_reduce_backward", "native_dropout", "index.Tensor"),
        *_BACKWARD,
    },
    "stale": {"_scaled_mm_v2", "_local_scalar_dense", "native_group_norm_backward"},
    "strides": {
        "_convolution",
        "_segment_reduce_backward",
        "native_dropout",
        "native_group_norm",
        *_PADS,
        *_BACKWARD,
    },
    "variants": {
        *("native_batch_norm", "native_dropout", "_segment_reduce_backward"),
        *(*_LEGIT, *_PADS, *_BACKWARD),
    },
}


def called(samples, suite):
    """Those of the operators that a suite compares."""
    return {name: found for name, found in samples.items() if name not in EXCEPT[suite]}


def function(lib, name):
    """Return the public callable of an operator: function, nn.functional or method.

    That of `fft_rfft` is `lib.fft.rfft`, that of `special_i1` `lib.special.i1`.
    """
    base = name.partition(".")[0]
    family, _, rest = base.partition("_")
    if family in ("fft", "linalg", "special"):
        return getattr(getattr(lib, family), rest)
    if base in OTHERWISE:
        return getattr(lib.nn.functional, base)
    for owner in (lib, lib.Tensor, lib.nn.functional, lib.ops.aten):
        if hasattr(owner, base):
            return getattr(owner, base)
    raise LookupError(f"{lib.__name__} has no {base}")


def method(lib, name):
    """Return the in-place method of an operator, or None."""
    return getattr(lib.Tensor, name.partition(".")[0] + "_", None)


def tensors_of(result, lib):
    """Return the tensors in a result, in order."""
    if isinstance(result, lib.Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [t for item in result for t in tensors_of(item, lib)]
    return []


class Call:
    """Calls of one sample in one library; each method returns {observable: value}."""

    def __init__(self, lib, name, sample):
        self.lib, self.name, self.sample = lib, name, sample
        other = sample.torch if lib.__name__ == "torch" else None
        self.function = other or function(lib, name)
        # Of inner operators out= has other names, and PyTorch's checks nothing.
        self.inner = self.function is getattr(lib.ops.aten, name.partition(".")[0], None)

    def cases(self):
        """Yield (case, thunk); the first that raises for a sample meant to raise ends it."""
        lib = self.lib
        inference, nothing = lib.inference_mode, contextlib.nullcontext
        yield "plain", lambda: self.run(nothing, nothing)
        if self.sample.raises:
            return
        yield "recorded", lambda: self.run(nothing, nothing, grad=True)
        yield "no_grad", lambda: self.run(nothing, lib.no_grad, grad=True)
        yield "inference", lambda: self.run(nothing, inference, grad=True)
        yield "made inside", lambda: self.run(inference, inference)
        yield "left the mode", lambda: self.run(inference, nothing)
        yield "one left the mode", lambda: self.run(nothing, nothing, grad=True, mixed=True)
        if self.sample.variants and method(lib, self.name):
            yield "in-place", lambda: self.run(nothing, nothing, inplace=True)
            yield "in-place recorded", lambda: self.run(nothing, nothing, True, inplace=True)
            yield "in-place no_grad", lambda: self.run(nothing, lib.no_grad, True, inplace=True)
            yield "in-place inference", lambda: self.run(nothing, inference, True, inplace=True)
            yield "in-place inside", lambda: self.run(inference, inference, inplace=True)
            yield "in-place left", lambda: self.run(inference, nothing, inplace=True)
        if self.sample.variants and self.sample.torch is None and not self.inner:
            for wrong in (None, "shape", "dtype", "expanded"):
                case = f"out= of wrong {wrong}" if wrong else "out="
                yield case, lambda wrong=wrong: self.out(wrong)
            yield "out= recorded", lambda: self.out(None, grad=True)
            yield "out= inference", lambda: self.out(None, mode=inference)
            yield "out= left", lambda: self.out(None, made=inference)

    def run(self, made, mode, grad=False, inplace=False, mixed=False):
        """Make the arguments under `made`, call under `mode`, observe results and arguments."""
        lib = self.lib
        lib.manual_seed(0)
        with made():
            args, kwargs, tensors = self.sample.make(lib, requires_grad=grad and self.sample.grad)
        if mixed:
            args, kwargs, tensors = self.mix(args, kwargs, tensors)
        call = self.function
        if inplace:
            if not args or not isinstance(args[0], lib.Tensor):
                return {}
            call = method(lib, self.name)
            if args[0].requires_grad:
                args[0] = args[0].clone()
        try:
            with mode():
                result = call(*args, **kwargs)
        except Exception as error:
            return {"raised": failure(error), **self.seen("input", tensors)}
        outputs = tensors_of(result, lib)
        observed = self.seen("result", outputs)
        observed |= {"result": [type(result).__name__] if outputs else result}
        recorded = [t for t in outputs if attempt(lambda t=t: t.grad_fn is not None) is True]
        observed |= {"saved": [attempt(lambda t=t: saved(t.grad_fn)) for t in recorded]}
        if recorded and not mixed:
            observed["backward"] = attempt(lambda: self.backward(recorded))
        return observed | self.seen("input", tensors)

    def mix(self, args, kwargs, tensors):
        """Make every tensor argument but the first anew inside inference mode."""
        with self.lib.inference_mode():
            others, _, made = self.sample.make(self.lib)
        if len(made) < 2:
            return args, kwargs, tensors
        if isinstance(args[0], self.lib.Tensor):
            return [args[0], *others[1:]], kwargs, [tensors[0], *made[1:]]
        return others, kwargs, made

    def backward(self, outputs):
        """Run backward from all outputs with different weights."""
        weights = [(i + 1) * self.lib.ones_like(t).detach() for i, t in enumerate(outputs)]
        self.lib.autograd.backward(outputs, weights)
        return "done"

    def out(self, wrong, grad=False, mode=contextlib.nullcontext, made=contextlib.nullcontext):
        """Call with out=: empty tensors of the right dtype, or ones that are wrong."""
        lib = self.lib
        args, kwargs, tensors = self.sample.make(lib, requires_grad=grad and self.sample.grad)
        plain_args, plain_kwargs, _ = self.sample.make(lib)
        try:
            outputs = tensors_of(self.function(*plain_args, **plain_kwargs), lib)
        except Exception as error:
            return {"raised": failure(error)}
        lib.manual_seed(0)
        with made():
            outs = [self.target(t, wrong) for t in outputs]
        try:
            with mode():
                result = self.function(*args, **kwargs, out=outs[0] if len(outs) == 1 else outs)
        except Exception as error:
            # PyTorch has several sentences for an out= that does not fit, by kind of kernel.
            kind = type(error).__name__
            coarse = wrong == "dtype" or kind == "TypeError"
            return {"raised": kind if coarse else failure(error)}
        same = [a is b for a, b in zip(tensors_of(result, lib), outs)]
        return {"same": same, **self.seen("result", outs), **self.seen("input", tensors)}

    def target(self, like, wrong):
        """Return a tensor to write into."""
        lib = self.lib
        if wrong == "shape":
            return lib.zeros((*like.shape, 2), dtype=like.dtype)
        if wrong == "dtype":
            other = lib.int64 if dtype_name(like).startswith(("float", "complex")) else lib.float16
            return lib.zeros(like.shape, dtype=other)
        if wrong == "expanded":
            return lib.zeros((), dtype=like.dtype).expand(like.shape)
        return lib.empty((0,), dtype=like.dtype)

    def seen(self, what, tensors):
        """Return the observables of some tensors."""
        values = self.sample.values
        return {
            f"{what}{i}": observe(
                t, values or (what == "input" and t.grad is None), self.sample.tol
            )
            for i, t in enumerate(tensors)
        }
