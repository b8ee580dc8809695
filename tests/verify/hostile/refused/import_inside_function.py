# refused: the module subprocess is not on the list
def flagged(x):
    import subprocess

    subprocess.run(["true"])
    return x
