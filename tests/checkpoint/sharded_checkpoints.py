#!/usr/bin/env python3
"""Sharded checkpoints in the real TensorFlow.

sharded_checkpoints.py read PREFIX KEY ROWS COLUMNS FIRST: tensor KEY, which is stored in slices,
    must be [ROWS, COLUMNS] with FIRST, FIRST + 1, ... in it, whole and in slices, for the reader
    and for variables of other shards.
sharded_checkpoints.py write DIRECTORY: object/ckpt, a tf.train.Checkpoint of a ShardedVariable
    "table" and a variable "step", and saver/ckpt, a sharded Saver's file of the same; 11 rows of 3.
Exit status 77 where TensorFlow is not installed.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from keras_script import np, tf
from tensorflow.python.distribute.sharded_variable import ShardedVariable


def read(prefix, key, rows, columns, first):
    wanted = np.arange(first, first + rows * columns, dtype=np.float32).reshape(rows, columns)
    reader = tf.train.load_checkpoint(prefix)
    assert np.array_equal(reader.get_tensor(key), wanted), reader.get_tensor(key)
    assert dict(tf.train.list_variables(prefix))[key] == [rows, columns]
    half = rows // 2
    for begin, end in ((0, half), (half, rows), (1, rows - 1)):
        part = tf.raw_ops.RestoreV2(
            prefix=prefix, tensor_names=[key], dtypes=[tf.float32],
            shape_and_slices=[f"{rows} {columns} {begin},{end - begin}:0,{columns}"])[0]
        assert np.array_equal(part.numpy(), wanted[begin:end]), part
    if key.endswith("/.ATTRIBUTES/VARIABLE_VALUE"):
        name = key.split("/")[0]
        shards = [tf.Variable(tf.zeros([n, columns])) for n in (1, rows - 1)]
        tf.train.Checkpoint(**{name: ShardedVariable(shards)}).restore(prefix).expect_partial()
        assert np.array_equal(np.concatenate([s.numpy() for s in shards]), wanted)


def write(directory):
    values = np.arange(33, dtype=np.float32).reshape(11, 3)
    table = ShardedVariable([tf.Variable(values[a:b]) for a, b in ((0, 4), (4, 8), (8, 11))])
    step = tf.Variable(7, dtype=tf.int64)
    tf.train.Checkpoint(table=table, step=step).write(os.path.join(directory, "object", "ckpt"))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.get_variable("table", initializer=tf.constant(values),
                                  partitioner=tf.compat.v1.fixed_size_partitioner(4))
        tf.compat.v1.get_variable("step", initializer=tf.constant(7, tf.int64))
        session.run(tf.compat.v1.global_variables_initializer())
        os.makedirs(os.path.join(directory, "saver"))
        tf.compat.v1.train.Saver(sharded=True).save(
            session, os.path.join(directory, "saver", "ckpt"), write_meta_graph=False)


def main():
    if sys.argv[1] == "read":
        prefix, key, rows, columns, first = sys.argv[2:]
        read(prefix, key, int(rows), int(columns), int(first))
    else:
        write(sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
