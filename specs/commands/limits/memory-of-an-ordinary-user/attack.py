print("ESCAPED it ran")
