"""`python -m imode advise`: what it says of scripts, and that following it keeps their answers."""

import json
import re
import runpy
import subprocess
import sys
import threading

import pytest

import imode.__main__
from imode.advise.command import advise, main
from imode.advise.report import text

HEAD = """import imode
from imode import nn
from imode.nn import functional as F

imode.manual_seed(0)
"""

# In the style of public examples: {name: (script, what is said: kind and a line of the source)}.
SCRIPTS = {
    # a classifier on made-up digits, evaluated without gradients
    "digits": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.drop = nn.Dropout(0.25)
        self.fc = nn.Linear(4 * 13 * 13, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return F.log_softmax(self.fc(self.drop(imode.flatten(x, 1))), dim=1)

def train(model, optimizer, batches):
    model.train()
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.nll_loss(model(x), y)
        loss.backward()
        optimizer.step()

def test(model, batches):
    model.eval()
    total = 0
    with imode.no_grad():  # here
        for x, y in batches:
            total += F.nll_loss(model(x), y, reduction="sum").item()
    print(round(total, 4))

batches = [(imode.randn(8, 1, 28, 28), imode.randint(0, 10, (8,))) for _ in range(3)]
model = Net()
optimizer = imode.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    train(model, optimizer, batches)
    test(model, batches)
""",
        [("no_grad", "# here")],
    ),
    # evaluated with gradients on: in a function that calls the same model as training
    "regression": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x)

def evaluate(model, x, y):
    error = F.mse_loss(model(x), y)
    return error.item()

x = imode.randn(32, 4)
y = x.sum(1, keepdim=True)
model = Net()
for step in range(20):
    loss = F.smooth_l1_loss(model(x), y)
    model.zero_grad()
    loss.backward()
    with imode.no_grad():  # update
        for p in model.parameters():
            p -= 0.1 * p.grad
    if step % 5 == 4:
        value = evaluate(model, x, y)  # evaluated
        print(round(value, 5))
""",
        [("no_grad", "# update"), ("unused", "# evaluated")],
    ),
    # reinforcement: targets that have to be normal tensors
    "targets": (
        """
policy = nn.Linear(4, 2)
optimizer = imode.optim.Adam(policy.parameters(), lr=0.01)
state = imode.randn(6, 4)
with imode.no_grad():  # weights
    weights = imode.rand(6)
for _ in range(5):
    chosen = F.log_softmax(policy(state), 1)[:, 0]
    loss = -(chosen * weights).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
""",
        [("stays", "# weights")],
    ),
    # losses kept with their graphs
    "losses": (
        """
model = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
optimizer = imode.optim.SGD(model.parameters(), lr=0.1)
x, losses = imode.randn(5, 3), []
for _ in range(6):
    loss = model(x).pow(2).mean()  # loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
print([round(float(loss), 4) for loss in losses])
""",
        [("kept", "# loss")],
    ),
    # serving: no guard, and in training mode
    "serving": (
        """
model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
def serve(x):
    return model(x)  # serve
for i in range(3):
    print(serve(imode.full((4, 3), float(i))).sum().round().item())  # serving
""",
        [("unused", "# serving")],
    ),
    "guards": (
        """
model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
imode.inference_mode()  # unentered
with imode.inference_mode():
    print(model(imode.ones(2, 3)).shape)  # dropout
""",
        [("unentered", "# unentered"), ("training", "# dropout")],
    ),
    "variational": (
        """
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(12, 4), nn.Linear(2, 12)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, 1)
        z = mu + imode.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z).sigmoid(), mu, logvar

def loss_of(x, out, mu, logvar):
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum()
    return F.binary_cross_entropy(out, x, reduction="sum") + kl

model, x = VAE(), imode.rand(6, 12)
optimizer = imode.optim.Adam(model.parameters())
for epoch in range(3):
    optimizer.zero_grad()
    loss = loss_of(x, *model(x))
    loss.backward()
    optimizer.step()
    with imode.no_grad():  # test
        print(round(loss_of(x, *model(x)).item(), 3))
    with imode.no_grad():  # sample
        print(model.dec(imode.randn(2, 2)).sigmoid().sum().round().item())
""",
        [("no_grad", "# test"), ("no_grad", "# sample")],
    ),
    "clean": (
        """
x = imode.ones(2, requires_grad=True)
(x * 2).sum().backward()
with imode.inference_mode():
    print((x + 1).tolist())
""",
        [],
    ),
}


