"""A method named `save` that is given the results of each round runs as often; that of a state at times does not."""

import torch


class Depths:
    def __init__(self, net, views, folder):
        self.net, self.views, self.folder = net.cuda(), views, folder
        self.best = torch.zeros((), device="cuda")

    def run(self):
        self.net.eval()
        with torch.inference_mode():
            for rounds in range(3):
                for names, view in self.views:
                    view = view.to("cuda", non_blocking=True)
                    self.save(names, self.net(view))
                self.save_state(rounds)

    def save(self, names, depths):
        for i in range(depths.size(0)):
            picture = depths[i, 0].cpu().numpy()  # TL103
            picture.tofile(f"{self.folder}/{names[i]}")

    def save_state(self, rounds):
        torch.save({"best": self.best.cpu(), "net": self.net.state_dict()}, f"{self.folder}/{rounds}.pt")
