"""Optimizers and learning rate schedules under PyTorch's names."""

from imode._core.importing import import_late as _import_late
from imode.errors import names_of as _names_of

from . import lr_scheduler
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .adamax import Adamax
from .asgd import ASGD
from .lbfgs import LBFGS
from .muon import Muon
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
]

_refuse = _names_of(__name__)


def __getattr__(name):
    if name == "swa_utils":  # it needs imode.nn, which the others do not
        return _import_late(".swa_utils", __name__)
    if name == "swap_in_optimizer_params_and_state":
        return _import_late(".swapping", __name__).swap_in_optimizer_params_and_state
    return _refuse(name)
