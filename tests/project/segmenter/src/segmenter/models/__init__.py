from .unet import *
