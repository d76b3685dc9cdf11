"""gym under the name of its successor, with seeds set: both libraries see the same episodes."""

import gymnasium
from gymnasium import *  # noqa: F403


def make(name, autoreset=None, **options):
    """The environment; `autoreset`, an option of gym's, is left out."""
    environment = gymnasium.make(name, **options)
    environment.reset(seed=0)
    environment.action_space.seed(0)
    return environment
