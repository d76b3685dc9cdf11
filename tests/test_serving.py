"""The ASGI example: batches, time limits, refusals, health, a stop under load."""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import imode
from imode import nn

SERVING = Path(__file__).parents[1] / "examples" / "serving"
spec = importlib.util.spec_from_file_location("serving_app", SERVING / "app.py")
serving = importlib.util.module_from_spec(spec)
spec.loader.exec_module(serving)


class Slow(nn.Module):
    """Adds up; notes the sizes of its batches, and whether they came in inference mode."""

    def __init__(self, seconds=0.0):
        super().__init__()
        self.seconds, self.sizes = seconds, []

    def forward(self, x):
        assert imode.is_inference_mode_enabled() and not self.training
        time.sleep(self.seconds)
        self.sizes.append(len(x))
        if (x < 0).any():
            raise ValueError("negative")
        return imode.stack([x.sum(1), -x.sum(1)], 1)


async def ask(app, body, path="/predict", method="POST"):
    """(status, answer) of one request."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": body}

    async def send(message):
        sent.append(message)

    await app({"type": "http", "method": method, "path": path}, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


def serve(model, program, **options):
    """Run `program(app, stop)` while an app serves."""

    async def main():
        app = serving.App(lambda: model, 2, **options)
        inbox, told = asyncio.Queue(), []

        async def send(message):
            told.append(message["type"])

        life = asyncio.create_task(app({"type": "lifespan"}, inbox.get, send))
        await inbox.put({"type": "lifespan.startup"})
        while not told:
            await asyncio.sleep(0)

        async def stop():
            await inbox.put({"type": "lifespan.shutdown"})
            await life

        try:
            return await program(app, stop)
        finally:
            if not life.done():
                await stop()
            assert told[-1] == "lifespan.shutdown.complete"

    return asyncio.run(main())


def body(*inputs):
    return json.dumps({"inputs": inputs}).encode()


def test_each_of_many_gets_its_own_answer_and_they_share_batches():
    model = Slow(0.002)

    async def program(app, stop):
        return await asyncio.gather(*(ask(app, body(i % 3 - 1 + 1, 0)) for i in range(300)))

    answers = serve(model, program, largest=32)
    assert [status for status, _ in answers] == [200] * 300
    for i, (_, answer) in enumerate(answers):
        assert answer["chance"] == pytest.approx(1 / (1 + 2.718281828 ** (-2 * (i % 3))))
    assert sum(model.sizes) == 300 and max(model.sizes) == 32 and len(model.sizes) <= 30


def test_inputs_that_do_not_fit_and_paths_that_are_none():
    async def program(app, stop):
        asked = (b"no JSON", b"{}", b'{"inputs": ["a", 1]}', body(1), body(1, 2, 3))
        bad = [await ask(app, each) for each in asked]
        return bad, await ask(app, b"", "/no", "GET"), await ask(app, b"", "/health", "GET")

    bad, absent, health = serve(Slow(), program)
    assert [status for status, _ in bad] == [400] * 5
    assert bad[-1][1] == {"error": "expected 2 numbers, got 3"}
    assert absent[0] == 404 and health == (200, {"ready": True})


def test_time_limit_and_refusal_where_too_many_wait():
    async def program(app, stop):
        return await asyncio.gather(*(ask(app, body(i, 0)) for i in range(20)))

    options = {"limit": 0.05, "waiting": 4, "threads": 1, "largest": 1}
    statuses = [status for status, _ in serve(Slow(0.1), program, **options)]
    assert len(statuses) == 20 and set(statuses) == {503, 504}


def test_an_error_of_the_model_reaches_its_batch_alone():
    async def program(app, stop):
        with pytest.raises(ValueError, match="negative"):
            await ask(app, body(-1, 0))
        return await ask(app, body(1, 0))

    assert serve(Slow(), program)[0] == 200


def test_what_was_accepted_before_a_stop_is_answered():
    async def program(app, stop):
        asked = [asyncio.create_task(ask(app, body(i, 0))) for i in range(50)]
        while app.batcher.queue.empty():
            await asyncio.sleep(0)
        await stop()
        answers = await asyncio.gather(*asked)
        return answers, await ask(app, body(1, 0)), await ask(app, b"", "/health", "GET")

    answers, later, health = serve(Slow(0.005), program, largest=4)
    assert {status for status, _ in answers} <= {200, 503} and len(answers) == 50
    assert [status for status, _ in answers].count(200) > 0
    assert later[0] == 503 and health == (503, {"ready": False})


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("uvicorn") is None, reason="not installed")
def test_a_server_under_load_loses_no_request():
    env = {**os.environ, "PYTHONPATH": str(Path(imode.__file__).parents[1])}
    command = [sys.executable, str(SERVING / "load.py"), "2"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 requests lost" in done.stdout
