"""Operators that compute each element of a result from the same place of their inputs."""

UNARY = frozenset({  # Of one tensor; what else they take has one element.
    "Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "Selu", "Celu", "ThresholdedRelu", "HardSwish", "HardSigmoid",
    "Softplus", "Softsign", "Mish", "Gelu", "Clip", "Identity", "Cast", "Not",
    "Neg", "Abs", "Sign", "Sqrt", "Reciprocal", "Exp", "Log", "Erf", "Sin", "Cos", "Atan", "Floor", "Ceil", "Round",
})
JOINING = frozenset({  # Of several tensors.
    "Add", "Sub", "Mul", "Div", "Mod", "Pow", "PRelu", "Max", "Min", "Sum", "Mean",
    "Where", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or",
})
