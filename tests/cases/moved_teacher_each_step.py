"""A teacher moved and called at once on every step."""

import torch


class Distill:
    def __init__(self, student, teacher, device):
        self.student = student.to(device)
        self.teacher = teacher
        self.device = device

    def loss(self, x):
        with torch.no_grad():
            t = self.teacher.to(self.device)(x)  # TL509
        return torch.nn.functional.mse_loss(self.student(x), t)

    def fit(self, loader, opt):
        for x in loader:
            loss = self.loss(x.to(self.device))
            opt.zero_grad()
            loss.backward()
            opt.step()
