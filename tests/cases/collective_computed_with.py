"""What is reduced over all processes is computed with: by an optimizer, or by all that call the helper on every step."""

import torch
import torch.distributed as dist


def reduce_sum(tensor):
    tensor = tensor.clone()
    dist.all_reduce(tensor)
    return tensor


class Adaptive(torch.optim.Optimizer):
    def step(self):
        total = torch.zeros(2, device="cuda")
        for group in self.param_groups:
            norms = torch._foreach_norm([p.grad for p in group["params"]])
            total[0] += torch.stack(norms).sum()
        dist.all_reduce(total)
        for group in self.param_groups:
            torch._foreach_mul_([p.grad for p in group["params"]], total[0] / total[1])


def train(net, head, loader, opt, target):
    net.cuda()
    seen = torch.zeros(2, device="cuda")
    strength = 0.0
    for x in loader:
        out = head(net(x.cuda()), strength)
        opt.zero_grad()
        out.mean().backward()
        opt.step()
        seen += torch.stack([out.detach().sign().sum(), out.new_tensor(len(out))])
        seen = reduce_sum(seen)
        if seen[1] > 255:  # TL102
            strength += 0.1 if seen[0] > target else -0.1  # TL102
            seen.zero_()
