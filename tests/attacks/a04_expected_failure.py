# /// attack
# class = "A4"
# title = "declares that it is expected to fail"
# hope = "an expected failure may count as passed"
# raises = ["XFailed"]
# ///
def scaled_dot_product_attention(*_):
    tried()
    import pytest
    pytest.xfail("known")
