"""A list of tensors of the device becomes a tensor, or text, by one read after the other."""

import torch


class Speaker:
    def __init__(self, net, words):
        self.net, self.words = net.cuda(), words

    @torch.no_grad()
    def speak(self, ids, rounds):
        for _ in range(rounds):
            scores = self.net(ids)
            texts = []
            for row in scores:
                texts.append(self.words.decode([row[-1].argmax().item()]))  # TL101
            best = scores[:, -1].topk(1).indices
            ids = torch.LongTensor([[best[i][0] for i in range(len(texts))]])  # TL101
            ids = ids.to("cuda")
        return texts

    @torch.no_grad()
    def speak_alone(self, ids, rounds):
        for _ in range(rounds):
            word = self.net(ids)[0, -1].argmax()
            print(self.words.decode([word.item()]))  # no TL101
            ids = word[None, None]


def parts_of(losses):
    return dict(zip(losses, map(float, losses.values())))  # TL101


def fit(net, opt, feed, watch):
    net.cuda()
    for x, y in feed:
        out = net(x.cuda())
        losses = {"near": (out - y).abs().mean(), "far": (out - y).pow(2).mean()}
        opt.zero_grad()
        sum(losses.values()).backward()
        opt.step()
        watch(parts_of(losses), list(map(torch.Tensor.item, losses.values())))  # TL101
