from packed import OUTSIDE, Layer, saved

layer = Layer()
for number in range(4000):
    layer.file(f"{number}", "")
layer.write(packing="gz")
