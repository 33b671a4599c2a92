"""An ONNX network in the operators that iree-compile takes: porter.py, and its parts."""
