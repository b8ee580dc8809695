# A folder without an `__init__`: a part of the package all the same.


def valid_rows(scores, mask):
    return scores[mask > 0]  # TL105


def rows_of(size):
    return [row for row in range(size) if row > 0]
