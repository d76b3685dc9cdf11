"""Sequential, lists and dicts of modules and parameters in imode and in PyTorch."""

from collections import OrderedDict

from tests.conformance.side_by_side import agrees, error


@agrees
def test_sequential(lib):
    nn = lib.nn
    seq = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Tanh())
    seq.append(nn.Sigmoid()).insert(1, nn.ReLU6())
    seq.extend([nn.Identity()])
    result = [repr(seq), len(seq), repr(seq[1]), repr(seq[-1]), repr(seq[1:3]), list(seq._modules)]
    seq[0] = nn.Linear(3, 3)
    del seq[1]
    result += [repr(seq), repr(seq.pop(0)), repr(seq)]
    del seq[0:2]
    result += [repr(seq), repr(seq + nn.Sequential(nn.GELU())), repr(seq * 2), repr(2 * seq)]
    seq += nn.Sequential(nn.GELU())
    seq *= 2
    result += [repr(seq), [type(m).__name__ for m in seq]]
    return result + [
        error(lambda: seq[10]),
        error(lambda: seq.insert(99, nn.ReLU())),
        error(lambda: seq.insert(0, 3)),
        error(lambda: seq + 3),
        error(lambda: seq * 0),
        error(lambda: seq * 1.5),
        error(lambda: nn.Sequential(3)),
        error(lambda: seq.append(3)),
    ]


@agrees
def test_module_list(lib):
    nn = lib.nn
    block = lambda: nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    both = nn.ModuleList([block(), block(), nn.Tanh()])
    both.append(nn.ReLU())
    both.insert(1, nn.GELU())
    both += [nn.ReLU()]
    outer = nn.ModuleList([both, nn.ModuleList()])
    result = [repr(both), repr(outer), len(both), repr(both[-1]), repr(both[1:3])]
    del both[1]
    both[0] = nn.Tanh()
    return result + [
        repr(both),
        repr(both + [nn.ReLU()]),
        repr(both.pop(-1)),
        list(both.state_dict()),
        error(lambda: both[9]),
        error(lambda: both.extend(3)),
        error(lambda: both(1)),
        error(lambda: both.append(3)),
    ]


@agrees
def test_module_dict(lib):
    nn = lib.nn
    table = nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.ReLU()})
    table["c"] = nn.Tanh()
    table.update([["d", nn.ReLU()]])
    table.update(OrderedDict(e=nn.ReLU()))
    result = [
        repr(table),
        list(table),
        len(table),
        "a" in table,
        list(table.keys()),
        [repr(m) for m in table.values()],
        repr(table.pop("b")),
        list(table.state_dict()),
    ]
    del table["c"]
    return result + [
        [key for key, _ in table.items()],
        error(lambda: table["zz"]),
        error(lambda: table.update(3)),
        error(lambda: table.update([3])),
        error(lambda: table.update([[1, 2, 3]])),
        error(lambda: table.update({"keys": nn.ReLU()})),
        error(lambda: setattr(table, "x", 1) or table.clear() or table["x"]),
    ]


@agrees
def test_parameter_list(lib):
    nn = lib.nn
    params = nn.ParameterList([nn.Parameter(lib.ones(2)), lib.zeros(2, 3)])
    params.append(lib.ones(1))
    params += [3]
    params[0] = lib.zeros(5)
    return [
        repr(params),
        len(params),
        [n for n, _ in params.named_parameters()],
        params[1],
        repr(params[1:]),
        list(params.state_dict()),
        error(lambda: params[9]),
        error(lambda: params(1)),
        error(lambda: params.extend(3)),
    ]


@agrees
def test_parameter_dict(lib):
    nn = lib.nn
    params = nn.ParameterDict({"b": lib.ones(2), "a": nn.Parameter(lib.zeros(2, 3))})
    params["c"] = 3
    result = [
        repr(params),
        list(params),
        len(params),
        "a" in params,
        params["b"],
        params.get("x", 7),
        params.setdefault("d", lib.ones(1)),
    ]
    params.update([("e", lib.ones(1))])
    merged = params | nn.ParameterDict({"z": lib.ones(1)})
    return result + [
        list(merged),
        list(params.pop("e").shape),
        params.popitem()[0],
        list(params.copy()),
        list(reversed(params)),
        error(lambda: params[3]),
        error(lambda: params["no"]),
        error(lambda: params(1)),
        error(lambda: params.update(3)),
        list(params.state_dict()),
        error(lambda: params.update([3])),
    ]
