"""ex05: attention, as a function of its arguments and by hand."""

from autograder.checks import check


@check("scores are divided by the square root of the key size", points=2, of="scaled_dot_product_attention")
def test_scaled(impl, given):
    B, H, T, S, K, Kv = given.sizes("B H T S K Kv")
    query, key, value = given.normal(B, H, T, K), given.normal(B, H, S, K), given.normal(B, H, S, Kv)
    output, weights = impl.scaled_dot_product_attention(query, key, value)
    return {"output": output, "weights": weights}
