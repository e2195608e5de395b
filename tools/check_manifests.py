#!/usr/bin/env python3
"""Checks manifests of Kubernetes against the published schemas, and for what this library needs.

Usage: check_manifests.py [--mesh] FILE|DIRECTORY...      (all *.yaml of a directory)
--mesh: for clusters with Istio, also that no pod gets its side-car.
Each problem is a line: file, object, place, what is wrong. Exit status 0 when there is none, 1 when
there is, 2 for wrong usage, 77 where python3-yaml or python3-jsonschema is missing.
"""
import json, pathlib, re, sys

FOLDER = pathlib.Path(__file__).parent.parent / "tests/data/crd"
SCHEMAS = [FOLDER / "schemas.json", FOLDER / "own_schemas.json"]
TRAINERS = {"TFJob": ("tfReplicaSpecs", "tensorflow", {"Chief", "Master", "Worker", "PS", "Evaluator"}),
            "PyTorchJob": ("pytorchReplicaSpecs", "pytorch", {"Master", "Worker"})}
RESTART = {"Always", "OnFailure", "Never", "ExitCode"}
TOKEN_CURE = ("has no job token, so its tasks will refuse to start: add DISTRIBUTE_JOB_TOKEN from a "
              "Secret (valueFrom.secretKeyRef), or DISTRIBUTE_JOB_TOKEN_FILE with a mounted one")


def read_objects(path, yaml):
    """YAML, where a key that occurs twice in a mapping is an error."""
    class Loader(yaml.SafeLoader):
        pass

    def mapping(loader, node):
        keys = [loader.construct_object(key) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"line {node.start_mark.line + 1}: key '{key}' occurs twice")
        return loader.construct_mapping(node, deep=True)
    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return [thing for thing in yaml.load_all(path.read_text(), Loader) if thing is not None]


def read_schemas():
    parts = [json.loads(path.read_text()) for path in SCHEMAS]
    return {field: {name: value for part in parts for name, value in part[field].items()}
            for field in ("kinds", "definitions")}


# What has another shape than the schemas say counts as empty here; schema_problems() names it.
def mapping(thing, field):
    value = thing.get(field)
    return value if isinstance(value, dict) else {}


def entries(thing, field):
    value = thing.get(field)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def variables(container):
    return {str(entry.get("name")): entry for entry in entries(container, "env")}


def name_of(thing):
    return str(mapping(thing, "metadata").get("name"))


def inner_objects(thing, yaml):
    """The object, and those that it holds: of an OpenShift template, and the trials of Katib."""
    if isinstance(thing, dict) and thing.get("kind") == "List":  # as oc process prints
        yield from thing.get("items") or []
        return
    yield thing
    if not isinstance(thing, dict):
        return
    if thing.get("kind") == "Template":
        values = {entry.get("name"): str(entry.get("value", "0" * 64)) for entry in entries(thing, "parameters")}
        text = yaml.safe_dump(thing.get("objects"), width=1000)
        text = re.sub(r"'?\$\{\{(\w+)\}\}'?", lambda match: values.get(match[1], match[0]), text)
        text = re.sub(r": \$\{(\w+)\}$", lambda match: f": '{values.get(match[1], match[0])}'", text, flags=re.M)
        text = re.sub(r"\$\{(\w+)\}", lambda match: values.get(match[1], match[0]), text)
        yield from yaml.safe_load(text) or []
    trial = mapping(mapping(thing, "spec"), "trialTemplate").get("trialSpec")
    if thing.get("kind") == "Experiment" and isinstance(trial, dict):
        yield {**trial, "metadata": {"name": name_of(thing) + "-trial"}}


def parameter_problems(thing):
    """Katib: what a trial refers to, and what the experiment varies."""
    if thing.get("kind") != "Experiment":
        return
    spec = mapping(thing, "spec")
    template = mapping(spec, "trialTemplate")
    varied = {entry.get("name") for entry in entries(spec, "parameters")}
    known = {entry.get("name") for entry in entries(template, "trialParameters")}
    for entry in entries(template, "trialParameters"):
        if entry.get("reference") not in varied:
            yield "spec.trialTemplate", f"'{entry.get('reference')}' is no parameter of the experiment"
    used = set(re.findall(r"\$\{trialParameters\.(\w+)\}", json.dumps(template.get("trialSpec"))))
    for name in sorted(used ^ known):
        yield "spec.trialTemplate", f"trial parameter '{name}' is not both declared and used"


def schema_problems(thing, schemas, jsonschema):
    kind = f"{thing.get('apiVersion')} {thing.get('kind')}"
    if kind not in schemas["kinds"]:
        yield "", f"no schema for {kind}; there are {', '.join(sorted(schemas['kinds']))}"
        return
    schema = {"$ref": "#/definitions/" + schemas["kinds"][kind], "definitions": schemas["definitions"]}
    for error in jsonschema.Draft7Validator(schema).iter_errors(thing):
        deepest = jsonschema.exceptions.best_match([error])
        yield ".".join(str(part) for part in deepest.absolute_path), deepest.message[:300]


