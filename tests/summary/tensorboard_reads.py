#!/usr/bin/env python3
"""Prints as JSON what the real TensorBoard finds in a log directory: tensorboard_reads.py LOGDIR.

By run: scalars [step, value], other tags with their plugin, graph nodes. "hparams": what the plugin
tells of each session. Exit status 77 where TensorBoard is not installed.
"""
import json
import pathlib
import sys

try:
    from tensorboard.backend.event_processing import data_provider
    from tensorboard.backend.event_processing import plugin_event_multiplexer
    from tensorboard.plugins import base_plugin
    from tensorboard.plugins.hparams import backend_context, list_session_groups
    from tensorboard.plugins.hparams import api_pb2
    from tensorboard.context import RequestContext
    from tensorboard.util import tensor_util
except ImportError as error:
    print(error)
    sys.exit(77)


def run_summary(events):
    result = {"scalars": {}, "tags": {}, "graph": []}
    for tag in events.Tags()["tensors"]:
        plugin = events.SummaryMetadata(tag).plugin_data.plugin_name
        result["tags"][tag] = plugin
        if plugin == "scalars":
            result["scalars"][tag] = [[event.step, float(tensor_util.make_ndarray(event.tensor_proto))]
                                      for event in events.Tensors(tag)]
    if events.Tags()["graph"]:
        result["graph"] = [[node.name, node.op, list(node.input)] for node in events.Graph().node]
    return result


def value_of(value):
    return getattr(value, value.WhichOneof("kind"))


def hparams(multiplexer, metrics):
    context = base_plugin.TBContext(
        multiplexer=multiplexer,
        data_provider=data_provider.MultiplexerDataProvider(multiplexer, "logs"))
    backend = backend_context.Context(context)
    request_context = RequestContext()
    experiment = backend.experiment_from_metadata(
        request_context, "", True, backend.hparams_metadata(request_context, ""),
        backend.hparams_from_data_provider(request_context, "", limit=1000))
    request = api_pb2.ListSessionGroupsRequest(
        start_index=0, slice_size=100,
        allowed_statuses=[api_pb2.STATUS_SUCCESS, api_pb2.STATUS_RUNNING, api_pb2.STATUS_FAILURE])
    handler = list_session_groups.Handler(request_context, backend, "", request)
    groups = handler.run().session_groups
    return {"experiment": [info.name for info in experiment.hparam_infos],
            "groups": [{"name": group.name,
                        "values": {name: value_of(v) for name, v in group.hparams.items()},
                        "status": [session.status for session in group.sessions],
                        "metrics": {f"{m.name.group}/{m.name.tag}": m.value
                                    for m in group.metric_values}} for group in groups]}


def main():
    directory = pathlib.Path(sys.argv[1])
    multiplexer = plugin_event_multiplexer.EventMultiplexer()
    multiplexer.AddRunsFromDirectory(str(directory))
    multiplexer.Reload()
    result = {"runs": {run: run_summary(multiplexer.GetAccumulator(run))
                       for run in sorted(multiplexer.Runs())}}
    result["hparams"] = hparams(multiplexer, [])
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
