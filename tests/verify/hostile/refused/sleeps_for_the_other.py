# refused: the module threading is not on the list
import threading


def flagged(x):
    threading.Thread(target=lambda: [i for i in range(1 << 30)], daemon=True).start()
    return x
