"""Transforms of short windows along a signal, and the signal from these."""

from functools import partial

from imode import ops
from imode._core.type_names import tensor_type
from imode.ops.composites_fast import replayed
from imode.ops.schema import composite

# ---- messages -----------------------------------------------------------------------------------


def _number(value):
    return int(value) if isinstance(value, bool) else value


def _called(name, self, window, **arguments):
    """The call as PyTorch's messages have it."""
    shown = {key: _number(value) for key, value in arguments.items()}
    if window is not None:
        window = f"{tensor_type(window.dtype)}{{{list(window.shape)}}}"
    before = {key: shown.pop(key) for key in ("n_fft", "hop_length", "win_length")}
    words = ", ".join(
        f"{key}={value}" for key, value in {**before, "window": window, **shown}.items()
    )
    return f"{name}({tensor_type(self.dtype)}{list(self.shape)}, {words})"


def _expect(condition, called, sentence):
    """Raise RuntimeError: `called()`, the call, and a sentence."""
    if not condition:
        raise RuntimeError(f"{called()} {sentence}")


def _refuse_onesided(onesided):
    if onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")


# ---- stft ---------------------------------------------------------------------------------------


def _centred(self, n_fft, pad_mode):
    """The signal with half a window more on each side."""
    ndim = self.dim()
    extra = n_fft // 2
    padded = self.view((1,) * (3 - ndim) + self.shape)
    if pad_mode == "reflect" and ndim < 3:
        padded = ops.reflection_pad1d(padded, (extra, extra))
    else:
        padded = ops.pad(padded, (extra, extra), pad_mode)
    return padded.view(padded.shape[padded.dim() - ndim :]) if ndim else padded


def _refuse_stft(called, self, window, n_fft, hop_length, win_length):
    """Raise what is wrong with the sizes, if anything is."""
    length = self.shape[-1] if self.dim() else 0
    wrong = (
        (
            self.is_floating_point() or self.is_complex(),
            "expected a tensor of floating point or complex values",
        ),
        (1 <= self.dim() <= 2, "expected a 1D or 2D tensor"),
        (0 < n_fft <= length, f"expected 0 < n_fft < {length}, but got n_fft={n_fft}"),
        (hop_length > 0, f"expected hop_length > 0, but got hop_length={hop_length}"),
        (
            0 < win_length <= n_fft,
            f"expected 0 < win_length <= n_fft, but got win_length={win_length}",
        ),
        (
            window is None or tuple(window.shape) == (win_length,),
            f"expected a 1D window tensor of size equal to win_length={win_length}, but got "
            f"window with size {window is not None and list(window.shape)}",
        ),
    )
    for fits, sentence in wrong:
        _expect(fits, called, f": {sentence}")


def _windows(signal, n_fft, hop_length):
    """Views of each row: so many numbers, as far apart."""
    frames = 1 + (signal.shape[1] - n_fft) // hop_length
    rows, columns = signal.stride()
    return signal.as_strided(
        (signal.shape[0], frames, n_fft), (rows, hop_length * columns, columns)
    )


def _full_window(self, window, n_fft, win_length):
    """The window with zeros around it, up to the length of a transform; None: it is all ones."""
    if win_length == n_fft:
        return window
    dtype = self.dtype if window is None else window.dtype
    made = ops.zeros((n_fft,), dtype=dtype, device=self.device)
    inner = made.narrow(0, (n_fft - win_length) // 2, win_length)
    if window is None:
        inner.fill_(1)
    else:
        inner.copy_(window)
    return made


@composite(
    "stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool center=True, str pad_mode='reflect', bool normalized=False, "
    "bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor"
)
@replayed
def stft(
    self,
    n_fft,
    hop_length,
    win_length,
    window,
    center,
    pad_mode,
    normalized,
    onesided,
    return_complex,
    align_to_window,
):
    """Return the Fourier transforms of windows of `n_fft` numbers, `hop_length` apart: columns.

    hop_length: n_fft // 4 unless given. window: what each is multiplied by, of `win_length`
    numbers, with zeros around. center: the first window's middle is the first number, with padding
    by `pad_mode` before and after; without it align_to_window=True pads so that the first number
    of `window` meets the first of the signal. normalized: by the root of n_fft. onesided: of real
    numbers, without the half that is conjugate. return_complex=False: complex numbers as pairs.
    Raises RuntimeError for sizes that do not fit, and where return_complex is not said of real
    numbers.

    >>> imode.stft(imode.ones(16), 8, return_complex=True).shape
    imode.Size([5, 9])
    """
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false")
        self = _centred(self, n_fft, pad_mode)
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    wide = self.is_complex() or (window is not None and window.is_complex())
    if return_complex is None and not wide:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further "
            "require that return_complex=True in a future PyTorch release."
        )
    ndim = self.dim()
    if not (
        1 <= ndim <= 2
        and 0 < win_length <= n_fft <= self.shape[-1]
        and hop_length > 0
        and (window is None or window.shape == (win_length,))
        and (self.is_floating_point() or self.is_complex())
    ):
        called = partial(
            _called,
            "stft",
            self,
            window,
            n_fft=n_fft,
            hop_length=hop_length,
            win_length=win_length,
            normalized=normalized,
            onesided=onesided,
            return_complex=return_complex,
            align_to_window=align_to_window,
        )
        _refuse_stft(called, self, window, n_fft, hop_length, win_length)
    signal = self if ndim == 2 else self.unsqueeze(0)
    if align_to_window:
        extra = (n_fft - win_length) // 2
        signal = ops.constant_pad_nd(signal, (extra, extra)) if extra else signal
    window = _full_window(signal, window, n_fft, win_length)
    parts = _windows(signal, n_fft, hop_length)
    if window is not None:
        parts = parts.mul(window)
    found = _transform(parts, normalized, onesided)
    found = found.transpose_(1, 2)
    if ndim == 1:
        found = found.squeeze_(0)
    return found if return_complex is not False else ops.view_as_real(found)


