"""Makes policy.tflite: relu(observation @ WEIGHTS.T + BIAS), 1x8 to 1x3.

usage: make_policy_tflite.py policy.tflite
needs: the packages tflite and flatbuffers; the test of the importer needs neither
"""
import sys

import numpy as np

WEIGHTS = (np.arange(24, dtype=np.float32).reshape(3, 8) % 7 - 3) / 4
BIAS = np.array([0.5, -1, 0.25], np.float32)


def make():
    import flatbuffers
    import tflite

    builder = flatbuffers.Builder(1024)

    def table(name, **fields):
        """A table of the schema, by the functions that its package has for it."""
        getattr(tflite, f"{name}Start")(builder)
        for field, value in fields.items():
            getattr(tflite, f"{name}Add{field}")(builder, value)
        return getattr(tflite, f"{name}End")(builder)

    def vector(name, values, prepend):
        getattr(tflite, f"{name}Vector")(builder, len(values))
        for value in reversed(values):
            prepend(value)
        return builder.EndVector()

    def numbers(name, *values):
        return vector(name, values, builder.PrependInt32)

    def tables(name, *values):
        return vector(name, values, builder.PrependUOffsetTRelative)

    def buffer(array):
        return table("Buffer", Data=builder.CreateByteVector(array.tobytes()))

    def tensor(name, shape, index):
        text = builder.CreateString(name)
        dimensions = numbers("TensorStartShape", *shape)
        return table("Tensor", Name=text, Shape=dimensions, Type=tflite.TensorType.FLOAT32, Buffer=index)

    buffers = [table("Buffer"), buffer(WEIGHTS), buffer(BIAS)]
    tensors = [
        tensor("observation", [1, 8], 0), tensor("w", [3, 8], 1), tensor("b", [3], 2), tensor("action", [1, 3], 0)
    ]
    options = table("FullyConnectedOptions", FusedActivationFunction=tflite.ActivationFunctionType.RELU)
    operator = table(
        "Operator",
        Inputs=numbers("OperatorStartInputs", 0, 1, 2),
        Outputs=numbers("OperatorStartOutputs", 3),
        OpcodeIndex=0,
        BuiltinOptionsType=tflite.BuiltinOptions.FullyConnectedOptions,
        BuiltinOptions=options,
    )
    graph = table(
        "SubGraph",
        Name=builder.CreateString("policy"),
        Tensors=tables("SubGraphStartTensors", *tensors),
        Inputs=numbers("SubGraphStartInputs", 0),
        Outputs=numbers("SubGraphStartOutputs", 3),
        Operators=tables("SubGraphStartOperators", operator),
    )
    code = tflite.BuiltinOperator.FULLY_CONNECTED
    opcode = table("OperatorCode", DeprecatedBuiltinCode=code, BuiltinCode=code, Version=1)
    model = table(
        "Model",
        OperatorCodes=tables("ModelStartOperatorCodes", opcode),
        Subgraphs=tables("ModelStartSubgraphs", graph),
        Buffers=tables("ModelStartBuffers", *buffers),
        Version=3,
    )
    builder.Finish(model, file_identifier=b"TFL3")
    return bytes(builder.Output())


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        file.write(make())