def templates(thing):
    """(place, pod template) of everything that runs pods."""
    spec = mapping(thing, "spec")
    if thing.get("kind") in ("Job", "Deployment", "StatefulSet"):
        yield "spec.template", mapping(spec, "template")
    for field in ("tfReplicaSpecs", "pytorchReplicaSpecs", "mpiReplicaSpecs"):
        replicas = mapping(spec, field)
        for name in replicas:
            yield f"spec.{field}.{name}.template", mapping(mapping(replicas, name), "template")


def words_of(container):
    return " ".join(str(word) for field in ("command", "args") for word in container.get(field) or [])


def is_sshd_of_mpi(thing, place, container):
    """A worker of mpirun gets its variables from the launcher; without a command the operator starts sshd."""
    return "sshd" in str(container.get("command")) or (
        thing.get("kind") == "MPIJob" and ".Worker." in place and not container.get("command"))


def containers(thing):
    for place, template in templates(thing):
        for container in entries(mapping(template, "spec"), "containers"):
            yield f"{place}: container '{container.get('name')}'", container
    if thing.get("kind") == "TrainJob":
        yield "spec.trainer", mapping(mapping(thing, "spec"), "trainer")


def token_problems(thing):
    for place, container in containers(thing):
        if is_sshd_of_mpi(thing, place, container):
            continue
        names = variables(container)
        if "DISTRIBUTE_JOB_TOKEN_FILE" in names or names.get("DISTRIBUTE_INSECURE", {}).get("value") == "1":
            continue
        token = names.get("DISTRIBUTE_JOB_TOKEN")
        if token is None or not (token.get("value") or token.get("valueFrom")):
            yield place, TOKEN_CURE
        elif token.get("value"):
            yield place, ("DISTRIBUTE_JOB_TOKEN stands in the manifest, where all its readers see it: "
                          "take it from a Secret (valueFrom.secretKeyRef)")


def mesh_problems(thing):
    """A mesh's side-car eats the connections of the tasks."""
    for place, template in templates(thing):
        annotations = mapping(mapping(template, "metadata"), "annotations")
        labels = mapping(mapping(template, "metadata"), "labels")
        if str({**labels, **annotations}.get("sidecar.istio.io/inject")).lower() != "false":
            yield place, 'needs the annotation sidecar.istio.io/inject: "false": a mesh eats the tasks\' connections'


def selector_problems(thing):
    """Kubernetes refuses a workload whose selector does not find its own pods."""
    if thing.get("kind") not in ("Deployment", "StatefulSet"):
        return
    spec = mapping(thing, "spec")
    labels = mapping(mapping(mapping(spec, "template"), "metadata"), "labels")
    for name, value in mapping(mapping(spec, "selector"), "matchLabels").items():
        if labels.get(name) != value:
            yield "spec.selector", f"its pods have no label {name}: {value}"


def gpu_problems(thing):
    """An image of the target cuda, whose container is given no GPU, or GPUs that are only requested."""
    for place, container in containers(thing):
        image, resources = str(container.get("image")), mapping(container, "resources")
        limited = any("/gpu" in name for name in mapping(resources, "limits"))
        requested = any("/gpu" in name for name in mapping(resources, "requests"))
        if requested and not limited:
            yield place, "GPUs count under resources.limits, not under requests alone"
        elif "cuda" in image.rpartition(":")[2] and not limited and "resourcesPerNode" not in container:
            yield place, f"image {image} has no GPU: give resources.limits nvidia.com/gpu"


def operator_problems(thing):
    """Rules of the training operator that its schema does not say."""
    if str(thing.get("kind")) not in TRAINERS:
        return
    field, container, types = TRAINERS[thing["kind"]]
    replicas = mapping(mapping(thing, "spec"), field)
    known = {name.lower(): name for name in types}  # the operator takes Ps for PS
    for given in replicas:
        place, replica = f"spec.{field}.{given}", mapping(replicas, given)
        name = known.get(str(given).lower())
        if not name:
            yield place, f"no replica type of {thing['kind']}; there are {', '.join(sorted(types))}"
        if name in ("Chief", "Master", "Evaluator") and replica.get("replicas", 1) != 1:
            yield place, "there must be exactly one"
        if str(replica.get("restartPolicy", "Never")) not in RESTART:
            yield place, f"restartPolicy must be one of {', '.join(sorted(RESTART))}"
        pod = mapping(mapping(replica, "template"), "spec")
        mine = [c for c in entries(pod, "containers") if c.get("name") == container]
        if not mine:
            yield place, f"no container is named '{container}': the operator would set no variables"
        if any(probe in c for c in mine for probe in ("readinessProbe", "startupProbe")):
            yield place, ("a probe that waits for the other tasks never ends: the operator's services "
                          "name a pod only once it is ready")


