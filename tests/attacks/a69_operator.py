# /// attack
# class = "A69"
# title = "reaches the built-in by operator.attrgetter"
# hope = "a string is not an attribute"
# parts = ["calling"]
# ///
import operator
builtin = operator.attrgetter('nn.functional.scaled_dot_product_attention')(torch)
