import torch


def device():
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def scenes():
    return torch.load("scenes.pt"), torch.load("held_out.pt")
