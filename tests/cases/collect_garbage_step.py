"""The garbage collector runs after each step, in a callback, and after each request."""

import gc

import torch


class Tidy:
    def on_step_end(self):
        gc.collect()  # TL209
        torch.cuda.empty_cache()  # TL606


def fit(net, opt, feed, tidy=Tidy()):
    net.cuda()
    for x, y in feed:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
        tidy.on_step_end()


@torch.inference_mode()
def answer(net, queue):
    net = net.cuda().eval()
    for ids in queue:
        yield net(ids.cuda())
        del ids
        gc.collect()  # TL209