def written(tmp_path, name):
    path = tmp_path / f"{name}.py"
    path.write_text(HEAD + SCRIPTS[name][0])
    return path


def applied(source, findings):
    """The script with the advice followed: guards exchanged, lines put inside a guard."""
    lines = source.splitlines()
    for finding in sorted(findings, key=lambda f: -f.first):
        first, last = finding.first - 1, finding.last
        if finding.kind == "no_grad":
            assert "no_grad" in lines[first]
            lines[first] = lines[first].replace("no_grad", "inference_mode")
        elif finding.kind == "unused":
            indent = re.match(r"\s*", lines[first]).group()
            guard = "no_grad" if finding.forbids else "inference_mode"
            body = ["    " + line for line in lines[first:last]]
            lines[first:last] = [f"{indent}with imode.{guard}():", *body]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.filterwarnings("ignore:.*was never entered:RuntimeWarning")
def test_what_is_said_of_a_script(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, name)
    findings = advise(str(path))
    printed = capsys.readouterr().out
    source = path.read_text()
    lines = source.splitlines()
    for kind, comment in SCRIPTS[name][1]:
        number = next(i for i, line in enumerate(lines, 1) if line.endswith(comment))
        assert [f for f in findings if f.kind == kind and f.first <= number <= f.last], (
            kind, text(findings, name))  # fmt: skip
    assert sorted(f.kind for f in findings) == sorted(kind for kind, _ in SCRIPTS[name][1])
    assert all(f.file == path.name for f in findings)
    # The answers are those without advice, and those with the advice followed; then there is less
    # to say.
    runpy.run_path(str(path))
    assert capsys.readouterr().out == printed
    better = tmp_path / f"{name}_better.py"
    better.write_text(applied(source, findings))
    left = advise(str(better))
    assert capsys.readouterr().out == printed
    assert not [f for f in left if f.kind in ("no_grad", "unused")]


def findings_of(tmp_path, source):
    path = tmp_path / "program.py"
    path.write_text("import imode\n" + source)
    return advise(str(path))


def test_amounts_are_counted(tmp_path):
    (finding,) = findings_of(
        tmp_path,
        "w = imode.ones(1000, requires_grad=True)\nfor _ in range(3):\n    y = (w * w).exp()\n",
    )
    assert (finding.kind, finding.first, finding.last) == ("unused", 3, 4)
    assert finding.nodes == 6 and finding.milliseconds > 0
    assert finding.bytes == 3 * 3 * 4000  # both factors, and the result of exp
    said = text([finding], "program.py")
    assert "6 nodes, 36000 bytes saved" in said and "ms to record" in said


def test_a_region_is_the_largest_run_of_statements_and_says_what_forbids_it(tmp_path):
    (finding,) = findings_of(
        tmp_path,
        """w = imode.ones(2, requires_grad=True)
a = w * 2
b = imode.rand(2)
c = w * 3
(w * b).sum().backward()
""",
    )
    assert (finding.first, finding.last) == (3, 5)
    assert "the tensor that rand makes at line 4 is normal, and mul at line 6 saves it" in (
        finding.forbids
    )
    assert "inside `with imode.no_grad():`" in finding.do


