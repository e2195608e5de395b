"""JPEG decoding and augmentation on one core: this library beside tf.data, in alternating rounds.

usage: input_peer.py --photos FOLDER [--bench build/release/bin/input_bench] [--rounds 9]
                     [--output docs/benchmarks.json]    then report.py writes the page

Both do what ResNet training does with a photograph: a random window (area 8 to 100 %, ratio of
sides 3/4 to 4/3), decoded alone, resized to 224 x 224, mirrored half of the time, normalized,
batches of 32. Rates are pictures a second of CPU time on one core, so that other programs disturb
less. tf.data runs with a private pool of one thread.
"""
import argparse
import datetime
import glob
import json
import os
import pathlib
import statistics
import subprocess
import time

from running import ROOT

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


def one_core():
    """Everything from here on shares one core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def tf_dataset(tf, paths):
    mean = tf.constant([123.675, 116.28, 103.53])
    stddev = tf.constant([58.395, 57.12, 57.375])
    whole = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])

    def load(jpeg):
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.image.extract_jpeg_shape(jpeg), whole, min_object_covered=0.1,
            aspect_ratio_range=[0.75, 4 / 3], area_range=[0.08, 1.0], max_attempts=100)
        window = tf.stack([begin[0], begin[1], size[0], size[1]])
        image = tf.image.decode_and_crop_jpeg(jpeg, window, channels=3)
        image = tf.image.resize(image, [224, 224])
        image = tf.image.random_flip_left_right(image)
        return (image - mean) / stddev

    pictures = [open(path, "rb").read() for path in paths]
    dataset = tf.data.Dataset.from_tensor_slices(pictures).shuffle(len(pictures))
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    return dataset.map(load).batch(32).with_options(options)


def tf_rate(dataset, count):
    start = time.process_time()
    for batch in dataset:
        pass
    return count / (time.process_time() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", required=True)
    parser.add_argument("--bench", default=str(ROOT / "build/release/bin/input_bench"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", help="JSON file that gets the figures as its part `pictures`")
    args = parser.parse_args()
    one_core()
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    paths = sorted(glob.glob(os.path.join(args.photos, "*.JPEG")))
    dataset = tf_dataset(tf, paths)
    tf_rate(dataset, len(paths))
    rounds = []
    for _ in range(args.rounds):
        text = subprocess.run([args.bench, args.photos, "3"], capture_output=True, check=True,
                              text=True).stdout
        ours = json.loads(text)
        ours["tf.data"] = statistics.median(tf_rate(dataset, len(paths)) for _ in range(3))
        rounds.append(ours)
    medians = {key: round(statistics.median(r[key] for r in rounds), 1) for key in rounds[0]}
    for name, (a, b) in {"dataset_to_libjpeg": ("dataset", "libjpeg"),
                         "dataset_to_tf_data": ("dataset", "tf.data")}.items():
        medians[name] = round(statistics.median(r[a] / r[b] for r in rounds), 3)
    print(json.dumps(medians, indent=1))
    if args.output:
        keep(pathlib.Path(args.output), medians, args.rounds)


def keep(path, medians, rounds):
    results = json.loads(path.read_text()) if path.exists() else {}
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True,
                            capture_output=True, check=False).stdout.strip()
    results["pictures"] = medians
    results.setdefault("runs", {})["pictures"] = {"date": datetime.date.today().isoformat(),
                                                  "commit": commit, "rounds": rounds}
    path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
