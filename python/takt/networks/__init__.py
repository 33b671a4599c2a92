"""What an ONNX network says, and passes that porting and rewriting share."""