@pytest.mark.parametrize(
    ("inside", "after", "why"),
    [
        ("t = imode.ones(2)", "t.requires_grad_(); (t * 2).sum().backward()", "needs its gradient"),
        ("t = imode.ones(2)", "t.add_(1)", "writes to it"),
        ("t = imode.ones(2)", "t[0] = 1", "writes to it"),
        ("t = imode.ones(4).view(2, 2)", "(w * t[0]).sum().backward()", "saves it for backward"),
        ("t = w.clone()", "y = (w * t.detach()).sum(); y.backward()", "saves it for backward"),
        (
            "\n    with imode.enable_grad(): (w * 2).sum().backward()\n    t = imode.ones(1)",
            "pass",
            "recording is turned on again",
        ),
        ("t = imode.ones(2); loss.backward()", "pass", "a backward runs inside"),
        ("t = imode.ones(2)", "t + 1", None),
        ("t = imode.ones(2)", "with imode.inference_mode(): t.add_(1)", None),
        ("t = imode.ones(2)", "with imode.no_grad():\n    t.add_(1)", None),
        ("w.add_(1)", "(w * 2).sum().backward()", None),
    ],
)
def test_what_keeps_a_no_grad(tmp_path, inside, after, why):
    findings = findings_of(
        tmp_path,
        f"w = imode.ones(2, requires_grad=True)\nloss = (w * w).sum()\nwith imode.no_grad():\n"
        f"    {inside}\n{after}\nloss.backward(retain_graph=True) if 0 else None\n",
    )
    (finding,) = [f for f in findings if f.first == 4 and f.kind in ("no_grad", "stays")]
    assert finding.kind == ("no_grad" if why is None else "stays")
    assert why is None or why in finding.forbids


def test_a_write_in_another_block_that_stays_keeps_both(tmp_path):
    findings = findings_of(
        tmp_path,
        """w = imode.ones(2, requires_grad=True)
with imode.no_grad():
    t = imode.ones(2)
with imode.no_grad():
    t.add_(1)
    u = imode.ones(2)
(w * u).sum().backward()
""",
    )
    assert [(f.kind, f.first) for f in findings] == [("stays", 3), ("stays", 5)]
    assert "add_ at line 6 writes to it" in findings[0].forbids


def test_decorators_and_set_grad_enabled_count_and_an_optimizers_own_guards_do_not(tmp_path):
    findings = findings_of(
        tmp_path,
        """w = imode.ones(2, requires_grad=True)
optimizer = imode.optim.Adam([w])
@imode.no_grad()
def serve():
    return w + 1
with imode.set_grad_enabled(False):
    w + 2
serve()
w.sum().backward()
optimizer.step()
""",
    )
    assert [(f.kind, f.first) for f in findings] == [("no_grad", 4), ("no_grad", 7)]


def test_an_unused_region_in_training_mode_says_so(tmp_path):
    (finding,) = findings_of(
        tmp_path, "m = imode.nn.Sequential(imode.nn.Linear(2, 2), imode.nn.Dropout())\n"
        "m(imode.ones(1, 2))\n",
    )  # fmt: skip
    assert finding.kind == "unused" and "model.eval()" in finding.do


def test_files_beside_the_script_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helper_of_advise.py").write_text(
        "import imode\ndef f(w):\n    with imode.no_grad():\n        return w + 1\n"
    )
    (finding,) = findings_of(
        tmp_path, "import helper_of_advise\nhelper_of_advise.f(imode.ones(1))\n"
    )
    assert (finding.file, finding.first) == ("helper_of_advise.py", 3)


def test_a_source_that_cannot_be_read_gives_no_region(tmp_path):
    found = findings_of(
        tmp_path,
        "w = imode.ones(2, requires_grad=True)\nexec(compile('w * 2', 'gone.py', 'exec'))\n"
        "(w * 2).sum().backward()\n",
    )
    assert [(f.kind, f.first) for f in found] == [("unused", 3)]


# ---- the command ----


def command(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "imode", *arguments], cwd=cwd, capture_output=True, text=True,
        env={**__import__("os").environ, "PYTHONPATH": imode.__path__[0].removesuffix("imode")},
    )  # fmt: skip


