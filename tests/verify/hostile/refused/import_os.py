# refused: the module os is not on the list
import os


def flagged(x):
    os.system("true")
    return x
