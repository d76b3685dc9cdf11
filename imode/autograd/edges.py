"""GradientEdge: a point of the graph where a gradient arrives; backward() and grad() accept it."""

from typing import NamedTuple

__all__ = ["GradientEdge"]


class GradientEdge(NamedTuple):
    """The gradient of result `output_nr` of `node`; made by `graph.get_gradient_edge`."""

    node: object
    output_nr: int
    ownership_token: object = None
