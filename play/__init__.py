"""What to do with the finished Transformer. Each module that course.toml names under [[play]] is one activity."""
