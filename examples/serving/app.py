"""A network behind HTTP: requests that come together are answered together, in inference mode.

    pip install imode[serving]
    uvicorn --app-dir examples/serving app:app

POST /predict with {"inputs": [64 numbers]} answers {"digit": 7, "chance": 0.98}; GET /health tells
whether it takes requests. Each request is answered: by 200, by 400 where its inputs do not fit, by
503 where too many wait or the server stops, by 504 where the time limit passed. On SIGTERM what
was accepted is still answered.
"""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import imode
from imode import nn


class Batcher:
    """Answers requests in batches, in threads, which leave the loop free to take further ones.

    A batch is what waits when a thread is free, `largest` at most: nobody waits for others to come.
    `waiting`: how many may wait before further ones are refused.
    """

    def __init__(self, model, largest=32, threads=2, waiting=1024):
        self.model, self.largest = model.eval(), largest
        self.queue = asyncio.Queue(waiting)
        self.pool = ThreadPoolExecutor(threads)
        self.workers = [asyncio.create_task(self.work()) for _ in range(threads)]

    def predict(self, inputs):
        """The digits of a batch and their chances."""
        with imode.inference_mode():  # a guard is its thread's alone
            best = self.model(imode.tensor(inputs)).softmax(1).max(1)
            return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))

    async def work(self):
        loop = asyncio.get_running_loop()
        while True:
            batch = [await self.queue.get()]
            while len(batch) < self.largest and not self.queue.empty():
                batch.append(self.queue.get_nowait())
            asked = [(inputs, answer) for inputs, answer in batch if not answer.done()]
            try:  # those who gave up waiting are left out
                found = []
                if asked:
                    inputs = [inputs for inputs, _ in asked]
                    found = await loop.run_in_executor(self.pool, self.predict, inputs)
                for (_, answer), each in zip(asked, found, strict=True):
                    if not answer.done():
                        answer.set_result(each)
            except Exception as error:
                for _, answer in asked:
                    if not answer.done():
                        answer.set_exception(error)
            for _ in batch:
                self.queue.task_done()

    def ask(self, inputs):
        """A future of the answer; raises asyncio.QueueFull where too many wait."""
        answer = asyncio.get_running_loop().create_future()
        self.queue.put_nowait((inputs, answer))
        return answer

    async def close(self):
        """Answer what waits, then stop."""
        await self.queue.join()
        for worker in self.workers:
            worker.cancel()
        self.pool.shutdown()


class App:
    """The ASGI application: `model` is made when the server starts.

    limit: seconds after which a request is answered by 504; options: of `Batcher`.
    """

    def __init__(self, make_model, features, limit=5.0, **options):
        self.make_model, self.features, self.limit = make_model, features, limit
        self.options, self.batcher, self.taken = options, None, 0

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            return await self.live(receive, send)
        if scope["type"] != "http":
            return None
        where = scope["method"], scope["path"]
        if where == ("GET", "/health"):
            status, body = (200, {"ready": True}) if self.batcher else (503, {"ready": False})
        elif where == ("POST", "/predict"):
            self.taken += 1
            status, body = await self.answer(await read(receive))
        else:
            status, body = 404, {"error": "there are POST /predict and GET /health"}
        await respond(send, status, body)

    async def live(self, receive, send):
        await receive()  # lifespan.startup
        self.batcher = Batcher(self.make_model(), **self.options)
        await send({"type": "lifespan.startup.complete"})
        await receive()  # lifespan.shutdown: the server has closed its door
        batcher, self.batcher = self.batcher, None
        await batcher.close()
        print(f"requests taken: {self.taken}", flush=True)
        await send({"type": "lifespan.shutdown.complete"})

    async def answer(self, body):
        try:
            inputs = [float(x) for x in json.loads(body)["inputs"]]
        except (ValueError, TypeError, KeyError):
            return 400, {"error": 'expected {"inputs": [numbers]}'}
        if len(inputs) != self.features:
            return 400, {"error": f"expected {self.features} numbers, got {len(inputs)}"}
        if self.batcher is None:
            return 503, {"error": "the server stops"}
        try:
            digit, chance = await asyncio.wait_for(self.batcher.ask(inputs), self.limit)
        except asyncio.QueueFull:
            return 503, {"error": "too many requests wait: try again later"}
        except TimeoutError:
            return 504, {"error": f"no answer within {self.limit} s"}
        return 200, {"digit": digit, "chance": chance}


async def read(receive):
    """The body of a request."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body


async def respond(send, status, body):
    """Send an answer in JSON."""
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


def network():
    """A network for images of 8 x 8; a real server loads the weights of a trained one."""
    imode.manual_seed(0)
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * 64, 10),
    )


app = App(network, features=64)
