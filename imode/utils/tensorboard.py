"""SummaryWriter: logs for TensorBoard, by the package tensorboardX (`imode[tensorboard]`)."""

import functools

import numpy as np

from imode._core.tensor import Tensor
from imode.errors import names_of as _names_of

_missing = _names_of(__name__)


def _plain(value):
    """What a writer gets: arrays and numbers for tensors, also inside lists and dicts."""
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        return value.numpy() if value.dim() else value.item()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_plain(item) for item in value)
    return value


def _with_plain_arguments(method):
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        return method(self, *_plain(args), **_plain(kwargs))

    return call


@functools.cache
def _writer():
    """The class, made when it is first asked for. ImportError without tensorboardX."""
    try:
        from tensorboardX import SummaryWriter as Base
    except ImportError:
        raise ImportError(
            "SummaryWriter needs the package tensorboardX: pip install imode[tensorboard]"
        ) from None

    class SummaryWriter(Base):
        """Writes events to files that TensorBoard shows: `add_scalar` and its like.

        Tensors are converted to NumPy. `log_dir`: by default a new folder in ./runs. The other
        arguments, and what each method writes, are tensorboardX's documentation's to say.
        """

        def __init__(self, log_dir=None, comment="", purge_step=None, *args, **kwargs):
            super().__init__(log_dir, comment, purge_step, *args, **kwargs)
            self.log_dir = self.logdir

        def get_logdir(self):
            """The folder of the files."""
            return self.log_dir

        def add_scalar(
            self,
            tag,
            scalar_value,
            global_step=None,
            walltime=None,
            new_style=False,
            double_precision=False,
        ):
            """Write one number, as float32; new_style and double_precision have no effect."""
            super().add_scalar(tag, _plain(scalar_value), global_step, walltime)

        def add_histogram(
            self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None
        ):
            """Write a histogram of all elements."""
            values = np.asarray(_plain(values))
            super().add_histogram(tag, values, global_step, bins, walltime, max_bins)

        def add_hparams(
            self,
            hparam_dict,
            metric_dict,
            hparam_domain_discrete=None,
            run_name=None,
            global_step=None,
        ):
            """Write hyperparameters and what came of them; discrete domains are refused."""
            if type(hparam_dict) is not dict or type(metric_dict) is not dict:
                raise TypeError("hparam_dict and metric_dict should be dictionary.")
            if hparam_domain_discrete is not None:
                raise NotImplementedError("tensorboardX writes no hparam_domain_discrete")
            found = _plain(hparam_dict), _plain(metric_dict)
            super().add_hparams(*found, run_name, global_step)

        def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
            """Refused: it needs a traced model of PyTorch's."""
            raise NotImplementedError(
                "SummaryWriter.add_graph: models are not traced\nprint(model) shows the layers."
            )

    for name in dir(Base):
        if name.startswith("add_") and name not in vars(SummaryWriter):
            setattr(SummaryWriter, name, _with_plain_arguments(getattr(Base, name)))
    return SummaryWriter


def __getattr__(name):
    return _writer() if name == "SummaryWriter" else _missing(name)