def test_output_errors_arguments_and_status_are_the_scripts(tmp_path):
    (tmp_path / "fails.py").write_text(
        "import sys, imode\nprint(sys.argv, __name__, sys.path[0])\n"
        "with imode.no_grad():\n    imode.ones(2) + 1\nimode.ones(2) + imode.ones(3)\n"
    )
    done = command("advise", "fails.py", "--lr", "1", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == f"{['fails.py', '--lr', '1']} __main__ {tmp_path}\n"
    error, advice = done.stderr.split("imode advise: ")
    assert error.startswith('Traceback (most recent call last):\n  File "fails.py", line 5')
    assert "must match the size" in error and "observer" not in error
    assert advice.startswith("fails.py: one finding\n\nfails.py:3: no_grad, around 2 calls")


def test_exits_of_the_script(tmp_path, capsys):
    for end in ("sys.exit(3)", "sys.exit()", "raise KeyboardInterrupt"):
        assert findings_of(tmp_path, f"import sys\n{end}\n") == []
    assert "KeyboardInterrupt" in capsys.readouterr().err
    findings_of(tmp_path, "import sys\nsys.exit('said')\n")
    assert capsys.readouterr().err == "said\n"


def test_json(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "program.py"
    path.write_text("import imode\nwith imode.no_grad():\n    imode.ones(2)\n")
    assert main(["--json", "found.json", str(path)]) == 0
    (row,) = json.loads((tmp_path / "found.json").read_text())
    assert (row["kind"], row["file"], row["first"], row["nodes"]) == ("no_grad", "program.py", 2, 0)
    assert capsys.readouterr() == ("", "")
    assert main(["--json", "-", str(path)]) == 0
    assert json.loads(capsys.readouterr().out) == [row]
    path.write_text("import imode\n")
    assert main([str(path)]) == 0
    assert "nothing to say" in capsys.readouterr().err


def test_mistakes_on_the_command_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main([str(tmp_path / "gone.py")])
    assert end.value.code == 2 and "cannot open the script" in capsys.readouterr().err
    assert imode.__main__.main(["nonsense"]) == 2
    assert "there is no command and no file 'nonsense'" in capsys.readouterr().err
    assert imode.__main__.main([]) == 0
    assert "advise" in capsys.readouterr().out


def test_nothing_is_observed_afterwards_and_nothing_kept(tmp_path):
    before = sys.argv, sys.path[:]
    findings_of(tmp_path, "imode.ones(2)\n")
    assert (sys.argv, sys.path) == before
    with imode.trace_dispatch() as trace:
        imode.ones(2)
    assert len(trace) == 1


def test_threads_of_the_script_are_seen_and_waited_for(tmp_path, capsys):
    script = tmp_path / "threads.py"
    script.write_text(
        """import threading, time
from concurrent.futures import ThreadPoolExecutor
import imode
model = imode.nn.Linear(4, 2)
x = imode.ones(3, 4)
def serve(x):
    return model(x).sum().item()
def train():
    model(x).sum().backward()
def late():
    time.sleep(0.2)
    with imode.no_grad():
        model(x)
thread = threading.Thread(target=train)
thread.start()
thread.join()
with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(serve, [x] * 4))[0] != 0)
threading.Thread(target=late).start()
loss = model(x).sum()
thread = threading.Thread(target=loss.backward)
thread.start()
thread.join()
def fails():
    raise ValueError("of a thread")
threading.Thread(target=fails).start()
"""
    )
    plain = threading.Thread._bootstrap_inner
    hooked, threading.excepthook = [], lambda args: hooked.append(args.exc_value)
    try:
        found = advise(str(script))
    finally:
        threading.excepthook = threading.__excepthook__
    assert [(f.kind, f.first) for f in found] == [("unused", 7), ("no_grad", 12)]
    assert found[0].nodes == 12 and "in serve()" in found[0].do
    assert threading.Thread._bootstrap_inner is plain and capsys.readouterr().out == "True\n"
    assert [str(error) for error in hooked] == ["of a thread"]
