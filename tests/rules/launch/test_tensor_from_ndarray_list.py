"""TL208: a tensor of a list of arrays."""

from __future__ import annotations

from tests.rules.helpers import check


def test_fires() -> None:
    check(
        """
        import numpy
        import torch as th

        def arrays(frames):
            return [numpy.asarray(f) for f in frames]

        class Box:
            def pack(self, frames):
                rows = []
                for f in frames:
                    rows.append(numpy.zeros(3) + f)
                return th.as_tensor(rows), th.FloatTensor(arrays(frames))  # TL208

        import cv2
        import librosa
        def read(paths):
            sounds = [librosa.load(path, sr=16000)[0] for path in paths]
            return th.tensor(sounds), th.tensor([cv2.imread(path) for path in paths])  # TL208
        def pair(a, b):
            return th.tensor((numpy.log(a), numpy.log(b)))  # TL208
        """,
        "TL208",
    )


def test_silent() -> None:
    check(
        """
        import numpy as np
        import torch

        def f(frames, a):
            rows = [np.asarray(x) for x in frames]
            torch.tensor([1.0, float(np.mean(a))])
            torch.tensor([a, np.zeros(3)])
            torch.tensor([2 * row.sum() for row in rows]), torch.tensor([np.any(row) for row in rows])
            sub = np.load(frames)[2]
            torch.tensor([int(x) // sub for x in frames])
            torch.tensor(np.stack(rows)), torch.LongTensor([a[0], np.load(frames)[len(rows)]])
            return torch.stack([torch.from_numpy(r) for r in rows]), torch.tensor([r.shape for r in rows])
        """,
        "TL208",
    )
