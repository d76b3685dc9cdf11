"""How fast the server answers: its greatest load, then times at half of it.

    python examples/serving/load.py [seconds] [clients]

Starts the server, asks by many connections at once, stops it in the middle and counts answers: as
many as the requests that the server says it took, or some are lost. Whose connection the server has
not looked at when it closes its door is turned away by the operating system, and asks again.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BODY = json.dumps({"inputs": [0.5] * 64})


def start():
    """A server on a free port: its process and the port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "--app-dir", HERE, "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--log-level", "warning", "app:app"], stdout=subprocess.PIPE
    )
    for _ in range(300):
        try:
            if ask(http.client.HTTPConnection("127.0.0.1", port), "GET", "/health") == 200:
                return process, port
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server does not start")


def ask(connection, method="POST", path="/predict"):
    """The status of an answer."""
    connection.request(method, path, BODY if method == "POST" else None)
    response = connection.getresponse()
    response.read()
    return response.status


def client(port, until, pause, times, away):
    """Ask until a time or until the server is gone; note how long each answer took."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while time.perf_counter() < until:
        began = time.perf_counter()
        try:
            connection.connect()
        except OSError:
            return  # the door is closed
        try:
            status = ask(connection)
        except (OSError, http.client.HTTPException) as error:
            away.append(repr(error))  # no answer
            return
        finally:
            connection.close()
        times.append((time.perf_counter() - began, status))
        time.sleep(max(0.0, pause - (time.perf_counter() - began)))


def measure(port, seconds, clients, pause=0.0, meanwhile=None):
    """(answers, errors in their place) of clients that ask at once."""
    times, away = [], []
    until = time.perf_counter() + seconds
    given = (port, until, pause, times, away)
    threads = [threading.Thread(target=client, args=given) for _ in range(clients)]
    for thread in threads:
        thread.start()
    if meanwhile:
        meanwhile()
    for thread in threads:
        thread.join()
    return times, away


def main():
    seconds, clients = float((sys.argv[1:] or ["3"])[0]), int((sys.argv[2:] or ["16"])[0])
    process, port = start()

    def stop():
        time.sleep(seconds / 2)
        process.send_signal(signal.SIGTERM)

    try:
        full, failed = measure(port, seconds, clients)
        greatest = len(full) / seconds
        half, more = measure(port, seconds, clients, pause=2 * clients / greatest)
        ordered = sorted(took for took, _ in half)
        median, p99 = (ordered[int(len(ordered) * part)] * 1000 for part in (0.5, 0.99))
        print(f"greatest load: {greatest:.0f} requests/s by {clients} connections at once")
        print(f"at half of it: median {median:.1f} ms, 99% within {p99:.1f} ms")
        last, away = measure(port, seconds, clients, meanwhile=stop)
        said, _ = process.communicate(timeout=10)
        answers = [status for _, status in [*full, *half, *last]]
        lost = int(said.split()[-1]) - len(answers)
        print(
            f"stopped under load: {len(last)} answers, {len(away)} turned away at the door, "
            f"{lost} requests lost"
        )
        assert set(answers) <= {200, 503} and not failed + more, (failed, more)
        assert lost == 0 and len(away) <= clients
        assert process.returncode in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
