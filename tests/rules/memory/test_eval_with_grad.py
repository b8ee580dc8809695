"""TL603: evaluation that builds graphs."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "a loop over a loader after eval()": """
import torch
from torch.utils.data import DataLoader
def validate(net, loader, criterion, device):
    net.eval()
    total, n = 0.0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        out = net(x)  # TL603
        total += criterion(out, y).item() * len(y)
        n += len(y)
    net.train()
    return total / n
""",
    "the evaluation half of a script that trains": """
import torch
from torch import nn
from torch.utils.data import DataLoader
def main():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    opt = torch.optim.SGD(net.parameters(), 0.1)
    train = DataLoader(make(), batch_size=8)
    held_out = DataLoader(make(), batch_size=8)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(10):
        net.train()
        for x, y in train:
            out = net(x.cuda())
            loss = loss_fn(out, y.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        right = 0
        for x, y in held_out:
            out = net(x.cuda())  # TL603
            loss = loss_fn(out, y.cuda())
            right += (out.argmax(1) == y.cuda()).sum()
        print(right)
""",
    "a helper that training shares: where the evaluation calls it": """
import torch
class Fit:
    def __init__(self, model, opt, loss, device):
        self.model = model.to(device)
        self.opt = opt
        self.loss = loss
        self.device = device
    def _step(self, batch):
        x, y = (t.to(self.device) for t in batch)
        return self.loss(self.model(x), y)
    def train_epoch(self, loader):
        self.model.train()
        for batch in loader:
            loss = self._step(batch)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
    def check_epoch(self, loader):
        self.model.eval()
        seen = []
        for batch in loader:
            seen.append(self._step(batch).item())  # TL603
        return sum(seen) / len(seen)
""",
    "a module of the file's top level": """
import torch
from torchvision.models import resnet50
model = resnet50(weights="DEFAULT").cuda()
model.eval()
def classify(images):
    logits = model(images.cuda())  # TL603
    return logits.softmax(-1).topk(5)
""",
    "a service's method, the module set up in __init__": """
import torch
class Service:
    def __init__(self, path):
        self.device = torch.device("cuda")
        self.net = torch.jit.load(path).to(self.device)
        self.net.eval()
    def handle(self, request):
        x = torch.as_tensor(request["x"], device=self.device)
        scores = self.net(x)  # TL603
        return {"scores": scores.detach().cpu().tolist()}
""",
    "a target network whose output is only detached": """
import torch
def act(policy, state, eps):
    return policy(state).max(1)[1]
class Agent:
    def __init__(self, q, target, opt):
        self.q = q.cuda()
        self.target = target.cuda()
        self.target.eval()
        self.opt = opt
    def learn(self, batches):
        for s, a, r, s2 in batches:
            best = self.target(s2).max(1)[0].detach()  # TL603
            want = r + 0.99 * best
            got = self.q(s).gather(1, a)
            loss = (got.squeeze(1) - want).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
""",
    "a module that a loader function evaluates": """
import torch
def load(path):
    net = torch.nn.Linear(3, 4)
    net.load_state_dict(torch.load(path))
    net.eval()
    return net.cuda()
def run(path, frames):
    net = load(path)
    out = []
    for f in frames:
        out.append(net(f.cuda()).cpu())  # TL603
    return out
""",
    "a comprehension over a loader": """
import torch
def export_features(backbone, dataset):
    backbone.eval().cuda()
    loader = torch.utils.data.DataLoader(dataset, batch_size=64)
    feats = [backbone(x.cuda()).cpu() for x, _ in loader]  # TL603
    return torch.cat(feats)
""",
    "a module's own method": """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(3, 3)
    def forward(self, x):
        return self.body(x)
    def predict(self, x):
        self.eval()
        return self(x).argmax(-1)  # TL603
""",
    "a generator, by train(False)": """
import torch
def score_all(model, loader):
    model.train(False)
    for b in loader:
        yield model(b)  # TL603
""",
    "a chain that ends in eval()": """
import torch
from transformers import AutoModel
def embed(texts, tok):
    model = AutoModel.from_pretrained("x").cuda().eval()
    inputs = tok(texts, return_tensors="pt").to("cuda")
    hidden = model(**inputs).last_hidden_state  # TL603
    return hidden.mean(1)
""",
    "a decoding loop": """
import torch
def generate(model, ids, n):
    model.eval()
    for _ in range(n):
        logits = model(ids)[:, -1]  # TL603
        ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], 1)
    return ids
""",
    "a loader that an attribute holds": """
import torch
from torch.utils.data import DataLoader
class Trainer:
    def __init__(self, model):
        self.model = model.cuda()
        self.valid = DataLoader(ds, batch_size=4)
    def accuracy(self):
        right = 0
        for x, y in self.valid:
            p = self.model(x.cuda())  # TL603
            right += (p.argmax(1) == y.cuda()).sum()
        return right
""",
    "a script that writes what it predicts": """
