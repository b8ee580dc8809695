# refused: asynchronous code
async def own():
    return 1


def flagged(x):
    return x
