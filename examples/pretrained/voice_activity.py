"""Find where people speak in a recording, 32 ms at a time, with the weights of Silero VAD.

    PYTHONPATH=. .venv/bin/python examples/pretrained/voice_activity.py

In a clone, after `make examples`, which runs it, too. The weights are the safetensors file of the
package silero-vad; the recording, half a minute of two people on the telephone, and what a person
heard in it come with the package pyannote.audio: neither package is imported. The network stands
below, in imode.nn. It is held against silero-vad's own ONNX file, run by onnxruntime: that file
(of silero-vad 6.2.3) holds another training than the safetensors file, so the network is given its
weights for this. The picture goes to build/examples/voice_activity.png.
"""

import time
import wave

import numpy as np
import onnx
import onnxruntime
from shared import inside, picture

import imode
from imode import nn
from imode.nn import functional as F

RATE = 16_000  # samples a second
CHUNK, CONTEXT = 512, 64  # new samples in each step, and old ones that it sees again
WEIGHTS = inside("silero_vad", "data/silero_vad_16k.safetensors")
ONNX = inside("silero_vad", "data/silero_vad_16k_op15.onnx")
RECORDING = inside("pyannote.audio", "sample/sample.wav")
HEARD = inside("pyannote.audio", "sample/sample.rttm")


class SileroVAD(nn.Module):
    """Silero VAD at 16 kHz: a spectrum, four convolutions, an LSTM cell; 309 633 weights."""

    def __init__(self):
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 258, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(129, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(128, 128)
        self.final_conv = nn.Conv1d(128, 1, 1)

    def forward(self, samples, state=None):
        """The chance of speech, (N, 1), and the next state, from (N, 576) samples in -1 to 1."""
        x = self.stft_conv(F.pad(samples.unsqueeze(1), (0, CONTEXT), mode="reflect"))
        real, imaginary = x.chunk(2, dim=1)
        x = (real**2 + imaginary**2).sqrt()
        for conv in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = conv(x).relu()
        hidden, cell = self.lstm_cell(x.squeeze(-1), state)
        chance = self.final_conv(hidden.relu().unsqueeze(-1)).sigmoid()
        return chance.squeeze(-1), (hidden, cell)


def with_weights(weights):
    """The network, ready to serve."""
    network = SileroVAD()
    network.load_state_dict(weights)
    return network.eval()


def weights_of_onnx():
    """The weights in the package's ONNX file, by the names of the safetensors file."""
    names = {f"model.encoder.{i}.reparam_conv": f"conv{i + 1}" for i in range(4)} | {
        "model.decoder.rnn": "lstm_cell",
        "model.decoder.decoder.2": "final_conv",
    }
    weights = {}
    for stored in onnx.load(ONNX).graph.initializer:
        values = imode.from_numpy(onnx.numpy_helper.to_array(stored).copy())
        layer, _, parameter = stored.name.rpartition(".")
        if layer in names:
            weights[f"{names[layer]}.{parameter}"] = values
        elif parameter == "forward_basis_buffer":
            weights["stft_conv.weight"] = values
    return weights


def read_recording():
    """The samples as float32 in -1 to 1, cut to whole chunks, as (steps, 576): context, chunk."""
    with wave.open(str(RECORDING)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    samples = samples[: len(samples) // CHUNK * CHUNK].astype(np.float32) / 32768
    padded = np.concatenate([np.zeros(CONTEXT, np.float32), samples])
    windows = np.lib.stride_tricks.sliding_window_view(padded, CONTEXT + CHUNK)[::CHUNK]
    return samples, np.ascontiguousarray(windows)


def listen(network, windows):
    """The chance of speech in each chunk, one step after the other, as a stream would come."""
    chances, state = [], None
    with imode.inference_mode():
        for window in imode.from_numpy(windows).split(1):
            chance, state = network(window, state)
            chances.append(chance.item())
    return np.array(chances)


def listen_by_onnx(windows):
    """The same from the package's ONNX file."""
    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(ONNX), options)
    chances, state, rate = [], np.zeros((2, 1, 128), np.float32), np.array(RATE)
    for window in windows[:, None]:
        chance, state = session.run(None, {"input": window, "state": state, "sr": rate})
        chances.append(chance.item())
    return np.array(chances)


def read_heard():
    """The seconds from and to which a person heard somebody speak: overlaps joined."""
    rows = (line.split() for line in HEARD.read_text().splitlines())
    joined = []
    for start, length in sorted((float(row[3]), float(row[4])) for row in rows):
        if joined and start <= joined[-1][1] + 0.2:  # a breath
            joined[-1][1] = max(joined[-1][1], start + length)
        else:
            joined.append([start, start + length])
    return joined


def spoken(chances):
    """The seconds from and to which the network hears speech; pauses under 0.2 s are none."""
    joined = []
    for step in np.flatnonzero(chances > 0.5):
        start, end = step * CHUNK / RATE, (step + 1) * CHUNK / RATE
        if joined and start <= joined[-1][1] + 0.2:
            joined[-1][1] = end
        else:
            joined.append([start, end])
    return joined


def draw(samples, chances, heard):
    """The recording, the chance of speech, and what a person heard, over time."""
    with picture("voice_activity.png", rows=2, height=4.2) as (sound, chance):
        sound.plot(np.arange(len(samples)) / RATE, samples, lw=0.3, color="0.3")
        sound.set_ylabel("recording")
        for start, end in heard:
            sound.axvspan(start, end, color="tab:orange", alpha=0.3, lw=0)
        sound.set_title("orange: a person heard speech; blue: the network's chance of speech")
        chance.plot((np.arange(len(chances)) + 0.5) * CHUNK / RATE, chances, color="tab:blue")
        chance.axhline(0.5, color="0.6", lw=0.6)
        chance.set(ylabel="chance of speech", xlabel="seconds")


def main():
    imode.set_num_threads(1)
    network = with_weights(imode.load(WEIGHTS))
    samples, windows = read_recording()
    start = time.perf_counter()
    chances = listen(network, windows)
    each = (time.perf_counter() - start) / len(windows)
    print(f"{len(samples) / RATE:.1f} s of sound, {len(windows)} steps of 32 ms, each in", end=" ")
    print(f"{each * 1e6:.0f} us")
    print("speech, by the network:", *(f"{a:.1f}-{b:.1f} s" for a, b in spoken(chances)))
    heard = read_heard()
    print("speech, by a person:   ", *(f"{a:.1f}-{b:.1f} s" for a, b in heard))
    middle = (np.arange(len(chances)) + 0.5) * CHUNK / RATE
    truth = np.any([(middle > a) & (middle < b) for a, b in heard], axis=0)
    print(f"steps on which both agree: {np.mean(truth == (chances > 0.5)):.1%}")
    apart = np.abs(listen(with_weights(weights_of_onnx()), windows) - listen_by_onnx(windows)).max()
    print(f"with the ONNX file's weights, largest difference from onnxruntime: {apart:.1e}")
    assert apart < 1e-4
    draw(samples, chances, heard)


if __name__ == "__main__":
    main()
