"""Prints the INFO lines of tf.estimator for the programs of log_lines_test.cpp.

Usage: python tensorflow_lines.py > tensorflow_lines.txt, with tensorflow-cpu==2.15.1, the last one
that brings tf.estimator. DIR stands for the folder of the models.
"""
import logging
import os
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
estimators = tf.estimator
DIR = tempfile.mkdtemp()


class Printer(logging.Handler):
    def emit(self, record):
        line = record.getMessage().replace(DIR, "DIR")
        if record.levelno == logging.INFO:
            print("Using config: ..." if line.startswith("Using config") else line, flush=True)


tf.get_logger().handlers = [Printer()]
tf.get_logger().setLevel("INFO")
tf.get_logger().propagate = False


def data(batch):
    ones = tf.ones([12, 1])
    return tf.data.Dataset.from_tensor_slices((ones, ones)).batch(batch)


def train_data():
    return data(12).repeat()


def test_data():
    return data(4)


def model_fn(features, labels, mode):
    """One weight, whose distance from 1 each step halves."""
    x = features["feature"] if isinstance(features, dict) else features
    weight = v1.get_variable("kernel", [1, 1], initializer=v1.zeros_initializer())
    outputs = tf.matmul(x, weight)
    if mode == estimators.ModeKeys.PREDICT:
        return estimators.EstimatorSpec(mode, predictions={"output": outputs})
    loss = tf.reduce_mean(tf.square(outputs - labels))
    if mode == estimators.ModeKeys.EVAL:
        return estimators.EstimatorSpec(mode, loss=loss, eval_metric_ops={
            "mae": v1.metrics.mean_absolute_error(labels, outputs)})
    step = v1.train.GradientDescentOptimizer(0.25).minimize(loss, v1.train.get_global_step())
    return estimators.EstimatorSpec(mode, loss=loss, train_op=step)


def serving():
    x = v1.placeholder(tf.float32, [None, 1], name="x")
    return estimators.export.ServingInputReceiver(x, x)


def estimator(name, warm_start_from=None, **options):
    config = estimators.RunConfig(log_step_count_steps=3, **options)
    return estimators.Estimator(model_fn, f"{DIR}/{name}", config, warm_start_from=warm_start_from)


def evaluates(job, **options):
    exporters = [estimators.LatestExporter("latest", serving),
                 estimators.FinalExporter("final", serving),
                 estimators.BestExporter("best", serving)]
    estimators.train_and_evaluate(
        job, estimators.TrainSpec(train_data, max_steps=8),
        estimators.EvalSpec(test_data, steps=2, exporters=exporters, start_delay_secs=0, **options))


def session(steps):
    with tf.Graph().as_default():
        add_one = v1.assign_add(v1.train.get_or_create_global_step(), 1)
        with v1.train.MonitoredTrainingSession(
                checkpoint_dir=f"{DIR}/session", save_checkpoint_steps=5, log_step_count_steps=3,
                hooks=[estimators.StopAtStepHook(num_steps=steps)]) as running:
            while not running.should_stop():
                running.run(add_one)


def begin(name):
    print("===", name, flush=True)


begin("train")
first = estimator("first")
first.train(train_data, max_steps=7)
begin("train again")
first.train(train_data, max_steps=7)
begin("train two steps more")
first.train(train_data, steps=2)
begin("evaluate")
first.evaluate(test_data)
begin("evaluate by name")
first.evaluate(test_data, steps=2, name="test")
begin("evaluate 25 batches")
first.evaluate(train_data, steps=25)
begin("predict")
list(first.predict(test_data))
begin("export")
first.export_saved_model(f"{DIR}/models", serving)
begin("warm start")
estimator("warm", warm_start_from=f"{DIR}/first").train(train_data, steps=1)
begin("train_and_evaluate")
second = estimator("second", save_checkpoints_steps=5)
evaluates(second, throttle_secs=0)
begin("train_and_evaluate again")
evaluates(second, throttle_secs=0)
begin("train_and_evaluate throttled")
evaluates(estimator("third", save_checkpoints_steps=5), throttle_secs=600)
begin("session")
session(7)
begin("session again")
session(2)
