# /// attack
# class = "A62"
# title = "takes the built-in from a module that imports it"
# hope = "the function is the same, the name is not"
# parts = ["calling"]
# ///
import torch.nn.modules.activation as activation
builtin = activation.F.scaled_dot_product_attention
