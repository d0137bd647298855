#!/usr/bin/env python3
"""Record small TensorFlow programs with tf.profiler.experimental: record_tensorflow.py FOLDER

Writes FOLDER/NAME.xplane.pb, one for each program.
"""
import glob
import os
import shutil
import sys
import tempfile

import numpy as np
import tensorflow as tf

PROFILER = tf.profiler.experimental


def loop():
    """Three steps of a loop of four matrix products, as a graph."""
    w = tf.random.normal((256, 256))

    @tf.function
    def step(x):
        for _ in tf.range(4):
            x = tf.tanh(x @ w)
        return x
    x = step(tf.ones((64, 256)))

    def run():
        y = x
        for number in range(3):
            with PROFILER.Trace("train", step_num=number, _r=1):
                y = step(y)
        y.numpy()
    return run


def keras():
    """An epoch of Keras: four steps."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(4)])
    model.compile("sgd", "mse")
    x, y = np.ones((64, 32), np.float32), np.zeros((64, 4), np.float32)
    return lambda: model.fit(x, y, batch_size=16, verbose=0)


def data():
    """A pipeline of tf.data with workers."""
    numbers = tf.data.Dataset.range(64).map(lambda v: tf.cast(v, tf.float32) * 2.0, num_parallel_calls=2)
    batches = numbers.batch(8).prefetch(2)

    def run():
        for number, batch in enumerate(batches):
            with PROFILER.Trace("consume", step_num=number, _r=1):
                tf.reduce_sum(batch).numpy()
    return run


def eager():
    """A convolution, an activation and a pooling, one operator at a time."""
    filters, x = tf.random.normal((3, 3, 4, 8)), tf.random.normal((2, 16, 16, 4))

    def run():
        for number in range(2):
            with PROFILER.Trace("eager", step_num=number):
                tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME")), 2, 2, "SAME").numpy()
    return run


def xla():
    """Two calls of a function that XLA compiles."""
    w = tf.random.normal((64, 64))

    @tf.function(jit_compile=True)
    def step(x):
        return tf.nn.softmax(x @ w)

    def run():
        for _ in range(2):
            step(tf.ones((8, 64))).numpy()
    return run


def main():
    print(tf.__version__)
    os.makedirs(sys.argv[1], exist_ok=True)
    for program in (loop, keras, data, eager, xla):
        run, folder = program(), tempfile.mkdtemp()
        run()
        PROFILER.start(folder, PROFILER.ProfilerOptions(host_tracer_level=2, python_tracer_level=int(program is eager)))
        run()
        PROFILER.stop()
        found = glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)
        shutil.copy(found[0], os.path.join(sys.argv[1], program.__name__ + ".xplane.pb"))
        shutil.rmtree(folder)
        print(program.__name__, os.path.getsize(os.path.join(sys.argv[1], program.__name__ + ".xplane.pb")))


if __name__ == "__main__":
    main()
