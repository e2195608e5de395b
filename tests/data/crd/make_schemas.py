#!/usr/bin/env python3
"""Makes schemas.json from published Python packages; run by hand when they change.

Usage: make_schemas.py SITE_PACKAGES     with these packages installed there (pip install --no-deps):
  kubernetes-validate 1.37.0    Kubernetes' own schemas: Job, Service, Secret, ConfigMap, pods
  kubeflow-training 1.9.4       generated models of the training operator's TFJob and PyTorchJob
  kubeflow-trainer-api 2.3.0    generated models of Kubeflow Trainer's TrainJob
MPIJob v2beta1 is in no package: its schema is written here, from the fields that the API reference
of the MPI operator (v0.8) names.
"""
import json, pathlib, re, sys

KUBERNETES = "v1.34.0-local-strict"
POD = "io.k8s.api.core.v1.PodTemplateSpec"
TEXTS = {"description", "title", "format", "default", "$schema", "$id"}
KINDS = ["Job:batch", "Service:", "Secret:", "ConfigMap:"]


def stripped(schema):
    """Without texts for people; fields that happen to have such a name stay."""
    if isinstance(schema, list):
        return [stripped(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for key, value in schema.items():
        if key in ("properties", "definitions"):
            result[key] = {name: stripped(inner) for name, inner in value.items()}
        elif key not in TEXTS and not key.startswith("x-kubernetes"):
            result[key] = stripped(value)
    return result


def local(reference):
    return "#/definitions/" + reference.rsplit("/", 1)[1]


def relinked(schema, wanted):
    """With references into this file; their targets are added to `wanted`."""
    if isinstance(schema, list):
        return [relinked(item, wanted) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for key, value in schema.items():
        if key == "$ref" and isinstance(value, str):
            result[key] = local(value)
            wanted.append(result[key].rsplit("/", 1)[1])
        else:
            result[key] = relinked(value, wanted)
    return result


def kubernetes_definitions(folder, definitions, names):
    all_definitions = json.loads((folder / "_definitions.json").read_text())["$defs"]
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in definitions:
            continue
        schema = {} if name.endswith("JSONSchemaProps") else all_definitions[name]
        definitions[name] = relinked(stripped(schema), waiting)


SIMPLE = {"str": {"type": "string"}, "int": {"type": "integer"}, "bool": {"type": "boolean"},
          "float": {"type": "number"}, "datetime": {"type": "string"}, "object": {}}


def of_model_type(text, prefix):
    if text in SIMPLE:
        return SIMPLE[text]
    if match := re.fullmatch(r"list\[(.*)\]", text):
        return {"type": "array", "items": of_model_type(match[1], prefix)}
    if match := re.fullmatch(r"dict\(str, (.*)\)", text):
        return {"type": "object", "additionalProperties": of_model_type(match[1], prefix)}
    if text.startswith(prefix):
        return {"$ref": "#/definitions/" + text}
    known = {"V1PodTemplateSpec": POD, "V1ObjectMeta": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
    return {"$ref": "#/definitions/" + known[text]} if text in known else {}


def training_operator_models(folder, definitions):
    """The models are Python classes with two tables and setters that refuse None where needed."""
    for path in sorted(folder.glob("kubeflow_org_v1_*.py")):
        text = path.read_text()
        name = re.search(r"^class (\w+)\(", text, re.M)[1]
        types = dict(re.findall(r"'(\w+)': '([^']+)'", text.split("openapi_types = {")[1].split("}")[0]))
        names = dict(re.findall(r"'(\w+)': '([^']+)'", text.split("attribute_map = {")[1].split("}")[0]))
        needed = re.findall(r"Invalid value for `(\w+)`, must not be `None`", text)
        # The models demand it, the operator's CRDs and examples do not.
        needed = [key for key in needed if key != "run_policy"]
        definitions[name] = {
            "type": "object", "additionalProperties": False,
            "properties": {names[key]: of_model_type(types[key], "KubeflowOrg") for key in names},
            "required": sorted({names[key] for key in needed})}


def trainer_models(site, definitions, waiting):
    sys.path.insert(0, str(site))
    from kubeflow_trainer_api import models
    schema = models.TrainerV1alpha1TrainJob.model_json_schema(by_alias=True)
    inner = {"Trainer." + name: value for name, value in schema.pop("$defs").items()}
    for name, value in {"Trainer.TrainJob": schema, **inner}.items():
        value = stripped(json.loads(json.dumps(value).replace("#/$defs/", "#/definitions/Trainer.")))
        value.setdefault("additionalProperties", False)
        if name.endswith(("Quantity", "IntOrString")):  # the models hide what they wrap
            value = {"type": ["string", "number"]}
        definitions[name] = value


def mpi_job():
    integer, text, flag = {"type": "integer"}, {"type": "string"}, {"type": "boolean"}
    closed = {"type": "object", "additionalProperties": False}
    scheduling = {**closed, "properties": {
        "minAvailable": integer, "queue": text, "minResources": {"type": "object"},
        "priorityClass": text, "scheduleTimeoutSeconds": integer}}
    policy = {**closed, "properties": {
        "cleanPodPolicy": {"enum": ["All", "Running", "None"]},
        "ttlSecondsAfterFinished": integer, "activeDeadlineSeconds": integer,
        "backoffLimit": integer, "schedulingPolicy": scheduling, "suspend": flag,
        "managedBy": {"enum": ["kubeflow.org/mpi-operator", "kueue.x-k8s.io/multikueue"]}}}
    replica = {**closed, "required": ["template"], "properties": {
        "replicas": integer, "template": {"$ref": "#/definitions/" + POD},
        "restartPolicy": {"enum": ["Never", "OnFailure"]}}}
    spec = {**closed, "required": ["mpiReplicaSpecs"], "properties": {
        "slotsPerWorker": integer, "runLauncherAsWorker": flag, "runPolicy": policy,
        "mpiReplicaSpecs": {**closed, "required": ["Launcher"],
                            "properties": {"Launcher": replica, "Worker": replica}},
        "sshAuthMountPath": text,
        "launcherCreationPolicy": {"enum": ["AtStartup", "WaitForWorkersReady"]},
        "mpiImplementation": {"enum": ["OpenMPI", "Intel", "MPICH"]}}}
    return {**closed, "required": ["spec"], "properties": {
        "apiVersion": text, "kind": text, "metadata": {"type": "object"}, "spec": spec}}


def main():
    site = pathlib.Path(sys.argv[1])
    folder = site / "kubernetes_validate" / "kubernetes-json-schema" / KUBERNETES
    definitions, kinds, waiting = {}, {}, [POD, "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
    for entry in KINDS:
        kind, group = entry.split(":")
        file = f"{kind.lower()}{'-' + group if group else ''}-v1.json"
        schema = json.loads((folder / file).read_text())
        definitions[kind] = relinked(stripped(schema), waiting)
        kinds[f"{group + '/' if group else ''}v1 {kind}"] = kind
    kubernetes_definitions(folder, definitions, waiting)
    training_operator_models(site / "kubeflow" / "training" / "models", definitions)
    trainer_models(site, definitions, waiting)
    definitions["MPIJob"] = mpi_job()
    kinds.update({"kubeflow.org/v1 TFJob": "KubeflowOrgV1TFJob",
                  "kubeflow.org/v1 PyTorchJob": "KubeflowOrgV1PyTorchJob",
                  "kubeflow.org/v2beta1 MPIJob": "MPIJob",
                  "trainer.kubeflow.org/v1alpha1 TrainJob": "Trainer.TrainJob"})
    target = pathlib.Path(__file__).with_name("schemas.json")
    target.write_text(json.dumps({"kinds": kinds, "definitions": definitions}, sort_keys=True,
                                 separators=(",", ":")).replace('},"', '},\n"') + "\n")
    print(target, target.stat().st_size, "bytes")


main()
