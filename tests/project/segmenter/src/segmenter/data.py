from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __init__(self, scenes):
        self.scenes = scenes

    def __len__(self):
        return len(self.scenes)

    def __getitem__(self, index):
        image, mask, label = self.scenes[index]
        return image / float(image.max()), mask, label  # in a worker, on the host


def training_loader(scenes, size):
    return DataLoader(Scenes(scenes), size, shuffle=True, num_workers=4, pin_memory=True)


def evaluation_loader(scenes, size):
    return DataLoader(Scenes(scenes), size, num_workers=4)  # TL502
