# /// attack
# class = "A92"
# title = "prints, raises and names in control sequences"
# hope = "a terminal obeys them"
# raises = ["E\u001b[2J\u001b]0;owned\u0007\u001b]8;;http://x\u0007\u009b31m\u202e\u200b\r\b\u007F"]
# ///
EVIL = "\x1b[2J\x1b]0;owned\x07\x1b]8;;http://x\x07\x9b31m\u202e\u200b\r\b\x7f"
tried()
print(EVIL, flush=True)
Evil = type(f"E{EVIL}", (Exception,), {"__str__": lambda self: EVIL})
def scaled_dot_product_attention(*_):
    raise Evil(EVIL)
def self_attention_by_hand(*_):
    return {EVIL: torch.zeros(3), f"{EVIL}2": EVIL}
