"""What a model saves for backward, kept in memory, and on disk where tensors are large.

In a clone, after `make build`:

    PYTHONPATH=. .venv/bin/python examples/saved_on_disk.py
"""

import os
import tempfile
import time

import imode
from imode import nn
from imode.autograd.graph import saved_tensors_hooks

LARGE = 1000  # elements


def main():
    imode.manual_seed(0)
    layers = [layer for _ in range(20) for layer in (nn.Linear(256, 256), nn.Tanh())]
    model, batch = nn.Sequential(*layers), imode.randn(4096, 256)
    parameters = {id(p) for p in model.parameters()}
    with tempfile.TemporaryDirectory() as folder:

        class File:
            count = size = 0

            def __init__(self, tensor):
                File.count += 1
                self.name = os.path.join(folder, str(File.count))
                imode.save(tensor.detach(), self.name)
                File.size += os.path.getsize(self.name)

            def __del__(self):
                os.remove(self.name)

        def pack(tensor):
            # Parameters stay in memory anyway.
            small = tensor.numel() < LARGE or id(tensor) in parameters
            return tensor.detach() if small else File(tensor)

        def unpack(kept):
            return imode.load(kept.name) if isinstance(kept, File) else kept

        def run():
            base, began = resident(), time.perf_counter()
            loss = model(batch).pow(2).mean()
            grown, files = resident() - base, File.size
            loss.backward()
            took = time.perf_counter() - began
            grads = [p.grad for p in model.parameters()]
            model.zero_grad()
            return grads, grown, files, took

        run()  # the first run reserves memory that later ones use again
        with saved_tensors_hooks(pack, unpack):
            on_disk, disk_grown, files, disk_took = run()
        left = len(os.listdir(folder))
    in_memory, grown, _, took = run()

    same = all(a.equal(b) for a, b in zip(on_disk, in_memory, strict=True))
    print(f"{'':12}{'memory, MB':>12}{'files, MB':>12}{'seconds':>12}")
    print(f"{'in memory':12}{grown / 1e6:12.1f}{0:12.1f}{took:12.3f}")
    print(f"{'on disk':12}{disk_grown / 1e6:12.1f}{files / 1e6:12.1f}{disk_took:12.3f}")
    print(f"the same gradients, bit for bit: {same}; files left: {left}")


def resident():
    """Bytes of this process in memory; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


if __name__ == "__main__":
    main()