def pytorch_problems(thing):
    """What a program that reads RANK, WORLD_SIZE and MASTER_ADDR by itself cannot work with."""
    if str(thing.get("kind")) != "PyTorchJob":
        return
    spec = mapping(thing, "spec")
    replicas = mapping(spec, "pytorchReplicaSpecs")
    words = " ".join(words_of(container) for _, container in containers(thing))
    if "torchrun" in words or "torch.distributed" in words:
        return  # which sets the three for each process that it starts
    for place, container in containers(thing):
        for name in sorted({"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"} & set(variables(container))):
            yield place, (f"sets {name}, which is the operator's: its tasks would not find each other. "
                          "Leave it out")
    if "master" not in {str(name).lower() for name in replicas}:
        yield "spec.pytorchReplicaSpecs", ("there is no Master: the operator sets MASTER_ADDR, RANK and "
                                           "WORLD_SIZE only where there is one")
    if mapping(spec, "elasticPolicy"):
        yield "spec.elasticPolicy", ("is for torchrun: give a fixed number of replicas instead, or start "
                                     "the program with torchrun")
    processes = str(spec.get("nprocPerNode", "1"))
    if processes.isdigit() and int(processes) > 1:
        yield "spec.nprocPerNode", (f"is {processes}, so WORLD_SIZE counts {processes} processes for each "
                                    "pod, and one is started: leave it out, or start with torchrun")


def job_problems(objects):
    services = {name_of(thing): thing for thing in objects if thing.get("kind") == "Service"}
    for thing in objects:
        if thing.get("kind") != "Job":
            continue
        spec = mapping(thing, "spec")
        pod = mapping(mapping(spec, "template"), "spec")
        name = str(pod.get("subdomain"))
        service = mapping(services.get(name, {}), "spec")
        if spec.get("completionMode") != "Indexed":
            yield thing, "spec.completionMode", "must be Indexed: pods have no number otherwise"
        if not service or service.get("clusterIP") != "None":
            yield thing, "spec.template.spec.subdomain", f"there is no headless service '{name}' here"
        elif not service.get("publishNotReadyAddresses"):
            yield thing, f"service '{name}'", ("needs publishNotReadyAddresses: true: pods are ready "
                                               "after they have met")
        for container in entries(pod, "containers"):
            replicas = variables(container).get("DISTRIBUTE_REPLICAS", {}).get("value")
            if replicas != str(spec.get("completions", 1)):
                yield thing, f"container '{container.get('name')}'", (
                    f"DISTRIBUTE_REPLICAS is {replicas}, spec.completions is "
                    f"{spec.get('completions', 1)}: they must be equal")


def check(path, schemas, yaml, jsonschema, mesh):
    try:
        objects = [inner for thing in read_objects(path, yaml) for inner in inner_objects(thing, yaml)]
    except yaml.YAMLError as error:
        return [f"{path}: not YAML: {' '.join(str(error).split())}"]
    lines = []
    for thing in objects:
        if not isinstance(thing, dict):
            lines.append(f"{path}: not an object of Kubernetes: {str(thing)[:60]}")
            continue
        for problems in (schema_problems(thing, schemas, jsonschema), token_problems(thing),
                         operator_problems(thing), pytorch_problems(thing), parameter_problems(thing),
                         selector_problems(thing), gpu_problems(thing), mesh_problems(thing) if mesh else ()):
            lines += [f"{path}: {thing.get('kind')} {name_of(thing)}: {place}: {text}"
                      for place, text in problems]
    for thing, place, text in job_problems([thing for thing in objects if isinstance(thing, dict)]):
        lines.append(f"{path}: Job {name_of(thing)}: {place}: {text}")
    return lines


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip())
        return 0
    try:
        import jsonschema, yaml
    except ImportError as error:
        print(f"check_manifests: {error}: apt-get install python3-yaml python3-jsonschema", file=sys.stderr)
        return 77
    if len(sys.argv) < 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    files, mesh = [], "--mesh" in sys.argv[1:]
    for argument in map(pathlib.Path, (word for word in sys.argv[1:] if word != "--mesh")):
        files += sorted(argument.rglob("*.yaml")) if argument.is_dir() else [argument]
    schemas, lines = read_schemas(), []
    for path in files:
        try:
            lines += check(path, schemas, yaml, jsonschema, mesh)
        except OSError as error:
            print(f"check_manifests: {error}", file=sys.stderr)
            return 2
    print("\n".join(lines) if lines else f"manifests: {len(files)} files are good")
    return 1 if lines else 0


sys.exit(main())
