# refused: the special attribute __traceback__ is read
def flagged(x):
    try:
        raise ValueError
    except ValueError as error:
        error.__traceback__.tb_frame
    return x