import torch
def main(args):
    model = build(args).to("cuda")
    model.load_state_dict(torch.load(args.ckpt)["model"])
    model.eval()
    for p in list_images(args.dir):
        img = read(p).unsqueeze(0).to("cuda")
        out = model(img)  # TL603
        save(out.cpu().detach().numpy(), p)
""",
    "a generator of which the critic only sees detached output": """
import torch
def gan(gen, disc, opt, batches):
    gen.cuda(); disc.cuda()
    for real in batches:
        fake = gen(torch.randn(4, 8, device="cuda"))  # TL603
        d = disc(fake.detach()).mean() - disc(real).mean()
        opt.zero_grad()
        d.backward()
        opt.step()
""",
}

SILENT = {
    "a class made of what a network gives": """
        import torch
        from torch import nn

        class Made(nn.Linear(4, 4)(torch.zeros(1, 4))):
            pass
    """,
    "under inference mode": """
import torch
def evaluate(model, loader):
    with torch.inference_mode():
        model.eval()
        return [model(x) for x in loader]
""",
    "a grad mode that depends on the phase": """
import torch
def phase_loop(model, loaders, opt):
    for phase in ["train", "val"]:
        if phase == "train":
            model.train()
        else:
            model.eval()
        for x, y in loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                out = model(x)
                loss = (out - y).pow(2).mean()
                if phase == "train":
                    loss.backward()
                    opt.step()
""",
    "a gradient of the input": """
import torch
def fgsm(model, x, y, eps):
    model.eval()
    x.requires_grad = True
    loss = torch.nn.functional.cross_entropy(model(x), y)
    model.zero_grad()
    loss.backward()
    return x + eps * x.grad.sign()
""",
    "a class activation map": """
import torch
def cam(model, x, layer):
    model.eval()
    out = model(x)
    out[0, out.argmax()].backward()
    return layer.grad
""",
    "Lightning's evaluation steps and their helpers": """
import pytorch_lightning as pl
class M(pl.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net
    def forward(self, x):
        return self.net(x)
    def validation_step(self, batch, i):
        out = self(batch)
        self.log("x", out.argmax(-1).float().mean())
    def test_step(self, batch, i):
        return self._shared(batch)
    def _shared(self, batch):
        return self.net(batch).argmax(-1)
""",
    "a loss network inside a forward": """
import torch
class Loss(torch.nn.Module):
    def __init__(self, vgg):
        super().__init__()
        self.vgg = vgg.eval()
    def features(self, x):
        return self.vgg(x)
    def forward(self, x, y):
        return (self.features(x) - self.features(y)).abs().mean()
""",
    "a test": """
import torch, pytest
def test_shapes(model):
    model.eval()
    assert model(torch.zeros(1, 3)).shape == (1, 2)
""",
    "an image that is optimised": """
import torch
def style(net, target, steps):
    net.eval()
    image = torch.randn(1, 3, 8, 8, requires_grad=True)
    opt = torch.optim.LBFGS([image])
    def closure():
        opt.zero_grad()
        loss = (net(image) - target).pow(2).mean()
        loss.backward()
        return loss
    for _ in range(steps):
        opt.step(closure)
    return image
""",
    "training with frozen statistics": """
import torch
def train_one(model, loader, opt):
    model.eval()  # keep the statistics
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
""",
    "turned off for the whole file": """
import torch
torch.set_grad_enabled(False)
model = torch.load("m.pt").eval().cuda()
def go(x):
    return model(x).argmax(-1)
""",
    "a decorator of the file's own": """
import torch
def no_tape(fn):
    def wrapped(*a, **k):
        with torch.no_grad():
            return fn(*a, **k)
    return wrapped
class P:
    def __init__(self, net):
        self.net = net.eval()
    @no_tape
    def predict(self, x):
        return self.net(x).argmax(-1)
""",
    "a closure under the decorator": """
import torch
@torch.no_grad()
def outer(model, loader):
    model.eval()
    def inner(x):
        return model(x)
    return [inner(x) for x in loader]
""",
    "a helper whose evaluation callers hold no_grad": """
import torch
def logits_of(model, x):
    return model(x)
def train(model, opt, loader):
    model.train()
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(logits_of(model, x), y)
        loss.backward()
        opt.step()
@torch.no_grad()
def check(model, loader):
    model.eval()
    return sum((logits_of(model, x).argmax(1) == y).sum() for x, y in loader)
""",
    "a second derivative": """
import torch
def hessian_like(model, x):
    model.eval()
    f = lambda z: model(z).sum()
    return torch.autograd.functional.hessian(f, x)
""",
    "a frozen teacher": """
import torch
def freeze(net):
    for p in net.parameters():
        p.requires_grad = False
def build(teacher):
    freeze(teacher)
    teacher.eval()
    def ask(x):
        return teacher(x)
    return ask
""",
    "a value whose caller trains on it": """
import torch
class Search:
    def __init__(self, net, opt):
        self.net, self.opt = net, opt
    def value(self, x):
        self.net.eval()
        return self.net(x)
    def fit(self, loader):
        for x, y in loader:
            loss = (self.value(x) - y).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL603")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL603")