def _transform(parts, normalized, onesided):
    if not parts.is_complex():
        return ops._fft_r2c(parts, (2,), int(normalized), onesided is not False)
    _refuse_onesided(onesided)
    return ops._fft_c2c(parts, (2,), int(normalized), True)


# ---- istft --------------------------------------------------------------------------------------


def _check_istft(called, pairs, window, n_fft, hop_length, win_length, onesided):
    _expect(pairs.numel(), called, ": input tensor cannot be empty.")
    _expect(
        pairs.dim() in (3, 4),
        called,
        f": expected a tensor with 3 or 4 dimensions, but got {pairs.dim()}",
    )
    rows = pairs.shape[-3]
    wanted, said = (n_fft // 2 + 1, "n_fft / 2 + 1") if onesided else (n_fft, "n_fft")
    _expect(
        rows == wanted,
        called,
        ": expected the frequency dimension (3rd to the last) of the input tensor to match "
        f"{said} when onesided={onesided}, but got {rows}",
    )
    _expect(0 < hop_length <= win_length, called, ": expected 0 < hop_length <= win_length")
    _expect(0 < win_length <= n_fft, called, ": expected 0 < win_length <= n_fft")
    if window is not None:
        _expect(
            tuple(window.shape) == (win_length,),
            called,
            ": Invalid window shape. window has to be 1D and length of `win_length`",
        )


def _overlapped(parts, window, hop_length, whole, start, end):
    """The windows, and the squares of what they were multiplied by, added up from start to end,
    which counts from the end if it is negative."""
    n_fft = window.shape[0]
    y = parts * window.view((1, 1, n_fft))
    y = ops._unfold_backward(y, (y.shape[0], whole), 1, n_fft, hop_length)
    squares = window.pow(2).expand((1, parts.shape[1], n_fft))
    weights = ops._unfold_backward(squares, (1, whole), 1, n_fft, hop_length)
    return ops.slice(y, 1, start, end), ops.slice(weights, 1, start, end)


def _back(parts, window, normalized, onesided, n_fft, return_complex):
    """The inverse transforms of the windows."""
    scale = 1 if normalized else 2
    if return_complex:
        _refuse_onesided(onesided)
        return ops._fft_c2c(parts, (2,), scale, False)
    if window is not None and window.is_complex():
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if not onesided:
        parts = ops.slice(parts, -1, 0, n_fft // 2 + 1)
    return ops._fft_c2r(parts, (2,), scale, n_fft)


@composite(
    "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, "
    "int? length=None, bool return_complex=False) -> Tensor"
)
def istft(
    self,
    n_fft,
    hop_length,
    win_length,
    window,
    center,
    normalized,
    onesided,
    length,
    return_complex,
):
    """Return the signal whose `stft` with the same arguments this is.

    length: of the signal, if the last window reaches beyond its end. Raises RuntimeError for sizes
    that do not fit, and where all windows that meet somewhere are zero there.

    >>> window = imode.hann_window(8)
    >>> x = imode.arange(16.0)
    >>> y = imode.istft(imode.stft(x, 8, window=window, return_complex=True), 8, window=window)
    >>> imode.allclose(x, y, atol=1e-4)
    True
    """
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if not self.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    called = partial(
        _called,
        "istft",
        self,
        window,
        n_fft=n_fft,
        hop_length=hop_length,
        win_length=win_length,
        center=center,
        normalized=normalized,
        onesided=onesided,
        length=length,
        return_complex=return_complex,
    )
    pairs = ops.view_as_real(self)
    rows = pairs.size(-3)
    onesided = rows != n_fft if onesided is None else onesided
    _check_istft(called, pairs, window, n_fft, hop_length, win_length, onesided)
    frames = pairs.shape[-2]
    whole = n_fft + hop_length * (frames - 1)
    parts = pairs if pairs.dim() == 4 else pairs.unsqueeze(0)
    parts = ops.view_as_complex(parts.transpose(1, 2))
    parts = _back(parts, window, normalized, onesided, n_fft, return_complex)
    if window is None:
        window = ops.ones((win_length,), dtype=pairs.dtype, device=pairs.device)
    if win_length != n_fft:
        left = (n_fft - win_length) // 2
        window = ops.constant_pad_nd(window, (left, n_fft - win_length - left))
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else -start if start else whole
    y, weights = _overlapped(parts, window, hop_length, whole, start, end)
    _expect(not weights.abs().min() < 1e-11, called, "window overlap add min: 1")
    y = y / weights
    y = y if self.dim() == 3 else y.squeeze(0)
    if end > whole:
        y = ops.constant_pad_nd(y, (0, end - whole))
    return y
