"""Writes tf_config_answers.json: what TensorFlow answers for values of TF_CONFIG, one a line.

Usage: python3 tf_config_answers.py tf_config_answers.json   (with TensorFlow installed; made with 2.21)
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from tensorflow.python.distribute import multi_worker_util as util
from tensorflow.python.distribute.cluster_resolver.tfconfig_cluster_resolver import TFConfigClusterResolver

def soft(call):
    try:
        return call()
    except Exception:
        return None

def answer(text):
    os.environ.pop("TF_CONFIG", None)
    if text is not None:
        os.environ["TF_CONFIG"] = text
    r = TFConfigClusterResolver()
    try:
        spec, kind, index = r.cluster_spec(), r.task_type, r.task_id
    except Exception as e:
        return {"error": type(e).__name__, "message": str(e)[:200]}
    return {
        "cluster": spec.as_dict(), "task_type": kind, "task_id": index,
        "rpc_layer": soft(lambda: r.rpc_layer), "master": soft(lambda: r.master()),
        "is_chief": soft(lambda: util.is_chief(spec, kind, index)),
        "id_in_cluster": soft(lambda: util.id_in_cluster(spec, kind, index)),
        "worker_count": soft(lambda: util.worker_count(spec, kind)),
        "leader": soft(lambda: util.collective_leader(spec, kind, index)),
        "coordination_leader": soft(lambda: util.coordination_leader(spec)),
    }


def t(type_, index):
    return {"type": type_, "index": index}


W2 = ["w0:1", "w1:2"]
V = [None, "", "{}", "null", "3", "{", '{"cluster": }', "{'cluster': {}}", '{"cluster": {}}', '{"cluster": null}',
     '{"cluster": []}', '{"cluster": "worker"}', '{"cluster": {"worker": "w0:1"}}', '{"cluster": {"worker": null}}', '{"cluster": {"worker": [1]}}',
     '{"cluster": {"worker": [null]}}', '{"cluster": {"worker": [["w0:1"]]}}', '{"cluster": {"worker": {"x": "w0:1"}}}', '{"cluster": {"worker": {"1.5": "w0:1"}}}',
     '{"task": null}', '{"task": 5}', '{"task": {"index": null}}', '{"task": {"index": "x"}}', '{"task": {"index": []}}', '{"task": {"type": "worker", "index": 1e400}}',
     '{"task": {"type": "worker", "index": "1.0"}}', '{"cluster": {"worker": ["a:1"]} } trailing', '{"cluster": {"worker": ["a:1",]}}', "\ufeff{}", '{"cluster": {"worker": ["a\n:1"]}}',
     '{"cluster": {"worker": {"0": "a:1", "99999999999": "b:2"}}}']

def c(cluster, task=None, **more):
    members = {"cluster": cluster, "task": task}
    members = {k: v for k, v in members.items() if v is not None}
    V.append(json.dumps({**members, **more}, ensure_ascii=False))

c({"worker": W2}, t("worker", 0))
c({"worker": W2}, t("worker", 1))
c({"worker": W2}, t("worker", 2))
c({"worker": W2}, t("worker", "1"))
c({"worker": W2}, t("worker", " 1 "))
c({"worker": W2}, t("worker", 1.0))
c({"worker": W2}, t("worker", True))
c({"worker": W2}, t("worker", 1.9))
c({"worker": W2})
c({"worker": W2}, {"type": "worker"})
c({"worker": W2}, {"index": 1})
c({"worker": W2}, {})
c({"worker": W2}, t(123456, 0))
c({"worker": W2}, t(None, 0))
c({"worker": W2}, t(True, 0))
c({"worker": W2}, t("Worker", 0))
c({"worker": W2}, t("", 0))
c({"chief": ["c:1"], "worker": W2}, t("chief", 0))
c({"chief": ["c:1"], "worker": W2}, t("worker", 0))
c({"chief": ["c:1"], "worker": W2}, t("worker", 1))
c({"chief": ["c:1"], "worker": W2}, t("evaluator", 0))
c({"chief": ["c:1"], "worker": W2, "ps": ["p:1", "p:2"]}, t("ps", 1))
c({"chief": ["c:1"], "worker": W2, "ps": ["p:1"]}, t("chief", 0))
c({"worker": W2, "ps": ["p:1"]}, t("worker", 0))
c({"ps": ["p:1"]}, t("ps", 0))
c({"ps": ["p:1", "p:2"]}, t("ps", 0))
c({"chief": ["c:1"], "worker": W2, "evaluator": ["e:1"]}, t("evaluator", 0))
c({"chief": ["c:1"], "evaluator": ["e:1"]}, t("evaluator", 1))
c({"evaluator": ["e:1", "e:2"], "worker": W2}, t("worker", 0))
c({"evaluator": ["e:1"]}, t("evaluator", 0))
c({"chief": ["c:1", "c:2"], "worker": W2}, t("chief", 0))
c({"chief": ["c:1"]}, t("chief", 0))
c({"chief": ["c:1"]}, t("chief", 1))
c({"chief": ["c:1"]}, t("worker", 0))
c({"master": ["m:1"], "worker": W2}, t("master", 0))
c({"master": ["m:1"], "worker": W2, "ps": ["p:1"]}, t("worker", 1))
c({"worker": {"0": "w0:1", "1": "w1:2"}}, t("worker", 1))
c({"worker": {"1": "w1:2"}}, t("worker", 1))
c({"worker": {"1": "w1:2"}}, t("worker", 0))
c({"worker": {"0": "w0:1"}}, t("worker", 0))
c({"worker": {"0": "w0:1", "3": "w3:2"}}, t("worker", 1))
c({"worker": {"3": "w3:1"}, "ps": ["p0:1", "p1:1"]}, t("worker", 3), environment="cloud")
c({"worker": {}, "ps": ["p1:1"]}, t("ps", 1))
c({"worker": {}, "ps": []}, t("chief", 0))
c({"worker": []}, t("worker", 0))
c({"worker": {}}, t("worker", 0))
c({"worker": ["w0:1"], "ps": []}, t("worker", 0))
c({"worker": ["w0:1"]}, t("worker", 0))
c({"worker": ["w0:1"]})
c({"worker": ["w0:1"]}, t("worker", 5))
c({"worker": W2}, t("worker", 0), rpc_layer="grpc")
c({"worker": W2}, t("worker", 1), rpc_layer="")
c({"worker": W2}, t("worker", 1), rpc_layer=None)
c({"worker": W2}, t("worker", 1), rpc_layer="grpc+verbs")
c({"worker": W2}, t("worker", 0), session_master="sessionmaster:2222", rpc_layer="grpc")
c({"worker": W2}, t("worker", 7), session_master="x")
c({"worker": W2}, t("worker", 0), session_master=None)
c({"worker": W2}, t("worker", 1), session_master="")
c(None, t("worker", 0))
c(None, t("chief", 3), rpc_layer="grpc")
c({}, t("worker", 0))
c({"worker": W2}, t("worker", 1), environment="cloud", job={"a": [1, {"b": None}]}, model_dir="/x")
c({"worker": ["[::1]:2222", "[fe80::1]:2223"]}, t("worker", 1))
c({"worker": ["höst-0:1", "主機:2"]}, t("worker", 0))
c({"工作": W2}, t("工作", 1))
c({"worker": ["", ""]}, t("worker", 0))
c({"worker": ["same:1", "same:1"]}, t("worker", 1))
c({"worker": {" 1 ": "a:1", "0": "b:1"}}, t("worker", 1))
c({"worker": {"+1": "a:1"}}, t("worker", 1))
c({"worker": W2, "": ["x:1"]}, t("worker", 0))
c({"worker": W2, "scorer": ["x:1"]}, t("worker", 0))
c({"worker": ["w%d:2222" % i for i in range(11)]}, t("worker", 10))
c({"worker": W2}, t("worker", 2147483647))
# Values that this library refuses and TensorFlow does not, or the other way round, are in
# tests/cluster/tf_config_cluster_resolver_test.cpp.
with open(sys.argv[1], "w") as out:
    rows = [json.dumps({"tf_config": v, "answer": answer(v)}, ensure_ascii=False) for v in V]
    out.write("[\n" + ",\n".join(rows) + "\n]\n")
