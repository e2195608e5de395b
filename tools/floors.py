"""The floors of include/distribute, lowest first; a header includes its own folder and lower floors."""

FLOORS = [
    ["base"],
    ["device", "net", "io"],
    ["tensor", "cluster"],
    ["autograd"],
    ["ops", "replica"],
    ["nn", "optim", "data", "collective", "summary"],
    ["strategy"],
    ["checkpoint", "coordinator", "horovod", "saved_model"],
    ["train"],
    ["launch", "testing"],
]
LEVEL = {name: number for number, row in enumerate(FLOORS) for name in row}
UMBRELLAS = ("distribute.hpp", "strategy.hpp", "fwd.hpp")
