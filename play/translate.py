"""Train the encoder-decoder to translate, and type sentences to it."""
