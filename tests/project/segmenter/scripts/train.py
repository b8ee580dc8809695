import common
import torch
from segmenter import SegmentationTrainer, UNet, evaluate
from segmenter.data import evaluation_loader, training_loader
from segmenter.engine.callbacks import History, Printer, SlowPrinter


def main(scenes, held_out):
    device = common.device()
    network = UNet(16)
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    callbacks = [History(), Printer(), SlowPrinter(100)]
    trainer = SegmentationTrainer(network, optimizer, device, callbacks)
    trainer.fit(training_loader(scenes, 8), 10)
    print(evaluate(network, evaluation_loader(held_out, 8), device))


if __name__ == "__main__":
    main(*common.scenes())
