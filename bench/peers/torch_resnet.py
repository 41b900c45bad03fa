#!/usr/bin/python3
"""The paper's network in PyTorch, for every script here that needs it: the CIFAR ResNet of 6 n + 2 layers under the names
and with the initial draws of the paper's code."""
import torch
import torch.nn.functional as F
from torch import nn

MEAN, STD = (0.5071, 0.4867, 0.4408), (0.2675, 0.2565, 0.2761)


def normalised(pixels):
    """Bytes (n, 3, 32, 32) as the network wants CIFAR-100."""
    images = torch.tensor(pixels).float() / 255
    return (images - torch.tensor(MEAN).view(1, 3, 1, 1)) / torch.tensor(STD).view(1, 3, 1, 1)


class Pad(nn.Module):
    """The shortcut without parameters: every second pixel, zeros for the new channels."""

    def __init__(self, extra):
        super().__init__()
        self.extra = extra

    def forward(self, x):
        return F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.extra // 2, self.extra - self.extra // 2))


class Block(nn.Module):
    def __init__(self, cin, cout, stride, projection):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.shortcut = nn.Sequential()
        if stride != 1 or cin != cout:
            if projection:
                self.shortcut = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))
            else:
                self.shortcut = Pad(cout - cin)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


class Cosine(nn.Module):
    """Cosines between the features and the weights of each class, with the initial draws of LDAM's code: a tensor
    [features, classes] uniform from -1 to 1, every class brought to length 1. Kept as [classes, features]."""

    def __init__(self, features, classes):
        super().__init__()
        weight = torch.empty(features, classes).uniform_(-1, 1)
        self.weight = nn.Parameter(F.normalize(weight, dim=0).T.contiguous())

    def forward(self, x):
        return F.linear(F.normalize(x, dim=1), F.normalize(self.weight, dim=1))


class ResNet(nn.Module):
    def __init__(self, depth=32, classes=100, channels=3, projection=True, width=1, cosine=False):
        super().__init__()
        cin = 16 * width
        self.conv1, self.bn1 = nn.Conv2d(channels, cin, 3, 1, 1, bias=False), nn.BatchNorm2d(cin)
        for stage, (cout, stride) in enumerate(((16 * width, 1), (32 * width, 2), (64 * width, 2)), 1):
            blocks = []
            for b in range((depth - 2) // 6):
                blocks.append(Block(cin, cout, stride if b == 0 else 1, projection))
                cin = cout
            setattr(self, f"layer{stage}", nn.Sequential(*blocks))
        self.linear = (Cosine if cosine else nn.Linear)(64 * width, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, 0, 0.01)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.linear(x.mean((2, 3)))
